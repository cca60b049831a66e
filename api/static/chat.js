// The chat: the question box, and the conversation's turns.
import { call } from "./api.js";
import { byId, make, makeButton } from "./elements.js";
import { fetchWithKey } from "./key.js";
import { state } from "./state.js";
import { ofTab } from "./storage.js";
import { ADDRESS, resume, stop, stream } from "./stream.js";
import { Turn } from "./turn.js";
import { words } from "./words.js";

const form = byId("ask");
const box = byId("question");
const going = new Map(); // by question: the turns that are being answered, on the page or behind another conversation
let shown = null; // the conversation that is on the page
let turns = []; // of it
let loading = null; // the promise that they are there

const running = () => turns.find((turn) => turn.find("[aria-busy=true]"));
const keepFocus = () => form.contains(document.activeElement) && box.focus({ preventScroll: true }); // "Send" or "Stop" goes

const acts = {
  again: (turn) => ask(turn.question, turn.ids.question && { regenerate_message_id: turn.ids.question }, turn),
  edit: (turn, text) => ask(text, { message: text, edit_message_id: turn.ids.question }, turn),
  show: (turn, message) => load(shown, message, turns.indexOf(turn)),
};

// `place` says where in the conversation, by default at its end; the turn that it is `insteadOf` goes, with those that follow it.
async function ask(question, place, insteadOf = null) {
  if (running()) return;
  while (insteadOf?.element.isConnected) turns.pop().element.remove();
  const { conversation: conversation_id, collection, filters } = state;
  const atEnd = { message: question, parent_id: turns.at(-1)?.ids.answer }; // of the version that is on the page
  const body = JSON.stringify({ conversation_id, collection, filters: filters ?? undefined, ...(place ?? atEnd) });
  const turn = add(new Turn(question, acts));
  turn.element.scrollIntoView({ block: "start" });
  const { signal } = turn.aborter;
  await follow(turn, () => fetchWithKey(ADDRESS, { method: "POST", headers: { "Content-Type": "application/json" }, body, signal }));
  if (insteadOf && turn.conversation) turn.readVersions().catch(console.error);
}

function add(turn) {
  turns.push(turn);
  byId("turns").append(turn.element);
  byId("welcome").hidden = true;
  return turn;
}

async function follow(turn, request) {
  keepFocus();
  try {
    await stream(turn, request, (headers) => name(turn, headers));
    if (!turn.ended) turn.note(words().cut, "error");
    if (turn.failure === "conversation_not_found") goOnIn(null); // it was deleted meanwhile: the next question begins another
  } catch (error) {
    if (error.name === "AbortError") return turn.note(words().cancelled);
    console.error(error);
    turn.note(words().network, "error");
  } finally {
    turn.close();
    going.delete(turn.ids.question);
    delete ofTab[turn.ids.question];
    keepFocus();
    state.tell("answered", { conversation: turn.conversation });
  }
}

// The headers have its names, where the answer begins; one that is read on was named before.
function name(turn, headers) {
  turn.stream = headers.get("X-Stream-Id");
  if (!turn.ids.question) {
    turn.conversation = headers.get("X-Conversation-Id");
    turn.identify("question", { id: headers.get("X-Question-Id") });
    if (turns.includes(turn)) goOnIn(turn.conversation);
  }
  going.set(turn.ids.question, turn);
  ofTab[turn.ids.question] = turn.stream; // which a reload of the page breaks off
}

// The turns on the page stay.
function goOnIn(conversation) {
  shown = conversation;
  state.set("conversation", conversation);
}

// A conversation in the place of what is on the page, with the branch of a message; then the turn at that place has the focus.
function load(...which) {
  return loading = read(...which);
}

async function read(conversation, message = null, place = -1) {
  shown = conversation;
  turns = [];
  byId("turns").replaceChildren();
  byId("welcome").hidden = conversation !== null;
  if (!conversation) return;
  const { messages, failure } = await call(`/conversations/${conversation}`, { query: { message_id: message }, asksKey: true })
    .catch((error) => ({ failure: error.message }));
  if (shown !== conversation) return; // another was chosen meanwhile
  if (failure) return byId("turns").append(make("li", "lost", failure));
  for (const [index, said] of messages.entries()) {
    if (said.role === "user") await restore(said, messages[index + 1], conversation);
  }
  const element = (turns[place] ?? turns.at(-1))?.element;
  element?.scrollIntoView({ block: "start" });
  if (place >= 0) element?.querySelector(".versions:not([hidden]) :enabled")?.focus({ preventScroll: true });
}

async function restore(question, answer, conversation) {
  if (going.has(question.id)) return add(going.get(question.id));
  const turn = add(new Turn(question.content, acts));
  Object.assign(turn, { conversation, stream: ofTab[question.id] });
  turn.identify("question", question);
  const response = turn.stream && await resume(turn).catch(() => null);
  if (response?.ok) return void follow(turn, async () => response);
  delete ofTab[question.id];
  if (answer) turn.restore(answer);
  else turn.note(words().unanswered);
  turn.close();
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  await loading; // what is asked comes after them
  const question = box.value.trim();
  if (!question || running()) return;
  box.value = "";
  ask(question);
});

box.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});

byId("stop").addEventListener("click", () => stop(running()));

// The address names the conversation: #c=id
const addressed = () => /^#c=([\da-f-]{36})$/.exec(location.hash)?.[1] ?? null;

addEventListener("hashchange", () => state.set("conversation", addressed()));

state.on("conversation", (conversation) => {
  if (conversation !== addressed()) location.hash = conversation ? `c=${conversation}` : "";
  if (conversation !== shown) load(conversation);
});

state.on("language", () => {
  byId("examples").replaceChildren(...words().exampleQuestions.map((example) => makeButton("", () => ask(example), example)));
  if (addressed() !== state.conversation) state.set("conversation", addressed());
  else if (shown && !running()) load(shown); // in its words
});
