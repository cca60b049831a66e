// Requests to the API: the access key, errors in the page's language, reconnection, downloads.
import { readInput } from "./dialogs.js";
import { byId, make } from "./elements.js";
import { state } from "./state.js";
import { tabStorage } from "./storage.js";
import { translate, words } from "./words.js";

export const API = "/api/v1";
const MAX_RETRY_DELAY_MS = 8000;
const REVOKE_AFTER_MS = 60_000; // the browser reads a download after the click
let keyDialog = null; // the promise of a key, which several requests may wait for
let reconnection = null; // the promise that the server can be reached again

export const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// Its message is the API's, or one of the page's texts: it can be shown to a person.
export class ApiError extends Error {}

export const errorOf = (body) => new ApiError(body?.error?.message ?? words().failed);

// Like fetch, with the access key and the page's language.
export function fetchWithKey(address, options = {}, asksKey = true) {
  return withKey((key) => fetch(address, { ...options, headers: { "Accept-Language": state.language, ...options.headers, ...key } }), asksKey);
}

// `request` takes the header of the key and resolves to something with a `status`. After a 401 the person is asked for another key;
// if they give none, the response with 401 is returned.
export async function withKey(request, asksKey = true) {
  for (;;) {
    const used = tabStorage.apiKey;
    const response = await request(used ? { Authorization: `Bearer ${used}` } : {});
    if (response.status !== 401 || !asksKey) return response;
    if (tabStorage.apiKey !== used) continue; // another request was refused too, and a new key given
    delete tabStorage.apiKey;
    const key = await (keyDialog ??= askForKey(used ? "keyWrong" : state.user ? "sessionEnded" : "keyHelp").finally(() => { keyDialog = null; }));
    if (!key) return response;
    tabStorage.apiKey = key;
    state.emit("key");
  }
}

// `help` names the text of the dialog.
function askForKey(help) {
  byId("key-help").dataset.text = help;
  translate(byId("key"));
  return readInput(byId("key"));
}

// The response of `${API}${path}`; anything but success is thrown as an ApiError. `body` is sent as JSON. With `reconnects`, a request
// that does not reach the server is sent again when it is back.
export async function request(path, { query = {}, body, asksKey = true, reconnects = false, ...options } = {}) {
  const address = new URL(API + path, location);
  address.search = new URLSearchParams(Object.entries(query).filter(([, value]) => value));
  const json = body && { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  const send = () => fetchWithKey(address, { ...options, ...json }, asksKey);
  const response = await (reconnects ? retryUntilReached(send) : send().catch((error) => {
    throw error.name === "AbortError" ? error : new ApiError(words().network);
  }));
  if (!options.method) state.set("locked", response.status === 401);
  if (!response.ok) throw errorOf(await response.json().catch(() => ({}))); // a proxy's error page is not JSON
  return response;
}

// The JSON of a response; null if it has no body.
export async function call(path, options) {
  const response = await request(path, options);
  return response.status === 204 ? null : response.json();
}

// A request of the sidebar: it waits for a server that is away, and reading asks for no key (state.locked says that one is needed).
export const callWhenOnline = (path, options = {}) => call(path, { asksKey: Boolean(options.method), reconnects: true, ...options });

// The pages of a list, one by one.
export async function* readPages(path, { query, ...options } = {}) {
  let page = null;
  do {
    page = await call(path, { ...options, query: { ...query, limit: 200, cursor: page?.next_cursor } });
    yield page;
  } while (page.next_cursor);
}

// Saves a response as a file.
export async function download(path, filename, options) {
  const href = URL.createObjectURL(await (await request(path, options)).blob());
  make("a", { href, download: filename }).click();
  setTimeout(() => URL.revokeObjectURL(href), REVOKE_AFTER_MS);
}

// Runs an action and shows its failure in the page's notice. Resolves to whether it succeeded.
export async function attempt(action) {
  const notice = byId("notice");
  notice.hidePopover();
  try {
    await action();
    return true;
  } catch (error) {
    if (error.name === "AbortError") return false;
    if (!(error instanceof ApiError)) console.error(error);
    notice.firstElementChild.textContent = error instanceof ApiError ? error.message : words().failed;
    notice.showPopover();
    return false;
  }
}

export async function retryUntilReached(send) {
  for (;;) {
    const response = await send().catch((error) => { if (error.name === "AbortError") throw error; });
    if (response && ![502, 503, 504].includes(response.status)) return response;
    await (reconnection ??= reconnect());
  }
}

async function reconnect() {
  state.set("online", false);
  for (let delay = 1000, isReady = false; !isReady; delay = Math.min(2 * delay, MAX_RETRY_DELAY_MS)) {
    if (navigator.onLine) await wait(delay);
    else await new Promise((resolve) => addEventListener("online", resolve, { once: true }));
    isReady = await fetch("/ready").then((response) => response.status < 500, () => false);
  }
  reconnection = null;
  state.set("online", true);
}

addEventListener("offline", () => { reconnection ??= reconnect(); });
