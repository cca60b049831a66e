// The documents of the collection that is asked: uploaded, followed while they are read, found, deleted.
import { API, call, reached, wait } from "./api.js";
import { loadCollections } from "./collections.js";
import { ask } from "./dialogs.js";
import { byId, copyOf, fill, joined } from "./elements.js";
import { fetchWithKey } from "./key.js";
import { attempt, onButtons, PagedList, removeRow } from "./lists.js";
import { readEvents } from "./sse.js";
import { state } from "./state.js";
import { send } from "./upload.js";
import { phrase, words } from "./words.js";

const MOST_FOLLOWED = 2; // the browser keeps six connections to a server; answers and uploads need some
const find = byId("find-document");
const underWay = byId("under-way"); // uploads, what is being read, what failed
const followed = new Set(); // ids
const at = (id, ending = "") => `/documents/${id}${ending}`;
const readIndexed = (cursor) => read("indexed", cursor);
const paged = new PagedList(byId("documents"), { find, read: readIndexed, show, empty: "noDocuments", search: reload });

async function read(status, cursor) {
  if (!state.collection) return [[], null];
  const page = await call("/documents", { query: { collection: state.collection, status, filename: find.value.trim(), cursor } });
  return [page.documents, page.next_cursor];
}

async function reload() {
  const asked = state.collection ?? "";
  const known = new Set([...underWay.children].map((row) => row.dataset.id).filter(Boolean));
  const found = new Map(); // by id: one may go on from one of these to the next meanwhile, and none must be missed
  for (const status of ["uploaded", "processing", "error"]) {
    const [entries] = await read(status).catch(() => [[]]);
    for (const entry of entries) found.set(entry.id, entry);
  }
  if (asked !== (state.collection ?? "")) return;
  // What is being sent, or was while we asked; what was begun without a collection made the first one.
  const isSent = ({ id, collection }) => !known.has(id) && !found.has(id) && (!collection || collection === asked);
  const sent = [...underWay.children].filter((row) => isSent(row.dataset));
  underWay.replaceChildren(...sent, ...[...found.values()].map((entry) => show(entry)));
  followNext();
  paged.reload();
}

// The row says what is known of a document; `done` of `total` is how far it has been sent or read.
function show(entry, row = copyOf("document")) {
  const { id, filename, status, done, total } = entry;
  const [name, progress] = [row.querySelector(".name"), row.querySelector("progress")];
  row.className = status;
  row.dataset.id = id ?? "";
  name.title = progress.ariaLabel = filename;
  fill(row, { ".name": filename, ".state": describe(entry) });
  progress.hidden = !["uploading", "processing"].includes(status);
  progress.removeAttribute("value"); // of an unknown length
  if (total) Object.assign(progress, { max: total, value: done });
  const shown = { retry: ["error"], cancel: ["waiting", "uploading", "processing", id && "uploaded"], delete: ["indexed", "error"] };
  for (const [act, statuses] of Object.entries(shown)) row.querySelector(`.${act}`).hidden = !statuses.includes(status);
  return row;
}

function describe({ status, stage, done, total, byte_count, error, message }) {
  const { waiting, uploading, reading, steps } = words();
  if (message || error) return message ?? error.message;
  if (status === "indexed") return joined(size(byte_count), total && phrase("passages", { n: total }));
  if (status === "uploading") return `${uploading} ${Math.floor(done * 100)} %`;
  if (status === "processing") return `${steps[stage] ?? reading} ${total ? `${done}/${total}` : ""}`;
  return waiting;
}

function size(bytes) {
  const [unit, power] = bytes < 1e6 ? ["kilobyte", 1e3] : ["megabyte", 1e6];
  return Math.max(bytes / power, 0.1).toLocaleString(state.language, { style: "unit", unit, maximumSignificantDigits: 2 });
}

function followNext() {
  for (const { dataset: { id } } of underWay.querySelectorAll(".uploaded, .processing")) {
    if (id && followed.size < MOST_FOLLOWED && !followed.has(id)) follow(id);
  }
}

async function follow(id) {
  followed.add(id);
  try {
    const headers = { "Accept-Language": state.language, Accept: "text/event-stream" };
    const response = await reached(() => fetchWithKey(API + at(id, "/events"), { headers }));
    if (!response.ok) return rowOf(id)?.remove(); // it was deleted meanwhile
    for await (const { event, data } of readEvents(response.body)) if (event !== "error") update(JSON.parse(data), event === "done");
    await wait(500); // cut off, it is followed anew, but not without a pause
  } finally {
    followed.delete(id);
    followNext();
  }
}

const rowOf = (id) => underWay.querySelector(`[data-id="${id}"]`);

function update(entry, hasEnded) {
  const row = rowOf(entry.id);
  if (!row) return; // of another collection
  show(entry, row);
  if (!hasEnded) return;
  const isReady = entry.status === "indexed";
  byId("document-news").textContent = `${entry.filename}: ${isReady ? words().ready : describe(entry)}`;
  if (!isReady) return;
  paged.list.querySelector(`[data-id="${entry.id}"]`)?.remove(); // it was read meanwhile
  paged.list.prepend(row);
  state.tell("ingested");
}

async function upload(file, row = copyOf("document")) {
  const known = { filename: file.name, byte_count: file.size };
  const aborter = new AbortController();
  const collection = state.collection;
  row.dataset.collection = collection ?? "";
  row.upload = { retry: () => upload(file, row), cancel: () => aborter.abort() };
  underWay.prepend(show({ ...known, status: "waiting" }, row));
  try {
    const tell = (done) => show({ ...known, status: "uploading", done, total: 1 }, row);
    const taken = await send(file, { collection, signal: aborter.signal, tell });
    show({ ...known, ...taken }, row);
    if (collection) followNext();
    else await loadCollections(); // the one that it has just made
  } catch (error) {
    if (error.name === "AbortError") removeRow(row);
    else show({ ...known, status: "error", message: error.message }, row);
  }
}

async function remove(row) {
  const { id } = row.dataset;
  if (id && !await ask("removeDocument", "remove", { name: row.querySelector(".name").textContent })) return;
  if (id && !await attempt(() => call(at(id), { method: "DELETE" }))) return;
  removeRow(row);
  state.tell("ingested");
}

// "reindex" or "cancel"; of a file that the server does not have yet, what the upload does.
async function restart(row, ending, ofUpload) {
  if (!row.dataset.id) return ofUpload();
  await attempt(async () => show(await call(at(row.dataset.id, ending), { method: "POST" }), row));
  followNext();
}

const acts = {
  delete: remove,
  retry: (row) => restart(row, "/reindex", row.upload?.retry),
  cancel: (row) => restart(row, "/cancel", row.upload?.cancel),
};
for (const list of [underWay, paged.list]) onButtons(list, acts);

byId("upload").addEventListener("click", () => byId("files").click());
byId("files").addEventListener("change", ({ target }) => {
  for (const file of target.files) upload(file);
  target.value = ""; // the same file may be chosen again
});

const isDrop = (event) => event.dataTransfer?.types.includes("Files") && (event.preventDefault(), true);
addEventListener("dragover", (event) => { if (isDrop(event)) document.body.dataset.drop = words().drop; });
addEventListener("dragleave", ({ relatedTarget }) => { if (!relatedTarget) delete document.body.dataset.drop; });
addEventListener("drop", (event) => {
  delete document.body.dataset.drop;
  if (isDrop(event)) for (const file of event.dataTransfer.files) upload(file);
});
state.on("documents", reload);
