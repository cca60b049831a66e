// Requests of the shelf: out of the server's reach they wait for it, and the page says so.
import { authorization, fetchWithKey } from "./key.js";
import { state } from "./state.js";
import { words } from "./words.js";

export const API = "/api/v1";
const LONGEST_WAIT = 8000; // milliseconds between two tries
export const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
let away = null; // the promise that the server is back

// What the API answers; its error in words is thrown. A GET asks for no key unless it is told to: state.locked says that there is none.
export async function call(path, { method = "GET", query = {}, body, asksKey = method !== "GET" } = {}) {
  const address = new URL(API + path, location);
  address.search = new URLSearchParams(Object.entries(query).filter(([, value]) => value));
  const headers = { "Accept-Language": state.language, ...(body && { "Content-Type": "application/json" }) };
  const options = { method, headers, body: body && JSON.stringify(body) };
  const response = await reached(() => asksKey
    ? fetchWithKey(address, options) : fetch(address, { headers: { ...headers, ...authorization() } }));
  if (method === "GET") state.set("locked", response.status === 401);
  const answer = await response.clone().json().catch(() => response); // a conversation is saved as Markdown
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

async function awaitServer() {
  state.set("online", false);
  for (let pause = 1000, isReady = false; !isReady; pause = Math.min(2 * pause, LONGEST_WAIT)) {
    if (navigator.onLine) await wait(pause);
    else await new Promise((back) => addEventListener("online", back, { once: true }));
    isReady = await fetch("/ready").then((response) => response.status < 500, () => false);
  }
  away = null;
  state.set("online", true);
}

addEventListener("offline", () => { away ??= awaitServer(); });
