// What the parts of the shelf have in common: requests, lists, questions to the person.
import { authorization, fetchWithKey } from "./key.js";
import { state } from "./state.js";
import { translate, words } from "./words.js";

export const API = "/api/v1";
const WAITS = [1000, 2000, 4000, 8000]; // milliseconds between two tries to reach the server
export const byId = (id) => document.getElementById(id);
export const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// What this person chose, for the next visit too; storage may be forbidden.
export function remembered(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}

export function remember(name, chosen) {
  try { localStorage.setItem(name, chosen); } catch { /* then for this visit only */ }
}

export function clone(template) {
  const element = byId(template).content.firstElementChild.cloneNode(true);
  translate(element);
  return element;
}

// What the API answers, or its error in words. Out of its reach it waits for it. A GET asks for no key: state.locked says that there is none.
export async function call(path, { method = "GET", query = {}, body } = {}) {
  const given = Object.entries(query).filter(([, value]) => value);
  const address = `${API}${path}${given.length ? `?${new URLSearchParams(given)}` : ""}`;
  const headers = { "Accept-Language": state.language, ...(body && { "Content-Type": "application/json" }) };
  const options = { method, headers, body: body && JSON.stringify(body) };
  const response = await reached(() => method === "GET"
    ? fetch(address, { ...options, headers: { ...headers, ...authorization() } }) : fetchWithKey(address, options));
  if (method === "GET") state.set("locked", response.status === 401);
  return readAnswer(response);
}

export async function readAnswer(response) {
  const isJson = response.headers.get("Content-Type")?.startsWith("application/json");
  const answer = isJson ? await response.json() : response;
  if (!response.ok) throw new Error(answer.error?.message ?? words().failed);
  return answer;
}

// The answer to a request, which is sent again until the server is within reach.
export async function reached(request) {
  for (;;) {
    const response = await request().catch((error) => { if (error.name === "AbortError") throw error; });
    if (response && ![502, 503, 504].includes(response.status)) return response;
    await (away ??= awaitServer());
  }
}

let away = null; // the promise that the server is back

async function awaitServer() {
  state.set("online", false);
  for (let tries = 0, isReady = false; !isReady; tries += 1) {
    await (navigator.onLine ? wait(WAITS[Math.min(tries, WAITS.length - 1)]) : new Promise((back) => addEventListener("online", back, { once: true })));
    isReady = await fetch("/ready").then((response) => response.status < 500, () => false);
  }
  away = null;
  state.set("online", true);
}

// Does what a button is for; what went wrong is told.
export async function attempt(act) {
  byId("notice").hidden = true;
  try {
    return await act();
  } catch (error) {
    byId("notice").firstElementChild.textContent = error.message;
    byId("notice").hidden = false;
    return undefined;
  }
}

// What the person entered; "yes" where there is nothing to enter; null where they cancelled.
export function ask(question, act, hasInput = false) {
  const [dialog, input] = [byId("prompt"), byId("prompt-input")];
  byId("prompt-text").textContent = question;
  byId("prompt-enter").textContent = act;
  Object.assign(input, { value: "", hidden: !hasInput, required: hasInput });
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue ? input.value.trim() || "yes" : null), { once: true });
  });
}

// A list that is read page by page as one scrolls to its end. `read` takes a cursor and gives [entries, next cursor].
export class PagedList {
  #asked = 0;
  #seen = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && this.#readOn(this.#cursor));
  #cursor = null;

  constructor(list, read, show, empty) {
    Object.assign(this, { list, read, show, empty });
  }

  reload() {
    return this.#readOn(null);
  }

  async #readOn(cursor) {
    this.#seen.disconnect();
    const asked = this.#asked += 1;
    const [entries, next] = await this.read(cursor).catch((error) => [[], null, error]);
    if (asked !== this.#asked) return; // a newer question is on its way
    const focused = this.list.contains(document.activeElement) && document.activeElement.closest("li").dataset.id;
    this.list[cursor ? "append" : "replaceChildren"](...entries.map(this.show));
    if (focused) this.list.querySelector(`[data-id="${focused}"] :is(a, button)`)?.focus({ preventScroll: true });
    this.list.dataset.empty = this.list.children.length || state.locked ? "" : words()[this.empty];
    this.#cursor = next;
    if (next) this.#seen.observe(this.list.lastElementChild);
  }
}
