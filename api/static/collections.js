// The collections: choosing, creating, deleting; the facets that documents can be filtered by.
import { attempt, callWhenOnline, readPages } from "./api.js";
import { confirmOrPrompt } from "./dialogs.js";
import { byId, make } from "./elements.js";
import { state } from "./state.js";
import { permanentStorage } from "./storage.js";
import { words } from "./words.js";

const MAX_ASKED = 8; // as the API takes them
const [choice, asked, askedChoices] = [byId("collection"), byId("asked"), byId("asked-choices")];
const at = (name) => `/collections/${encodeURIComponent(name)}`;

function choose(name) {
  state.set("collection", permanentStorage.collection = name);
}

// Which collections are asked together; fewer than two: the chosen one alone.
export function askSeveral(names) {
  state.set("asked", names.length > 1 ? names.slice(0, MAX_ASKED) : null);
  if (state.asked) permanentStorage.asked = JSON.stringify(state.asked);
  else delete permanentStorage.asked;
}

function showAsked() {
  const names = state.asked ?? [state.collection];
  for (const box of askedChoices.querySelectorAll("input")) {
    box.checked = names.includes(box.value);
    box.disabled = !box.checked && names.length === MAX_ASKED;
  }
  asked.textContent = names.join(", ");
  asked.hidden = choice.options.length < 2;
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
  askedChoices.querySelector("div").replaceChildren(...names.map((name) => make("label", make("input", { type: "checkbox", value: name }), " ", name)));
  const kept = state.asked ?? JSON.parse(permanentStorage.asked ?? "[]");
  choice.disabled = byId("collection-rename").disabled = byId("collection-delete").disabled = names.length === 0;
  if (chosen === state.collection) show(chosen); // its documents may have changed
  else state.set("collection", chosen);
  askSeveral(kept.filter((name) => names.includes(name)));
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
  state.set("conversation", null);
  choose(name);
  await loadCollections();
}

async function rename() {
  const name = await confirmOrPrompt("nameCollection", "rename", { hasInput: true, name: state.collection });
  if (!name || !await attempt(() => callWhenOnline(at(state.collection), { method: "PATCH", body: { name } }))) return;
  choose(name);
  state.emit("renamed");
  await loadCollections();
}

async function remove() {
  const name = state.collection;
  await attempt(async () => {
    const { document_count: n } = await callWhenOnline(`${at(name)}/facets`);
    if (!await confirmOrPrompt("removeCollection", "remove", { name, n })) return;
    await callWhenOnline(at(name), { method: "DELETE" });
    await loadCollections();
  });
  if (choice.disabled) byId("collection-add").focus(); // no collection is left
}

choice.addEventListener("change", () => choose(choice.value));
askedChoices.addEventListener("change", () => {
  const names = [...askedChoices.querySelectorAll(":checked")].map(({ value }) => value);
  if (names.length === 1) choose(names[0]);
  askSeveral(names);
});
askedChoices.querySelector("button").addEventListener("click", () => askSeveral([...choice.options].map(({ value }) => value)));
byId("collection-add").addEventListener("click", create);
byId("collection-rename").addEventListener("click", rename);
byId("collection-delete").addEventListener("click", remove);
state.on("collection", (name) => { show(name); askSeveral([]); });
for (const change of ["collection", "asked"]) state.on(change, showAsked);
state.on("ingested", loadFacets);
for (const change of ["language", "key"]) state.on(change, () => loadCollections().catch(() => state.emit("documents")));
