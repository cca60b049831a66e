// The menu of a conversation: links that show it to others, and its files.
import { attempt, callWhenOnline, download } from "./api.js";
import { whenLoaded } from "./chat.js";
import { confirmOrPrompt } from "./dialogs.js";
import { byId } from "./elements.js";
import { state } from "./state.js";

const menu = byId("conversation-menu");
let row = null; // of the conversation

export function openMenu(of) {
  row = of;
  menu.querySelector("[value=unshare]").hidden = row.dataset.shared !== "true";
  menu.showPopover();
  const { left, bottom } = row.querySelector(".menu").getBoundingClientRect();
  menu.style.left = `${Math.min(left, innerWidth - menu.offsetWidth)}px`;
  menu.style.top = `${Math.min(bottom, innerHeight - menu.offsetHeight)}px`;
}

async function share(name, path) {
  if (!await confirmOrPrompt("shareHelp", "copyLink")) return;
  const { path: page } = await callWhenOnline(`${path}/share`, { method: "POST" });
  row.dataset.shared = "true";
  const link = new URL(page, location).href;
  const isCopied = await navigator.clipboard?.writeText(link).then(() => true, () => false); // only secure pages have it
  await confirmOrPrompt(isCopied ? "linkCopied" : "linkIs", "close", { link });
}

async function unshare(name, path) {
  if (!await confirmOrPrompt("unshareHelp", "stopSharing", { name })) return;
  await callWhenOnline(`${path}/share`, { method: "DELETE" });
  row.dataset.shared = "false";
}

function save(name, path, format, ending = format) {
  const filename = `${name.replace(/[\\/:*?"<>|]/g, " ").slice(0, 80)}.${ending}`;
  return download(`${path}/export`, filename, { query: { format }, asksKey: false, reconnects: true });
}

// As a PDF it is printed by the browser, which has the fonts of every script.
async function printed(name) {
  state.set("conversation", row.dataset.id);
  await whenLoaded();
  document.title = name; // which browsers name the file by
  addEventListener("afterprint", () => { document.title = "Causeway"; }, { once: true });
  print();
}

const ACTIONS = { share, unshare, markdown: (...of) => save(...of, "markdown", "md"), docx: (...of) => save(...of, "docx"), pdf: printed };

menu.addEventListener("click", ({ target }) => {
  menu.hidePopover();
  attempt(() => ACTIONS[target.value]?.(row.querySelector("a").textContent, `/conversations/${row.dataset.id}`));
});
