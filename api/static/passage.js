// The dialog that shows a citation's passage in its document.
import { byId, fill, make } from "./elements.js";
import { fetchWithKey } from "./key.js";
import { addressOf, readPassage } from "./passage_parts.js";
import { words } from "./words.js";

const AROUND = 1500; // characters

const dialog = byId("passage");
const body = byId("passage-body");
let open = null; // {citations, index, sources, view: {before, after, page}}

const cited = () => open.citations[open.index];
const source = () => open.sources.get(cited().number);
const say = (text) => fill(dialog, { "#passage-place": text });

// `citations` are citations, or a chain's edges with their numbers; `sources` the answer's by number; `trigger` gets the focus back.
export function openPassage(citations, index, { sources, trigger }) {
  open = { citations, sources };
  trigger.focus(); // where the dialog leaves it
  dialog.showModal();
  go(index);
}

function go(index) {
  const { length } = open.citations;
  Object.assign(open, { index: (index + length) % length, view: { before: AROUND, after: AROUND, page: null } });
  byId("passage-steps").hidden = length < 2;
  byId("passage-copy").hidden = !navigator.clipboard; // which only secure pages have
  fill(dialog, { h2: source().title || source().filename, "#passage-count": `${open.index + 1}/${length}`, "#passage-place": "" });
  body.replaceChildren(make("p", "opening", words().opening));
  load();
}

// What was read before stays where it is on the screen.
async function load(change) {
  const view = open.view = { ...open.view, ...change, width: body.clientWidth * devicePixelRatio };
  const passage = await readPassage(cited(), source(), view, load);
  if (view !== open.view) return; // another is looked at meanwhile
  fill(dialog, { h2: passage.title || passage.filename, "#passage-place": passage.place });
  show(passage.parts.filter(Boolean));
}

function show(parts) {
  const pressed = document.activeElement.closest("#passage .more")?.className;
  const isFirst = body.querySelector(".opening");
  const before = body.querySelector("mark")?.getBoundingClientRect().top;
  body.replaceChildren(...parts);
  const place = body.querySelector(".box, mark");
  if (isFirst) place?.scrollIntoView({ block: "center", inline: "center" });
  else if (open.view.page) body.scrollTop = 0;
  else body.scrollTop += place.getBoundingClientRect().top - before;
  if (pressed) (body.getElementsByClassName(pressed)[0] ?? body).focus({ preventScroll: true });
}

async function download() {
  const response = await fetchWithKey(`${addressOf(cited())}/file`).catch(() => null);
  if (!response?.ok) return say(words().noFile);
  const href = URL.createObjectURL(await response.blob());
  Object.assign(make("a", ""), { href, download: cited().filename }).click();
  URL.revokeObjectURL(href);
}

async function copy() {
  await navigator.clipboard.writeText(cited().quote);
  say(words().quoteCopied);
}

const acts = { previous: () => go(open.index - 1), next: () => go(open.index + 1), original: download, copy };
for (const [name, act] of Object.entries(acts)) byId(`passage-${name}`).addEventListener("click", act);
dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close()); // beside it
dialog.addEventListener("keydown", ({ key, target }) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (step && open.citations.length > 1 && !target.closest(".sheet")) go(open.index + step);
});
