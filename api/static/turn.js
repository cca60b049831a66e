// One question with its answer, as it is streamed or as it was kept.
// What a model or a document wrote enters the page as text, or as HTML that the server has sanitized.
import { asFootnotes, showAnswer, showChecks } from "./answer.js";
import { call } from "./api.js";
import { drawChain } from "./chain.js";
import { copyOf, fill, joined, make, makeButton } from "./elements.js";
import { openPassage } from "./passage.js";
import { citedLine, sourceElement } from "./sources.js";
import { state } from "./state.js";
import { showVersions } from "./versions.js";
import { makeVotes } from "./votes.js";
import { words } from "./words.js";

// Has a method for each event of the stream; `close` comes last, whatever ended it.
export class Turn {
  aborter = new AbortController();
  conversation = null; // where it is kept
  ids = {}; // there, of its "question" and its "answer"
  sources = new Map(); // by number
  citations = []; // without a number: statements that no source supports
  text = "";
  shown = 0; // characters of it
  ended = false;
  element = copyOf("turn");
  open = (citations, index, trigger) => openPassage(citations, index, { sources: this.sources, trigger });

  // `acts` are what its buttons do: again(turn), edit(turn, text), show(turn, message).
  constructor(question, acts) {
    Object.assign(this, { question, acts });
    const form = this.find(".editing");
    fill(this.element, { ".question": question });
    this.find(".edit").addEventListener("click", () => this.edit(true));
    this.find(".again").addEventListener("click", () => acts.again(this));
    this.find(".copy").addEventListener("click", () => this.copy());
    form.addEventListener("reset", () => this.edit(false));
    form.addEventListener("keydown", ({ key }) => key === "Escape" && this.edit(false));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = form.elements[0].value.trim();
      if (text) acts.edit(this, text);
    });
  }

  find(selector) {
    return this.element.querySelector(selector);
  }

  // `part`: "question" or "answer".
  identify(part, { id, versions = [id] }) {
    this.ids[part] = id;
    this.find(".edit").hidden = !this.ids.question;
    showVersions(this.find(`.of-${part} .versions`), versions, id, (version) => this.acts.show(this, version));
  }

  // After another version of its question or answer was made.
  async readVersions() {
    for (const [part, id] of Object.entries(this.ids)) {
      this.identify(part, await call(`/conversations/${this.conversation}/messages/${id}`));
    }
  }

  onStatus({ stage, message }) {
    this.endStage?.();
    const element = make("li", "", message);
    const begun = performance.now();
    this.endStage = () => element.replaceWith(stageElement(stage, performance.now() - begun));
    this.find(".stages").append(element);
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
    this.text += text;
    this.append(this.text.slice(this.shown).replace(/\[\d{0,3}$/, "")); // half a mark waits for its end
  }

  onCitation(citation) {
    if (!citation.implied) this.citations.push(citation);
  }

  onDone(done) {
    const answer = this.find(".answer");
    this.onSources(done);
    Object.assign(this, { ended: true, text: done.answer, shown: done.answer.length, citations: done.citations ?? [] });
    if (done.found === false) fill(this.element, { ".sources h3": words().consulted });
    answer.lang = done.language ?? "";
    answer.classList.remove("plain");
    showAnswer(answer, done, (number, place) => this.markButton(number, place));
    showChecks(this.find(".checks"), done.statements ?? [], answer);
    if (done.timings_ms) this.showMade(done.timings_ms, done.chat_model);
    drawChain(this.find(".chain"), done.paths ?? [], this.citations, this.open);
    for (const message of [...(done.degraded_messages ?? []), ...(done.warnings ?? [])]) this.note(message);
    if (done.erased) this.note(words().erased);
    if (done.message_id) this.showKept(done);
  }

  // What it was made by, and how long each stage took.
  showMade(timings, model) {
    const stages = Object.keys(words().stages).filter((stage) => timings[stage] != null);
    this.find(".stages").replaceChildren(...stages.map((stage) => stageElement(stage, timings[stage])));
    fill(this.element, { ".made summary": joined(duration(timings.total), model === "extractive" ? words().extractive : model) });
  }

  // What can be done with an answer that has an id.
  showKept({ message_id: id, versions, feedback = [] }) {
    this.identify("answer", { id, versions });
    const path = `/conversations/${this.conversation}/messages/${id}`;
    const given = (place) => feedback.find(({ citation }) => citation === place);
    this.find(".of-answer .votes").replaceWith(makeVotes(`${path}/feedback`, given(0), words().voteAnswer));
    for (const [index, citation] of this.citations.entries()) {
      const votes = makeVotes(`${path}/citations/${index + 1}/feedback`, given(index + 1), words().voteCitation);
      this.find(`.sources [data-number="${citation.number}"] .cited`)?.append(citedLine(citation, votes));
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

  // As it was kept, in the words of the API's messages.
  restore({ id, content, status, details, ...kept }) {
    this.onDone({ ...details, ...kept, answer: content, message_id: id });
    if (status !== "complete") this.note(words()[status], "error");
  }

  close() {
    this.append(this.text.slice(this.shown));
    for (const { number, statement } of this.citations) if (!number) this.note(`${words().unsourced}: “${statement}”`);
    this.find(".made").open = false;
    this.find(".copy").hidden = !this.text || !navigator.clipboard; // which only secure pages have
    this.find(".answer").ariaBusy = "false";
  }

  append(text) {
    this.shown += text.length;
    const pieces = text.split(/(\[\d{1,3}\])/).filter(Boolean);
    this.find(".answer").append(...pieces.map((piece) => this.markButton(Number(/^\[(\d+)\]$/.exec(piece)?.[1])) ?? piece));
  }

  // The button for a mark of a known source; `place` is that of its citation, from 1; by default that of the mark in the answer.
  markButton(number, place) {
    if (!this.sources.has(number)) return undefined;
    const button = makeButton("mark", () => this.openMark(button, place), String(number));
    const verdict = words().verdicts[this.citations[place - 1]?.status];
    button.ariaLabel = [`${words().source} ${number}`, verdict].filter(Boolean).join(". ");
    button.dataset.number = number;
    return button;
  }

  openMark(button, place) {
    const cited = this.citations.filter(({ number }) => number);
    const index = place ? cited.indexOf(this.citations[place - 1]) : [...this.element.querySelectorAll(".answer .mark")].indexOf(button);
    if (cited[index]) this.open(cited, index, button);
    else this.find(`.sources [data-number="${button.dataset.number}"] details`).open = true; // it is not checked yet
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
    await navigator.clipboard.writeText(asFootnotes(this.text, this.citations.filter(({ number }) => number)));
    fill(this.element, { ".of-answer > .said": words().copied });
  }

  note(text, kind = "") {
    this.find(".notes").append(make("p", kind, text));
  }
}

function stageElement(stage, milliseconds) {
  return make("li", "", words().stages[stage] ?? stage, make("span", "time", duration(milliseconds)));
}

function duration(milliseconds) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1000).toLocaleString(state.language, { maximumFractionDigits: 1 })} s`;
}
