// The conversations: chosen, found, begun, renamed, exported, deleted.
import { ask, attempt, byId, call, clone, PagedList } from "./page.js";
import { state } from "./state.js";
import { words } from "./words.js";

const list = byId("conversations");
const find = byId("find-conversation");
const at = (id, ending = "") => `/conversations/${id}${ending}`;

const paged = new PagedList(list, async (cursor) => {
  const page = await call("/conversations", { query: { query: find.value.trim(), cursor } });
  return [page.conversations, page.next_cursor];
}, show, "noConversations");

function show({ id, title, collection }) {
  const row = clone("conversation");
  const link = row.querySelector("a");
  Object.assign(row.dataset, { id, collection: collection ?? "" });
  Object.assign(link, { href: `#c=${id}`, textContent: title || words().untitled, title });
  mark(row);
  return row;
}

function mark(row) {
  row.querySelector("a").ariaCurrent = row.dataset.id === state.conversation ? "true" : null;
}

function open({ dataset: { id, collection } }) {
  if (collection) state.set("collection", collection);
  state.set("conversation", id);
}

function rename(row) {
  const link = row.querySelector("a");
  const input = Object.assign(document.createElement("input"), { value: link.textContent, maxLength: 200, ariaLabel: words().rename });
  const close = async (isMeant) => {
    if (!input.isConnected) return;
    const title = input.value.trim();
    const hadFocus = input === document.activeElement;
    input.replaceWith(link);
    if (hadFocus) link.focus();
    if (!isMeant || !title || title === link.textContent) return;
    const changed = await attempt(() => call(at(row.dataset.id), { method: "PATCH", body: { title } }));
    if (changed) link.textContent = link.title = changed.title;
  };
  input.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter" && !event.isComposing) close(true);
    if (event.key === "Escape") close(false);
  });
  input.addEventListener("blur", () => close(true));
  link.replaceWith(input);
  input.select();
}

async function remove(row) {
  const { id } = row.dataset;
  if (!await ask(words().removeConversation.replace("…", row.querySelector("a").textContent), words().remove)) return;
  if (!await attempt(() => call(at(id), { method: "DELETE" }))) return;
  (row.nextElementSibling ?? row.previousElementSibling)?.querySelector("a").focus();
  row.remove();
  if (state.conversation === id) state.set("conversation", null);
}

async function save({ dataset: { id }, textContent }) {
  const answer = await attempt(() => call(at(id, "/export")));
  if (!answer) return;
  const address = URL.createObjectURL(await answer.blob());
  Object.assign(document.createElement("a"), { href: address, download: `${textContent.trim().slice(0, 60).replace(/[\\/:*?"<>|]/g, " ")}.md` }).click();
  URL.revokeObjectURL(address);
}

const ACTS = { rename, export: save, delete: remove };
const KEYS = { F2: rename, Delete: remove };
const STEPS = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" };

list.addEventListener("click", (event) => {
  const row = event.target.closest("li");
  const act = event.target.closest("button")?.classList[1];
  if (act) ACTS[act](row);
  if (!event.target.closest("a") || event.ctrlKey || event.metaKey) return; // those open another tab
  event.preventDefault();
  open(row);
});

list.addEventListener("keydown", (event) => {
  const row = event.target.closest("li");
  if (!KEYS[event.key] && !STEPS[event.key]) return;
  event.preventDefault();
  if (KEYS[event.key]) KEYS[event.key](row);
  else row[STEPS[event.key]]?.querySelector("a").focus();
});

byId("begin").addEventListener("click", () => {
  state.set("conversation", null);
  byId("question").focus();
});

let typing;
find.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => paged.reload(), 200);
});

state.on("conversation", () => [...list.children].forEach(mark));
for (const change of ["language", "answered", "key"]) state.on(change, () => paged.reload());
