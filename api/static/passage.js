// A citation's passage in its document: the page of a PDF, the cells of a sheet, the lines of a text.
import { byId, make, makeButton } from "./elements.js";
import { fetchWithKey } from "./key.js";
import { pageElement, sheetElement, textElement } from "./passage_parts.js";
import "./passage_words.js";
import { words } from "./words.js";

const AROUND = 1500; // characters
const MOST_AROUND = 20_000;
const MOST_QUOTE = 4000;
const ROWS_AROUND = 6;
const WIDTHS = [800, 1200, 1600]; // of pictures, in pixels

const dialog = byId("passage");
const body = byId("passage-body");
let open = null; // {citations, index, sources, trigger, before, after, page, loading}

const say = (text) => { byId("passage-place").textContent = text; };
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const cited = () => open.citations[open.index];
const source = ({ number, source: edgeSource }) => open.sources.get(number ?? edgeSource);
const addressOf = ({ document_id }) => `/api/v1/documents/${document_id}`;

// `citations` are citations or a chain's edges, `sources` the answer's by number; `trigger` gets the focus back.
export function openPassage(citations, index, { sources, trigger }) {
  open = { citations, sources, trigger };
  dialog.showModal();
  go(index);
}

function go(index) {
  const { length } = open.citations;
  open.loading?.abort();
  Object.assign(open, { index: (index + length) % length, before: AROUND, after: AROUND, page: null });
  byId("passage-steps").hidden = length < 2;
  byId("passage-count").textContent = `${open.index + 1}/${length}`;
  byId("passage-title").textContent = cited().title || cited().filename;
  byId("passage-copy").hidden = !navigator.clipboard; // which only secure pages have
  body.replaceChildren();
  say(words().opening);
  load();
}

// What is on its way is dropped. What was read before stays where it is on the screen.
async function load() {
  open.loading?.abort();
  const { signal } = open.loading = new AbortController();
  const parts = await passageOf(cited(), signal).catch((error) => {
    if (!signal.aborted) console.error(error);
    return asRead("unreachable");
  });
  if (signal.aborted) return;
  const pressed = document.activeElement.dataset.more;
  const before = body.querySelector("mark")?.getBoundingClientRect().top;
  const isFirst = !body.hasChildNodes();
  body.replaceChildren(...parts);
  const place = body.querySelector(".box, mark");
  if (isFirst) place?.scrollIntoView({ block: "center", inline: "center" });
  else if (open.page) body.scrollTop = 0;
  else body.scrollTop += place.getBoundingClientRect().top - before;
  if (pressed) (body.querySelector(`[data-more="${pressed}"]`) ?? body).focus({ preventScroll: true });
}

async function passageOf(citation, signal) {
  const { start_char, end_char } = citation;
  const asked = new URLSearchParams({ start_char, end_char, before: open.before, after: open.after });
  const response = await fetchWithKey(`${addressOf(citation)}/text?${asked}`, { signal });
  if (!response.ok) return asRead(response.status === 404 ? "deleted" : "unreachable");
  const text = await response.json();
  if (!isSame(text, citation)) return asRead("changed");
  say([text.title && text.filename, placeOf(text, citation)].filter(Boolean).join(" · "));
  const parts = text.cells ? cellParts : text.page && text.media_type === "application/pdf" ? pageParts : textParts;
  return (await parts(text, citation, signal)).filter(Boolean);
}

// Whether the document still says, at this place, what was cited.
function isSame(text, { start_char, end_char, quote, ...citation }) {
  const hash = citation.content_hash ?? source(citation)?.content_hash;
  const now = Array.from(text.content).slice(start_char - text.start_char, end_char - text.start_char).join("");
  return now === quote && (!hash || hash === text.content_hash);
}

function placeOf(text, { start_char, end_char }) {
  if (text.cells) return [text.sheet, text.cells].filter(Boolean).join("!");
  if (text.page) return fill(words().page, { n: text.page });
  if (!text.media_type.startsWith("text/")) return "";
  const lineOf = (place) => text.first_line + Array.from(text.content).slice(0, place - text.start_char).join("").split("\n").length - 1;
  const [n, last] = [start_char, end_char].map(lineOf);
  return fill(n === last ? words().line : words().lines, { n, last });
}

// What the answer was made from, where the document no longer says it.
function asRead(reason) {
  say(cited().title ? cited().filename : "");
  const content = source(cited())?.content ?? "";
  const [before, ...after] = content.split(cited().quote);
  const parts = after.length ? [before, make("mark", "", cited().quote), after.join(cited().quote)] : [make("mark", "", cited().quote)];
  return [make("p", "notice", words()[reason]), make("blockquote", "", ...parts)];
}

function textParts(text, citation) {
  return [
    text.start_char > 0 && open.before < MOST_AROUND && more("earlier", { before: Math.min(MOST_AROUND, 3 * open.before) }),
    textElement(text, citation),
    text.end_char < text.length && open.after < MOST_AROUND && more("later", { after: Math.min(MOST_AROUND, 3 * open.after) }),
  ];
}

async function pageParts(text, citation, signal) {
  const page = open.page ?? text.page;
  const width = WIDTHS.find((pixels) => pixels >= body.clientWidth * devicePixelRatio) ?? WIDTHS.at(-1);
  const quote = encodeURIComponent(Array.from(citation.quote).slice(0, MOST_QUOTE).join(""));
  const asked = [`?quote=${quote}`, `/picture?width=${width}`].map((what) => fetchWithKey(`${addressOf(citation)}/pages/${page}${what}`, { signal }));
  const [told, picture] = await Promise.all(asked);
  if (!told.ok || !picture.ok) return [make("p", "notice", words().noPicture), ...textParts(text, citation)];
  const { boxes, page_count } = await told.json();
  const label = fill(words().pageOf, { n: page, all: page_count });
  const details = make("details", "", make("summary", "", words().pageText), textElement(text, citation));
  details.open = boxes.length === 0;
  return [
    page > 1 && more("earlier", { page: page - 1 }, words().earlierPage),
    pageElement(await createImageBitmap(await picture.blob()), boxes, label),
    page < page_count && more("later", { page: page + 1 }, words().laterPage),
    details,
  ];
}

async function cellParts(text, citation, signal) {
  const asked = new URLSearchParams({ sheet: text.sheet ?? "", cells: text.cells, around: ROWS_AROUND });
  const response = await fetchWithKey(`${addressOf(citation)}/cells?${asked}`, { signal });
  const table = response.ok ? await response.json() : { rows: [] };
  if (table.rows.length === 0) return textParts(text, citation);
  return [make("blockquote", "", citation.quote), sheetElement(table, text)];
}

function more(name, change, label = words()[name]) {
  const button = makeButton("more", () => load(Object.assign(open, change)), label);
  button.dataset.more = name;
  return button;
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
