// The causal graph: an entity between its causes and its effects, each relation with the quote that states it.
import { attempt, call } from "../api.js";
import { make, makeButton, shortened } from "../elements.js";
import { phrase, words } from "../words.js";
import { read, write } from "./address.js";
import { decimal, field, select } from "./elements.js";
import { collectionChoice } from "./options.js";

const MAX_EDGES = 2000;
const CONFIDENCES = [0.7, 0.85, 0.95];

export async function showCauses(view, names) {
  const { a, about = "", entity } = read();
  const collection = names.includes(a?.collection) ? a.collection : names[0];
  const { edges } = await call("/graph", { query: { collection, about, limit: MAX_EDGES } });
  const reload = (values) => { write(values); attempt(() => showCauses(view, names)); };
  const search = make("input", { type: "search", value: about, maxLength: 200 });
  const onsubmit = (event) => { event.preventDefault(); reload({ about: search.value.trim() }); };
  const choose = ({ target }) => reload({ a: { collection: target.value }, about: "", entity: "" });
  const show = () => showGraph(graph, edges.filter(accepts(filters)));
  const filters = {
    filename: select([["", words().anyDocument], ...valuesOf(edges, "filename")], "", { onchange: show }),
    type: select([["", words().anyType], ...valuesOf(edges, "type").map(([type]) => [type, words().relations[type]])], "", { onchange: show }),
    confidence: select([["", words().anyConfidence], ...CONFIDENCES.map((n) => [n, phrase("fromConfidence", { n: decimal(n, 2) })])], "", { onchange: show }),
  };
  const graph = make("div.columns.graph", { entity });
  view.replaceChildren(
    make("form.actions", { onsubmit }, collectionChoice(names, collection, choose), field(words().about, search), make("button.main", words().search)),
    make("p.actions", field(words().document, filters.filename), field(words().relation, filters.type), field(words().confidence, filters.confidence)),
    graph);
  show();
}

const valuesOf = (edges, name) => [...new Set(edges.map((edge) => edge[name]))].sort().map((value) => [value, value]);

const accepts = ({ filename, type, confidence }) => (edge) =>
  (!filename.value || edge.filename === filename.value) && (!type.value || edge.type === type.value) && edge.confidence >= Number(confidence.value);

// The entities with the most relations first, and the chosen one with its causes and effects.
function showGraph(graph, edges) {
  const entities = new Map(); // by id: {name, causes, effects}
  const entityOf = (id, name) => entities.get(id) ?? entities.set(id, { name, causes: [], effects: [] }).get(id);
  for (const edge of edges) {
    entityOf(edge.effect_id, edge.effect).causes.push(edge);
    entityOf(edge.cause_id, edge.cause).effects.push(edge);
  }
  const degree = ({ causes, effects }) => causes.length + effects.length;
  const ordered = [...entities].sort(([, one], [, other]) => degree(other) - degree(one));
  const list = make("ol.entities", ordered.map(([id, entity]) => make("li", choice(id, entity.name), make("span.soft", ` ${degree(entity)}`))));
  const chosen = make("section");
  function choice(id, name) {
    return Object.assign(makeButton("button.entity", () => choose(id), shortened(name)), { value: id, title: name });
  }
  function choose(id) {
    graph.entity = id;
    write({ entity: id });
    for (const button of list.querySelectorAll("button")) button.ariaPressed = String(button.value === id);
    chosen.replaceChildren(...entityParts(entities.get(id), choice));
    chosen.querySelector("h2").focus();
  }
  const hint = edges.length ? words().chooseEntity : words().noCauses;
  chosen.append(make("p.empty", { role: "status" }, hint));
  graph.replaceChildren(make("section", make("h2", `${words().entities} (${entities.size})`), list), chosen);
  if (entities.has(graph.entity)) choose(graph.entity);
}

function entityParts({ name, causes, effects }, choice) {
  const side = (title, edges, end) => make("section", make("h3", title), edges.length ? make("ul", edges.map((edge) => relation(edge, end, choice))) : make("p.empty", words().noneStated));
  return [
    make("h2", { tabIndex: -1 }, name),
    make("div.columns", side(`${words().causesOf} →`, causes, "cause"), side(`→ ${words().effectsOf}`, effects, "effect")),
  ];
}

function relation(edge, end, choice) {
  const facts = [words().relations[edge.type], decimal(edge.confidence, 2), words().polarities[edge.polarity]].filter(Boolean).join(" · ");
  return make("li", choice(edge[`${end}_id`], edge[end]), make("details", make("summary.soft", facts), make("blockquote", edge.quote), make("p.soft", edge.filename)));
}
