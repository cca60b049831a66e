// Golden cases: those that are proposed, for a person to accept, change or reject, and those that there are.
import { words } from "../words.js";
import { read, write } from "./address.js";
import { ask, askAll, attempt, button, choice, field, make } from "./elements.js";
import { collectionChoice } from "./options.js";

const CATEGORIES = ["factual", "causal", "temporal", "multi_part"];
const DIFFICULTIES = ["easy", "medium", "hard"];
const NEW_ONES = 10; // proposals of one order

export async function showGolden(view, names) {
  const { a } = read();
  const collection = names.includes(a?.collection) ? a.collection : names[0];
  const of = `collection=${encodeURIComponent(collection)}`;
  const [proposals, cases, documents] = await Promise.all([
    askAll(`/golden-cases/proposals?${of}&state=proposed`, "proposals"), askAll(`/golden-cases?${of}`, "cases"), askAll(`/documents?${of}`, "documents"),
  ]);
  const filenames = new Map(documents.map(({ id, filename }) => [id, filename]));
  const again = () => showGolden(view, names);
  const choose = ({ target }) => {
    write({ a: { collection: target.value } });
    attempt(again);
  };
  const propose = async () => {
    const { proposals: found } = await ask("/golden-cases/proposals", { method: "POST", body: { collection, limit: NEW_ONES } });
    await again();
    if (!found.length) view.querySelector(".actions").after(make("p.soft", { role: "status", textContent: words().nothingNew }));
  };
  view.replaceChildren(
    make("p.actions", {}, collectionChoice(names, collection, choose), button(words().propose, propose, "button.main")),
    make("section", {}, make("h2", { textContent: `${words().proposals} (${proposals.length})`, tabIndex: -1 }),
      proposals.length ? proposals.map((proposal) => proposalForm(proposal, filenames)) : make("p.empty", { textContent: words().noProposals })),
    make("section", {}, make("h2", { textContent: `${words().viewGolden} (${cases.length})`, tabIndex: -1 }),
      cases.length ? cases.map((one) => caseForm(one, filenames)) : make("p.empty", { textContent: words().noCases })));
}

function proposalForm(proposal, filenames) {
  const of = `/golden-cases/proposals/${proposal.id}`;
  const { details, read } = editor(proposal, filenames, [...proposal.relevant_document_ids, ...proposal.candidate_document_ids]);
  details.append(
    make("p.soft", { textContent: [words().origins[proposal.origin], proposal.reason].filter(Boolean).join(": ") }),
    make("blockquote", { textContent: proposal.quote, hidden: !proposal.quote }),
    make("p.actions", {},
      button(words().accept, async () => { await ask(`${of}/accept`, { method: "POST", body: read() }); leave(details); }, "button.main"),
      button(words().reject, async () => { await ask(`${of}/reject`, { method: "POST" }); leave(details); }, "button")));
  return details;
}

function caseForm(one, filenames) {
  const of = `/golden-cases/${one.id}`;
  const { details, read } = editor(one, filenames, one.relevant_document_ids);
  const saved = make("span.soft", { role: "status" });
  const save = async () => {
    await ask(of, { method: "PUT", body: { ...read(), tags: one.tags } });
    saved.textContent = words().saved;
  };
  const remove = async () => {
    if (!confirm(words().sureCase)) return;
    await ask(of, { method: "DELETE" });
    leave(details);
  };
  details.append(
    make("p.error", { textContent: words().broken, hidden: !one.missing_document_ids.length }),
    make("p.actions", {}, button(words().save, save, "button"), button(words().remove, remove, "button"), saved));
  return details;
}

// The form is gone; who worked on it goes on with the next one.
function leave(details) {
  const next = details.nextElementSibling ?? details.previousElementSibling;
  details.remove();
  (next?.querySelector("summary") ?? next)?.focus();
}

// Inputs for what a case says, and what they hold; documents: ids that may be chosen as relevant.
function editor(of, filenames, documents) {
  const query = make("textarea", { rows: 2, value: of.query });
  const answer = make("textarea", { rows: 3, value: of.expected_answer });
  const category = choice(CATEGORIES.map((name) => [name, words().categories[name]]), of.category);
  const difficulty = choice(DIFFICULTIES.map((name) => [name, words().difficulties[name]]), of.difficulty);
  const boxes = documents.map((id) => make("input", { type: "checkbox", value: id, checked: of.relevant_document_ids.includes(id) }));
  const kind = ` ${words().categories[of.category]} · ${words().difficulties[of.difficulty]}`;
  const details = make("details.case", {}, make("summary", {}, of.query, make("span.soft", { textContent: kind })),
    field(words().question, query), field(words().expected, answer),
    make("p.actions", {}, field(words().category, category), field(words().difficulty, difficulty)),
    make("fieldset", {}, make("legend", { textContent: words().relevant }), boxes.map((box) => make("label.check", {}, box, filenames.get(box.value) ?? box.value))));
  const read = () => ({
    query: query.value, expected_answer: answer.value, category: category.value, difficulty: difficulty.value,
    relevant_document_ids: boxes.filter(({ checked }) => checked).map(({ value }) => value),
  });
  return { details, read };
}
