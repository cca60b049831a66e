// The stream of an answer: begun, read on after the connection was lost or the page was reloaded, stopped.
import { fetchWithKey } from "./key.js";
import { readEvents } from "./sse.js";

export const ADDRESS = "/api/chat/stream";
const RESUME_AFTER = [500, 1000, 2000, 4000]; // milliseconds; the server soon stops an answer that nobody reads
const HANDLERS = { status: "onStatus", sources: "onSources", token: "onToken", citation: "onCitation", done: "onDone", error: "onError" };

// Fills the turn with what `request` answers and with what follows; `named(headers)` is called at its beginning.
export async function stream(turn, request, named) {
  for (let tries = 0; ; tries += 1) {
    const response = await request().catch((error) => {
      if (error.name === "AbortError" || !turn.stream || tries === RESUME_AFTER.length) throw error;
    });
    if (response?.ok === false) return turn.onError(await response.json().catch(() => ({}))); // a proxy's page is no JSON
    if (tries === 0) named(response.headers);
    for await (const { id, event, data } of response ? readEvents(response.body) : []) {
      turn[HANDLERS[event]]?.(JSON.parse(data));
      turn.lastEvent = id;
      if (turn.ended) return;
      tries = 0;
    }
    if (!turn.stream || tries === RESUME_AFTER.length) return;
    await pause(RESUME_AFTER[tries], turn.aborter.signal);
    request = () => resume(turn);
  }
}

// What follows the last event that the turn has.
export function resume({ stream, lastEvent = `${stream}:0`, aborter: { signal } }) {
  return fetchWithKey(`${ADDRESS}/${stream}`, { headers: { "Last-Event-ID": lastEvent }, signal });
}

const pause = (milliseconds, signal) => new Promise((over) => {
  setTimeout(over, milliseconds);
  signal.onabort = over; // the next request is not sent then
});

export function stop({ aborter, stream }) {
  aborter.abort();
  if (stream) fetchWithKey(`${ADDRESS}/${stream}`, { method: "DELETE", keepalive: true }).catch(() => {}); // then it ends by itself
}
