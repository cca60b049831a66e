// Lists of the sidebar: paging, a search box, buttons in rows.
import { state } from "./state.js";
import { words } from "./words.js";

// A list that loads its next page when its end is scrolled into view. `read(cursor)` resolves to [entries, next cursor], `show(entry)`
// makes a row, typing in `find` calls `search`.
export class PagedList {
  #requests = 0;
  #cursor = null;
  #typing = null;
  #end = new IntersectionObserver((entries) => { if (entries.some((entry) => entry.isIntersecting)) this.reload(this.#cursor); });

  constructor(list, { find, read, show, empty, search = () => this.reload() }) {
    Object.assign(this, { list, find, read, show, empty });
    find.addEventListener("input", () => { clearTimeout(this.#typing); this.#typing = setTimeout(search, 200); });
  }

  // Reads the first page, or the one after a cursor.
  async reload(cursor = null) {
    this.#end.disconnect();
    const request = this.#requests += 1;
    const [entries, next, failure] = await this.read(cursor).catch((error) => [[], null, error.message]);
    if (request !== this.#requests) return; // a newer request is on its way
    const field = this.list.querySelector("input:not([type])");
    if (field) return void field.addEventListener("edited", () => this.reload(cursor)); // it would go from under the typing
    const focused = this.list.contains(document.activeElement) && document.activeElement.closest("li").dataset.id;
    this.list[cursor ? "append" : "replaceChildren"](...entries.map((entry) => this.show(entry)));
    if (focused) this.list.querySelector(`[data-id="${focused}"] :is(a, button)`)?.focus({ preventScroll: true });
    this.list.dataset.empty = state.locked ? "" : failure ?? words()[this.find.value.trim() ? "nothingFound" : this.empty];
    this.#cursor = next;
    if (next) this.#end.observe(this.list.lastElementChild);
  }
}

// `actions`: functions of the row, by the class of its button.
export function onRowButtons(list, actions) {
  list.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (button) actions[button.classList[1]](button.closest("li"));
  });
}

// Removes a row and moves the focus to its neighbour, or to the list's search box.
export function removeRow(row) {
  const neighbour = row.nextElementSibling ?? row.previousElementSibling;
  (neighbour?.querySelector(":is(a, button):not([hidden])") ?? row.closest("section").querySelector("[type=search]")).focus();
  row.remove();
}
