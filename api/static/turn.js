// One question with its streamed answer, its citation marks and its sources.
// What a model or a document wrote enters the page as text nodes only.
const VERDICTS = ["unsupported", "partly"]; // worst first; "supported" needs no word
const byId = (id) => document.getElementById(id);

// Has a method for each event of the stream; `close` comes last, whatever ended it.
export class Turn {
  constructor(question, words, language) {
    this.words = words;
    this.language = language;
    this.sources = new Map(); // number -> {source, element}
    this.citations = [];
    this.flagged = []; // statements that no source supports, before the whole answer is known
    this.text = "";
    this.held = ""; // the end of a token that may be half a mark
    this.ended = false;
    this.lastEvent = null; // its id
    this.element = byId("turn").content.firstElementChild.cloneNode(true);
    this.find(".question").textContent = question;
    byId("turns").append(this.element);
    this.element.scrollIntoView({ block: "start" });
  }

  find(selector) {
    return this.element.querySelector(selector);
  }

  onStatus({ message }) {
    this.find(".stage").textContent = message;
  }

  onSources({ sources }) {
    const list = JSON.stringify(sources);
    if (list === this.shownSources) return; // those of `done` are usually the same: leave open ones open
    this.shownSources = list;
    this.sources = new Map(sources.map((source) => [source.number, { source, element: sourceElement(source) }]));
    this.find(".sources ul").replaceChildren(...[...this.sources.values()].map(({ element }) => element));
    this.find(".sources h3").textContent = this.words.sources;
    this.find(".sources").hidden = sources.length === 0;
  }

  // The causal chain that the answer cites, as steps, each with the mark of the source whose quote states it.
  showChain({ entities, edges }) {
    const steps = entities.map((name) => make("li", "", name));
    edges.forEach((edge, index) => steps[index + 1].append(this.markButton(`[${edge.source}]`, [edge]) ?? ""));
    this.find(".chain ol").replaceChildren(...steps);
    this.find(".chain h3").textContent = this.words.chain;
    this.find(".chain").hidden = false;
  }

