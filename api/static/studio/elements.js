// Form fields, buttons, tables and numbers of the developers' page.
import { attempt } from "../api.js";
import { make, makeButton } from "../elements.js";
import { state } from "../state.js";

// A button whose failure is shown in the notice.
export const actionButton = (text, action, kind = "button.small") => makeButton(kind, () => attempt(action), text);

// options: [value, text] pairs
export function select(options, chosen, properties = {}) {
  return make("select", properties, options.map(([value, text]) => make("option", { value, textContent: text, selected: value === chosen })));
}

export const field = (text, input, hint) => make("label", make("span", text, " ", hint && make("code", hint)), input);

// rows: lists of cells, texts or elements. The first cell of each row is its heading.
export function table(heads, rows, caption) {
  const row = (cells) => make("tr", cells.map((cell, index) => (index ? make("td", cell) : make("th", { scope: "row" }, cell))));
  const head = make("tr", heads.map((text) => make("th", { scope: "col" }, text)));
  return make("div.wide", make("table", make("caption", caption), make("thead", head), make("tbody", rows.map(row))));
}

export const decimal = (value, digits = 3) =>
  (value == null ? "–" : value.toLocaleString(state.language, { minimumFractionDigits: digits, maximumFractionDigits: digits }));

// A short date and time in the page's language.
export const moment = (iso, style) => new Date(iso).toLocaleString(state.language, style);
