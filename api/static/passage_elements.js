// Elements for a passage: lines, a page, a sheet. Offsets are Unicode code points, as the server counts them.
import { make, nodesOf } from "./elements.js";

export function textElement(text, { start_char, end_char, quote }) {
  if (text.html) return htmlElement(text, quote);
  let place = text.start_char;
  const lines = text.content.split("\n").map((line) => {
    const characters = Array.from(line);
    const [start, end] = [start_char, end_char].map((offset) => Math.max(0, offset - place));
    place += characters.length + 1;
    const [before, quote, after] = [[0, start], [start, end], [end]].map((span) => characters.slice(...span).join(""));
    return make("li", before, quote && make("mark", quote), after);
  });
  const list = make(text.media_type.startsWith("text/") ? "ol.lines.numbered" : "ol.lines", lines);
  return Object.assign(list, { start: text.first_line, lang: text.language });
}

// Without a quote, what was asked for is no quote either.
function htmlElement({ html, language }, quote) {
  const element = make("div.prose", { lang: language }, nodesOf(html));
  if (!quote) for (const mark of element.querySelectorAll("mark")) mark.replaceWith(...mark.childNodes);
  return element;
}

// A canvas: an image that needs the key in a header has no address for an <img>.
export function pageElement(bitmap, boxes, label) {
  const canvas = make("canvas", { width: bitmap.width, height: bitmap.height, role: "img", ariaLabel: label });
  canvas.getContext("bitmaprenderer").transferFromImageBitmap(bitmap);
  const shades = boxes.map((box) => {
    const shade = make("div.box");
    for (const side of ["left", "top", "width", "height"]) shade.style[side] = `${box[side] * 100}%`;
    return shade;
  });
  return make("figure", scrollable(make("div.page", canvas, shades), label), make("figcaption", label));
}

// `cells` is the cited range: "B3:C4", or empty.
export function sheetElement({ columns, headers, rows }, { cells, sheet, filename }) {
  const corners = [...cells.matchAll(/([A-Z]+)(\d+)/g)].map(([, letters, row]) => [columns.indexOf(letters), Number(row)]);
  const [[left, top], [right, bottom]] = [corners[0] ?? [], corners.at(-1) ?? []];
  const isCited = (column, row) => left <= column && column <= right && top <= row && row <= bottom;
  const head = [columns, headers].map((names) => make("tr", make("td"), names.map((name) => make("th", name))));
  const body = rows.map(({ number, values }) => make("tr", make("th", number), values.map((value, column) =>
    make(`td.${kindOf(value)}`, isCited(column, number) ? make("mark", value) : value))));
  const name = sheet || filename;
  return scrollable(make("table", make("caption", name), make("thead", head), make("tbody", body)), name);
}

export const kindOf = (value) => value.length > 24 ? "long" : value === "" || isNaN(value) ? "" : "amount";

// Focusable, to scroll by keyboard.
export const scrollable = (element, label) => make("div.sheet", { tabIndex: 0, role: "group", ariaLabel: label }, element);
