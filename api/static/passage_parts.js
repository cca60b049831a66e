// Reads the passage of a citation from its document: the page of a PDF, the cells of a sheet, the lines of a text.
import { API, fetchWithKey } from "./api.js";
import { joined, make, makeButton } from "./elements.js";
import { pageElement, sheetElement, textElement } from "./passage_elements.js";
import { phrase, words } from "./words.js";

const MAX_CONTEXT_CHARS = 20_000;
const CONTEXT_ROWS = 6;
const [MIN_WIDTH, MAX_WIDTH] = [800, 1600]; // pixels of a page's image

export const pathOf = ({ document_id }) => `/documents/${document_id}`;
const read = (citation, part, query) => fetchWithKey(`${API}${pathOf(citation)}/${part}?${new URLSearchParams(query)}`);

// Resolves to {title, filename, place, parts}. `source` is the text that the answer used; `change` is called with another view.
export async function readPassage(citation, source, view, change) {
  if (source?.elsewhere) return textUsed("elsewhere", citation, source);
  try {
    const { before, after } = view;
    const { start_char, end_char } = citation;
    const response = await read(citation, "text", { start_char, end_char, before, after });
    if (!response.ok) return textUsed(response.status === 404 ? "deleted" : "unreachable", citation, source);
    const text = await response.json();
    if (!isSame(text, citation, source)) return textUsed("changed", citation, source);
    const partsOf = text.cells ? cellParts : text.page && text.media_type === "application/pdf" ? pageParts : textParts;
    const place = joined(text.title && text.filename, placeOf(text, citation));
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
  if (text.page) return phrase("page", { n: text.page });
  if (!text.media_type.startsWith("text/")) return "";
  const lineOf = (place) => text.first_line + Array.from(text.content).slice(0, place - text.start_char).join("").split("\n").length - 1;
  const [n, last] = [start_char, end_char].map(lineOf);
  return phrase(n === last ? "line" : "lines", { n, last });
}

function textParts(text, citation, view, change) {
  const more = (name, side, isMore) => isMore && view[side] < MAX_CONTEXT_CHARS
    && moreButton(name, () => change({ [side]: Math.min(MAX_CONTEXT_CHARS, 3 * view[side]) }));
  return [more("earlier", "before", text.start_char > 0), textElement(text, citation), more("later", "after", text.end_char < text.length)];
}

async function pageParts(text, citation, view, change) {
  const page = view.page ?? text.page;
  const width = Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, Math.round(view.width)));
  const requests = [read(citation, `pages/${page}`, { quote: citation.quote }), read(citation, `pages/${page}/picture`, { width })];
  const [layout, picture] = await Promise.all(requests);
  if (!layout.ok || !picture.ok) return [notice("noPicture"), ...textParts(text, citation, view, change)];
  const { boxes, page_count } = await layout.json();
  const bitmap = await createImageBitmap(await picture.blob());
  const details = make("details", make("summary", words().pageText), textElement(text, citation));
  details.open = boxes.length === 0;
  return [
    page > 1 && moreButton("earlier", () => change({ page: page - 1 }), words().earlierPage),
    pageElement(bitmap, boxes, phrase("pageOf", { n: page, all: page_count })),
    page < page_count && moreButton("later", () => change({ page: page + 1 }), words().laterPage),
    details,
  ];
}

async function cellParts(text, citation, view, change) {
  const response = await read(citation, "cells", { sheet: text.sheet ?? "", cells: text.cells, around: CONTEXT_ROWS });
  const table = response.ok ? await response.json() : { rows: [] };
  if (table.rows.length === 0) return textParts(text, citation, view, change);
  return [make("blockquote", citation.quote), sheetElement(table, text)];
}

const moreButton = (name, action, label = words()[name]) => makeButton(`button.more.${name}`, action, label);
