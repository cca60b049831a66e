// The answer of one configuration, streamed, then with the sources of its statements. No conversation is saved.
import { request } from "../api.js";
import { joined, make } from "../elements.js";
import { readEvents } from "../sse.js";
import { duration, words } from "../words.js";

export async function streamAnswer(place, question, { collection, retrieval, filters }, signal) {
  const status = make("p.soft", { role: "status" });
  const text = make("p.text", { ariaLive: "polite", ariaBusy: "true" });
  place.replaceChildren(make("h3", words().answer), status, text);
  const body = { messages: [{ role: "user", content: question }], collection, retrieval, filters };
  const response = await request("/chat/stream", { method: "POST", body, signal });
  let hasEnded = false;
  for await (const { event, data } of readEvents(response.body)) {
    const content = JSON.parse(data);
    if (event === "status") status.textContent = content.message;
    if (event === "token") text.append(content.text);
    if (event === "done") place.append(...verified(content, text));
    if (event === "error") place.append(make("p.error", { textContent: content.error.message }));
    hasEnded ||= event === "done" || event === "error";
  }
  status.remove();
  text.ariaBusy = "false";
  if (!hasEnded) place.append(make("p.error", words().cut));
}

function verified({ answer, language, statements, sources, warnings, degraded_messages: degraded, timings_ms: timings, chat_model: model }, text) {
  text.textContent = answer;
  text.lang = language;
  const names = new Map(sources.map(({ number, filename }) => [number, filename]));
  const proofs = (citations) => citations.map(({ number, quote }) => make("li", make("cite", { textContent: `[${number}] ${names.get(number)}` }), " ", make("q", quote)));
  const items = statements.map(({ statement, status, reasons, citations }) => make(`li.${status}`, {},
    make("span.verdict", { textContent: [words().verdicts[status], ...reasons].join(", ") }), " ", statement, make("ul", proofs(citations))));
  const time = joined(model, duration(timings.total));
  return [
    items.length ? make("ol.statements", items) : null,
    ...[...degraded, ...warnings].map((message) => make("p.soft", message)),
    make("p.soft", time),
  ].filter(Boolean);
}
