// Thumbs up or down for an answer or a citation, then a reason and a comment; the same thumb again takes it back.
import { copyOf } from "./elements.js";
import { fetchWithKey } from "./key.js";
import { state } from "./state.js";
import { words } from "./words.js";

// `given` is what the person said before, as the API tells it.
export function makeVotes(address, given, label) {
  const element = copyOf("votes");
  const thumbs = [...element.querySelectorAll("[value]")];
  const form = element.querySelector("form");
  const [reason, comment] = form.elements;
  const said = element.querySelector(".said");
  let rating = 0;

  const show = (value) => {
    rating = value;
    for (const thumb of thumbs) thumb.ariaPressed = String(Number(thumb.value) === value);
  };
  const send = async (value, text = "") => {
    const headers = { "Content-Type": "application/json", "Accept-Language": state.language };
    const body = value ? { method: "PUT", body: JSON.stringify({ rating: value, comment: text }) } : { method: "DELETE" };
    const response = await fetchWithKey(address, { headers, ...body }).catch(() => null);
    if (response?.ok) show(value);
    said.textContent = response?.ok ? words()[value ? "voted" : "voteTaken"] : (await response?.json().catch(() => null))?.error?.message ?? words().network;
    return response?.ok;
  };

  element.ariaLabel = label;
  reason.replaceChildren(new Option(words().reason, ""), ...words().voteReasons.map((text) => new Option(text)));
  comment.value = given?.comment ?? "";
  for (const thumb of thumbs) {
    thumb.addEventListener("click", async () => {
      const value = Number(thumb.value) === rating ? 0 : Number(thumb.value);
      if (!await send(value)) return;
      form.hidden = value === 0;
      reason.hidden = value === 1;
    });
  }
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!await send(rating, [reason.hidden ? "" : reason.value, comment.value.trim()].filter(Boolean).join(": "))) return;
    form.hidden = true;
    thumbs.find((thumb) => thumb.ariaPressed === "true").focus();
  });
  show(given?.rating ?? 0);
  return element;
}