  onToken({ text }) {
    const pending = this.held + text;
    this.text += text;
    this.held = /\[\d{0,3}$/.exec(pending)?.[0] ?? "";
    this.append(pending.slice(0, pending.length - this.held.length));
  }

  onCitation(citation) {
    if (citation.number === null) this.flagged.push(citation.statement);
    else if (!citation.implied) this.citations.push(citation);
  }

  onDone({ answer, citations, statements, sources, paths, degraded_messages, timings_ms, language: answerLanguage, found }) {
    this.ended = true;
    this.onSources({ sources });
    if (!found) this.find(".sources h3").textContent = this.words.consulted;
    this.citations = citations.filter(({ implied }) => !implied); // those of the marks
    this.flagged = [];
    this.rewrite(answer, statements);
    const told = paths?.find(({ edges }) => edges.every((edge) => citations.some((citation) => isOf(citation, edge))));
    if (told) this.showChain(told);
    this.find(".answer").lang = answerLanguage ?? "";
    degraded_messages?.forEach((message) => this.note(message));
    if (timings_ms?.total != null) this.note(duration(timings_ms.total, this.language), "time");
  }

  onError({ error, partial_answer }) {
    this.ended = true;
    if (partial_answer) this.rewrite(partial_answer);
    this.note(error?.message ?? this.words.failed, "error");
    if (error?.request_id) this.note(`${this.words.reference}: ${error.request_id}`);
  }

  close() {
    this.append(this.held);
    this.held = "";
    this.judgeMarks();
    for (const statement of this.flagged) this.note(`${this.words.unsourced}: “${statement}”`);
    this.find(".stage").remove();
    this.find(".answer").ariaBusy = "false";
  }

  // The doubtful of `statements`, which are spans of the text, are shown as such.
  rewrite(text, statements = []) {
    this.held = "";
    this.text = text;
    this.find(".answer").replaceChildren();
    const characters = Array.from(text); // as the server counts them
    let shown = 0;
    for (const { start, end, status, citations } of statements) {
      if (!VERDICTS.includes(status) || start < shown) continue;
      this.append(characters.slice(shown, start).join(""));
      const span = make("span", `statement ${status}`, "");
      span.title = this.words[citations?.length ? status : "unsourced"];
      this.append(characters.slice(start, end).join(""), span);
      this.find(".answer").append(span);
      shown = end;
    }
    this.append(characters.slice(shown).join(""));
  }

  append(text, parent = this.find(".answer")) {
    const pieces = text.split(/(\[\d{1,3}\])/).filter(Boolean);
    parent.append(...pieces.map((piece) => this.markButton(piece) ?? piece));
  }

  // The button for "[3]", or undefined where the piece is no mark of a known source.
  // It opens the source at the quotes of `citations`; without any, at those of its place in the answer.
  markButton(piece, citations) {
    const number = Number(/^\[(\d+)\]$/.exec(piece)?.[1]);
    if (!this.sources.has(number)) return undefined;
    const button = make("button", "mark", String(number));
    button.type = "button";
    button.dataset.number = number;
    button.ariaLabel = `${this.words.source} ${number}`;
    button.addEventListener("click", () => this.openSource(button, citations ?? this.citationsOf(button)));
    return button;
  }

  // The k-th mark [n] belongs to the k-th citation of n; where their counts differ, to all of them.
  citationsOf(mark) {
    const number = Number(mark.dataset.number);
    const cited = this.citations.filter((citation) => citation.number === number);
    const marks = [...this.element.querySelectorAll(`.answer .mark[data-number="${number}"]`)];
    return cited.length === marks.length ? [cited[marks.indexOf(mark)]] : cited;
  }

  verdictOf(citations) {
    const statuses = citations.map((citation) => citation.status);
    return VERDICTS.find((verdict) => statuses.includes(verdict));
  }

  judgeMarks() {
    for (const mark of this.element.querySelectorAll(".answer .mark")) {
      const verdict = this.verdictOf(this.citationsOf(mark));
      if (!verdict) continue;
      mark.classList.add(verdict);
      mark.title = this.words[verdict];
      mark.ariaLabel += `. ${this.words[verdict]}`;
    }
  }

  openSource(mark, citations) {
    const { source, element } = this.sources.get(Number(mark.dataset.number));
    const quotes = citations.map((citation) => citation.quote);
    const places = [...new Set(citations.map(placeOf))].filter(Boolean);
    const verdict = this.verdictOf(citations);
    element.querySelector("blockquote").replaceChildren(...highlight(source.content, quotes));
    element.querySelector(".place").textContent = places.join("; ");
    element.querySelector(".place").hidden = places.length === 0;
    element.querySelector(".verdict").textContent = this.words[verdict] ?? "";
    element.querySelector(".verdict").hidden = !verdict;
    element.querySelector("details").open = true;
    element.querySelector("summary").focus({ preventScroll: true });
    (element.querySelector("mark") ?? element).scrollIntoView({ block: "center" });
  }

  note(text, kind = "") {
    this.find(".notes").append(make("p", kind, text));
  }
}

export function make(tag, className, text) {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  return element;
}

// Whether a citation's sentence is one of those that state a causal link.
function isOf(citation, edge) {
  return citation.number === edge.source && citation.start_char < edge.end_char && edge.start_char < citation.end_char;
}

function sourceElement({ number, title, filename, content, language: sourceLanguage }) {
  const element = byId("source").content.firstElementChild.cloneNode(true);
  element.querySelector(".number").textContent = number;
  element.querySelector(".title").textContent = title || filename;
  element.querySelector(".filename").textContent = title ? filename : "";
  element.querySelector("blockquote").textContent = content;
  element.querySelector("blockquote").lang = sourceLanguage ?? "";
  return element;
}

// "p. 3"; "Ventas!C12, +25 % frente al mes anterior"
function placeOf({ page, sheet, cell, trend }) {
  const cells = [sheet, cell].filter(Boolean).join("!");
  return [page && `p. ${page}`, cells, trend].filter(Boolean).join(", ");
}

// The content as strings, with a <mark> around each quote found in it; white space may differ.
function highlight(content, quotes) {
  const patterns = quotes.filter((quote) => quote?.trim()).map(patternOf);
  if (patterns.length === 0) return [content];
  const pieces = content.split(new RegExp(`(${patterns.join("|")})`)); // the odd ones are the quotes
  return pieces.map((piece, index) => (index % 2 ? make("mark", "", piece) : piece));
}

function patternOf(quote) {
  const words = quote.trim().split(/\s+/);
  return words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("\\s+");
}

function duration(milliseconds, locale) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1000).toLocaleString(locale, { maximumFractionDigits: 1 })} s`;
}
