// One file on its way to the server, and what the server says of it.
import { withKey } from "./key.js";
import { API, reached } from "./page.js";
import { state } from "./state.js";
import { words } from "./words.js";

const MOST_AT_ONCE = 2;
const waiting = [];
let running = 0;

function next() {
  if (running < MOST_AT_ONCE && waiting.length) waiting.shift().run();
}

export class Upload {
  // `show` takes what a document's row shows; `taken` the answer of the server.
  constructor(file, collection, show, taken) {
    Object.assign(this, { file, collection, show, taken });
    this.send();
  }

  send() {
    this.key = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    this.aborter = new AbortController();
    this.isSending = true;
    this.tell({ status: "waiting" });
    waiting.push(this);
    next();
  }

  cancel() {
    this.aborter.abort();
    if (waiting.includes(this)) this.end({ status: "error", message: words().cancelled });
  }

  async run() {
    running += 1;
    try {
      this.end(this.read(await reached(() => withKey((key) => this.request(key)))));
    } catch (error) {
      this.end({ status: "error", message: error.name === "AbortError" ? words().cancelled : error.message });
    }
    running -= 1;
    next();
  }

  // XMLHttpRequest, since fetch does not tell how much has been sent.
  request(key) {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      this.aborter.signal.addEventListener("abort", () => request.abort());
      request.upload.addEventListener("progress", ({ loaded, total }) => this.tell({ status: "uploading", sent: loaded / total }));
      request.addEventListener("load", () => resolve(request));
      request.addEventListener("error", () => reject(new TypeError("network")));
      request.addEventListener("abort", () => reject(this.aborter.signal.reason));
      request.open("POST", `${API}/documents`);
      const headers = { "Accept-Language": state.language, "Idempotency-Key": this.key, ...key };
      for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
      const form = new FormData();
      form.append("files", this.file);
      if (this.collection) form.append("collection", this.collection);
      request.responseType = "json";
      request.send(form);
    });
  }

  read({ status, response }) {
    if (status !== 202) throw new Error(response?.error?.message ?? words().failed);
    const [document] = response.documents;
    const isKnown = document.status === "unchanged";
    return { ...document, status: isKnown ? "indexed" : document.status, message: isKnown ? words().known : response.message, kept: !document.id, isKnown };
  }

  end(entry) {
    if (waiting.includes(this)) waiting.splice(waiting.indexOf(this), 1);
    this.isSending = false;
    this.tell(entry);
    if (entry.status !== "error") this.taken(entry);
  }

  tell(entry) {
    this.show({ byte_count: this.file.size, ...entry, filename: this.file.name });
  }
}
