// The shelf beside the answers: a column, or a drawer over them where there is no room; shortcuts; what is told of the connection.
import { byId, call, remember, remembered } from "./page.js";
import { fetchWithKey } from "./key.js";
import { state } from "./state.js";
import { words } from "./words.js";
import "./collections.js";
import "./conversations.js";
import "./documents.js";
import "./filters.js";

const page = document.documentElement.dataset;
const isWide = matchMedia("(min-width: 1000px)");
const toggle = byId("shelf-toggle");
const SHORTCUTS = { "/": "toQuestion", "Ctrl K": "toQuestion", N: "begin", U: "upload", S: "shelf", "?": "shortcuts", "F2": "rename", "Del": "remove" };

function open(isOpen) {
  const hadFocus = byId("shelf").contains(document.activeElement);
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

isWide.addEventListener("change", () => open(isWide.matches));
toggle.addEventListener("click", () => choose(page.shelf !== "open"));
byId("shelf-close").addEventListener("click", () => choose(false));
state.on("conversation", closeDrawer);
byId("begin").addEventListener("click", closeDrawer);
addEventListener("pointerdown", ({ target }) => { if (!byId("shelf").contains(target) && !target.closest("dialog")) closeDrawer(); });
open(page.shelf === "open");

const ACTS = {
  "/": () => byId("question").focus(),
  n: () => byId("begin").click(),
  u: () => byId("upload").click(),
  s: () => choose(page.shelf !== "open"),
  "?": showShortcuts,
};

function showShortcuts() {
  byId("shortcuts").querySelector("dl").replaceChildren(...Object.entries(SHORTCUTS).flatMap(([keys, name]) => {
    const [term, meaning] = [document.createElement("dt"), document.createElement("dd")];
    term.append(Object.assign(document.createElement("kbd"), { textContent: keys }));
    meaning.textContent = words()[name];
    return [term, meaning];
  }));
  byId("shortcuts").showModal();
}

addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, textarea, select");
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "Escape" && !isTyping) return closeDrawer();
  const isToQuestion = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
  const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
  const act = isToQuestion ? ACTS["/"] : !isTyping && !hasModifier && byId("single-keys").checked && ACTS[event.key.toLowerCase()];
  if (!act) return;
  event.preventDefault();
  if (act === ACTS["/"]) closeDrawer();
  act();
});

byId("single-keys").checked = remembered("singleKeys") !== "false";
byId("single-keys").addEventListener("change", ({ target }) => remember("singleKeys", target.checked));
byId("shortcuts-open").addEventListener("click", showShortcuts);

byId("notice").querySelector("button").addEventListener("click", () => { byId("notice").hidden = true; });
byId("locked").querySelector("button").addEventListener("click", () => fetchWithKey("/api/v1/collections?limit=1"));
state.on("locked", (isLocked) => { byId("locked").hidden = !isLocked; });
state.on("online", (isOnline) => { byId("offline").textContent = isOnline ? "" : words().offline; });
addEventListener("offline", () => call("/collections", { query: { limit: 1 } }).catch(() => {}));
