// Makes elements; what a document or a model wrote enters as text nodes only. Asks the API, and words what goes wrong.
import { fetchWithKey } from "../key.js";
import { state } from "../state.js";
import { words } from "../words.js";

const SVG = "http://www.w3.org/2000/svg";
const alertBox = document.getElementById("alert");

// make("button.small", {type: "button", onclick}, "text", child, …); null children are left out.
export function make(kind, properties = {}, ...children) {
  const [tag, ...classes] = kind.split(".");
  const element = Object.assign(document.createElement(tag), properties);
  if (classes.length) element.className = classes.join(" ");
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.flat(Infinity));
  return element;
}

export const button = (text, action, kind = "button.small") =>
  make(kind, { type: "button", textContent: text, onclick: () => attempt(action) });

export function choice(values, chosen, properties = {}) { // values: [value, text] pairs
  return make("select", properties, values.map(([value, text]) => make("option", { value, textContent: text, selected: value === chosen })));
}

export const field = (text, input, hint) => make("label", {}, make("span", {}, text, " ", hint && make("code", {}, hint)), input);

// rows: lists of cells; a cell is a text or an element. The first of each row is its heading.
export function table(heads, rows, caption) {
  const row = (cells) => make("tr", {}, cells.map((cell, index) => (index ? make("td", {}, cell) : make("th", { scope: "row" }, cell))));
  const head = make("tr", {}, heads.map((text) => make("th", { scope: "col", textContent: text })));
  return make("div.wide", {}, make("table", {}, make("caption", { textContent: caption }), make("thead", {}, head), make("tbody", {}, rows.map(row))));
}

// As JSON; null where there is no body. Throws with the API's own words.
export async function ask(path, { method = "GET", body } = {}) {
  const response = await respond(path, { method, ...(body && { body: JSON.stringify(body) }) });
  return response.status === 204 ? null : response.json();
}

export async function respond(path, options = {}) {
  const headers = { "Accept-Language": state.language, ...(options.body && { "Content-Type": "application/json" }) };
  const response = await fetchWithKey(`/api/v1${path}`, { ...options, headers }).catch((error) => {
    throw error.name === "AbortError" ? error : new Told(words().network);
  });
  if (response.ok) return response;
  const { error } = await response.json().catch(() => ({})); // a proxy's page is no JSON
  throw new Told(error?.message ?? words().failed);
}

class Told extends Error {} // in the words of a person

// All entries of a list that comes in pages, up to `most`.
export async function askAll(path, name, most = 1000) {
  const found = [];
  for (let cursor = ""; cursor != null && found.length < most;) {
    const page = await ask(`${path}${path.includes("?") ? "&" : "?"}limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    found.push(...page[name]);
    cursor = page.next_cursor;
  }
  return found;
}

// Does it; what goes wrong is told.
export async function attempt(action) {
  alertBox.hidden = true;
  try {
    return await action();
  } catch (error) {
    const isTold = error instanceof Told;
    if (!isTold && error.name !== "AbortError") console.error(error);
    alertBox.textContent = isTold ? error.message : words().failed;
    alertBox.hidden = error.name === "AbortError";
    return undefined;
  }
}

export const figure = (value, digits = 3) =>
  (value == null ? "–" : value.toLocaleString(state.language, { minimumFractionDigits: digits, maximumFractionDigits: digits }));

export const milliseconds = (value) => (value == null ? "–" : `${value.toLocaleString(state.language, { maximumFractionDigits: value < 10 ? 1 : 0 })} ms`);
