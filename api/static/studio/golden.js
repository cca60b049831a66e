// Golden cases: suggestions to accept, change or reject, and the cases of the collection.
import { attempt, call } from "../api.js";
import { make } from "../elements.js";
import { words } from "../words.js";
import { read, write } from "./address.js";
import { actionButton, field, select } from "./elements.js";
import { collectionChoice, readAll } from "./options.js";

const CATEGORIES = ["factual", "causal", "temporal", "multi_part"];
const DIFFICULTIES = ["easy", "medium", "hard"];
const MAX_PROPOSALS = 10; // of one request

export async function showGolden(view, names) {
  const { a } = read();
  const collection = names.includes(a?.collection) ? a.collection : names[0];
  const [proposals, cases, documents] = await Promise.all([
    readAll("/golden-cases/proposals", "proposals", { collection, state: "proposed" }), readAll("/golden-cases", "cases", { collection }),
    readAll("/documents", "documents", { collection }),
  ]);
  const filenames = new Map(documents.map(({ id, filename }) => [id, filename]));
  const reload = () => showGolden(view, names);
  const choose = ({ target }) => {
    write({ a: { collection: target.value } });
    attempt(reload);
  };
  const propose = async () => {
    const { proposals: found } = await call("/golden-cases/proposals", { method: "POST", body: { collection, limit: MAX_PROPOSALS } });
    await reload();
    if (!found.length) view.querySelector(".actions").after(make("p.soft", { role: "status", textContent: words().nothingNew }));
  };
  view.replaceChildren(
    make("p.actions", collectionChoice(names, collection, choose), actionButton(words().propose, propose, "button.main")),
    make("section", make("h2", { textContent: `${words().proposals} (${proposals.length})`, tabIndex: -1 }),
      proposals.length ? proposals.map((proposal) => proposalForm(proposal, filenames)) : make("p.empty", words().noProposals)),
    make("section", make("h2", { textContent: `${words().viewGolden} (${cases.length})`, tabIndex: -1 }),
      cases.length ? cases.map((one) => caseForm(one, filenames)) : make("p.empty", words().noCases)));
}

function proposalForm(proposal, filenames) {
  const path = `/golden-cases/proposals/${proposal.id}`;
  const { details, read } = editor(proposal, filenames, [...proposal.relevant_document_ids, ...proposal.candidate_document_ids]);
  details.append(
    make("p.soft", { textContent: [words().origins[proposal.origin], proposal.reason].filter(Boolean).join(": ") }),
    make("blockquote", { textContent: proposal.quote, hidden: !proposal.quote }),
    make("p.actions", {},
      actionButton(words().accept, async () => { await call(`${path}/accept`, { method: "POST", body: read() }); removeForm(details); }, "button.main"),
      actionButton(words().reject, async () => { await call(`${path}/reject`, { method: "POST" }); removeForm(details); }, "button")));
  return details;
}

function caseForm(one, filenames) {
  const path = `/golden-cases/${one.id}`;
  const { details, read } = editor(one, filenames, one.relevant_document_ids);
  const saved = make("span.soft", { role: "status" });
  const save = async () => {
    await call(path, { method: "PUT", body: { ...read(), tags: one.tags } });
    saved.textContent = words().saved;
  };
  const remove = async () => {
    if (!confirm(words().sureCase)) return;
    await call(path, { method: "DELETE" });
    removeForm(details);
  };
  details.append(
    make("p.error", { textContent: words().broken, hidden: !one.missing_document_ids.length }),
    make("p.actions", actionButton(words().save, save, "button"), actionButton(words().remove, remove, "button"), saved));
  return details;
}

// Removes a form and moves the focus to the next one.
function removeForm(details) {
  const next = details.nextElementSibling ?? details.previousElementSibling;
  details.remove();
  (next?.querySelector("summary") ?? next)?.focus();
}

// The inputs of a case, and a function that reads them; documents: ids that may be chosen as relevant.
function editor(values, filenames, documents) {
  const query = make("textarea", { rows: 2, value: values.query });
  const answer = make("textarea", { rows: 3, value: values.expected_answer });
  const category = select(CATEGORIES.map((name) => [name, words().categories[name]]), values.category);
  const difficulty = select(DIFFICULTIES.map((name) => [name, words().difficulties[name]]), values.difficulty);
  const boxes = documents.map((id) => make("input", { type: "checkbox", value: id, checked: values.relevant_document_ids.includes(id) }));
  const kind = ` ${words().categories[values.category]} · ${words().difficulties[values.difficulty]}`;
  const details = make("details.case", make("summary", values.query, make("span.soft", kind)),
    field(words().query, query), field(words().expected, answer),
    make("p.actions", field(words().category, category), field(words().difficulty, difficulty)),
    make("fieldset", make("legend", words().relevant), boxes.map((box) => make("label.check", box, filenames.get(box.value) ?? box.value))));
  const read = () => ({
    query: query.value, expected_answer: answer.value, category: category.value, difficulty: difficulty.value,
    relevant_document_ids: boxes.filter(({ checked }) => checked).map(({ value }) => value),
  });
  return { details, read };
}
