// The form of one configuration, built from the JSON Schemas that the API returns.
import { attempt, call, readPages } from "../api.js";
import { make } from "../elements.js";
import { words } from "../words.js";
import { field, select } from "./elements.js";

// The first `max` entries of a list; `name` is their field in its pages.
export async function readAll(path, name, query, max = 1000) {
  const found = [];
  for await (const page of readPages(path, { query })) {
    found.push(...page[name]);
    if (found.length >= max) break;
  }
  return found;
}

export const readCollections = async () => (await readAll("/collections", "collections")).map(({ name }) => name);

export function collectionChoice(names, chosen, onchange) {
  return field(words().collection, select(names.map((name) => [name, name]), chosen, { name: "collection", onchange }));
}

export class Options {
  // given: {collection, retrieval, filters}
  constructor(title, names, given = {}, { hasFilters = true } = {}) {
    this.names = names;
    this.hasFilters = hasFilters;
    this.given = given;
    this.inputs = make("div.options", { onchange: () => this.showChosen() });
    this.element = make("fieldset", make("legend", title), this.inputs);
  }

  // Builds the form for a collection, with its defaults. Values that were chosen stay.
  async show(collection = this.names.includes(this.given.collection) ? this.given.collection : this.names[0]) {
    const { values, config, filters } = await call("/retrieval-options", { query: { collection } });
    const { retrieval = {}, filters: chosen = {} } = this.given;
    const change = ({ target }) => {
      this.given = this.read();
      attempt(() => this.show(target.value));
    };
    const options = Object.entries(config.properties).map(([name, schema]) => optionInput(name, schema, values[name], retrieval[name]));
    const filterInputs = Object.entries(filters.properties).map(([name, schema]) => filterInput(name, schema, chosen[name]));
    this.inputs.replaceChildren(
      collectionChoice(this.names, collection, change),
      group("retrieval", words().options, options),
      this.hasFilters ? group("filters", words().filters, filterInputs) : "",
    );
    this.showChosen();
  }

  // {collection, retrieval, filters}: only what was chosen.
  read() {
    const given = { collection: this.inputs.querySelector("[name=collection]").value };
    for (const input of this.inputs.querySelectorAll("[data-of]")) {
      if (input.value !== "") given[input.dataset.of] = { ...given[input.dataset.of], [input.name]: valueOf(input) };
    }
    return given;
  }

  // Summarises the chosen values beside the title of each group, for when it is collapsed.
  showChosen() {
    const given = this.read();
    for (const place of this.inputs.querySelectorAll("[data-chosen]")) {
      place.textContent = Object.entries(given[place.dataset.chosen] ?? {}).map(([name, value]) => ` ${name}: ${display(value)}`).join(", ");
    }
  }
}

function group(of, title, inputs) {
  const chosen = make("span.soft");
  chosen.dataset.chosen = of;
  return make("details", make("summary", title, chosen), make("div.knobs", inputs));
}

function valueOf({ value, dataset }) {
  if (dataset.kind === "list") return value.split(",").map((text) => text.trim()).filter(Boolean);
  return dataset.kind === "text" ? value : JSON.parse(value);
}

// An input for a JSON Schema: boolean, enum or number.
function optionInput(name, schema, preset, chosen) {
  const kinds = (schema.anyOf ?? [schema]).filter(({ type }) => type !== "null");
  const range = kinds.find(({ type }) => type === "integer" || type === "number");
  const inherits = `${words().asItIs} ${preset === null ? words().byModel : display(preset)}`;
  const input = range
    ? make("input", {
      type: "number", min: range.minimum, max: range.maximum, step: range.type === "integer" ? 1 : 0.05, placeholder: inherits, value: chosen ?? "",
    })
    : select([["", inherits], ...choicesOf(kinds).map((value) => [JSON.stringify(value), display(value)])], chosen === undefined ? "" : JSON.stringify(chosen));
  Object.assign(input, { name, title: schema.description ?? "" });
  Object.assign(input.dataset, { of: "retrieval", kind: "json" });
  return field(words().knobs[name] ?? name, input, name);
}

const choicesOf = (kinds) => kinds.flatMap(({ type, enum: values, const: one }) => (type === "boolean" ? [true, false] : values ?? [one]));

export const display = (value) => ({ true: words().yes, false: words().no, null: "–", undefined: "–" })[value] ?? String(value);

function filterInput(name, schema, chosen) {
  const isDate = schema.format === "date";
  const input = make("input", { name, type: isDate ? "date" : "text", value: [chosen ?? []].flat().join(", "), placeholder: isDate ? "" : words().separated });
  Object.assign(input.dataset, { of: "filters", kind: isDate ? "text" : "list" });
  return field(words().narrows[name] ?? name, input, name);
}
