// The stream of an answer: begun, read on after the connection was lost or the page was reloaded, stopped.
import { authorization, fetchWithKey } from "./key.js";
import { readEvents } from "./sse.js";
import { state } from "./state.js";

export const ADDRESS = "/api/chat/stream";
const RESUME_AFTER = [500, 1000, 2000, 4000]; // milliseconds; the server soon stops an answer that nobody reads
const HANDLERS = { status: "onStatus", sources: "onSources", token: "onToken", citation: "onCitation", done: "onDone", error: "onError" };

export const streamHeaders = () => ({ "Accept-Language": state.language, Accept: "text/event-stream" });

// Fills the turn of `run` with what `begin(signal)` answers and with what follows; `named(headers)` is called at its beginning.
export async function stream(run, begin, named) {
  const { turn, aborter: { signal } } = run;
  let response = await begin(signal);
  run.stream = response.headers.get("X-Stream-Id");
  run.address = run.stream && `${ADDRESS}/${run.stream}`;
  if (response.ok) named(response.headers);
  const waits = [...RESUME_AFTER];
  while (response?.ok) {
    if (response.body && await showEvents(turn, response.body)) waits.splice(0, Infinity, ...RESUME_AFTER);
    if (turn.ended || !run.address) return;
    const headers = { ...streamHeaders(), "Last-Event-ID": turn.lastEvent ?? `${run.stream}:0` };
    response = await resume(run, headers, waits);
  }
  if (response) turn.onError(await response.json().catch(() => ({}))); // a proxy's page is no JSON
}

// Whether there was any.
async function showEvents(turn, body) {
  const before = turn.lastEvent;
  for await (const { id, event, data } of readEvents(body)) {
    turn[HANDLERS[event]]?.(JSON.parse(data));
    turn.lastEvent = id;
    if (turn.ended) break;
  }
  return turn.lastEvent !== before;
}

// The response that goes on after an event; null when there is no wait left.
async function resume({ address, aborter: { signal } }, headers, waits) {
  while (waits.length) {
    await pause(waits.shift(), signal);
    try {
      return await fetchWithKey(address, { headers, signal });
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

export function stop({ aborter, address }) {
  aborter.abort();
  if (address) fetch(address, { method: "DELETE", headers: authorization(), keepalive: true }).catch(() => {}); // then it ends by itself
}

// The streams that a reload of the page breaks off, by their questions.
export function remember(question, stream) {
  try {
    if (stream) sessionStorage.setItem(`stream ${question}`, stream);
    else sessionStorage.removeItem(`stream ${question}`);
  } catch { /* then it is not read on */ }
}

export function remembered(question) {
  try { return sessionStorage.getItem(`stream ${question}`); } catch { return null; }
}
