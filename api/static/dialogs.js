// Dialogs that ask the person for a text or a confirmation.
import { byId } from "./elements.js";
import { phrase, words } from "./words.js";

const closing = new WeakMap(); // by dialog: the promise of its close event, which comes a moment after it is gone

// What the person enters: a text, or true where there is none to enter; "" where they close the dialog.
export async function readInput(dialog) {
  const input = dialog.querySelector("input");
  await closing.get(dialog); // or the close of the question before would answer this one
  dialog.returnValue = input.value = "";
  dialog.showModal();
  closing.set(dialog, new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true })));
  await closing.get(dialog);
  return dialog.returnValue && (input.value.trim() || true);
}

// `question` and `action` are names of words; the question's may have `values`.
export function confirmOrPrompt(question, action, { hasInput = false, ...values } = {}) {
  byId("prompt-text").textContent = phrase(question, values);
  byId("prompt-enter").textContent = words()[action];
  byId("prompt-enter").previousElementSibling.hidden = action === "close"; // there is nothing to cancel
  byId("prompt-enter").className = action === "remove" ? "danger" : "";
  Object.assign(byId("prompt-input"), { hidden: !hasInput, required: hasInput, placeholder: values.name ?? "" });
  return readInput(byId("prompt"));
}

// data-for="shortcuts" data-act="showModal" on a button: its invoker commands are younger than some browsers.
document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-act]");
  if (button) byId(button.dataset.for)[button.dataset.act]();
});
