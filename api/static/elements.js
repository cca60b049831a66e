// DOM helpers that both pages share.
import { translate } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

// make("button.icon.close", {type: "button"}, "text", child, [more], …). The properties may be left out; empty children are skipped.
// Texts become text nodes, never HTML.
export function make(kind, ...content) {
  const [tag, ...classes] = kind.split(".");
  const properties = content[0]?.constructor === Object ? content.shift() : {};
  const element = Object.assign(document.createElement(tag), properties);
  if (classes.length) element.className = classes.join(" ").trim();
  element.append(...childrenOf(content));
  return element;
}

export function makeSvg(tag, attributes = {}, ...content) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...childrenOf(content));
  return element;
}

const childrenOf = (content) => content.flat(Infinity).filter((child) => child != null && child !== false && child !== "");

// `action` is called with the button.
export function makeButton(kind, action, ...content) {
  const button = make(kind, { type: "button" }, ...content);
  button.addEventListener("click", () => action(button));
  return button;
}

// The nodes of HTML that the server has sanitized. Nothing runs or loads in the document that it is parsed in.
export function nodesOf(html) {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  for (const wide of body.querySelectorAll("table, pre")) wide.tabIndex = 0; // to scroll by keyboard
  return [...body.childNodes];
}

// A copy of a template's element, in the page's language.
export function copyOf(template) {
  const element = byId(template).content.firstElementChild.cloneNode(true);
  translate(element);
  return element;
}

// Sets the text of elements inside `element`: {selector: text}.
export function fill(element, texts) {
  for (const [selector, text] of Object.entries(texts)) element.querySelector(selector).textContent = text;
  return element;
}

// Facts in a line; those that are missing are skipped.
export const joined = (...facts) => facts.filter(Boolean).join(" · ");

// A label of at most so many characters.
export const shortened = (text, most = 90) => (text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text);
