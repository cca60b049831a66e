// The collections: choosing, creating, deleting; the facets that documents can be filtered by.
import { attempt, callWhenOnline, readPages } from "./api.js";
import { confirmOrPrompt } from "./dialogs.js";
import { byId } from "./elements.js";
import { state } from "./state.js";
import { permanentStorage } from "./storage.js";
import { words } from "./words.js";

const choice = byId("collection");
const at = (name) => `/collections/${encodeURIComponent(name)}`;

function choose(name) {
  state.set("collection", permanentStorage.collection = name);
}

export async function loadCollections() {
  const names = [];
  let preset = null;
  for await (const page of readPages("/collections", { asksKey: false, reconnects: true })) {
    names.push(...page.collections.map(({ name }) => name));
    preset = page.default;
  }
  const chosen = [state.collection, permanentStorage.collection, preset, names[0]].find((name) => names.includes(name)) ?? null;
  choice.replaceChildren(...(names.length ? names : [words().noCollection]).map((name) => new Option(name)));
  choice.disabled = byId("collection-delete").disabled = names.length === 0;
  if (chosen === state.collection) show(chosen); // its documents may have changed
  else state.set("collection", chosen);
}

function show(name) {
  if (name) choice.value = name;
  state.emit("documents");
}

async function loadFacets() {
  const asked = state.collection;
  const facets = asked && await callWhenOnline(`${at(asked)}/facets`).catch(() => null);
  if (asked !== state.collection) return;
  byId("document-count").textContent = facets ? `(${facets.document_count.toLocaleString(state.language)})` : "";
  state.emit("facets", facets);
}

async function create() {
  const name = await confirmOrPrompt("nameCollection", "make", { hasInput: true });
  if (!name || !await attempt(async () => {
    const { embedding_models: [model] } = await fetch("/health").then((response) => response.json());
    await callWhenOnline("/collections", { method: "POST", body: { name, embedding_model: model.id } });
  })) return;
  choose(name);
  await loadCollections();
}

async function remove() {
  const name = state.collection;
  if (!await confirmOrPrompt("removeCollection", "remove", { name })) return;
  if (await attempt(() => callWhenOnline(at(name), { method: "DELETE" }))) await loadCollections();
  if (choice.disabled) byId("collection-add").focus(); // no collection is left
}

choice.addEventListener("change", () => choose(choice.value));
byId("collection-add").addEventListener("click", create);
byId("collection-delete").addEventListener("click", remove);
state.on("collection", show);
for (const change of ["documents", "ingested"]) state.on(change, loadFacets);
for (const change of ["language", "key"]) state.on(change, () => loadCollections().catch(() => state.emit("documents")));
