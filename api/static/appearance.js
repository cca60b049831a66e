// The page's language and its colours: the browser's, or those that were chosen.
import { byId } from "./elements.js";
import { state } from "./state.js";
import { lasting } from "./storage.js";
import { translate, WORDS } from "./words.js";

const page = document.documentElement;

function wished() {
  const tags = [lasting.language, ...navigator.languages.map((tag) => tag.slice(0, 2))];
  return tags.find((tag) => tag in WORDS) ?? "es";
}

for (const [name, buttons] of Object.entries({ language: byId("languages"), theme: byId("appearance") })) {
  buttons.addEventListener("click", ({ target }) => {
    const chosen = target.closest("button")?.value;
    if (chosen) state.set(name, lasting[name] = chosen);
  });
  state.on(name, (chosen) => {
    for (const button of buttons.children) button.ariaPressed = String(button.value === chosen);
  });
}
state.on("theme", (theme) => { page.dataset.theme = theme; });
state.on("language", (language) => {
  page.lang = language;
  translate();
});

// After all parts of the page have begun to listen.
export function startAppearance() {
  state.set("theme", page.dataset.theme ?? "system"); // first.js has read it
  state.set("language", wished());
}
