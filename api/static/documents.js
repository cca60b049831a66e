// The documents of the collection that is asked: uploaded, followed while they are read, found, deleted.
import { loadCollections } from "./collections.js";
import { fetchWithKey } from "./key.js";
import { API, ask, attempt, byId, call, clone, PagedList, reached, wait } from "./page.js";
import { readEvents } from "./sse.js";
import { state } from "./state.js";
import { Upload } from "./upload.js";
import { words } from "./words.js";

const MOST_FOLLOWED = 2; // the browser keeps six connections to a server, answers and uploads need some
const find = byId("find-document");
const underWay = byId("under-way"); // uploads, what is being read, what failed
const uploads = new WeakMap(); // row -> Upload
const followed = new Set(); // ids

const at = (id, ending = "") => `/documents/${id}${ending}`;
const paged = new PagedList(byId("documents"), (cursor) => readPage("indexed", cursor), fill, "noDocuments");

async function readPage(status, cursor) {
  if (!state.collection) return [[], null];
  const page = await call("/documents", { query: { collection: state.collection, status, filename: find.value.trim(), cursor } });
  return [page.documents, page.next_cursor];
}

async function reload() {
  const asked = state.collection;
  const pages = await Promise.all([paged.reload(), ...["processing", "uploaded", "error"].map((status) => readPage(status).catch(() => [[]]))]);
  if (asked !== state.collection) return;
  const sending = [...underWay.children].filter((row) => uploads.get(row)?.isSending);
  underWay.replaceChildren(...sending, ...pages.slice(1).flatMap(([entries]) => entries).map((entry) => fill(entry)));
  followNext();
}

// A row with what is known of a document; `sent` is the part of it that the server has, while it is uploaded.
function fill(entry, _, __, row = clone("document")) {
  const { id, filename, status, sent, done, total } = entry;
  row.className = status;
  row.dataset.id = id ?? "";
  Object.assign(row.querySelector(".name"), { textContent: filename, title: filename });
  row.querySelector(".state").textContent = describe(entry);
  row.querySelector("progress").hidden = !["uploading", "processing"].includes(status);
  const [value, max] = status === "uploading" ? [sent, 1] : [done, total];
  Object.assign(row.querySelector("progress"), { max: max || 1, ariaLabel: filename });
  if (max) row.querySelector("progress").value = value;
  else row.querySelector("progress").removeAttribute("value");
  row.querySelector(".retry").hidden = status !== "error" || (!id && !uploads.has(row));
  row.querySelector(".cancel").hidden = !["waiting", "uploading", "uploaded", "processing"].includes(status) || entry.kept;
  row.querySelector(".delete").hidden = !["indexed", "error"].includes(status);
  return row;
}

function describe({ status, stage, done, total, sent, byte_count, error, message }) {
  if (message) return message;
  if (error) return error.message;
  if (status === "indexed") return [size(byte_count), total && `${total} ${words().passages}`].filter(Boolean).join(" · ");
  if (status === "uploading") return `${words().uploading} ${Math.floor(sent * 100)} %`;
  if (status === "processing") return [words()[`stage_${stage}`] ?? words().reading, total && `${done}/${total}`].filter(Boolean).join(" ");
  return words().waiting;
}

function size(bytes) {
  const [unit, power] = bytes < 1e6 ? ["kilobyte", 1e3] : ["megabyte", 1e6];
  return (bytes / power).toLocaleString(state.language, { style: "unit", unit, maximumSignificantDigits: 2 });
}

function followNext() {
  for (const { dataset: { id } } of underWay.querySelectorAll(".uploaded, .processing")) {
    if (followed.size < MOST_FOLLOWED && id && !followed.has(id)) follow(id);
  }
}

async function follow(id) {
  followed.add(id);
  try {
    const headers = { "Accept-Language": state.language, Accept: "text/event-stream" };
    const response = await reached(() => fetchWithKey(`${API}${at(id, "/events")}`, { headers }));
    if (!response.ok) return rowOf(id)?.remove(); // it was deleted meanwhile
    for await (const { event, data } of readEvents(response.body)) if (event !== "error") progress(JSON.parse(data), event === "done");
    await wait(500); // the stream may have been cut: then it is followed anew, but not without a pause
  } finally {
    followed.delete(id);
    followNext();
  }
}

const rowOf = (id) => underWay.querySelector(`[data-id="${id}"]`);

function progress(entry, hasEnded) {
  const row = rowOf(entry.id);
  if (!row) return; // of another collection
  fill(entry, 0, 0, row);
  if (!hasEnded) return;
  byId("document-news").textContent = `${entry.filename}: ${entry.status === "indexed" ? words().ready : describe(entry)}`;
  if (entry.status !== "indexed") return;
  paged.list.prepend(row);
  paged.list.dataset.empty = "";
  state.tell("ingested");
}

function upload(files) {
  for (const file of files) {
    const row = clone("document");
    uploads.set(row, new Upload(file, state.collection, (entry) => fill(entry, 0, 0, row), (answer) => taken(row, answer)));
    underWay.prepend(row);
  }
}

// The server has it; of one that was there already nothing is left to be shown.
async function taken(row, { id, isKnown }) {
  if (!state.collection) await loadCollections(); // it has just been made
  if (isKnown && paged.list.querySelector(`[data-id="${id}"]`)) row.remove();
  followNext();
}

async function remove(row) {
  if (row.dataset.id) {
    if (!await ask(words().removeDocument.replace("…", row.querySelector(".name").textContent), words().remove)) return;
    if (!await attempt(() => call(at(row.dataset.id), { method: "DELETE" }))) return;
    state.tell("ingested");
  }
  (row.nextElementSibling ?? row.previousElementSibling)?.querySelector("button:not([hidden])")?.focus();
  row.remove();
}

async function retry(row) {
  if (!row.dataset.id) return uploads.get(row).send();
  const entry = await attempt(() => call(at(row.dataset.id, "/reindex"), { method: "POST" }));
  if (entry) fill(entry, 0, 0, row);
  followNext();
}

async function cancel(row) {
  if (!row.dataset.id) return uploads.get(row).cancel();
  const entry = await attempt(() => call(at(row.dataset.id, "/cancel"), { method: "POST" }));
  if (entry) fill(entry, 0, 0, row);
}

const ACTS = { delete: remove, retry, cancel };
for (const list of [underWay, paged.list]) {
  list.addEventListener("click", ({ target }) => {
    const act = target.closest("button")?.classList[1];
    if (act) ACTS[act](target.closest("li"));
  });
}

byId("upload").addEventListener("click", () => byId("files").click());
byId("files").addEventListener("change", ({ target }) => {
  upload(target.files);
  target.value = ""; // the same file may be chosen again
});

const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
addEventListener("dragover", (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  document.body.dataset.drop = words().drop;
});
addEventListener("dragleave", ({ relatedTarget }) => { if (!relatedTarget) delete document.body.dataset.drop; });
addEventListener("drop", (event) => {
  delete document.body.dataset.drop;
  if (!hasFiles(event)) return;
  event.preventDefault();
  upload(event.dataTransfer.files);
});

let typing;
find.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(reload, 200);
});
state.on("documents", reload);
