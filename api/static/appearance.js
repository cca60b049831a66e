// The page's language and theme: the browser's, or those that the person chose.
import { byId } from "./elements.js";
import { state } from "./state.js";
import { permanentStorage } from "./storage.js";
import { translate, WORDS } from "./words.js";

const page = document.documentElement;

function preferredLanguage() {
  const tags = [permanentStorage.language, ...navigator.languages.map((tag) => tag.slice(0, 2))];
  return tags.find((tag) => tag in WORDS) ?? "es";
}

for (const [name, buttons] of Object.entries({ language: byId("languages"), theme: byId("appearance") })) {
  buttons.addEventListener("click", ({ target }) => {
    const chosen = target.closest("button")?.value;
    if (chosen) state.set(name, permanentStorage[name] = chosen);
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

// Call it after all parts of the page listen to the state.
export function startAppearance() {
  state.set("theme", page.dataset.theme ?? "system"); // first.js has read it
  state.set("language", preferredLanguage());
}
