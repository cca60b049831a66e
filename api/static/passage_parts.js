// Reads the passage of a citation from its document: the page of a PDF, the cells of a sheet, the lines of a text.
import { API, fetchWithKey } from "./api.js";
import { joined, make, makeButton } from "./elements.js";
import { pageElement, sheetElement, textElement } from "./passage_elements.js";
import { phrase, words } from "./words.js";

const MAX_CONTEXT_CHARS = 20_000;
const MIN_CHARS = 10_000; // of a stretch of a document; at most twice as many
const [CONTEXT_ROWS, MAX_ROWS] = [6, 50];
const [MIN_WIDTH, MAX_WIDTH] = [800, 1600]; // pixels of a page's image

export const pathOf = ({ document_id }) => `/documents/${document_id}`;
const read = (citation, part, query) => fetchWithKey(`${API}${pathOf(citation)}/${part}?${new URLSearchParams(query)}`);

// Resolves to {title, filename, place, parts}. `source` is the text that the answer used; `change` is called with another view.
export async function readPassage(citation, source, view, change) {
  if (source?.elsewhere) return textUsed("elsewhere", citation, source);
  try {
    const { before, after, starts } = view;
    const { start_char, end_char, quote } = citation;
    const stretch = { start_char: starts.at(-1), end_char: starts.at(-1) + MIN_CHARS, before: 0, after: MIN_CHARS };
    const response = await read(citation, "text", { html: true, ...(quote ? { start_char, end_char, before, after } : stretch) });
    if (!response.ok) return textUsed(response.status === 404 ? "deleted" : "unreachable", citation, source);
    const text = await response.json();
    if (!isSame(text, citation, source)) return textUsed("changed", citation, source);
    const partsOf = text.cells ? cellParts : text.page && text.media_type === "application/pdf" ? pageParts : textParts;
    const place = joined(text.title && text.filename, quote && placeOf(text, citation));
    return { ...text, place, parts: await partsOf(text, citation, view, change) };
  } catch (error) {
    console.error(error);
    return textUsed("unreachable", citation, source);
  }
}

// Whether the document still has the quote at the cited location.
function isSame(text, { start_char, end_char, quote, content_hash }, source) {
  const hash = content_hash ?? source?.content_hash;
  const now = Array.from(text.content).slice(start_char - text.start_char, end_char - text.start_char).join("");
  return now === quote && (!hash || hash === text.content_hash);
}

// The text that the answer used, if the document no longer has it.
function textUsed(reason, { quote, ...citation }, source) {
  const [before, ...after] = (source?.content ?? "").split(quote);
  const text = make("blockquote", after.length ? before : "", make("mark", quote), after.join(quote));
  return { ...source, ...citation, place: citation.filename, parts: [notice(reason), text] };
}

const notice = (reason) => make("p.notice", { role: "alert" }, words()[reason]);

function placeOf(text, { start_char, end_char }) {
  if (text.cells) return [text.sheet, text.cells].filter(Boolean).join("!");
  if (text.page) return [text.file, phrase(text.recognized ? "pageRecognized" : "page", { n: text.page })].filter(Boolean).join(", ");
  if (!text.media_type.startsWith("text/")) return "";
  const lineOf = (place) => text.first_line + Array.from(text.content).slice(0, place - text.start_char).join("").split("\n").length - 1;
  const [n, last] = [start_char, end_char].map(lineOf);
  return phrase(n === last ? "line" : "lines", { n, last });
}

function textParts(text, citation, view, change) {
  if (!citation.quote) return stretchParts(text, citation, view, change);
  const more = (name, side, isMore) => isMore && view[side] < MAX_CONTEXT_CHARS
    && moreButton(name, () => change({ [side]: Math.min(MAX_CONTEXT_CHARS, 3 * view[side]) }));
  return [more("earlier", "before", text.start_char > 0), textElement(text, citation), more("later", "after", text.end_char < text.length)];
}

// A document is read a stretch of lines at a time.
function stretchParts(text, citation, { starts }, change) {
  return [
    starts.length > 1 && moreButton("earlier", () => change({ starts: starts.slice(0, -1) })),
    textElement(text, citation),
    text.end_char < text.length && moreButton("later", () => change({ starts: [...starts, text.end_char + 1] })),
  ];
}

async function pageParts(text, citation, view, change) {
  const page = view.page ?? text.page;
  const width = Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, Math.round(view.width)));
  const requests = [read(citation, `pages/${page}`, { quote: citation.quote }), read(citation, `pages/${page}/picture`, { width })];
  const [layout, picture] = await Promise.all(requests);
  if (!layout.ok || !picture.ok) return [notice("noPicture"), ...textParts(text, citation, view, change)];
  const { boxes, page_count } = await layout.json();
  const bitmap = await createImageBitmap(await picture.blob());
  const details = detailsOf(text, citation, view, change);
  details.open ||= citation.quote && boxes.length === 0;
  return [
    page > 1 && moreButton("earlierPage", () => change({ page: page - 1 })),
    pageElement(bitmap, boxes, phrase("pageOf", { n: page, all: page_count })),
    page < page_count && moreButton("laterPage", () => change({ page: page + 1 })),
    details,
  ];
}

async function cellParts(text, citation, view, change) {
  const { quote } = citation;
  const response = await read(citation, "cells", { sheet: text.sheet ?? "", cells: text.cells, around: quote ? CONTEXT_ROWS : MAX_ROWS });
  const table = response.ok ? await response.json() : { rows: [] };
  if (table.rows.length === 0) return textParts(text, citation, view, change);
  if (quote) return [make("blockquote", quote), sheetElement(table, text)];
  return [sheetElement(table, { ...text, cells: "" }), detailsOf(text, citation, view, change)];
}

// The text beside its picture or table; it stays open while it is read on.
function detailsOf(text, citation, view, change) {
  const parts = citation.quote ? [textElement(text, citation)] : stretchParts(text, citation, view, (to) => change({ ...to, isTextOpen: true }));
  return make("details", { open: Boolean(view.isTextOpen) }, make("summary", words()[citation.quote ? "pageText" : "documentText"]), parts);
}

const moreButton = (name, action) => makeButton(`button.more.${name}`, action, words()[name]);
