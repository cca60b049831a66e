// The page's language and its colours: the browser's, or those that were chosen; kept for the next visit.
import { byId, remember, remembered } from "./page.js";
import { state } from "./state.js";
import { LANGUAGES, translate } from "./words.js";

const languages = byId("languages");
const themes = byId("appearance");
const page = document.documentElement;

function wished() {
  const tags = [remembered("language"), ...navigator.languages.map((tag) => tag.slice(0, 2))];
  return tags.find((tag) => LANGUAGES.includes(tag)) ?? "es";
}

function show(language) {
  page.lang = language;
  translate();
  for (const button of languages.children) button.ariaPressed = String(button.lang === language);
}

function paint(theme) {
  page.dataset.theme = theme;
  for (const button of themes.children) button.ariaPressed = String(button.value === theme);
}

languages.addEventListener("click", ({ target }) => {
  if (!target.lang) return;
  state.set("language", target.lang);
  remember("language", target.lang);
});

themes.addEventListener("click", ({ target }) => {
  const theme = target.closest("button")?.value;
  if (!theme) return;
  paint(theme);
  remember("theme", theme);
});

state.on("language", show);
paint(page.dataset.theme ?? "system"); // first.js has read it

// After all parts of the page have added their words.
export function startLanguage() {
  state.set("language", wished());
}
