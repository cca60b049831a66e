// One question with its answer, as it is streamed or as it was kept.
// What a model or a document wrote enters the page as text, or as HTML that the server has sanitized.
import { asFootnotes, showAnswer, showChecks } from "./answer.js";
import { drawChain } from "./chain.js";
import { copyOf, make, makeButton } from "./elements.js";
import { fetchWithKey } from "./key.js";
import { openPassage } from "./passage.js";
import { citedLine, sourceElement } from "./sources.js";
import { state } from "./state.js";
import { showVersions } from "./versions.js";
import { makeVotes } from "./votes.js";
import { words } from "./words.js";

// Has a method for each event of the stream; `close` comes last, whatever ended it.
export class Turn {
  constructor(question, acts) {
    this.question = question;
    this.acts = acts; // what its buttons do: again(turn), edit(turn, text), show(turn, message)
    this.words = words();
    this.sources = new Map(); // by number
    this.citations = [];
    this.flagged = []; // statements that no source supports, before the whole answer is known
    this.text = "";
    this.held = ""; // the end of a token that may be half a mark
    this.ended = false;
    this.lastEvent = null; // its id
    this.element = copyOf("turn");
    this.find(".question").textContent = question;
    this.find(".edit").addEventListener("click", () => this.edit());
    this.find(".again").addEventListener("click", () => acts.again(this));
    this.find(".copy").addEventListener("click", () => this.copy());
  }

  find(selector) {
    return this.element.querySelector(selector);
  }

  // Where it is kept. `versions` are those of the question.
  identify({ conversation, id, versions = [id] }) {
    Object.assign(this, { conversation, questionId: id });
    this.find(".edit").hidden = !id;
    if (id) showVersions(this.find(".of-question .versions"), versions, id, (version) => this.acts.show(this, version));
  }

  identifyAnswer({ id, versions = [id] }) {
    this.messageId = id;
    showVersions(this.find(".of-answer .versions"), versions, id, (version) => this.acts.show(this, version));
  }

  // After another version of its question or answer was made.
  async readVersions() {
    const read = async (id) => (await fetchWithKey(`/api/conversations/${this.conversation}/messages/${id}`)).json();
    const [question, answer] = await Promise.all([this.questionId, this.messageId].map((id) => id && read(id)));
    if (question?.versions) this.identify({ ...question, conversation: this.conversation });
    if (answer?.versions) this.identifyAnswer(answer);
  }

  onStatus({ stage, message }) {
    this.endStage?.();
    const element = make("li", "", message);
    const begun = performance.now();
    this.endStage = () => element.replaceChildren(...this.stageTold(stage, performance.now() - begun));
    this.find(".stages").append(element);
  }

  stageTold(stage, milliseconds) {
    return [this.words.stages[stage] ?? stage, make("span", "time", duration(milliseconds, state.language))];
  }

