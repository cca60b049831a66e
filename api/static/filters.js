// Filters of the collection's documents: chips beside the question box, and the dialog to choose them.
import { byId, make, makeButton } from "./elements.js";
import { state } from "./state.js";
import { words } from "./words.js";

const FIELDS = { language: "languages", document_type: "document_types", tags: "tags", filename: "filenames" };
const DATES = { created_from: 0, created_until: 1 }; // days to add: the API's end of a range is exclusive
const [open, chips, choices] = [byId("filter"), byId("chips"), byId("filter-choices")];
let facets = null;
let chosen = {}; // field -> values; of a date one, as 2026-03-31

function choose(field, values) {
  chosen = { ...chosen, [field]: values };
  if (!values.length) delete chosen[field];
  const filters = Object.entries(chosen).map(([name, all]) => [name, name in DATES ? midnight(all[0], DATES[name]) : all]);
  state.set("filters", filters.length ? Object.fromEntries(filters) : null);
  showChips();
}

// Midnight in the person's time zone, some days later.
function midnight(date, later) {
  const [year, month, day] = date.split("-").map(Number);
  return new Date(year, month - 1, day + later).toISOString();
}

const dayOf = (moment) => new Date(moment).toLocaleDateString("sv"); // 2026-03-31
const nameOf = (field, value) => (field === "language" ? new Intl.DisplayNames(state.language, { type: "language" }).of(value) : value);

function showChips() {
  chips.replaceChildren(...Object.entries(chosen).flatMap(([field, values]) => values.map((value) => chip(field, value))));
  open.hidden = !choices.querySelector("label");
  open.lastElementChild.hidden = chips.children.length > 0;
}

function chip(field, value) {
  const text = `${words()[field]} · ${nameOf(field, value)}`;
  const button = makeButton("button.chip", () => {
    choose(field, chosen[field].filter((each) => each !== value));
    (chips.lastElementChild ?? open).focus();
  }, `${text} ×`);
  button.ariaLabel = `${words().removeFilter} ${text}`;
  return button;
}

function select(field, values) {
  const element = make("select", new Option(words().any, ""), ...values.map((value) => new Option(nameOf(field, value), value)));
  element.addEventListener("change", () => {
    if (element.value) choose(field, [...new Set([...(chosen[field] ?? []), element.value])]);
    element.value = "";
  });
  return make("label", words()[field], element);
}

function dateInput(field, min, max) {
  const input = make("input", { type: "date", min, max, value: chosen[field]?.[0] ?? "" });
  input.addEventListener("change", () => choose(field, input.value ? [input.value] : []));
  return make("label", words()[field], input);
}

// Fields with a single value can't narrow a search.
function showChoices() {
  const days = [facets?.created_first, facets?.created_last].map((moment) => moment && dayOf(moment));
  const fields = Object.entries(FIELDS).filter(([field, kind]) => facets?.[kind].length > (field === "tags" ? 0 : 1));
  const selects = fields.map(([field, kind]) => select(field, facets[kind]));
  const dates = days[0] === days[1] ? [] : Object.keys(DATES).map((field) => dateInput(field, ...days));
  choices.querySelector("div").replaceChildren(...selects, ...dates);
  showChips();
}

state.on("facets", (found) => {
  facets = found;
  showChoices();
});
// In place of those that are chosen.
state.on("filter", ({ field, values }) => {
  chosen = {};
  choose(field, values);
});
state.on("collection", () => {
  chosen = {};
  state.set("filters", null);
});
