// The key that says who asks: asked for when the server wants one, and kept until the tab is closed.
import { state } from "./state.js";

const NAME = "key";
const dialog = document.getElementById("key");
const box = document.getElementById("key-text");
let asking = null; // the promise of a key: several requests may wait for it

// As fetch, with the key and the page's language. When the server refuses it, another is asked for; who gives none gets the server's answer.
export function fetchWithKey(address, options = {}) {
  return withKey((key) => fetch(address, { ...options, headers: { "Accept-Language": state.language, ...options.headers, ...key } }));
}

// `request` takes the header of the key and resolves to what has the `status` of the answer.
export async function withKey(request) {
  for (;;) {
    const used = kept();
    const response = await request(authorization());
    if (response.status !== 401) return response;
    if (kept() !== used) continue; // another request was refused too, and a new key given
    keep(null);
    const key = await (asking ??= askForKey());
    if (!key) return response;
    keep(key);
    state.tell("key");
  }
}

export function authorization() {
  const key = kept();
  return key ? { Authorization: `Bearer ${key}` } : {};
}

function askForKey() {
  box.value = "";
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      asking = null;
      resolve(dialog.returnValue && box.value.trim());
    }, { once: true });
  });
}

let unstored = null; // where storage is forbidden

function kept() {
  try { return sessionStorage.getItem(NAME) ?? unstored; } catch { return unstored; }
}

function keep(key) {
  unstored = key;
  try {
    if (key) sessionStorage.setItem(NAME, key);
    else sessionStorage.removeItem(NAME);
  } catch { /* then until the page is left */ }
}

document.getElementById("key-cancel").addEventListener("click", () => dialog.close());
