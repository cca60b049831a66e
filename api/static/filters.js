// Which of the collection's documents a question is about: chips beside the question box, and what there is to choose from.
import { byId } from "./page.js";
import { state } from "./state.js";
import { words } from "./words.js";

const FIELDS = { language: "languages", document_type: "document_types", tags: "tags", filename: "filenames" };
const DATES = ["created_from", "created_until"];
const chips = byId("filters");
const choices = byId("filter-choices");
let facets = null;
let chosen = {}; // field -> values; a date has one: the day, with it

const make = (tag, properties, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

function nameOf(field, value) {
  if (field !== "language") return value;
  return new Intl.DisplayNames(state.language, { type: "language", fallback: "code" }).of(value);
}

function change(field, values) {
  chosen = { ...chosen, [field]: values };
  if (!values.length) delete chosen[field];
  const filters = { ...chosen };
  for (const date of DATES) if (filters[date]) filters[date] = dayOf(filters[date][0], date === "created_until" ? 1 : 0);
  state.set("filters", Object.keys(filters).length ? filters : null);
  showChips();
}

// Midnight where the person is, some days later, as the API takes it.
function dayOf(text, later) {
  const [year, month, day] = text.split("-").map(Number);
  return new Date(year, month - 1, day + later).toISOString();
}

function showChips() {
  const all = Object.entries(chosen).flatMap(([field, values]) => values.map((value) => chip(field, value)));
  const open = make("button", { type: "button", title: words().filter, onclick: () => choices.showModal() });
  open.innerHTML = '<svg><use href="/static/icons.svg#filter"/></svg>';
  if (!all.length) open.append(" ", words().filter);
  chips.replaceChildren(...(hasChoice() ? [open] : []), ...all);
}

function chip(field, value) {
  const text = `${words()[field]}: ${nameOf(field, value)}`;
  const remove = () => {
    change(field, chosen[field].filter((each) => each !== value));
    (chips.lastElementChild ?? byId("question")).focus();
  };
  return make("button", { type: "button", className: "chip", ariaLabel: `${words().removeFilter} ${text}`, onclick: remove }, `${text} `, make("span", { ariaHidden: "true" }, "×"));
}

const hasChoice = () => facets && (days().length > 1 || Object.values(FIELDS).some(differ));
const differ = (kind) => facets[kind].length > (kind === "tags" ? 0 : 1);
const days = () => [...new Set([facets.created_first, facets.created_last].map((moment) => new Date(moment).toLocaleDateString("sv")))];

function showChoices() {
  const selects = facets ? Object.entries(FIELDS).filter(([, kind]) => differ(kind)).map(([field, kind]) => {
    const select = make("select", { onchange: () => add(field, select) }, new Option(words().any, ""), ...facets[kind].map((value) => new Option(nameOf(field, value), value)));
    return make("label", {}, words()[field], select);
  }) : [];
  const dates = facets && days().length > 1 ? DATES.map((field) => {
    const input = make("input", { type: "date", min: days()[0], max: days()[1], onchange: () => change(field, input.value ? [input.value] : []) });
    return make("label", {}, words()[field], input);
  }) : [];
  choices.querySelector("div").replaceChildren(...selects, ...dates);
}

function add(field, select) {
  if (select.value) change(field, [...new Set([...(chosen[field] ?? []), select.value])]);
  select.value = "";
}

function show() {
  showChips();
  showChoices();
}

state.on("facets", (found) => {
  facets = found;
  show();
});
state.on("collection", () => {
  chosen = {};
  state.set("filters", null);
});
