// A citation's passage as its document has it now: the page of a PDF, the cells of a sheet, the lines of a text.
import { joined, make, makeButton } from "./elements.js";
import { fetchWithKey } from "./key.js";
import { pageElement, sheetElement, textElement } from "./passage_elements.js";
import { phrase, words } from "./words.js";

const MOST_AROUND = 20_000; // characters
const ROWS_AROUND = 6;
const [NARROWEST, WIDEST] = [800, 1600]; // pixels of a picture

export const addressOf = ({ document_id }) => `/api/v1/documents/${document_id}`;
const ask = (citation, what, query) => fetchWithKey(`${addressOf(citation)}/${what}?${new URLSearchParams(query)}`);

// {title, filename, place, parts}. `source` is what the answer was made from; `change` is called with another view of it.
export async function readPassage(citation, source, view, change) {
  if (source?.elsewhere) return asRead("elsewhere", citation, source);
  try {
    const { before, after } = view;
    const { start_char, end_char } = citation;
    const response = await ask(citation, "text", { start_char, end_char, before, after });
    if (!response.ok) return asRead(response.status === 404 ? "deleted" : "unreachable", citation, source);
    const text = await response.json();
    if (!isSame(text, citation, source)) return asRead("changed", citation, source);
    const partsOf = text.cells ? cellParts : text.page && text.media_type === "application/pdf" ? pageParts : textParts;
    const place = joined(text.title && text.filename, placeOf(text, citation));
    return { ...text, place, parts: await partsOf(text, citation, view, change) };
  } catch (error) {
    console.error(error);
    return asRead("unreachable", citation, source);
  }
}

// Whether the document still says, at this place, what was cited.
function isSame(text, { start_char, end_char, quote, content_hash }, source) {
  const hash = content_hash ?? source?.content_hash;
  const now = Array.from(text.content).slice(start_char - text.start_char, end_char - text.start_char).join("");
  return now === quote && (!hash || hash === text.content_hash);
}

// What the answer was made from, where the document no longer says it.
function asRead(reason, { quote, ...citation }, source) {
  const [before, ...after] = (source?.content ?? "").split(quote);
  const text = make("blockquote", "", after.length ? before : "", make("mark", "", quote), after.join(quote));
  return { ...source, ...citation, place: citation.filename, parts: [notice(reason), text] };
}

const notice = (reason) => Object.assign(make("p", "notice", words()[reason]), { role: "alert" });

function placeOf(text, { start_char, end_char }) {
  if (text.cells) return [text.sheet, text.cells].filter(Boolean).join("!");
  if (text.page) return phrase("page", { n: text.page });
  if (!text.media_type.startsWith("text/")) return "";
  const lineOf = (place) => text.first_line + Array.from(text.content).slice(0, place - text.start_char).join("").split("\n").length - 1;
  const [n, last] = [start_char, end_char].map(lineOf);
  return phrase(n === last ? "line" : "lines", { n, last });
}

function textParts(text, citation, view, change) {
  const more = (name, side, isMore) => isMore && view[side] < MOST_AROUND
    && moreButton(name, () => change({ [side]: Math.min(MOST_AROUND, 3 * view[side]) }));
  return [more("earlier", "before", text.start_char > 0), textElement(text, citation), more("later", "after", text.end_char < text.length)];
}

async function pageParts(text, citation, view, change) {
  const page = view.page ?? text.page;
  const width = Math.min(WIDEST, Math.max(NARROWEST, Math.round(view.width)));
  const asked = [ask(citation, `pages/${page}`, { quote: citation.quote }), ask(citation, `pages/${page}/picture`, { width })];
  const [told, picture] = await Promise.all(asked);
  if (!told.ok || !picture.ok) return [notice("noPicture"), ...textParts(text, citation, view, change)];
  const { boxes, page_count } = await told.json();
  const bitmap = await createImageBitmap(await picture.blob());
  const details = make("details", "", make("summary", "", words().pageText), textElement(text, citation));
  details.open = boxes.length === 0;
  return [
    page > 1 && moreButton("earlier", () => change({ page: page - 1 }), words().earlierPage),
    pageElement(bitmap, boxes, phrase("pageOf", { n: page, all: page_count })),
    page < page_count && moreButton("later", () => change({ page: page + 1 }), words().laterPage),
    details,
  ];
}

async function cellParts(text, citation, view, change) {
  const response = await ask(citation, "cells", { sheet: text.sheet ?? "", cells: text.cells, around: ROWS_AROUND });
  const table = response.ok ? await response.json() : { rows: [] };
  if (table.rows.length === 0) return textParts(text, citation, view, change);
  return [make("blockquote", "", citation.quote), sheetElement(table, text)];
}

const moreButton = (name, act, label = words()[name]) => makeButton(`more ${name}`, act, label);
