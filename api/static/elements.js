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
