// The dialog that shows a citation's passage in its document.
import { byId, make } from "./elements.js";
import { fetchWithKey } from "./key.js";
import { addressOf, readPassage } from "./passage_parts.js";
import { words } from "./words.js";

const AROUND = 1500; // characters

const dialog = byId("passage");
const body = byId("passage-body");
let open = null; // {citations, index, sources, trigger, loading, view: {before, after, page}}

const cited = () => open.citations[open.index];
const sourceOf = ({ number, source }) => open.sources.get(number ?? source);
const say = (text) => { byId("passage-place").textContent = text; };
const name = ({ title, filename }) => { byId("passage-title").textContent = title || filename; };

// `citations` are citations or a chain's edges, `sources` the answer's by number; `trigger` gets the focus back.
export function openPassage(citations, index, { sources, trigger }) {
  open = { citations, sources, trigger };
  dialog.showModal();
  go(index);
}

function go(index) {
  const { length } = open.citations;
  Object.assign(open, { index: (index + length) % length, view: { before: AROUND, after: AROUND, page: null } });
  byId("passage-steps").hidden = length < 2;
  byId("passage-count").textContent = `${open.index + 1}/${length}`;
  byId("passage-copy").hidden = !navigator.clipboard; // which only secure pages have
  name({ ...sourceOf(cited()), ...cited() });
  say("");
  body.replaceChildren(make("p", "opening", words().opening));
  load();
}

// What is on its way is dropped. What was read before stays where it is on the screen.
async function load() {
  open.loading?.abort();
  const { signal } = open.loading = new AbortController();
  const fetchIt = (address) => fetchWithKey(address, { signal });
  const change = (view) => load(Object.assign(open.view, view));
  const width = body.clientWidth * devicePixelRatio;
  const passage = await readPassage(cited(), sourceOf(cited()), { ...open.view, width, change, fetchIt });
  if (signal.aborted) return;
  name(passage);
  say(passage.place);
  show(passage.parts.filter(Boolean));
}

function show(parts) {
  const pressed = document.activeElement.dataset.more;
  const isFirst = body.querySelector(".opening");
  const before = body.querySelector("mark")?.getBoundingClientRect().top;
  body.replaceChildren(...parts);
  const place = body.querySelector(".box, mark");
  if (isFirst) place?.scrollIntoView({ block: "center", inline: "center" });
  else if (open.view.page) body.scrollTop = 0;
  else body.scrollTop += place.getBoundingClientRect().top - before;
  if (pressed) (body.querySelector(`[data-more="${pressed}"]`) ?? body).focus({ preventScroll: true });
}

async function download() {
  const response = await fetchWithKey(`${addressOf(cited())}/file`).catch(() => null);
  if (!response?.ok) return say(words().noFile);
  const link = make("a", "");
  link.href = URL.createObjectURL(await response.blob());
  link.download = cited().filename;
  link.click();
  URL.revokeObjectURL(link.href);
}

async function copy() {
  await navigator.clipboard.writeText(cited().quote);
  say(words().quoteCopied);
}

byId("passage-close").addEventListener("click", () => dialog.close());
byId("passage-previous").addEventListener("click", () => go(open.index - 1));
byId("passage-next").addEventListener("click", () => go(open.index + 1));
byId("passage-original").addEventListener("click", download);
byId("passage-copy").addEventListener("click", copy);
dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close()); // beside it
dialog.addEventListener("keydown", ({ key, target }) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (step && open.citations.length > 1 && !target.closest(".sheet")) go(open.index + step);
});
dialog.addEventListener("close", () => {
  open.loading.abort();
  open.trigger.focus();
});
