// The collections: which one is asked, made, deleted; what its documents can be filtered by.
import { call } from "./api.js";
import { ask } from "./dialogs.js";
import { byId } from "./elements.js";
import { attempt } from "./lists.js";
import { state } from "./state.js";
import { lasting } from "./storage.js";
import { words } from "./words.js";

const choice = byId("collection");
const at = (name) => `/collections/${encodeURIComponent(name)}`;

function choose(name) {
  state.set("collection", lasting.collection = name);
}

export async function loadCollections() {
  const names = [];
  let page = { next_cursor: null };
  do {
    page = await call("/collections", { query: { limit: 200, cursor: page.next_cursor } });
    names.push(...page.collections.map(({ name }) => name));
  } while (page.next_cursor);
  const chosen = [state.collection, lasting.collection, page.default, names[0]].find((name) => names.includes(name)) ?? null;
  choice.replaceChildren(...(names.length ? names : [words().noCollection]).map((name) => new Option(name)));
  choice.disabled = byId("collection-delete").disabled = names.length === 0;
  if (chosen === state.collection) show(chosen); // its documents may be others
  else state.set("collection", chosen);
}

function show(name) {
  if (name) choice.value = name;
  state.tell("documents");
}

async function loadFacets() {
  const asked = state.collection;
  const facets = asked && await call(`${at(asked)}/facets`).catch(() => null);
  if (asked !== state.collection) return;
  byId("document-count").textContent = facets ? `(${facets.document_count.toLocaleString(state.language)})` : "";
  state.tell("facets", facets);
}

async function make() {
  const name = await ask("nameCollection", "make", { hasInput: true });
  if (!name || !await attempt(async () => {
    const { embedding_models: [model] } = await fetch("/health").then((response) => response.json());
    await call("/collections", { method: "POST", body: { name, embedding_model: model.id } });
  })) return;
  choose(name);
  await loadCollections();
}

async function remove() {
  const name = state.collection;
  if (!await ask("removeCollection", "remove", { name })) return;
  if (await attempt(() => call(at(name), { method: "DELETE" }))) await loadCollections();
  if (choice.disabled) byId("collection-add").focus(); // it was the last one
}

choice.addEventListener("change", () => choose(choice.value));
byId("collection-add").addEventListener("click", make);
byId("collection-delete").addEventListener("click", remove);
state.on("collection", show);
for (const change of ["documents", "ingested"]) state.on(change, loadFacets);
for (const change of ["language", "key"]) state.on(change, () => loadCollections().catch(() => state.tell("documents")));
