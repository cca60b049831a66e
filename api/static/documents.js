// The documents of the chosen collection: uploading, progress, searching, deleting.
import { API, attempt, callWhenOnline, fetchWithKey, retryUntilReached, wait } from "./api.js";
import { loadCollections } from "./collections.js";
import { confirmOrPrompt } from "./dialogs.js";
import { byId, copyOf, fill, joined, make } from "./elements.js";
import { onRowButtons, PagedList, removeRow } from "./lists.js";
import { readEvents } from "./sse.js";
import { state } from "./state.js";
import { send } from "./upload.js";
import { phrase, words } from "./words.js";

const MAX_PROGRESS_STREAMS = 2; // browsers open six connections to a server; answers and uploads need some
const find = byId("find-document");
const underWay = byId("under-way"); // documents that are uploaded or processed, or failed
const followed = new Set(); // ids
const picked = new Set(); // ids, to be deleted together
const at = (id, ending = "") => `/documents/${id}${ending}`;
// A document whose stream has not told yet is shown in its row of those under way, which moves.
const pages = { read: (cursor) => read("indexed", cursor), show: (entry) => show(entry, rowOf(entry.id) ?? undefined) };
const paged = new PagedList(byId("documents"), { ...pages, find, empty: "noDocuments", search: reload });

async function read(status, cursor) {
  if (!state.collection) return [[], null];
  const page = await callWhenOnline("/documents", { query: { collection: state.collection, status, filename: find.value.trim(), cursor } });
  return [page.documents, page.next_cursor];
}

async function reload() {
  const asked = state.collection ?? "";
  const known = new Set([...underWay.children].map((row) => row.dataset.id).filter(Boolean));
  const found = new Map(); // by id: a document may change its status between two of these requests
  for (const status of ["uploaded", "processing", "error"]) {
    const [entries] = await read(status).catch(() => [[]]);
    for (const entry of entries) found.set(entry.id, entry);
  }
  if (asked !== (state.collection ?? "")) return;
  // Rows of uploads that the answers don't have yet; an upload without a collection creates the first one.
  const isSent = ({ id, collection }) => !known.has(id) && !found.has(id) && (!collection || collection === asked);
  const sent = [...underWay.children].filter((row) => isSent(row.dataset));
  underWay.replaceChildren(...sent, ...[...found.values()].map((entry) => show(entry)));
  followNext();
  await paged.reload();
  state.emit("ingested"); // what the lists show is counted
}

// Shows a document in its row; `done` of `total` is its progress.
function show(entry, row = copyOf("document")) {
  const { id, filename, source, copies = [], status, done, total, error } = entry;
  const [name, progress, pick] = [".name", "progress", ".pick"].map((selector) => row.querySelector(selector));
  row.className = status;
  row.dataset.id = id ?? "";
  name.title = [source ?? filename, ...copies].join("\n");
  progress.ariaLabel = filename;
  Object.assign(pick, { ariaLabel: filename, checked: picked.has(id), hidden: !id || !["indexed", "error"].includes(status) });
  row.entry = entry;
  fill(row, { ".name": filename, ".state": describe(entry) });
  if (entry.is_searchable) name.replaceChildren(make("button.link.open", { type: "button" }, filename));
  progress.hidden = !["uploading", "processing"].includes(status);
  progress.removeAttribute("value"); // indeterminate
  if (total) Object.assign(progress, { max: total, value: done });
  const shown = { retry: [!error?.is_final && "error"], cancel: ["waiting", "uploading", "processing", id && "uploaded"], delete: ["indexed", "error"] };
  for (const [act, statuses] of Object.entries(shown)) row.querySelector(`.${act}`).hidden = !statuses.includes(status);
  return row;
}

const nameOf = (source) => source.split("/").pop();

function describe({ status, stage, done, total, place, byte_count, copies, error, message }) {
  const { waiting, uploading, reading, steps } = words();
  if (message || error) return message ?? error.message;
  if (status === "indexed") return joined(size(byte_count), total && phrase("passages", { n: total }), copies?.length && phrase("alsoAs", { names: copies.map(nameOf).join(", ") }));
  if (status === "uploading") return `${uploading} ${Math.floor(done * 100)} %`;
  if (status === "processing") return `${steps[stage] ?? reading} ${total ? `${done}/${total}` : ""}`;
  return joined(waiting, place && phrase("place", { n: place.toLocaleString(state.language) }));
}

function size(bytes) {
  const [unit, power] = bytes < 1e6 ? ["kilobyte", 1e3] : ["megabyte", 1e6];
  return Math.max(bytes / power, 0.1).toLocaleString(state.language, { style: "unit", unit, maximumSignificantDigits: 2 });
}

function followNext() {
  for (const { dataset: { id } } of underWay.querySelectorAll(".uploaded, .processing")) {
    if (id && followed.size < MAX_PROGRESS_STREAMS && !followed.has(id)) follow(id);
  }
}

