// The key that says who asks: asked for when the server wants one, and kept until the tab is closed.
import { entered } from "./dialogs.js";
import { byId } from "./elements.js";
import { state } from "./state.js";
import { ofTab } from "./storage.js";

let asking = null; // the promise of a key: several requests may wait for it

// As fetch, with the key and the page's language. When the server refuses it, another is asked for; who gives none gets the server's answer.
export function fetchWithKey(address, options = {}) {
  return withKey((key) => fetch(address, { ...options, headers: { "Accept-Language": state.language, ...options.headers, ...key } }));
}

// `request` takes the header of the key and resolves to what has the `status` of the answer.
export async function withKey(request) {
  for (;;) {
    const used = ofTab.apiKey;
    const response = await request(authorization());
    if (response.status !== 401) return response;
    if (ofTab.apiKey !== used) continue; // another request was refused too, and a new key given
    delete ofTab.apiKey;
    const key = await (asking ??= entered(byId("key")).finally(() => { asking = null; }));
    if (!key) return response;
    ofTab.apiKey = key;
    state.tell("key");
  }
}

export function authorization() {
  return ofTab.apiKey ? { Authorization: `Bearer ${ofTab.apiKey}` } : {};
}
