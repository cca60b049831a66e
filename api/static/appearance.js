// The page's language: the browser's, or the one that was chosen; kept for the next visit.
import { state } from "./state.js";
import { LANGUAGES, translate } from "./words.js";

const switches = document.getElementById("languages");

function wished() {
  const tags = [remembered(), ...navigator.languages.map((tag) => tag.slice(0, 2))];
  return tags.find((tag) => LANGUAGES.includes(tag)) ?? "es";
}

function remembered() {
  try { return localStorage.getItem("language"); } catch { return null; } // storage may be forbidden
}

function remember(chosen) {
  try { localStorage.setItem("language", chosen); } catch { /* then for this visit only */ }
}

function show(language) {
  document.documentElement.lang = language;
  translate();
  for (const button of switches.children) button.ariaPressed = String(button.lang === language);
}

switches.addEventListener("click", ({ target }) => {
  if (!target.lang) return;
  state.set("language", target.lang);
  remember(target.lang);
});

state.on("language", show);

// After all parts of the page have added their words.
export function startLanguage() {
  state.set("language", wished());
}
