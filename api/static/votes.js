// Thumbs up or down for an answer or a citation, then a reason and a comment; the same thumb again removes the feedback.
import { attempt, callWhenOnline } from "./api.js";
import { copyOf } from "./elements.js";
import { words } from "./words.js";

// `given` is the person's earlier feedback, as the API returns it.
export function makeVotes(path, given, label) {
  const element = copyOf("votes");
  const thumbs = [...element.querySelectorAll("[value]")];
  const form = element.querySelector("form");
  const [reason, comment] = form.elements;
  const pressed = () => thumbs.find((thumb) => thumb.ariaPressed === "true");
  const show = (rating) => thumbs.forEach((thumb) => { thumb.ariaPressed = String(Number(thumb.value) === rating); });
  const send = (rating, text = "") => attempt(async () => {
    await callWhenOnline(path, rating ? { method: "PUT", body: { rating, comment: text } } : { method: "DELETE" });
    show(rating);
    element.querySelector(".said").textContent = words()[rating ? "voted" : "voteTaken"];
  });

  element.ariaLabel = label;
  reason.replaceChildren(new Option(words().reason, ""), ...words().voteReasons.map((text) => new Option(text)));
  comment.value = given?.comment ?? "";
  show(given?.rating);
  for (const thumb of thumbs) {
    thumb.addEventListener("click", async () => {
      const rating = thumb === pressed() ? 0 : Number(thumb.value);
      if (!await send(rating)) return;
      form.hidden = rating === 0;
      reason.hidden = rating === 1;
    });
  }
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = [!reason.hidden && reason.value, comment.value.trim()].filter(Boolean).join(": ");
    if (!await send(Number(pressed().value), text)) return;
    form.hidden = true;
    pressed().focus();
  });
  return element;
}
