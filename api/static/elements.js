// Makes the elements of a turn.
import { translate, words } from "./words.js";

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

// "‹ 2/3 ›": the versions of a message, by their ids; `show` is called with the one to go to.
export function showVersions(element, versions, id, show) {
  const place = versions.indexOf(id);
  const to = (version, sign, label) => {
    const button = makeButton("version", () => show(version), sign);
    button.ariaLabel = label;
    button.disabled = !version;
    return button;
  };
  element.replaceChildren(
    to(versions[place - 1], "‹", words().versionBefore), `${place + 1}/${versions.length}`, to(versions[place + 1], "›", words().versionAfter),
  );
  element.hidden = versions.length < 2;
}

export function duration(milliseconds, locale) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1000).toLocaleString(locale, { maximumFractionDigits: 1 })} s`;
}
