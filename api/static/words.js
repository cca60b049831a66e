// What the page says, in its three languages.
import { state } from "./state.js";
import en from "./words/en.json" with { type: "json" };
import es from "./words/es.json" with { type: "json" };
import fr from "./words/fr.json" with { type: "json" };

export const WORDS = { es, fr, en };
const SAID = { text: "textContent", label: "ariaLabel", hint: "placeholder", title: "title" };

// {name: text}, in the page's language.
export const words = () => WORDS[state.language];

// A text with its {names} filled in; of one that has a plural, the form that the value called `by` takes.
export function phrase(name, values) {
  const text = words()[name];
  const form = text.by ? text[new Intl.PluralRules(state.language).select(values[text.by])] : text;
  return form.replace(/\{(\w+)\}/g, (_, value) => values[value]);
}

// Fills what names its words by data-text, data-label (for screen readers), data-hint or data-title.
export function translate(root = document) {
  for (const [kind, property] of Object.entries(SAID)) {
    for (const element of root.querySelectorAll(`[data-${kind}]`)) element[property] = words()[element.dataset[kind]];
  }
}
