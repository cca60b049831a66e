// A search in detail: the query analysis, the duration and the ranking of each stage.
import { joined, make } from "../elements.js";
import { phrase, words } from "../words.js";
import { timingBars } from "./charts.js";
import { decimal } from "./elements.js";

// Elements for one of two searches, marking what the other ranks differently; moves are marked in the second.
export function describeSearch(found, other, { isSecond }) {
  const longest = Math.max(1, ...[found, other].flatMap(({ debug }) => Object.values(debug.timings_ms)));
  const others = new Map(stagesOf(other).map((stage) => [stage.id, stage.hits]));
  return [
    ...stagesOf(found).map((stage, index) => stageElement(stage, others.get(stage.id), { isSecond, isOpen: index === 0 })),
    make("details", make("summary", words().understood), queryAnalysis(found)),
    make("details", { open: true }, make("summary", words().timings), timingBars(found.debug.timings_ms, longest)),
  ];
}

function stagesOf({ results, debug }) {
  const named = (hits) => hits.map((hit) => ({ ...debug.chunks[hit.chunk_id], ...hit }));
  const ranked = results.map((hit, index) => ({ ...hit, rank: index + 1, filename: hit.metadata.filename, context: hit.metadata.context }));
  const legs = debug.legs.map(({ leg, text, files, failure, total, hits }) => ({
    id: [leg, text, ...files].join("|"), title: words().stages[leg], total, hits: named(hits),
    note: [debug.legs.length > 2 && `“${text}”`, ...files, failure].filter(Boolean).join(" · "),
  }));
  const { rerank, graph } = debug.config;
  const rankings = Object.entries({ fused: true, reranked: rerank, graph }).filter(([name, wasDone]) => wasDone && debug[name])
    .map(([name]) => ({ id: name, title: words().rankings[name], total: debug[name].total, hits: named(debug[name].hits) }));
  const passages = debug.expanded ?? [];
  return [
    { id: "results", title: words().results, total: ranked.length, hits: ranked },
    { id: "expanded", title: words().expanded, total: passages.length, hits: passages },
    ...legs.sort((one, two) => one.id.localeCompare(two.id)),
    ...rankings,
  ];
}

const keyOf = (hit) => `${hit.document_id}:${hit.chunk_index}`;

// others: the hits of the same stage of the other search; undefined: it has no such stage.
function stageElement({ title, note, total, hits }, others, { isSecond, isOpen }) {
  const ranks = others && new Map(others.map((hit) => [keyOf(hit), hit.rank]));
  const heading = make("summary", title, make("span.soft", { textContent: ` ${hits.length < total ? phrase("firstOf", { shown: hits.length, total }) : total} ${note ?? ""}` }));
  if (!others) heading.append(make("span.move.new", words().onlyHere));
  const body = hits.length
    ? make("ol.hits", hits.map((hit) => hitElement(hit, ranks && move(hit.rank, ranks.get(keyOf(hit)), isSecond))))
    : make("p.soft", words().nothingFound);
  return make("details", { open: isOpen }, heading, body);
}

// How a hit moves from the first configuration to the second, as [class, text]; null if it does not.
function move(rank, otherRank, isSecond) {
  if (otherRank === undefined) return isSecond ? ["new", words().fresh] : ["gone", words().gone];
  const places = otherRank - rank;
  if (!isSecond || places === 0) return null;
  return places > 0 ? ["up", `▲${places}`] : ["down", `▼${-places}`];
}

function hitElement({ rank, filename, chunk_index: index, context, content, score, scores }, moved) {
  return make("li", make("details", {},
    make("summary", {},
      make("span.rank", rank),
      make("span.name", { textContent: filename }, make("span.soft", { textContent: ` #${index}` })),
      moved && make(`span.move.${moved[0]}`, { textContent: moved[1] }),
      make("span.score", { textContent: decimal(score) })),
    context && make("p.soft", context),
    make("blockquote", content),
    scores && make("p.soft", { textContent: Object.entries(scores).map(([name, value]) => `${words().stages[name] ?? name} ${decimal(value)}`).join(" · ") })));
}

function queryAnalysis({ debug, strategy, warnings, degraded }) {
  const { query } = debug;
  const facts = {
    strategy: `${strategy} (${debug.reason})`, intent: [query.intent, query.direction].filter(Boolean).join(", "), language: query.language,
    searchText: query.search_text, parts: query.sub_queries, keywords: query.entities, hypothetical: query.hypothetical_answer,
    embeddingModel: debug.embedding_model, warnings, degraded,
  };
  const rows = Object.entries(facts).filter(([, value]) => value.length);
  return make("dl.told", rows.map(([name, value]) => [make("dt", { textContent: words().told[name] }), make("dd", { textContent: [value].flat().join(" · ") })]));
}
