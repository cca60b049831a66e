// The sources of an answer, each with what is cited of it.
import { copyOf, make } from "./elements.js";
import { words } from "./words.js";

export function sourceElement({ number, title, filename, content, language }) {
  const element = copyOf("source");
  element.dataset.number = number;
  element.querySelector(".number").textContent = number;
  element.querySelector(".title").textContent = title || filename;
  element.querySelector(".filename").textContent = title ? filename : "";
  element.querySelector("blockquote").textContent = content;
  element.querySelector("blockquote").lang = language ?? "";
  return element;
}

// A citation of the source: what it quotes, where that stands, how far it carries the statement.
export function citedLine(citation, votes) {
  const told = [placeOf(citation), words().verdicts[citation.status]].filter(Boolean).join(" · ");
  return make("li", citation.status, make("q", "", citation.quote), " ", make("span", "place", told), " ", votes);
}

// "p. 3"; "Ventas!C12, +25 % frente al mes anterior"
function placeOf({ page, sheet, cell, trend }) {
  const cells = [sheet, cell].filter(Boolean).join("!");
  return [page && `p. ${page}`, cells, trend].filter(Boolean).join(", ");
}
