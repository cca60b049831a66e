// The chat page: the question box, the request and its stream.
import { authorization, fetchWithKey } from "./key.js";
import { readEvents } from "./sse.js";
import { state } from "./state.js";
import { make, Turn } from "./turn.js";
import { EXAMPLES } from "./turn_words.js";
import { words } from "./words.js";

const ADDRESS = "/api/chat/stream";
const RESUME_AFTER = [500, 1000, 2000, 4000]; // milliseconds; the server soon stops an answer that nobody reads

const byId = (id) => document.getElementById(id);
const form = byId("ask");
const box = byId("question");
let running = null; // of the answer being streamed: its AbortController, and its address once the server told it

async function ask(question) {
  const turn = new Turn(question, words(), state.language);
  running = { aborter: new AbortController(), address: null };
  showRunning(true);
  try {
    await stream(question, turn, running);
    if (!turn.ended) turn.note(turn.words.cut, "error");
  } catch (error) {
    if (error.name === "AbortError") return turn.note(turn.words.stopped);
    console.error(error);
    turn.note(turn.words.network, "error");
  } finally {
    turn.close();
    running = null;
    showRunning(false);
    state.tell("answered", { conversation: state.conversation });
  }
}

async function stream(question, turn, run) {
  const headers = { "Accept-Language": turn.language, Accept: "text/event-stream" };
  let response = await fetchWithKey(ADDRESS, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify({
      message: question,
      ...(state.conversation && { conversation_id: state.conversation }),
      ...(state.collection && { collection: state.collection }),
      ...(state.filters && { filters: state.filters }),
    }),
    signal: run.aborter.signal,
  });
  state.set("conversation", response.headers.get("X-Conversation-Id")); // none where it was deleted meanwhile: the next is a new one
  const id = response.headers.get("X-Stream-Id");
  run.address = id && `${ADDRESS}/${id}`;
  const waits = [...RESUME_AFTER];
  while (response?.ok) {
    if (response.body && await showEvents(turn, response.body)) waits.splice(0, Infinity, ...RESUME_AFTER);
    if (turn.ended || !run.address) return;
    response = await resume(run, { ...headers, "Last-Event-ID": turn.lastEvent ?? `${id}:0` }, waits);
  }
  if (response) turn.onError(await response.json().catch(() => ({}))); // a proxy's page is no JSON
}

// Whether there was any.
async function showEvents(turn, body) {
  const before = turn.lastEvent;
  for await (const { id, event, data } of readEvents(body)) {
    show(turn, event, JSON.parse(data));
    turn.lastEvent = id;
    if (turn.ended) break;
  }
  return turn.lastEvent !== before;
}

// The response that goes on after an event; null when there is no wait left.
async function resume(run, headers, waits) {
  while (waits.length) {
    await pause(waits.shift(), run.aborter.signal);
    try {
      return await fetchWithKey(run.address, { headers, signal: run.aborter.signal });
    } catch (error) {
      if (error.name === "AbortError" || !waits.length) throw error;
    }
  }
  return null;
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function stop({ aborter, address }) {
  aborter.abort();
  if (address) fetch(address, { method: "DELETE", headers: authorization(), keepalive: true }).catch(() => {}); // then it ends by itself
}

function show(turn, event, data) {
  if (event === "status") turn.onStatus(data);
  if (event === "sources") turn.onSources(data);
  if (event === "token") turn.onToken(data);
  if (event === "citation") turn.onCitation(data);
  if (event === "done") turn.onDone(data);
  if (event === "error") turn.onError(data);
}

function showRunning(isRunning) {
  const wasTyping = form.contains(document.activeElement);
  byId("welcome").hidden = true;
  byId("send").hidden = isRunning;
  byId("stop").hidden = !isRunning;
  if (wasTyping) box.focus({ preventScroll: true }); // the focused button may just have been hidden
}

function showExamples(language) {
  box.placeholder = words().question;
  byId("examples").replaceChildren(...EXAMPLES[language].map(exampleButton));
}

function exampleButton(example) {
  const button = make("button", "", example);
  button.type = "button";
  button.addEventListener("click", () => ask(example));
  return button;
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

state.on("language", showExamples);
