// Questions to the person.
import { byId } from "./elements.js";
import { phrase, words } from "./words.js";

// What the person enters: a text, or true where there is none to enter; "" where they close the dialog.
export async function entered(dialog) {
  const input = dialog.querySelector("input");
  dialog.returnValue = input.value = "";
  dialog.showModal();
  await new Promise((closed) => dialog.addEventListener("close", closed, { once: true }));
  return dialog.returnValue && (input.value.trim() || true);
}

// `question` and `act` name words; the question's may have a {name}.
export function ask(question, act, { name, hasInput = false } = {}) {
  byId("prompt-text").textContent = phrase(question, { name });
  byId("prompt-enter").textContent = words()[act];
  Object.assign(byId("prompt-input"), { hidden: !hasInput, required: hasInput });
  return entered(byId("prompt"));
}
