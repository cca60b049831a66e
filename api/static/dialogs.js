// Questions to the person.
import { byId } from "./elements.js";
import { phrase, words } from "./words.js";

const closed = new WeakMap(); // by dialog: that it has said so, which it does a moment after it is gone

// What the person enters: a text, or true where there is none to enter; "" where they close the dialog.
export async function entered(dialog) {
  const input = dialog.querySelector("input");
  await closed.get(dialog); // or that would be taken for the answer to this question
  dialog.returnValue = input.value = "";
  dialog.showModal();
  closed.set(dialog, new Promise((done) => dialog.addEventListener("close", done, { once: true })));
  await closed.get(dialog);
  return dialog.returnValue && (input.value.trim() || true);
}

// `question` and `act` name words; the question's may have a {name}.
export function ask(question, act, { name, hasInput = false } = {}) {
  byId("prompt-text").textContent = phrase(question, { name });
  byId("prompt-enter").textContent = words()[act];
  Object.assign(byId("prompt-input"), { hidden: !hasInput, required: hasInput });
  return entered(byId("prompt"));
}
