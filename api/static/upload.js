// A file on its way to the server.
import { API, reached } from "./api.js";
import { withKey } from "./key.js";
import { state } from "./state.js";
import { words } from "./words.js";

const MOST_AT_ONCE = 2;
const waiting = [];
let running = 0;

// The document as the server has taken it. `tell` hears how much of the file has been sent, from 0 to 1. Sent again, it is taken once.
export async function send(file, { collection, signal, tell }) {
  const random = crypto.getRandomValues(new Uint8Array(16)).toHex();
  const body = new FormData();
  body.append("files", file);
  if (collection) body.append("collection", collection);
  if (running >= MOST_AT_ONCE) await new Promise((next) => waiting.push(next));
  running += 1;
  try {
    const headers = { "Accept-Language": state.language, "Idempotency-Key": random };
    const { status, response } = await reached(() => withKey((key) => post(body, { headers: { ...headers, ...key }, signal, tell })));
    if (status !== 202) throw new Error(response?.error?.message ?? words().failed);
    const [document] = response.documents;
    if (document.status === "unchanged") return { ...document, status: "indexed", message: words().known };
    return { ...document, message: response.message };
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

// By XMLHttpRequest, since fetch does not tell how much has been sent.
function post(body, { headers, signal, tell }) {
  const { promise, resolve, reject } = Promise.withResolvers();
  const request = new XMLHttpRequest();
  request.upload.onprogress = ({ loaded, total }) => tell(loaded / total);
  request.onload = () => resolve(request);
  request.onerror = () => reject(new TypeError("the connection is lost"));
  request.onabort = () => reject(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener("abort", () => request.abort());
  request.open("POST", `${API}/documents`);
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.responseType = "json";
  request.send(body);
  return promise;
}
