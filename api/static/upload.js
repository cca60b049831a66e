// Uploads of files, a few at the same time, with their progress.
import { API, errorOf, retryUntilReached, withKey } from "./api.js";
import { state } from "./state.js";
import { words } from "./words.js";

const MAX_PARALLEL_UPLOADS = 2;
const waiting = [];
let running = 0;

// Resolves to the accepted document. `onProgress` gets the share of the file that has been sent, 0 to 1. The idempotency key makes
// resending safe.
export async function send(file, { collection, signal, onProgress }) {
  const random = crypto.getRandomValues(new BigUint64Array(2)).join("-");
  const body = new FormData();
  body.append("files", file);
  if (collection) body.append("collection", collection);
  if (running >= MAX_PARALLEL_UPLOADS) await new Promise((resolve) => waiting.push(resolve));
  running += 1;
  try {
    const headers = { "Accept-Language": state.language, "Idempotency-Key": random };
    const { status, response } = await retryUntilReached(() => withKey((key) => post(body, { headers: { ...headers, ...key }, signal, onProgress })));
    if (status !== 202) throw errorOf(response);
    const [document] = response.documents;
    if (document.status === "unchanged") return { ...document, status: "indexed", message: words().known };
    return { ...document, message: response.message };
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

// Uses XMLHttpRequest, since fetch does not report upload progress.
function post(body, { headers, signal, onProgress }) {
  const { promise, resolve, reject } = Promise.withResolvers();
  const request = new XMLHttpRequest();
  request.upload.onprogress = ({ loaded, total }) => onProgress(loaded / total);
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
