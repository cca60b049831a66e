// The page's texts in its three languages.
import { state } from "./state.js";
import en from "./words/en.json" with { type: "json" };
import es from "./words/es.json" with { type: "json" };
import fr from "./words/fr.json" with { type: "json" };

export const WORDS = { es, fr, en };
const PROPERTIES = { text: "textContent", label: "ariaLabel", hint: "placeholder", title: "title" };

// {name: text}, in the page's language.
export const words = () => WORDS[state.language];

// A text with its {names} filled in. A text with plural forms is chosen by the value that its `by` names.
export function phrase(name, values) {
  const text = words()[name];
  const form = text.by ? text[new Intl.PluralRules(state.language).select(values[text.by])] : text;
  return form.replace(/\{(\w+)\}/g, (_, value) => values[value]);
}

// Fills the elements that name their text in data-text, data-label (for screen readers), data-hint (placeholder) or data-title.
export function translate(root = document) {
  for (const [kind, property] of Object.entries(PROPERTIES)) {
    for (const element of root.querySelectorAll(`[data-${kind}]`)) element[property] = words()[element.dataset[kind]];
  }
}

// "0.4 ms", "12 ms", "1.2 s"; "–" if unknown.
export function duration(milliseconds) {
  if (milliseconds == null) return "–";
  const [value, unit] = milliseconds < 1000 ? [milliseconds, "ms"] : [milliseconds / 1000, "s"];
  return `${value.toLocaleString(state.language, { maximumFractionDigits: value < 10 ? 1 : 0 })} ${unit}`;
}
