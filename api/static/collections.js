// The collections: which one is asked, made, deleted; what its documents can be filtered by.
import { ask, attempt, byId, call, remember, remembered } from "./page.js";
import { state } from "./state.js";
import { words } from "./words.js";

const choice = byId("collection");
const at = (name, ending = "") => `/collections/${encodeURIComponent(name)}${ending}`;

function choose(name) {
  remember("collection", name);
  state.set("collection", name);
}

// Also where the names are the same: their documents may be others.
export async function loadCollections() {
  const names = [];
  let page = { next_cursor: null };
  do {
    page = await call("/collections", { query: { limit: 200, cursor: page.next_cursor } });
    names.push(...page.collections.map(({ name }) => name));
  } while (page.next_cursor);
  const chosen = [state.collection, remembered("collection"), page.default, names[0]].find((name) => names.includes(name)) ?? null;
  choice.replaceChildren(...(names.length ? names : [words().noCollection]).map((name) => new Option(name)));
  choice.disabled = byId("collection-delete").disabled = names.length === 0;
  if (chosen === state.collection) show(chosen);
  else state.set("collection", chosen);
}

function show(name) {
  if (name) choice.value = name;
  state.tell("documents");
}

async function loadFacets() {
  const facets = state.collection && await call(at(state.collection, "/facets")).catch(() => null);
  byId("document-count").textContent = facets ? `(${facets.document_count.toLocaleString(state.language)})` : "";
  state.tell("facets", facets);
}

async function add() {
  const name = await ask(words().nameCollection, words().make, true);
  if (!name) return;
  const made = await attempt(async () => {
    const { embedding_models: [model] } = await fetch("/health").then((response) => response.json());
    return call("/collections", { method: "POST", body: { name, embedding_model: model.id } });
  });
  if (!made) return;
  choose(made.name);
  await loadCollections();
}

async function remove() {
  const name = state.collection;
  if (!await ask(words().removeCollection.replace("…", name), words().remove)) return;
  if (!await attempt(() => call(at(name), { method: "DELETE" }))) return;
  state.set("conversation", null);
  await loadCollections();
}

choice.addEventListener("change", () => choose(choice.value));
byId("collection-add").addEventListener("click", add);
byId("collection-delete").addEventListener("click", remove);
state.on("collection", show);
for (const change of ["documents", "ingested"]) state.on(change, loadFacets);
for (const change of ["language", "key"]) state.on(change, () => loadCollections().catch(() => state.tell("documents")));