async function follow(id) {
  followed.add(id);
  try {
    const headers = { "Accept-Language": state.language, Accept: "text/event-stream" };
    const response = await retryUntilReached(() => fetchWithKey(API + at(id, "/events"), { headers }));
    if (!response.ok) return rowOf(id)?.remove(); // the document has been deleted
    for await (const { event, data } of readEvents(response.body)) if (event !== "error") update(JSON.parse(data), event === "done");
    await wait(500); // the stream is opened again if it was cut off
  } finally {
    followed.delete(id);
    followNext();
  }
}

const rowOf = (id, list = underWay) => list.querySelector(`[data-id="${id}"]`);

function update(entry, hasEnded) {
  const row = rowOf(entry.id, paged.list) ?? rowOf(entry.id); // the list may have loaded it already
  if (!row) return; // the document is in another collection
  show(entry, row);
  if (!hasEnded) return;
  const isReady = entry.status === "indexed";
  byId("document-news").textContent = `${entry.filename}: ${isReady ? words().ready : describe(entry)}`;
  if (!isReady) return;
  rowOf(entry.id)?.remove();
  paged.list.prepend(row);
  state.emit("ingested");
}

async function upload(file, row = copyOf("document")) {
  const known = { filename: file.name, byte_count: file.size };
  const aborter = new AbortController();
  const collection = state.collection;
  row.dataset.collection = collection ?? "";
  row.upload = { retry: () => upload(file, row), cancel: () => aborter.abort() };
  underWay.prepend(show({ ...known, status: "waiting" }, row));
  try {
    const onProgress = (done) => show({ ...known, status: "uploading", done, total: 1 }, row);
    const accepted = await send(file, { collection, signal: aborter.signal, onProgress });
    show({ ...known, ...accepted }, row);
    if (collection) followNext();
    else await loadCollections(); // the upload has created the first one
  } catch (error) {
    if (error.name === "AbortError") removeRow(row);
    else show({ ...known, status: "error", message: error.message }, row);
  }
}

async function remove(row) {
  const { id } = row.dataset;
  if (id && !await confirmOrPrompt("removeDocument", "remove", { name: row.querySelector(".name").textContent })) return;
  if (id && !await attempt(() => callWhenOnline(at(id), { method: "DELETE" }))) return;
  pick(id, false);
  removeRow(row);
  state.emit("ingested");
}

function pick(id, isPicked) {
  picked[isPicked ? "add" : "delete"](id);
  showPicked();
}

function showPicked() {
  byId("picked").hidden = picked.size === 0;
  fill(byId("picked"), { b: `(${picked.size})` });
}

async function removePicked() {
  const ids = [...picked];
  if (!await confirmOrPrompt("removeDocuments", "remove", { n: ids.length })) return;
  if (!await attempt(() => callWhenOnline("/documents/bulk-delete", { method: "POST", body: { ids } }))) return;
  for (const id of ids) (rowOf(id, paged.list) ?? rowOf(id))?.remove();
  picked.clear();
  find.focus(); // the button goes
  showPicked();
  state.emit("ingested");
}

// Posts "/reindex" or "/cancel"; for a file that the server does not have yet, calls the upload's own action.
async function post(row, ending, uploadAction) {
  if (!row.dataset.id) return uploadAction();
  await attempt(async () => show(await callWhenOnline(at(row.dataset.id, ending), { method: "POST" }), row));
  followNext();
}

const actions = {
  open: (row) => import("./document_view.js").then(({ openDocument }) => openDocument(row.entry, row.querySelector(".open"))),
  delete: remove,
  retry: (row) => post(row, "/reindex", row.upload?.retry),
  cancel: (row) => post(row, "/cancel", row.upload?.cancel),
};
for (const list of [underWay, paged.list]) {
  onRowButtons(list, actions);
  list.addEventListener("change", ({ target }) => pick(target.closest("li").dataset.id, target.checked));
}
byId("picked").addEventListener("click", removePicked);

for (const [button, input] of [["upload", "files"], ["upload-folder", "folder"]]) {
  byId(button).addEventListener("click", () => byId(input).click());
  byId(input).addEventListener("change", async ({ target }) => {
    const files = [...target.files];
    target.value = ""; // the same file may be chosen again
    for (const file of input === "folder" ? (await import("./folders.js")).visibleFiles(files) : files) upload(file);
  });
}

byId("types").addEventListener("toggle", ({ target }) => attempt(async () => {
  const { suffixes } = await callWhenOnline("/documents/types");
  fill(target, { p: suffixes.join(", ") });
}));

const isDrop = (event) => event.dataTransfer?.types.includes("Files") && (event.preventDefault(), true);
addEventListener("dragover", (event) => { if (isDrop(event)) document.body.dataset.drop = words().drop; });
addEventListener("dragleave", ({ relatedTarget }) => { if (!relatedTarget) delete document.body.dataset.drop; });
addEventListener("drop", (event) => {
  delete document.body.dataset.drop;
  if (isDrop(event)) for (const item of event.dataTransfer.items) if (item.kind === "file") take(item);
});

function take(item) {
  const folder = item.webkitGetAsEntry();
  if (!folder?.isDirectory) return upload(item.getAsFile());
  return attempt(async () => (await import("./folders.js")).readFolder(folder, upload));
}

state.on("collection", () => {
  picked.clear();
  showPicked();
});
state.on("documents", reload);
