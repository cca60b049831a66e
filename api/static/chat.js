// The chat: the question box, and the turns of the conversation.
import { callWhenOnline, fetchWithKey } from "./api.js";
import { byId, make, makeButton } from "./elements.js";
import { state } from "./state.js";
import { tabStorage } from "./storage.js";
import { ADDRESS, resume, stop, stream } from "./stream.js";
import { Turn } from "./turn.js";
import { words } from "./words.js";

const form = byId("ask");
const box = byId("question");
const streaming = new Map(); // turns that are being answered, by question id, shown or not
let shown = null; // the conversation on the page
let turns = []; // of that conversation
let loading = null; // the promise that its turns are loaded

const running = () => turns.find((turn) => turn.find("[aria-busy=true]"));
const keepFocus = () => form.contains(document.activeElement) && box.focus({ preventScroll: true }); // "Send" or "Stop" disappears

const actions = {
  again: (turn) => ask(turn.question, turn.ids.question && { regenerate_message_id: turn.ids.question }, turn),
  edit: (turn, text) => ask(text, { message: text, edit_message_id: turn.ids.question }, turn),
  show: (turn, message) => load(shown, message, turns.indexOf(turn)),
};

// `position` are the request's fields for a place in the conversation, by default its end. The turn `replaced` is removed with those after it.
async function ask(question, position, replaced = null) {
  if (running()) return;
  while (replaced?.element.isConnected) turns.pop().element.remove();
  const { conversation: conversation_id, collection, asked, filters } = state;
  const atEnd = { message: question, parent_id: turns.at(-1)?.ids.answer }; // of the version on the page
  const over = asked ? { collections: asked } : { collection };
  const body = JSON.stringify({ conversation_id, ...over, filters: filters ?? undefined, ...(position ?? atEnd) });
  tabStorage.draft = question; // until it has reached the server: signing in leaves the page
  const turn = add(new Turn(question, actions));
  turn.element.scrollIntoView({ block: "start" });
  const { signal } = turn.aborter;
  await follow(turn, () => fetchWithKey(ADDRESS, { method: "POST", headers: { "Content-Type": "application/json" }, body, signal }));
  if (replaced && turn.conversation) turn.readVersions().catch(console.error);
}

function add(turn) {
  turns.push(turn);
  byId("turns").append(turn.element);
  byId("welcome").hidden = byId("follow-ups").hidden = true;
  return turn;
}

async function follow(turn, request) {
  keepFocus();
  try {
    await stream(turn, request, (headers) => identify(turn, headers));
    if (!turn.ended) turn.note(words().cut, "error");
    if (turn.failure === "conversation_not_found") switchTo(null); // it has been deleted: the next question starts another
  } catch (error) {
    if (error.name === "AbortError") return turn.note(words().cancelled);
    console.error(error);
    turn.note(words().network, "error");
  } finally {
    turn.close();
    streaming.delete(turn.ids.question);
    delete tabStorage[turn.ids.question];
    keepFocus();
    offerFollowUps();
    state.emit("answered", { conversation: turn.conversation });
  }
}

// Takes the ids from the first headers of an answer; a resumed one has them already.
function identify(turn, headers) {
  turn.stream = headers.get("X-Stream-Id");
  if (tabStorage.draft === turn.question) delete tabStorage.draft;
  if (!turn.ids.question) {
    turn.conversation = headers.get("X-Conversation-Id");
    turn.identify("question", { id: headers.get("X-Question-Id") });
    if (turns.includes(turn)) switchTo(turn.conversation);
  }
  streaming.set(turn.ids.question, turn);
  tabStorage[turn.ids.question] = turn.stream; // to resume it after a reload of the page
}

// Changes the conversation without reloading its turns.
function switchTo(conversation) {
  shown = conversation;
  state.set("conversation", conversation);
}

export const whenLoaded = () => loading;

// Shows a conversation, on the branch of a message; then focuses the turn at an index.
function load(...target) {
  return loading = read(...target);
}

async function read(conversation, message = null, index = -1) {
  shown = conversation;
  const own = turns = []; // until another load begins, of this conversation or of another one
  byId("turns").replaceChildren();
  byId("follow-ups").hidden = true;
  byId("welcome").hidden = conversation !== null;
  if (!conversation) return void showExamples();
  const { messages, failure } = await callWhenOnline(`/conversations/${conversation}`, { query: { message_id: message }, asksKey: true })
    .catch((error) => ({ failure: error.message }));
  if (turns !== own) return;
  if (failure) return byId("turns").append(make("li.lost", failure));
  for (const [number, message] of messages.entries()) {
    if (turns === own && message.role === "user") await restore(message, messages[number + 1], conversation);
  }
  offerFollowUps();
  const element = (turns[index] ?? turns.at(-1))?.element;
  element?.scrollIntoView({ block: "start" });
  if (index >= 0) element?.querySelector(".versions:not([hidden]) :enabled")?.focus({ preventScroll: true });
}

async function restore(question, answer, conversation) {
  if (streaming.has(question.id)) return add(streaming.get(question.id));
  const turn = add(new Turn(question.content, actions));
  Object.assign(turn, { conversation, stream: tabStorage[question.id] });
  turn.identify("question", question);
  const response = turn.stream && await resume(turn).catch(() => null);
  if (response?.ok) return void follow(turn, async () => response);
  delete tabStorage[question.id];
  if (answer) turn.restore(answer);
  else turn.note(words().unanswered);
  turn.close();
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  await loading; // the question comes after its turns
  const question = box.value.trim();
  if (!question || running()) return;
  box.value = "";
  ask(question);
});

box.value = tabStorage.draft ?? "";
box.addEventListener("input", () => { tabStorage.draft = box.value; });
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

// The demo's questions, or some that the person's own documents answer.
async function showExamples() {
  const { collection, language: lang } = state;
  const questions = collection === "demo" ? words().exampleQuestions.map((text) => ({ text, lang }))
    : collection && !byId("welcome").hidden ? await suggest("suggestQuestions", collection) : [];
  if (collection === state.collection) offer(byId("examples"), questions); // no other one has been chosen
}

// Under the last turn, where it answers.
async function offerFollowUps() {
  const turn = turns.at(-1);
  if (turn?.element.dataset.outcome !== "answered") return;
  const questions = await suggest("suggestFollowUps", turn, turns.map(({ question }) => question));
  if (turn === turns.at(-1)) offer(byId("follow-ups"), questions); // nothing has been asked since
}

const suggest = async (name, ...given) => (await import("./suggestions.js"))[name](...given).catch(() => []);

function offer(element, questions) {
  element.replaceChildren(...questions.map(({ text, lang }) => Object.assign(makeButton("button", () => ask(text), text), { lang })));
  element.hidden = questions.length === 0;
}

state.on("facets", showExamples);
state.on("language", () => {
  if (addressed() !== state.conversation) state.set("conversation", addressed());
  else if (shown && !running()) load(shown); // in the new language
});
