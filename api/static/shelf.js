// The sidebar: a column, or a drawer over the chat on narrow screens; keyboard shortcuts; the connection notice.
import { API, fetchWithKey } from "./api.js";
import "./collections.js";
import "./conversations.js";
import "./documents.js";
import { byId } from "./elements.js";
import "./filters.js";
import { state } from "./state.js";
import { permanentStorage } from "./storage.js";
import { words } from "./words.js";

const page = document.documentElement.dataset;
const isWide = matchMedia("(min-width: 1000px)");
const [shelf, toggle, singleKeys] = [byId("shelf"), byId("shelf-toggle"), byId("single-keys")];

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
  if (isWide.matches) permanentStorage.shelf = page.shelf;
}

function closeDrawer() {
  if (!isWide.matches && page.shelf === "open") open(false);
}

function goToQuestion(event) {
  event.preventDefault(); // the address names the conversation
  closeDrawer();
  byId("question").focus();
}

// A shortcut clicks the element that names it in aria-keyshortcuts.
addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, textarea, select");
  const hasModifier = event.ctrlKey || event.metaKey;
  if (event.altKey || event.isComposing || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape" && !isTyping) closeDrawer();
  if (!hasModifier && (isTyping || !singleKeys.checked)) return;
  const key = (hasModifier ? "Control+" : "") + event.key.toUpperCase();
  const shortcutElement = document.querySelector(`[aria-keyshortcuts~="${CSS.escape(key)}"]`);
  if (!shortcutElement) return;
  event.preventDefault();
  shortcutElement.click();
});

isWide.addEventListener("change", () => open(isWide.matches));
toggle.addEventListener("click", () => choose(page.shelf !== "open"));
byId("shelf-close").addEventListener("click", () => choose(false));
addEventListener("pointerdown", ({ target }) => { if (!target.closest("#shelf, dialog, #notice")) closeDrawer(); });
for (const id of ["skip", "begin"]) byId(id).addEventListener("click", goToQuestion);
state.on("conversation", closeDrawer);
open(page.shelf === "open");

// Without documents the page offers to upload some.
state.on("facets", (facets) => {
  const isEmpty = state.collection ? facets?.document_count === 0 : !state.locked;
  byId("first-upload").hidden = !isEmpty;
  byId("welcome").firstElementChild.textContent = words()[isEmpty ? "welcomeFirst" : "welcome"];
});
byId("first-upload").addEventListener("click", () => {
  open(true);
  byId("upload").focus(); // the pressed button will be hidden
  byId("upload").click();
});

singleKeys.checked = permanentStorage.singleKeys !== "false";
singleKeys.addEventListener("change", () => { permanentStorage.singleKeys = String(singleKeys.checked); });

byId("locked").querySelector("button").addEventListener("click", () => fetchWithKey(`${API}/collections?limit=1`));
state.on("locked", (isLocked) => { byId("locked").hidden = !isLocked; });
state.on("online", (isOnline) => { byId("offline").textContent = isOnline ? "" : words().offline; });

// The link to the developers' page carries the last question and its configuration.
byId("studio").addEventListener("click", ({ currentTarget }) => {
  const question = [...document.querySelectorAll("#turns .question")].at(-1)?.textContent;
  const configuration = JSON.stringify({ collection: state.collection ?? undefined, filters: state.filters ?? undefined });
  if (question) currentTarget.href = `/studio?${new URLSearchParams({ question, a: configuration })}`;
});
