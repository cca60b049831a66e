// The conversations: choosing, searching, starting, renaming, deleting.
import { attempt, callWhenOnline } from "./api.js";
import { askSeveral } from "./collections.js";
import { confirmOrPrompt } from "./dialogs.js";
import { byId, copyOf, make } from "./elements.js";
import { onRowButtons, PagedList, removeRow } from "./lists.js";
import { openMenu } from "./sharing.js";
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

function show({ id, title, collections, is_shared: shared }) {
  const row = Object.assign(copyOf("conversation"), { collections });
  Object.assign(row.dataset, { id, shared });
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
  input.addEventListener("blur", async () => {
    input.replaceWith(link);
    const title = input.value.trim();
    const name = async () => { link.textContent = link.title = (await callWhenOnline(at(row), { method: "PATCH", body: { title } })).title; };
    if (title && title !== link.textContent) await attempt(name);
    input.dispatchEvent(new Event("edited"));
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

const KEYS = {
  F2: rename,
  Delete: remove,
  ArrowDown: (row) => linkOf(row.nextElementSibling)?.focus(),
  ArrowUp: (row) => linkOf(row.previousElementSibling)?.focus(),
};

onRowButtons(list, { rename, menu: openMenu, delete: remove });
list.addEventListener("keydown", (event) => {
  if (!KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key](event.target.closest("li"));
});
byId("begin").addEventListener("click", () => state.set("conversation", null));
state.on("conversation", (id) => {
  const collections = list.querySelector(`[data-id="${id}"]`)?.collections ?? [];
  const names = [...byId("collection").options].map(({ value }) => value).filter((name) => collections.includes(name));
  if (names.length) {
    if (!names.includes(state.collection)) state.set("collection", names[0]);
    askSeveral(names);
  }
  [...list.children].filter(linkOf).forEach(mark);
});
for (const change of ["language", "answered", "key", "renamed"]) state.on(change, () => paged.reload());
