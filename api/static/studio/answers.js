// The answer of one configuration, as it is written, then with what its statements stand on. No conversation is kept.
import { readEvents } from "../sse.js";
import { words } from "../words.js";
import { make, milliseconds, respond } from "./elements.js";

export async function streamAnswer(place, question, { collection, retrieval, filters }, signal) {
  const status = make("p.soft", { role: "status" });
  const text = make("p.text", { ariaLive: "polite", ariaBusy: "true" });
  place.replaceChildren(make("h3", { textContent: words().answer }), status, text);
  const body = JSON.stringify({ messages: [{ role: "user", content: question }], collection, retrieval, filters });
  const response = await respond("/chat/stream", { method: "POST", body, signal });
  let hasEnded = false;
  for await (const { event, data } of readEvents(response.body)) {
    const told = JSON.parse(data);
    if (event === "status") status.textContent = told.message;
    if (event === "token") text.append(told.text);
    if (event === "done") place.append(...verified(told, text));
    if (event === "error") place.append(make("p.error", { textContent: told.error.message }));
    hasEnded ||= event === "done" || event === "error";
  }
  status.remove();
  text.ariaBusy = "false";
  if (!hasEnded) place.append(make("p.error", { textContent: words().cut }));
}

function verified({ answer, language, statements, sources, warnings, degraded_messages: degraded, timings_ms: timings, chat_model: model }, text) {
  text.textContent = answer;
  text.lang = language;
  const names = new Map(sources.map(({ number, filename }) => [number, filename]));
  const proofs = (citations) => citations.map(({ number, quote }) => make("li", {}, make("cite", { textContent: `[${number}] ${names.get(number)}` }), " ", make("q", { textContent: quote })));
  const items = statements.map(({ statement, status, reasons, citations }) => make(`li.${status}`, {},
    make("span.verdict", { textContent: [words().verdicts[status], ...reasons].join(", ") }), " ", statement, make("ul", {}, proofs(citations))));
  const time = [model, milliseconds(timings.total)].filter(Boolean).join(" · ");
  return [
    items.length ? make("ol.statements", {}, items) : null,
    ...[...degraded, ...warnings].map((message) => make("p.soft", { textContent: message })),
    make("p.soft", { textContent: time }),
  ].filter(Boolean);
}
