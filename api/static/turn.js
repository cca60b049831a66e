// One question with its answer, streamed or loaded.
// Text of a model or a document enters the page as text nodes, or as HTML that the server has sanitized.
import { citedLine, showAnswer, showChecks, sourceElement, toMarkdownFootnotes } from "./answer.js";
import { callWhenOnline } from "./api.js";
import { drawChain } from "./chain.js";
import { copyOf, fill, joined, make, makeButton } from "./elements.js";
import { openPassage } from "./passage.js";
import { state } from "./state.js";
import { showTable } from "./table.js";
import { makeVotes } from "./votes.js";
import { duration, words } from "./words.js";

// Has a method for each event of the stream; `close` is called last, however the stream ended.
export class Turn {
  aborter = new AbortController();
  conversation = null; // its id
  ids = {}; // of the messages: "question" and "answer"
  sources = new Map(); // by number
  citations = []; // those without a number are statements that no source supports
  language = ""; // of the answer
  text = "";
  shown = 0; // characters of the text
  ended = false;
  element = copyOf("turn");
  open = (citations, index, trigger) => (this.actions ? openPassage(citations, index, { sources: this.sources, trigger })
    : this.openSource(citations[index].number));

  // `actions` of its buttons: again(turn), edit(turn, text), show(turn, message); without them it is only read.
  constructor(question, actions) {
    Object.assign(this, { question, actions });
    const form = this.find(".editing");
    fill(this.element, { ".question": question });
    this.find(".edit").addEventListener("click", () => this.edit(true));
    this.find(".again").addEventListener("click", () => actions.again(this));
    this.find(".copy").addEventListener("click", () => this.copy());
    form.addEventListener("reset", () => this.edit(false));
    form.addEventListener("keydown", ({ key }) => key === "Escape" && this.edit(false));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = form.elements[0].value.trim();
      if (text) actions.edit(this, text);
    });
  }

  find(selector) {
    return this.element.querySelector(selector);
  }

  // `part`: "question" or "answer".
  identify(part, { id, versions = [id] }) {
    this.ids[part] = id;
    this.find(".edit").hidden = !this.ids.question;
    showVersions(this.find(`.of-${part} .versions`), versions, id, (version) => this.actions.show(this, version));
  }

  // Reads the versions again, after a new one of the question or answer.
  async readVersions() {
    for (const [part, id] of Object.entries(this.ids)) {
      this.identify(part, await callWhenOnline(`/conversations/${this.conversation}/messages/${id}`));
    }
  }

  onStatus({ stage, message }) {
    this.endStage?.();
    const element = make("li", message);
    const startedAt = performance.now();
    this.endStage = () => element.replaceWith(stageElement(stage, performance.now() - startedAt));
    this.find(".stages").append(element);
  }

  onSources({ sources = [] }) {
    const list = JSON.stringify(sources);
    if (list === this.shownSources) return; // `done` usually repeats them: keep the open ones open
    this.shownSources = list;
    this.sources = new Map(sources.map((source) => [source.number, source]));
    const isNamed = sources.some(({ collection }) => collection && collection !== state.collection);
    this.find(".sources ul").replaceChildren(...sources.map((source) => sourceElement(source, isNamed && source.collection)));
    this.find(".sources").hidden = sources.length === 0;
  }

  onToken({ text }) {
    this.text += text;
    this.append(this.text.slice(this.shown).replace(/\[\d{0,3}$/, "")); // an incomplete mark waits for its end
  }

  onCitation(citation) {
    if (!citation.implied) this.citations.push(citation);
  }

  onDone(done) {
    const answer = this.find(".answer");
    this.onSources(done);
    const { answer: text, citations = [], language = "" } = done;
    Object.assign(this, { ended: true, text, shown: text.length, citations, language });
    if (done.outcome) this.element.dataset.outcome = done.outcome;
    if (done.found === false) fill(this.element, { ".sources h3": words().consulted });
    answer.lang = language;
    answer.classList.remove("plain");
    showAnswer(answer, done, (number, position) => this.markButton(number, position));
    showChecks(this.find(".checks"), done.statements ?? [], answer);
    if (done.table) showTable(this.find(".table"), done, this);
    if (done.timings_ms) this.showTimings(done.timings_ms, done.chat_model);
    drawChain(this.find(".chain"), done.paths ?? [], this.citations, this.open);
    for (const message of [...(done.degraded_messages ?? []), ...(done.warnings ?? [])]) this.note(message);
    if (done.erased) this.note(words().erased);
    this.showCitations(done);
    if (done.message_id) this.identify("answer", { id: done.message_id, versions: done.versions });
    if (done.chat_model === "extractive") state.emit("quoted", this);
  }

  // Shows the model and the duration of each stage.
  showTimings(timings, model) {
    const stages = Object.keys(words().stages).filter((stage) => timings[stage] != null);
    this.find(".stages").replaceChildren(...stages.map((stage) => stageElement(stage, timings[stage])));
    fill(this.element, { ".made summary": joined(duration(timings.total), model === "extractive" ? words().extractive : model) });
  }

  // Shows the quotes; of a saved answer, also the feedback on it and on each of them.
  showCitations({ message_id: id, feedback = [] }) {
    const votes = (part, position, label) => id && makeVotes(`/conversations/${this.conversation}/messages/${id}${part}/feedback`,
      feedback.find(({ citation }) => citation === position), label);
    if (id) this.find(".of-answer .votes").replaceWith(votes("", 0, words().voteAnswer));
    for (const [index, citation] of this.citations.entries()) {
      const line = citedLine(citation, votes(`/citations/${index + 1}`, index + 1, words().voteCitation));
      this.find(`.sources [data-number="${citation.number}"] .cited`)?.append(line);
    }
  }

  onError({ error, partial_answer: partial }) {
    Object.assign(this, { ended: true, failure: error?.code });
    if (partial) {
      Object.assign(this, { text: partial, shown: 0 });
      fill(this.element, { ".answer": "" });
    }
    this.note(error?.message ?? words().failed, "error");
    if (error?.details?.message_id) this.identify("answer", { id: error.details.message_id });
    if (error?.request_id) this.note(`${words().reference}: ${error.request_id}`);
  }

  // Shows a saved answer: a message of the API.
  restore({ id, content, status, details, ...message }) {
    this.onDone({ ...details, ...message, answer: content, message_id: id });
    if (status !== "complete") this.note(words()[status], "error");
  }

  close() {
    this.append(this.text.slice(this.shown));
    for (const { number, statement } of this.citations) if (!number) this.note(`${words().unsourced}: “${statement}”`);
    this.find(".made").open = false;
    this.find(".copy").hidden = !this.text || !navigator.clipboard; // only secure pages have it
    this.find(".answer").ariaBusy = "false";
  }

  append(text) {
    this.shown += text.length;
    const pieces = text.split(/(\[\d{1,3}\])/).filter(Boolean);
    this.find(".answer").append(...pieces.map((piece) => this.markButton(Number(/^\[(\d+)\]$/.exec(piece)?.[1])) ?? piece));
  }

  // The button for the mark of a known source. `position` is that of its citation, from 1; by default that of the mark in the answer.
  markButton(number, position) {
    if (!this.sources.has(number)) return undefined;
    const button = makeButton("button.mark", () => this.openMark(button, position), String(number));
    const verdict = words().verdicts[this.citations[position - 1]?.status];
    button.ariaLabel = [`${words().source} ${number}`, verdict].filter(Boolean).join(". ");
    button.dataset.number = number;
    return button;
  }

  openMark(button, position) {
    const cited = this.citations.filter(({ number }) => number);
    const index = position ? cited.indexOf(this.citations[position - 1]) : [...this.element.querySelectorAll(".answer .mark")].indexOf(button);
    if (cited[index]) this.open(cited, index, button);
    else this.openSource(button.dataset.number); // not verified yet
  }

  openSource(number) {
    const source = this.find(`.sources [data-number="${number}"] details`);
    source.open = true;
    source.scrollIntoView({ block: "nearest" });
  }

  edit(isEdited) {
    const form = this.find(".editing");
    const [box] = form.elements;
    form.hidden = !isEdited;
    this.find(".question").hidden = isEdited;
    box.value = this.question;
    (isEdited ? box : this.find(".edit")).focus();
  }

  async copy() {
    await navigator.clipboard.writeText(toMarkdownFootnotes(this.text, this.citations.filter(({ number }) => number)));
    fill(this.element, { ".of-answer > .said": words().copied });
  }

  note(text, kind = "") {
    this.find(".notes").append(make(`p.${kind}`, text));
  }
}

function stageElement(stage, milliseconds) {
  return make("li", words().stages[stage] ?? stage, make("span.time", duration(milliseconds)));
}

// "‹ 2/3 ›": the versions of a message, by their ids; `show` is called with the chosen one.
function showVersions(element, versions, id, show) {
  const place = versions.indexOf(id);
  const to = (version, sign, name) =>
    Object.assign(makeButton("button.icon.version", () => show(version), sign), { ariaLabel: words()[name], disabled: !version });
  const [before, after] = [to(versions[place - 1], "‹", "versionBefore"), to(versions[place + 1], "›", "versionAfter")];
  element.replaceChildren(before, `${place + 1}/${versions.length}`, after);
  element.hidden = versions.length < 2;
}
