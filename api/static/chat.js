// The chat: the question box, and the conversation's turns.
import { byId, make, makeButton } from "./elements.js";
import { fetchWithKey } from "./key.js";
import { state } from "./state.js";
import { ADDRESS, remember, remembered, stop, stream, streamHeaders } from "./stream.js";
import { Turn } from "./turn.js";
import { words } from "./words.js";

const form = byId("ask");
const box = byId("question");
const runs = new Map(); // by question: what is being answered, on the page or behind another conversation
let running = null; // the one of them that is on the page: {turn, aborter, address, question}
let shown = null; // the conversation that is on the page
let turns = []; // of it

const acts = {
  again: (turn) => ask(turn.question, turn.questionId ? { regenerate_message_id: turn.questionId } : {}, turn),
  edit: (turn, text) => ask(text, turn.questionId ? { edit_message_id: turn.questionId } : {}, turn),
  show: (turn, message) => load(shown, message, turns.indexOf(turn)),
};

// `place` says where in the conversation; the turn that it is `insteadOf` goes, with those that follow it.
async function ask(question, place = {}, insteadOf = null) {
  if (running) return;
  while (insteadOf?.element.isConnected) turns.pop().element.remove();
  if (!Object.keys(place).length) place.parent_id = turns.at(-1)?.messageId; // of the version that is on the page
  const turn = add(new Turn(question, acts));
  turn.element.scrollIntoView({ block: "start" });
  const asked = Object.entries({ conversation_id: state.conversation, collection: state.collection, filters: state.filters, ...place });
  const body = Object.fromEntries(asked.filter(([, value]) => value));
  if (!place.regenerate_message_id) body.message = question;
  await follow(turn, (signal) => fetchWithKey(ADDRESS, {
    method: "POST",
    headers: { ...streamHeaders(), "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  }));
  if (insteadOf && turn.conversation) turn.readVersions().catch(console.error);
}

function add(turn) {
  turns.push(turn);
  byId("turns").append(turn.element);
  byId("welcome").hidden = true;
  return turn;
}

async function follow(turn, begin) {
  const run = { turn, aborter: new AbortController(), address: null, question: turn.questionId };
  showRunning(run);
  try {
    await stream(run, begin, (headers) => name(run, headers));
    if (!turn.ended) turn.note(turn.words.cut, "error");
    if (turn.failure === "conversation_not_found") goOnIn(null); // it was deleted meanwhile: the next question begins another
  } catch (error) {
    if (error.name === "AbortError") return turn.note(turn.words.cancelled);
    console.error(error);
    turn.note(turn.words.network, "error");
  } finally {
    turn.close();
    runs.delete(run.question);
    remember(run.question, null);
    if (running === run) showRunning(null);
    state.tell("answered", { conversation: turn.conversation });
  }
}

// What is kept has its names in the headers, where the answer begins; one that is read on was named before.
function name(run, headers) {
  if (!run.question) {
    const conversation = headers.get("X-Conversation-Id");
    run.question = headers.get("X-Question-Id");
    run.turn.identify({ conversation, id: run.question });
    if (running === run) goOnIn(conversation);
  }
  if (!run.question) return; // nothing is kept
  runs.set(run.question, run);
  remember(run.question, run.stream);
}

// The turns on the page stay.
function goOnIn(conversation) {
  shown = conversation;
  state.set("conversation", conversation);
}

// A conversation in the place of what is on the page, with the branch of a message; then the turn at that place has the focus.
async function load(conversation, message = null, place = -1) {
  shown = conversation;
  showRunning(null);
  turns = [];
  byId("turns").replaceChildren();
  byId("welcome").hidden = conversation !== null;
  if (!conversation) return;
  const response = await fetchWithKey(
    `/api/conversations/${conversation}${message ? `?message_id=${message}` : ""}`, { headers: { "Accept-Language": state.language } },
  ).catch(() => null);
  const told = await response?.json().catch(() => null);
  if (shown !== conversation) return; // another was chosen meanwhile
  if (!response?.ok) return byId("turns").append(make("li", "lost", told?.error?.message ?? words().network));
  for (const [index, said] of told.messages.entries()) {
    if (said.role === "user") await restore({ ...said, conversation }, told.messages[index + 1]);
  }
  const element = (turns[place] ?? turns.at(-1))?.element;
  element?.scrollIntoView({ block: "start" });
  if (place >= 0) element?.querySelector(".versions:not([hidden]) :enabled")?.focus({ preventScroll: true });
}

async function restore(question, answer) {
  if (runs.has(question.id)) {
    showRunning(runs.get(question.id));
    return add(running.turn);
  }
  const turn = add(new Turn(question.content, acts));
  turn.identify(question);
  const id = remembered(question.id);
  const response = id && await fetchWithKey(`${ADDRESS}/${id}`, { headers: streamHeaders() }).catch(() => null);
  if (response?.ok && response.body) return void follow(turn, () => response);
  remember(question.id, null);
  if (answer) turn.restore(answer);
  else turn.note(words().unanswered);
  turn.close();
}

function showRunning(run) {
  const wasTyping = form.contains(document.activeElement);
  running = run;
  byId("send").hidden = Boolean(run);
  byId("stop").hidden = !run;
  byId("turns").classList.toggle("running", Boolean(run));
  if (wasTyping) box.focus({ preventScroll: true }); // the focused button may just have been hidden
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const question = box.value.trim();
  if (!question || running) return;
  box.value = "";
  ask(question);
});

box.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});

byId("stop").addEventListener("click", () => running && stop(running));

// The address names the conversation: #c=id
const addressed = () => /^#c=([\da-f-]{36})$/.exec(location.hash)?.[1] ?? null;

addEventListener("hashchange", () => state.set("conversation", addressed()));

state.on("conversation", (conversation) => {
  if (conversation !== addressed()) location.hash = conversation ? `c=${conversation}` : "";
  if (conversation !== shown) load(conversation);
});

state.on("language", () => {
  box.placeholder = words().question;
  byId("examples").replaceChildren(...words().exampleQuestions.map((example) => makeButton("", () => ask(example), example)));
  if (addressed() !== state.conversation) state.set("conversation", addressed());
  else if (shown && !running) load(shown); // in its words
});
