// One question, searched with two configurations side by side.
import { attempt, call } from "../api.js";
import { make } from "../elements.js";
import { phrase, words } from "../words.js";
import { addressOf, read, write } from "./address.js";
import { streamAnswer } from "./answers.js";
import { actionButton } from "./elements.js";
import { Options, display } from "./options.js";
import { describeSearch } from "./stages.js";

let sides = []; // of the current view: {name, options, column, answer, stop}
let latest = null; // the configurations of the last search: results of an older one are dropped

export async function showSearch(view, names) {
  sides.forEach((side) => side.stop?.abort());
  latest = null;
  const { question = "", a, b } = read();
  const current = sides = [makeSide("A", names, a), makeSide("B", names, b ?? { ...a, retrieval: { ...a?.retrieval, rerank: false } })];
  await Promise.all(current.map(({ options }) => options.show()));
  if (sides !== current) return; // shown again in another language
  const box = make("textarea", { id: "question", rows: 2, required: true, value: question, placeholder: words().question, ariaLabel: words().question });
  const form = make("form.question", { onsubmit: submit(box, search) },
    box,
    make("button.main", words().search),
    actionButton(words().answerBoth, () => box.reportValidity() && search(box.value, { answers: true }), "button"));
  const differences = make("p.differences", { role: "status", textContent: words().compareHelp });
  view.replaceChildren(form, make("div.columns", sides.map(({ options }) => options.element)), differences, make("div.columns", sides.map(({ column }) => column)));
  if (question) await search(question);
}

const makeSide = (name, names, given) => ({
  name, options: new Options(`${words().configuration} ${name}`, names, given), column: make("section.found", { ariaLabel: `${words().configuration} ${name}` }), stop: null,
});

const submit = (box, action) => (event) => {
  event.preventDefault();
  attempt(() => action(box.value.trim()));
};

async function search(question, { answers = false } = {}) {
  if (!question.trim()) return;
  const given = sides.map(({ options }) => options.read());
  latest = given;
  write({ question, a: given[0], b: given[1] });
  for (const side of sides) {
    side.stop?.abort();
    side.column.replaceChildren(make("p.soft", words().searching));
  }
  const clear = () => latest === given && sides.forEach(({ column }) => column.replaceChildren());
  const found = await Promise.all(given.map((one) => searchOne(question, one))).finally(clear);
  if (latest !== given) return;
  document.querySelector(".differences").replaceChildren(...differences(given, found.map(({ debug }) => debug.config)));
  sides.forEach((side, index) => {
    const actions = make("p.actions", {},
      actionButton(phrase("answerWith", side), () => answer(side, question, given[index])),
      make("a.small", { href: addressOf({ view: "evaluation", a: given[index] }), textContent: words().measureWith }));
    side.answer = make("section.answer");
    side.column.replaceChildren(make("h2", { textContent: side.name }), actions, side.answer, ...describeSearch(found[index], found[1 - index], { isSecond: index === 1 }));
  });
  if (answers) await Promise.all(sides.map((side, index) => answer(side, question, given[index])));
}

const searchOne = (query, { collection, retrieval, filters }) =>
  call("/retrieve", { method: "POST", body: { query, collection, config: retrieval, filters, debug: true } });

async function answer(side, question, given) {
  side.stop?.abort();
  side.stop = new AbortController();
  await attempt(() => streamAnswer(side.answer, question, given, side.stop.signal));
}

function differences(given, configs) {
  const sets = given.map(({ collection, filters }, index) => ({ collection, ...configs[index], ...filters }));
  const names = [...new Set(sets.flatMap(Object.keys))].filter((name) => JSON.stringify(sets[0][name]) !== JSON.stringify(sets[1][name]));
  if (!names.length) return [words().sameConfiguration];
  return [`${words().differs} `, ...names.flatMap((name, index) => [
    index ? ", " : "", make("code", name), ` ${display(sets[0][name])} → ${display(sets[1][name])}`,
  ])];
}
