// A citation's passage as its document has it now: the page of a PDF, the cells of a sheet, the lines of a text.
import { make, makeButton } from "./elements.js";
import { pageElement, sheetElement, textElement } from "./passage_elements.js";
import { words } from "./words.js";

const MOST_AROUND = 20_000; // characters
const ROWS_AROUND = 6;
const WIDTHS = [800, 1200, 1600]; // of pictures, in pixels

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
export const addressOf = ({ document_id }) => `/api/v1/documents/${document_id}`;

// {title, filename, place, parts}. `source` is what the answer was made from; `view` says what is looked at, and fetches.
export async function readPassage(citation, source, view) {
  try {
    const { start_char, end_char } = citation;
    const asked = new URLSearchParams({ start_char, end_char, before: view.before, after: view.after });
    const response = await view.fetchIt(`${addressOf(citation)}/text?${asked}`);
    if (!response.ok) return asRead(response.status === 404 ? "deleted" : "unreachable", citation, source);
    const text = await response.json();
    if (!isSame(text, citation, source)) return asRead("changed", citation, source);
    const partsOf = text.cells ? cellParts : text.page && text.media_type === "application/pdf" ? pageParts : textParts;
    const place = [text.title && text.filename, placeOf(text, citation)].filter(Boolean).join(" · ");
    return { ...text, place, parts: await partsOf(text, citation, view) };
  } catch (error) {
    if (error.name !== "AbortError") console.error(error);
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
  const parts = after.length ? [before, make("mark", "", quote), after.join(quote)] : [make("mark", "", quote)];
  return { ...source, ...citation, place: citation.filename, parts: [notice(reason), make("blockquote", "", ...parts)] };
}

function notice(reason) {
  const element = make("p", "notice", words()[reason]);
  element.role = "alert";
  return element;
}

function placeOf(text, { start_char, end_char }) {
  if (text.cells) return [text.sheet, text.cells].filter(Boolean).join("!");
  if (text.page) return fill(words().page, { n: text.page });
  if (!text.media_type.startsWith("text/")) return "";
  const lineOf = (place) => text.first_line + Array.from(text.content).slice(0, place - text.start_char).join("").split("\n").length - 1;
  const [n, last] = [start_char, end_char].map(lineOf);
  return fill(n === last ? words().line : words().lines, { n, last });
}

function textParts(text, citation, { before, after, change }) {
  return [
    text.start_char > 0 && before < MOST_AROUND && more("earlier", () => change({ before: Math.min(MOST_AROUND, 3 * before) })),
    textElement(text, citation),
    text.end_char < text.length && after < MOST_AROUND && more("later", () => change({ after: Math.min(MOST_AROUND, 3 * after) })),
  ];
}

async function pageParts(text, citation, view) {
  const page = view.page ?? text.page;
  const width = WIDTHS.find((pixels) => pixels >= view.width) ?? WIDTHS.at(-1);
  const asked = [`?${new URLSearchParams({ quote: citation.quote })}`, `/picture?width=${width}`];
  const [told, picture] = await Promise.all(asked.map((what) => view.fetchIt(`${addressOf(citation)}/pages/${page}${what}`)));
  if (!told.ok || !picture.ok) return [notice("noPicture"), ...textParts(text, citation, view)];
  const { boxes, page_count } = await told.json();
  const details = make("details", "", make("summary", "", words().pageText), textElement(text, citation));
  details.open = boxes.length === 0;
  return [
    page > 1 && more("earlier", () => view.change({ page: page - 1 }), words().earlierPage),
    pageElement(await createImageBitmap(await picture.blob()), boxes, fill(words().pageOf, { n: page, all: page_count })),
    page < page_count && more("later", () => view.change({ page: page + 1 }), words().laterPage),
    details,
  ];
}

async function cellParts(text, citation, view) {
  const asked = new URLSearchParams({ sheet: text.sheet ?? "", cells: text.cells, around: ROWS_AROUND });
  const response = await view.fetchIt(`${addressOf(citation)}/cells?${asked}`);
  const table = response.ok ? await response.json() : { rows: [] };
  if (table.rows.length === 0) return textParts(text, citation, view);
  return [make("blockquote", "", citation.quote), sheetElement(table, text)];
}

function more(name, act, label = words()[name]) {
  const button = makeButton("more", act, label);
  button.dataset.more = name;
  return button;
}
