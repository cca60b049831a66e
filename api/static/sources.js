// The sources of an answer, each with what is cited of it.
import { copyOf, fill, joined, make } from "./elements.js";
import { words } from "./words.js";

export function sourceElement({ number, title, filename, content, language }) {
  const texts = { ".number": number, ".title": title || filename, ".filename": title && filename, blockquote: content };
  const element = fill(copyOf("source"), texts);
  element.dataset.number = number;
  element.querySelector("blockquote").lang = language;
  return element;
}

// A citation of the source: what it quotes, where that stands, how far it carries the statement.
export function citedLine({ quote, status, page, sheet, cell, trend }, votes) {
  const cells = [sheet, cell].filter(Boolean).join("!");
  const place = [page && `p. ${page}`, cells, trend].filter(Boolean).join(", "); // "Ventas!C12, +25 % frente al mes anterior"
  const told = make("span", "place", joined(place, words().verdicts[status]));
  return make("li", status, make("q", "", quote), " ", told, " ", votes);
}
