// The conversations: choosing, searching, starting, renaming, exporting, deleting.
import { attempt, callWhenOnline, download } from "./api.js";
import { confirmOrPrompt } from "./dialogs.js";
import { byId, copyOf, make } from "./elements.js";
import { onRowButtons, PagedList, removeRow } from "./lists.js";
import { state } from "./state.js";
import { words } from "./words.js";

const list = byId("conversations");
const find = byId("find-conversation");
const paged = new PagedList(list, { find, read, show, empty: "noConversations" });
const linkOf = (row) => row?.querySelector("a");
const at = (row) => `/conversations/${row.dataset.id}`;

async function read(cursor) {
  const page = await callWhenOnline("/conversations", { query: { query: find.value.trim(), cursor } });
  return [page.conversations, page.next_cursor];
}

function show({ id, title, collection }) {
  const row = copyOf("conversation");
  Object.assign(row.dataset, { id, collection: collection ?? "" });
  Object.assign(linkOf(row), { href: `#c=${id}`, textContent: title || words().untitled, title });
  mark(row);
  return row;
}

function mark(row) {
  linkOf(row).ariaCurrent = row.dataset.id === state.conversation ? "true" : null;
}

function rename(row) {
  const link = linkOf(row);
  const input = make("input", { value: link.textContent, maxLength: 200, ariaLabel: words().rename });
  input.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.isComposing || !["Enter", "Escape"].includes(event.key)) return;
    if (event.key === "Escape") input.value = "";
    input.blur();
    link.focus();
  });
  input.addEventListener("blur", () => {
    input.replaceWith(link);
    const title = input.value.trim();
    if (!title || title === link.textContent) return;
    attempt(async () => { link.textContent = link.title = (await callWhenOnline(at(row), { method: "PATCH", body: { title } })).title; });
  });
  link.replaceWith(input);
  input.select();
}

async function remove(row) {
  if (!await confirmOrPrompt("removeConversation", "remove", { name: linkOf(row).textContent })) return;
  if (!await attempt(() => callWhenOnline(at(row), { method: "DELETE" }))) return;
  removeRow(row);
  if (state.conversation === row.dataset.id) state.set("conversation", null);
}

function save(row) {
  const name = linkOf(row).textContent.replace(/[\\/:*?"<>|]/g, " ").slice(0, 80);
  return attempt(() => download(`${at(row)}/export`, `${name}.md`, { asksKey: false, reconnects: true }));
}

const KEYS = {
  F2: rename,
  Delete: remove,
  ArrowDown: (row) => linkOf(row.nextElementSibling)?.focus(),
  ArrowUp: (row) => linkOf(row.previousElementSibling)?.focus(),
};

onRowButtons(list, { rename, save, delete: remove });
list.addEventListener("keydown", (event) => {
  if (!KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key](event.target.closest("li"));
});
byId("begin").addEventListener("click", () => state.set("conversation", null));
state.on("conversation", (id) => {
  const collection = list.querySelector(`[data-id="${id}"]`)?.dataset.collection;
  if ([...byId("collection").options].some(({ value }) => value === collection)) state.set("collection", collection);
  [...list.children].filter(linkOf).forEach(mark);
});
for (const change of ["language", "answered", "key"]) state.on(change, () => paged.reload());
