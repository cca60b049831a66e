// The shelf beside the answers: a column, or a drawer over them where there is no room; shortcuts; what is told of the connection.
import { API } from "./api.js";
import "./collections.js";
import "./conversations.js";
import "./documents.js";
import { byId } from "./elements.js";
import "./filters.js";
import { fetchWithKey } from "./key.js";
import { state } from "./state.js";
import { lasting } from "./storage.js";
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
  if (isWide.matches) lasting.shelf = page.shelf;
}

function closeDrawer() {
  if (!isWide.matches && page.shelf === "open") open(false);
}

function goToQuestion(event) {
  event.preventDefault(); // the address names the conversation
  closeDrawer();
  byId("question").focus();
}

// What a key does is done by what names it in aria-keyshortcuts.
addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, textarea, select");
  const hasModifier = event.ctrlKey || event.metaKey;
  if (event.altKey || event.isComposing || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape" && !isTyping) closeDrawer();
  if (!hasModifier && (isTyping || !singleKeys.checked)) return;
  const key = (hasModifier ? "Control+" : "") + event.key.toUpperCase();
  const meant = document.querySelector(`[aria-keyshortcuts~="${CSS.escape(key)}"]`);
  if (!meant) return;
  event.preventDefault();
  meant.click();
});

isWide.addEventListener("change", () => open(isWide.matches));
toggle.addEventListener("click", () => choose(page.shelf !== "open"));
byId("shelf-close").addEventListener("click", () => choose(false));
addEventListener("pointerdown", ({ target }) => { if (!target.closest("#shelf, dialog, #notice")) closeDrawer(); });
for (const id of ["skip", "begin"]) byId(id).addEventListener("click", goToQuestion);
state.on("conversation", closeDrawer);
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

singleKeys.checked = lasting.singleKeys !== "false";
singleKeys.addEventListener("change", () => { lasting.singleKeys = String(singleKeys.checked); });

byId("locked").querySelector("button").addEventListener("click", () => fetchWithKey(`${API}/collections?limit=1`));
state.on("locked", (isLocked) => { byId("locked").hidden = !isLocked; });
state.on("online", (isOnline) => { byId("offline").textContent = isOnline ? "" : words().offline; });
