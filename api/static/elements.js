// Makes the elements of the page.
import { translate } from "./words.js";

export const byId = (id) => document.getElementById(id);

export function make(tag, className, ...content) {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...content);
  return element;
}

export function makeButton(className, act, ...content) {
  const button = make("button", className, ...content);
  button.type = "button";
  button.addEventListener("click", () => act(button));
  return button;
}

// What a template holds, in the page's language.
export function copyOf(template) {
  const element = byId(template).content.firstElementChild.cloneNode(true);
  translate(element);
  return element;
}

// {selector: text}, for what is in the element.
export function fill(element, texts) {
  for (const [selector, text] of Object.entries(texts)) element.querySelector(selector).textContent = text;
  return element;
}

// What is known of several facts, in a line.
export const joined = (...facts) => facts.filter(Boolean).join(" · ");
