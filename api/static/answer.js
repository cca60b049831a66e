// A complete answer: its marks, the verification of its statements, its sources.
import { copyOf, fill, joined, make, nodesOf } from "./elements.js";
import { phrase, words } from "./words.js";

// `html` is sanitized by the server; `markButton(number, position)` makes the button for a mark.
export function showAnswer(element, { answer, answer_html: html, statements = [] }, markButton) {
  element.replaceChildren(...(html ? nodesOf(html) : [answer]));
  for (const mark of element.querySelectorAll(".mark")) {
    mark.replaceWith(markButton(Number(mark.dataset.number), Number(mark.dataset.citation)));
  }
  for (const part of element.querySelectorAll(".statement:not(.supported)")) part.title = verdictOf(statements[part.dataset.statement]);
}

// "Quotes verified: 3 of 4", which opens the list of statements as they stand in the answer.
export function showChecks(element, statements, answer) {
  const supported = statements.filter(({ status }) => status === "supported").length;
  fill(element, { summary: phrase("checked", { n: supported, all: statements.length }) });
  element.querySelector("ul").replaceChildren(...statements.map((statement, index) => checkLine(statement, shownText(answer, index))));
  element.classList.toggle("doubtful", supported < statements.length);
  element.hidden = statements.length === 0;
}

// A statement's text without its marks and the spaces before them.
function shownText(answer, index) {
  const parts = [...answer.querySelectorAll(`[data-statement="${index}"]`)].map((part) => part.textContent);
  return parts.join("").replace(/ +([.,])/g, "$1").trim();
}

function checkLine(statement, text) {
  const reasons = statement.reasons.map((reason) => words().reasons[reason]).join("; ");
  const verdict = joined(verdictOf(statement), `${Math.round(statement.score * 100)} %`, reasons);
  return make(`li.${statement.status}`, text || statement.statement, make("span.verdict", verdict));
}

// "unsourced": nothing is cited and no source supports it.
const verdictOf = ({ status, citations }) => words().verdicts[status === "unsupported" && !citations.length ? "unsourced" : status];

// The answer as Markdown, with a footnote for each cited source.
export function toMarkdownFootnotes(answer, citations) {
  const cited = Object.groupBy(citations, ({ number }) => number);
  const marked = answer.replace(/\[(\d{1,3})\]/g, (mark, number) => (cited[number] ? `[^${number}]` : mark));
  const sentences = (of) => [...new Set(of.map(({ sentence }) => sentence))].join(" · ");
  const notes = Object.entries(cited).map(([number, of]) => `[^${number}]: ${sentences(of)}`);
  return [marked, ...notes].join("\n\n");
}

export function sourceElement({ number, title, filename, content, language }, collection) {
  const texts = { ".number": number, ".title": title || filename, ".filename": joined(collection, title && filename), blockquote: content };
  const element = fill(copyOf("source"), texts);
  element.dataset.number = number;
  element.querySelector("blockquote").lang = language;
  return element;
}

// A citation of a source: its quote, its location, its verdict.
export function citedLine({ quote, status, page, sheet, cell, trend }, votes) {
  const cells = [sheet, cell].filter(Boolean).join("!");
  const place = [page && `p. ${page}`, cells, trend].filter(Boolean).join(", "); // "Ventas!C12, +25 % frente al mes anterior"
  const location = make("span.place", joined(place, words().verdicts[status]));
  return make(`li.${status}`, make("q", quote), " ", location, " ", votes);
}
