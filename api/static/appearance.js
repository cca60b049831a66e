// The page's language and its colours: the browser's, or those that were chosen; kept for the next visit.
import { byId } from "./elements.js";
import { state } from "./state.js";
import { translate, WORDS } from "./words.js";

const page = document.documentElement;

export function remembered(name) {
  try { return localStorage.getItem(name); } catch { return null; } // storage may be forbidden
}

export function remember(name, chosen) {
  try { localStorage.setItem(name, chosen); } catch { /* then for this visit only */ }
}

function wished() {
  const tags = [remembered("language"), ...navigator.languages.map((tag) => tag.slice(0, 2))];
  return tags.find((tag) => tag in WORDS) ?? "es";
}

function press(buttons, isChosen) {
  for (const button of byId(buttons).children) button.ariaPressed = String(isChosen(button));
}

function paint(theme) {
  page.dataset.theme = theme;
  press("appearance", ({ value }) => value === theme);
}

byId("languages").addEventListener("click", ({ target }) => {
  if (!target.lang) return;
  state.set("language", target.lang);
  remember("language", target.lang);
});
byId("appearance").addEventListener("click", ({ target }) => {
  const theme = target.closest("button")?.value;
  if (!theme) return;
  paint(theme);
  remember("theme", theme);
});
state.on("language", (language) => {
  page.lang = language;
  translate();
  press("languages", ({ lang }) => lang === language);
});
paint(page.dataset.theme ?? "system"); // first.js has read it

// After all parts of the page have added their words.
export function startLanguage() {
  state.set("language", wished());
}