  onSources({ sources = [] }) {
    const list = JSON.stringify(sources);
    if (list === this.shownSources) return; // those of `done` are usually the same: leave open ones open
    this.shownSources = list;
    this.sources = new Map(sources.map((source) => [source.number, source]));
    this.find(".sources ul").replaceChildren(...sources.map(sourceElement));
    this.find(".sources").hidden = sources.length === 0;
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

  onDone(done) {
    this.ended = true;
    this.held = "";
    this.text = done.answer;
    this.onSources(done);
    if (done.found === false) this.find(".sources h3").textContent = this.words.consulted;
    this.citations = done.citations ?? [];
    this.flagged = this.citations.filter(({ number }) => number === null).map(({ statement }) => statement);
    this.showWhole(done);
    this.showMade(done);
    drawChain(this.find(".chain"), done.paths ?? [], this.citations, (edges, index, trigger) => this.open(edges, index, trigger));
    for (const message of [...(done.degraded_messages ?? []), ...(done.warnings ?? [])]) this.note(message);
    if (done.erased) this.note(this.words.erased);
    if (done.message_id) this.showKept(done);
  }

  showWhole(done) {
    const answer = this.find(".answer");
    answer.lang = done.language ?? "";
    answer.classList.remove("plain");
    showAnswer(answer, done, (number, place) => this.markButton(number, place));
    showChecks(this.find(".checks"), done.statements ?? [], answer);
  }

  // What it was made by, and how long each stage took.
  showMade({ timings_ms: timings = {}, chat_model: model }) {
    if (timings.total == null) return;
    const stages = Object.keys(this.words.stages).filter((stage) => timings[stage] != null);
    this.find(".stages").replaceChildren(...stages.map((stage) => make("li", "", ...this.stageTold(stage, timings[stage]))));
    const author = model === "extractive" ? this.words.extractive : model;
    this.find(".made summary").textContent = [duration(timings.total, state.language), author].filter(Boolean).join(" · ");
  }

  // What can be done with an answer that has an id.
  showKept({ message_id: id, versions, feedback = [] }) {
    this.identifyAnswer({ id, versions });
    const address = `/api/conversations/${this.conversation}/messages/${id}`;
    const given = (place) => feedback.find(({ citation }) => citation === place);
    this.find(".of-answer .votes").replaceWith(makeVotes(`${address}/feedback`, given(0), this.words.voteAnswer));
    this.citations.forEach((citation, index) => {
      const votes = makeVotes(`${address}/citations/${index + 1}/feedback`, given(index + 1), this.words.voteCitation);
      this.find(`.sources [data-number="${citation.number}"] .cited`)?.append(citedLine(citation, votes));
    });
  }

  onError({ error, partial_answer: partial }) {
    this.ended = true;
    this.failure = error?.code;
    if (partial) this.rewrite(partial);
    this.note(error?.message ?? this.words.failed, "error");
    if (error?.details?.message_id) this.identifyAnswer({ id: error.details.message_id });
    if (error?.request_id) this.note(`${this.words.reference}: ${error.request_id}`);
  }

  // As it was kept, in the words of the API's messages.
  restore({ id, content, status, details, ...kept }) {
    this.onDone({ ...details, ...kept, answer: content, message_id: id });
    if (status !== "complete") this.note(this.words[status], "error");
  }

  close() {
    this.append(this.held);
    this.held = "";
    for (const statement of this.flagged) this.note(`${this.words.unsourced}: “${statement}”`);
    const isTold = this.find(".made summary").textContent !== "";
    this.find(".made").open = false;
    this.find(".made").hidden = !isTold;
    this.find(".made summary").hidden = !isTold;
    this.find(".of-answer").hidden = false;
    this.find(".copy").hidden = !this.text || !navigator.clipboard; // which only secure pages have
    this.find(".answer").ariaBusy = "false";
  }

  rewrite(text) {
    this.held = "";
    this.text = text;
    this.find(".answer").replaceChildren();
    this.append(text);
  }

  append(text) {
    const pieces = text.split(/(\[\d{1,3}\])/).filter(Boolean);
    this.find(".answer").append(...pieces.map((piece) => this.markButton(Number(/^\[(\d+)\]$/.exec(piece)?.[1])) ?? piece));
  }

  // The button for a mark of a known source; `place` is that of its citation, from 1; by default that of the mark in the answer.
  markButton(number, place) {
    if (!this.sources.has(number)) return undefined;
    const verdict = this.words.verdicts[this.citations[place - 1]?.status];
    const button = makeButton("mark", () => this.openMark(button, place), String(number));
    button.dataset.number = number;
    button.ariaLabel = [`${this.words.source} ${number}`, verdict].filter(Boolean).join(". ");
    return button;
  }

  openMark(button, place) {
    const index = place ? place - 1 : [...this.element.querySelectorAll(".answer .mark")].indexOf(button);
    if (this.citations[index]) this.open(this.citations, index, button);
    else this.find(`.sources [data-number="${button.dataset.number}"] details`).open = true; // it is not checked yet
  }

  open(citations, index, trigger) {
    openPassage(citations, index, { sources: this.sources, trigger });
  }

  edit() {
    const form = copyOf("edit");
    const [box] = form.elements;
    const question = this.find(".question");
    const close = () => {
      form.replaceWith(question);
      this.find(".edit").focus();
    };
    box.value = this.question;
    form.addEventListener("keydown", ({ key }) => key === "Escape" && close());
    form.addEventListener("reset", close);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (box.value.trim()) this.acts.edit(this, box.value.trim());
    });
    question.replaceWith(form);
    box.focus();
  }

  async copy() {
    await navigator.clipboard.writeText(asFootnotes(this.text, this.citations));
    this.find(".of-answer > .said").textContent = this.words.copied;
  }

  note(text, kind = "") {
    this.find(".notes").append(make("p", kind, text));
  }
}

function duration(milliseconds, locale) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1000).toLocaleString(locale, { maximumFractionDigits: 1 })} s`;
}
