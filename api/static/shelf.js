// The shelf beside the answers: a column, or a drawer over them where there is no room; shortcuts; what is told of the connection.
import { remember, remembered } from "./appearance.js";
import { API } from "./api.js";
import "./collections.js";
import "./conversations.js";
import "./documents.js";
import { byId, make } from "./elements.js";
import "./filters.js";
import { fetchWithKey } from "./key.js";
import { state } from "./state.js";
import { words } from "./words.js";

const page = document.documentElement.dataset;
const isWide = matchMedia("(min-width: 1000px)");
const [shelf, toggle] = [byId("shelf"), byId("shelf-toggle")];
const toQuestion = () => byId("question").focus();
const SHORTCUTS = { // key: [what it does, its words]
  "/": [toQuestion, "toQuestion"],
  N: [() => byId("begin").click(), "begin"],
  U: [() => byId("upload").click(), "upload"],
  S: [() => choose(page.shelf !== "open"), "shelf"],
  "?": [showShortcuts, "shortcuts"],
};

function open(isOpen) {
  const hadFocus = shelf.contains(document.activeElement);
  page.shelf = isOpen ? "open" : "closed";
  byId("desk").inert = isOpen && !isWide.matches;
  toggle.ariaExpanded = String(isOpen);
  if (isOpen && !isWide.matches) byId("shelf-close").focus();
  if (!isOpen && hadFocus) toggle.focus();
}

function choose(isOpen) {
  open(isOpen);
  if (isWide.matches) remember("shelf", page.shelf);
}

function closeDrawer() {
  if (!isWide.matches && page.shelf === "open") open(false);
}

function showShortcuts() {
  const rows = [...Object.entries(SHORTCUTS).map(([key, [, name]]) => [key, name]), ["Ctrl K", "toQuestion"], ["F2", "rename"], ["Del", "remove"]];
  byId("shortcuts").querySelector("dl").replaceChildren(...rows.flatMap(([key, name]) => [make("dt", "", make("kbd", "", key)), make("dd", "", words()[name])]));
  byId("shortcuts").showModal();
}

addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, textarea, select");
  const hasModifier = event.ctrlKey || event.metaKey;
  if (event.altKey || event.isComposing || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape" && !isTyping) closeDrawer();
  const isSingle = !hasModifier && !isTyping && byId("single-keys").checked;
  const act = hasModifier && event.key.toLowerCase() === "k" ? toQuestion : isSingle && SHORTCUTS[event.key.toUpperCase()]?.[0];
  if (!act) return;
  event.preventDefault();
  if (act === toQuestion) closeDrawer();
  act();
});

isWide.addEventListener("change", () => open(isWide.matches));
toggle.addEventListener("click", () => choose(page.shelf !== "open"));
byId("shelf-close").addEventListener("click", () => choose(false));
addEventListener("pointerdown", ({ target }) => { if (!target.closest("#shelf, dialog, #notice")) closeDrawer(); });
byId("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address names the conversation
  toQuestion();
});
state.on("conversation", closeDrawer);
byId("begin").addEventListener("click", () => {
  closeDrawer();
  toQuestion();
});
open(page.shelf === "open");

// Who has no documents begins with them; the examples are about those of the demo.
state.on("facets", (facets) => {
  byId("first-upload").hidden = Boolean(facets?.document_count) || state.locked;
  byId("examples").hidden = state.collection !== "demo";
});
byId("first-upload").addEventListener("click", () => {
  open(true);
  byId("upload").focus(); // the pressed one will be hidden
  byId("upload").click();
});

byId("single-keys").checked = remembered("singleKeys") !== "false";
byId("single-keys").addEventListener("change", ({ target }) => remember("singleKeys", target.checked));
byId("shortcuts-open").addEventListener("click", showShortcuts);

byId("notice").querySelector("button").addEventListener("click", () => { byId("notice").hidden = true; });
byId("locked").querySelector("button").addEventListener("click", () => fetchWithKey(`${API}/collections?limit=1`));
state.on("locked", (isLocked) => { byId("locked").hidden = !isLocked; });
state.on("online", (isOnline) => { byId("offline").textContent = isOnline ? "" : words().offline; });
