// The form of one configuration, made from what the API says can be chosen.
import { words } from "../words.js";
import { ask, askAll, attempt, choice, field, make } from "./elements.js";

export const readCollections = async () => (await askAll("/collections", "collections")).map(({ name }) => name);

export function collectionChoice(names, chosen, onchange) {
  return field(words().collection, choice(names.map((name) => [name, name]), chosen, { name: "collection", onchange }));
}

export class Options {
  // given: {collection, retrieval, filters}
  constructor(title, names, given = {}, { hasFilters = true } = {}) {
    this.names = names;
    this.hasFilters = hasFilters;
    this.given = given;
    this.inputs = make("div.options", { onchange: () => this.tellChosen() });
    this.element = make("fieldset", {}, make("legend", { textContent: title }), this.inputs);
  }

  // Anew for another collection, whose own values are other ones. What was chosen stays.
  async show(collection = this.names.includes(this.given.collection) ? this.given.collection : this.names[0]) {
    const { values, config, filters } = await ask(`/retrieval-options?collection=${encodeURIComponent(collection)}`);
    const { retrieval = {}, filters: chosen = {} } = this.given;
    const change = ({ target }) => {
      this.given = this.read();
      attempt(() => this.show(target.value));
    };
    const knobs = Object.entries(config.properties).map(([name, schema]) => knob(name, schema, values[name], retrieval[name]));
    const narrowing = Object.entries(filters.properties).map(([name, schema]) => filter(name, schema, chosen[name]));
    this.inputs.replaceChildren(
      collectionChoice(this.names, collection, change),
      group("retrieval", words().options, knobs),
      this.hasFilters ? group("filters", words().filters, narrowing) : "",
    );
    this.tellChosen();
  }

  // {collection, retrieval, filters}, with what was chosen alone.
  read() {
    const given = { collection: this.inputs.querySelector("[name=collection]").value };
    for (const input of this.inputs.querySelectorAll("[data-of]")) {
      if (input.value !== "") given[input.dataset.of] = { ...given[input.dataset.of], [input.name]: valueOf(input) };
    }
    return given;
  }

  // Beside the name of what is folded up.
  tellChosen() {
    const given = this.read();
    for (const place of this.inputs.querySelectorAll("[data-chosen]")) {
      place.textContent = Object.entries(given[place.dataset.chosen] ?? {}).map(([name, value]) => ` ${name}: ${said(value)}`).join(", ");
    }
  }
}

function group(of, title, inputs) {
  const chosen = make("span.soft");
  chosen.dataset.chosen = of;
  return make("details", {}, make("summary", {}, title, chosen), make("div.knobs", {}, inputs));
}

function valueOf({ value, dataset }) {
  if (dataset.kind === "list") return value.split(",").map((text) => text.trim()).filter(Boolean);
  return dataset.kind === "text" ? value : JSON.parse(value);
}

// A JSON Schema's kinds that a form has an input for: flag, choice, number.
function knob(name, schema, inherited, chosen) {
  const kinds = (schema.anyOf ?? [schema]).filter(({ type }) => type !== "null");
  const range = kinds.find(({ type }) => type === "integer" || type === "number");
  const asItIs = `${words().asItIs} ${inherited === null ? words().byModel : said(inherited)}`;
  const input = range
    ? make("input", {
      type: "number", min: range.minimum, max: range.maximum, step: range.type === "integer" ? 1 : 0.05, placeholder: asItIs, value: chosen ?? "",
    })
    : choice([["", asItIs], ...choicesOf(kinds).map((value) => [JSON.stringify(value), said(value)])], chosen === undefined ? "" : JSON.stringify(chosen));
  Object.assign(input, { name, title: schema.description ?? "" });
  Object.assign(input.dataset, { of: "retrieval", kind: "json" });
  return field(words().knobs[name] ?? name, input, name);
}

const choicesOf = (kinds) => kinds.flatMap(({ type, enum: values, const: one }) => (type === "boolean" ? [true, false] : values ?? [one]));

export const said = (value) => ({ true: words().yes, false: words().no, null: "–", undefined: "–" })[value] ?? String(value);

function filter(name, schema, chosen) {
  const isDate = schema.format === "date";
  const input = make("input", { name, type: isDate ? "date" : "text", value: [chosen ?? []].flat().join(", "), placeholder: isDate ? "" : words().separated });
  Object.assign(input.dataset, { of: "filters", kind: isDate ? "text" : "list" });
  return field(words().narrows[name] ?? name, input, name);
}
