// The stream of an answer: started, resumed after a lost connection or a reload, stopped.
import { fetchWithKey } from "./api.js";
import { readEvents } from "./sse.js";

export const ADDRESS = "/api/chat/stream";
const RESUME_DELAYS_MS = [500, 1000, 2000, 4000]; // the server soon stops an answer that nobody reads
const HANDLERS = { status: "onStatus", sources: "onSources", token: "onToken", citation: "onCitation", done: "onDone", error: "onError" };

// Reads the stream that `request` opens into the turn, and resumes it when the connection is lost. `onHeaders` gets the first headers.
export async function stream(turn, request, onHeaders) {
  for (let tries = 0; ; tries += 1) {
    const response = await request().catch((error) => {
      if (error.name === "AbortError" || !turn.stream || tries === RESUME_DELAYS_MS.length) throw error;
    });
    if (response?.ok === false) return turn.onError(await response.json().catch(() => ({}))); // a proxy's error page is not JSON
    if (tries === 0) onHeaders(response.headers);
    for await (const { id, event, data } of response ? readEvents(response.body) : []) {
      turn[HANDLERS[event]]?.(JSON.parse(data));
      turn.lastEvent = id;
      if (turn.ended) return;
      tries = 0;
    }
    if (!turn.stream || tries === RESUME_DELAYS_MS.length) return;
    await pause(RESUME_DELAYS_MS[tries], turn.aborter.signal);
    request = () => resume(turn);
  }
}

// Requests the events after the turn's last one.
export function resume({ stream, lastEvent = `${stream}:0`, aborter: { signal } }) {
  return fetchWithKey(`${ADDRESS}/${stream}`, { headers: { "Last-Event-ID": lastEvent }, signal });
}

const pause = (milliseconds, signal) => new Promise((resolve) => {
  setTimeout(resolve, milliseconds);
  signal.onabort = resolve; // the next request is then not sent
});

export function stop({ aborter, stream }) {
  aborter.abort();
  if (stream) fetchWithKey(`${ADDRESS}/${stream}`, { method: "DELETE", keepalive: true }).catch(() => {}); // the server stops it after a while anyway
}
