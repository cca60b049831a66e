// The dialog that shows the passage of a citation in its document.
import { ApiError, download } from "./api.js";
import { byId, fill, make } from "./elements.js";
import { pathOf, readPassage } from "./passage_parts.js";
import { state } from "./state.js";
import { phrase, words } from "./words.js";

const CONTEXT_CHARS = 1500; // before and after the quote

const dialog = byId("passage");
const body = byId("passage-body");
const askButton = byId("passage-ask");
let open = null; // {citations, index, sources, view: {before, after, page, starts}}

const cited = () => open.citations[open.index];
const source = () => open.sources.get(cited().number);
const announce = (text) => fill(dialog, { "#passage-place": text });

// `citations` are citations, or a chain's edges with their numbers; one without a quote is all of its document. `sources` are the
// answer's by number; `trigger` gets the focus back; `tools` stand over the text.
export function openPassage(citations, index, { sources, trigger, tools = [] }) {
  open = { citations, sources };
  byId("passage-tools").replaceChildren(...tools);
  trigger.focus(); // where the dialog leaves it
  dialog.showModal();
  go(index);
}

// Shows other passages of the open document.
export function showPassages(citations) {
  open.citations = citations;
  go(0);
}

function go(index) {
  const { length } = open.citations;
  Object.assign(open, { index: (index + length) % length, view: { before: CONTEXT_CHARS, after: CONTEXT_CHARS, page: null, starts: [0] } });
  byId("passage-steps").hidden = length < 2;
  byId("passage-copy").hidden = !cited().quote || !navigator.clipboard; // only secure pages have it
  fill(dialog, { h2: source().title || source().filename, "#passage-count": `${open.index + 1}/${length}`, "#passage-place": "" });
  body.replaceChildren(make("p.opening", words().opening));
  load();
}

// Loads a view of the document; the text that is on the screen keeps its place.
async function load(change) {
  const view = open.view = { ...open.view, ...change, width: body.clientWidth * devicePixelRatio };
  const passage = await readPassage(cited(), source(), view, load);
  if (view !== open.view) return; // another view has been chosen
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
  else if (open.view.page || !place) body.scrollTop = 0;
  else body.scrollTop += place.getBoundingClientRect().top - before;
  if (pressed) (body.getElementsByClassName(pressed)[0] ?? body).focus({ preventScroll: true });
}

function downloadOriginal() {
  return download(`${pathOf(cited())}/file`, cited().filename).catch((error) => {
    if (!(error instanceof ApiError)) console.error(error);
    announce(words().noFile);
  });
}

async function copy() {
  await navigator.clipboard.writeText(cited().quote);
  announce(words().quoteCopied);
}

const selection = () => (body.contains(getSelection().anchorNode) ? getSelection().toString().trim() : "");

// The next question is asked of this document, and about the text that is selected in it.
function ask() {
  const text = selection();
  dialog.close();
  state.emit("filter", { field: "filename", values: [source().filename ?? cited().filename] });
  if (text) byId("question").value += phrase("selected", { text });
  byId("skip").click(); // to the question box, also from under the sidebar
}

askButton.addEventListener("mousedown", (event) => event.preventDefault()); // it would end the selection
document.addEventListener("selectionchange", () => { askButton.textContent = words()[selection() ? "askSelection" : "askDocument"]; });
const actions = { previous: () => go(open.index - 1), next: () => go(open.index + 1), original: downloadOriginal, copy, ask };
for (const [name, action] of Object.entries(actions)) byId(`passage-${name}`).addEventListener("click", action);
dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close()); // on the backdrop
dialog.addEventListener("keydown", ({ key, target }) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (step && open.citations.length > 1 && !target.closest(".sheet, table, pre, input")) go(open.index + step);
});
