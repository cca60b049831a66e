// The passage that a citation opens.
import { byId, make, makeButton } from "./elements.js";
import { words } from "./words.js";

export function openPassage(citations, index, { sources, trigger }) {
  const dialog = byId("passage");
  const { number, quote } = citations[index];
  const source = sources.get(number);
  dialog.replaceChildren(
    make("h2", "", source?.title || source?.filename || ""), make("mark", "", quote), makeButton("", () => dialog.close(), words().cancel),
  );
  dialog.addEventListener("close", () => trigger.focus(), { once: true });
  dialog.showModal();
}
