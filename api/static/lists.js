// What the shelf's lists have in common: pages, a search box, buttons.
import { byId } from "./elements.js";
import { state } from "./state.js";
import { words } from "./words.js";

// Read page by page as one scrolls to its end: `read` takes a cursor and gives [entries, next cursor], `show` makes a row.
// Who types in `find` starts a `search`.
export class PagedList {
  #asked = 0;
  #cursor = null;
  #end = new IntersectionObserver((entries) => { if (entries.some((entry) => entry.isIntersecting)) this.reload(this.#cursor); });

  constructor(list, { find, read, show, empty, search = () => this.reload() }) {
    Object.assign(this, { list, find, read, show, empty });
    let typing;
    find.addEventListener("input", () => {
      clearTimeout(typing);
      typing = setTimeout(search, 200);
    });
  }

  // From the beginning, or on from a cursor.
  async reload(cursor = null) {
    this.#end.disconnect();
    const asked = this.#asked += 1;
    const [entries, next, failure] = await this.read(cursor).catch((error) => [[], null, error.message]);
    if (asked !== this.#asked) return; // a newer question is on its way
    const focused = this.list.contains(document.activeElement) && document.activeElement.closest("li").dataset.id;
    this.list[cursor ? "append" : "replaceChildren"](...entries.map((entry) => this.show(entry)));
    if (focused) this.list.querySelector(`[data-id="${focused}"] :is(a, button)`)?.focus({ preventScroll: true });
    this.list.dataset.empty = state.locked ? "" : failure ?? words()[this.find.value.trim() ? "nothingFound" : this.empty];
    this.#cursor = next;
    if (next) this.#end.observe(this.list.lastElementChild);
  }
}

// `acts`: what is done with the row, by the class of the button.
export function onButtons(list, acts) {
  list.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (button) acts[button.classList[1]](button.closest("li"));
  });
}

// The row goes; its neighbour has the focus, or the list's search box.
export function removeRow(row) {
  const neighbour = row.nextElementSibling ?? row.previousElementSibling;
  (neighbour?.querySelector(":is(a, button):not([hidden])") ?? row.closest("section").querySelector("[type=search]")).focus();
  row.remove();
}

// Whether it went well; what went wrong is told.
export async function attempt(act) {
  const notice = byId("notice");
  notice.hidePopover();
  try {
    await act();
    return true;
  } catch (error) {
    notice.firstElementChild.textContent = error.message;
    notice.showPopover();
    return false;
  }
}
