// Evaluations of a collection: starting, progress, results, comparison, trend.
import { attempt, call, download } from "../api.js";
import { joined, make } from "../elements.js";
import { duration, phrase, words } from "../words.js";
import { addressOf, read, write } from "./address.js";
import { trendChart } from "./charts.js";
import { actionButton, decimal, field, moment, select, table } from "./elements.js";
import { Options, display, readAll } from "./options.js";

const SHOWN = ["hit@1", "mrr@10", "ndcg@10", "recall@5", "faithfulness", "faithfulness_estimate", "citation_recall"];
const IN_TREND = ["mrr@10", "recall@5", "faithfulness", "faithfulness_estimate"];
const POLL_INTERVAL_MS = 1000; // while a run goes on
const MAX_WORST_QUESTIONS = 12;
const BY_NUMBER = new Intl.Collator("en", { numeric: true }).compare; // hit@3 before hit@10
let shown = null; // the parts of the current view: {options, trend, runs, detail, comparison, timer}

export async function showEvaluation(view, names) {
  clearTimeout(shown?.timer);
  const { a, run, baseline, candidate } = read();
  const parts = Object.fromEntries(["trend", "runs", "detail", "comparison"].map((name) => [name, make("section", { id: name })]));
  const current = shown = { ...parts, options: new Options(words().measured, names, a, { hasFilters: false }), timer: null };
  await current.options.show();
  if (shown !== current) return; // shown again in another language
  shown.options.element.addEventListener("change", ({ target }) => target.name === "collection" && attempt(() => refresh(target.value)));
  view.replaceChildren(newRunForm(), shown.trend, shown.runs, shown.comparison, shown.detail);
  await refresh();
  if (run) await openRun(run);
  if (baseline && candidate) await compare(baseline, candidate);
}

const collectionOf = () => shown.options.read().collection;

function newRunForm() {
  const name = make("input", { maxLength: 200 });
  const answers = make("input", { type: "checkbox", checked: true });
  const start = async () => {
    const { collection, retrieval } = shown.options.read();
    await call("/evaluations", { method: "POST", body: { collection, retrieval, name: name.value, answers: answers.checked } });
    await refresh();
  };
  return make("form.order", { onsubmit: (event) => { event.preventDefault(); attempt(start); } }, shown.options.element,
    make("p.actions", field(words().name, name), make("label.check", answers, words().withAnswers), make("button.main", words().measure)));
}

async function refresh(collection = collectionOf()) {
  const current = shown;
  clearTimeout(current.timer);
  const { evaluations } = await call("/evaluations", { query: { collection, limit: 50 } }); // first: a run that ends meanwhile is read again
  const { trend } = await call("/retrieve/metrics", { query: { collection, limit: 30 } });
  if (shown !== current) return;
  const focused = document.activeElement?.id;
  shown.trend.replaceChildren(...trendParts(trend));
  shown.runs.replaceChildren(...runsParts(evaluations));
  if (focused) document.getElementById(focused)?.focus();
  if (evaluations.some(isUnfinished)) shown.timer = setTimeout(() => attempt(() => shown.runs.isConnected && refresh()), POLL_INTERVAL_MS);
}

const isUnfinished = ({ status }) => status === "waiting" || status === "running";

function trendParts(points) {
  if (!points.length) return [];
  const names = IN_TREND.filter((name) => points.some(({ metrics }) => metrics[name] != null));
  const [{ changes }] = points;
  const isWorse = changes.some(({ verdict }) => verdict === "worse");
  const gate = changes.length ? words().gate[isWorse ? "worse" : "holds"] : words().gate.alone;
  return [
    make("h2", words().trend),
    make(`p.gate${isWorse ? ".worse" : ""}`, make("strong", gate), ...changes.map((change) => make("span", { textContent: ` ${sentenceOf(change)}` }))),
    trendChart(points, names),
  ];
}

const sentenceOf = ({ metric, difference, low, high, p_value: p, n, verdict }) =>
  `${metric} ${signed(difference)}${interval(low, high)}, p ${decimal(p)}, ${phrase("questions", { n })}: ${words().outcomes[verdict]}.`;

const signed = (value) => `${value > 0 ? "+" : ""}${decimal(value)}`;
const interval = (low, high) => (low == null ? "" : ` [${signed(low)}; ${signed(high)}]`);

function runsParts(runs) {
  const heading = make("h2", words().runs);
  if (!runs.length) {
    return [heading, make("p.empty", words().noRuns, " ", make("a", { href: addressOf({ view: "golden", a: { collection: collectionOf() } }), textContent: words().viewGolden }))];
  }
  const columns = SHOWN.filter((name) => runs.some(({ summary }) => summary?.metrics[name] != null));
  const rows = runs.map((run) => [
    make("span", run.name || "–", make("span.soft", { textContent: ` ${moment(run.created_at, { dateStyle: "medium", timeStyle: "short" })}` })),
    progressOf(run), ...columns.map((name) => decimal(run.summary?.metrics[name])), actionsOf(run),
  ]);
  return [heading, table([words().run, words().state, ...columns, words().actions], rows, words().runs), comparisonForm(runs.filter(({ status }) => status === "done"))];
}

function progressOf({ status, done, total, error }) {
  if (status === "running") return make("span", make("progress", { value: done, max: total, ariaLabel: words().states.running }), ` ${done}/${total}`);
  return error ? `${words().states[status]}: ${error.message}` : words().states[status];
}

function actionsOf(run) {
  const { id, name, status } = run;
  const path = `/evaluations/${id}`;
  const rowButton = (text, action) => Object.assign(actionButton(text, action), { id: `${id}-${text.replaceAll(" ", "-")}`, ariaLabel: `${text}: ${name || moment(run.created_at)}` });
  const remove = async () => {
    if (!confirm(words().sureRun)) return;
    await call(path, { method: "DELETE" });
    await refresh();
  };
  if (isUnfinished(run)) return make("span.actions", rowButton(words().cancelRun, async () => { await call(`${path}/cancel`, { method: "POST" }); await refresh(); }));
  const seen = status === "done" ? [rowButton(words().open, () => openRun(id)), rowButton(words().report, () => download(`${path}/report`, `${name || "evaluation"}.html`))] : [];
  return make("span.actions", seen, rowButton(words().remove, remove));
}

async function openRun(id) {
  const run = await call(`/evaluations/${id}`);
  write({ run: id });
  const { values } = await call("/retrieval-options", { query: { collection: run.collection } });
  const results = await readAll(`/evaluations/${id}/results`, "results");
  const own = Object.entries(run.config).filter(([name, value]) => name in values && value !== values[name]);
  const heading = make("h2", { textContent: `${words().run} · ${run.name || moment(run.created_at)}`, tabIndex: -1 });
  const notes = [`${words().told.embeddingModel} ${run.embedding_model}`, ...own.map(([name, value]) => `${name}: ${display(value)}`), ...run.warnings];
  shown.detail.replaceChildren(heading, make("p.soft", { textContent: notes.join(" · ") }), ...(run.summary ? metricsOf(run.summary) : []),
    make("h3", words().worst), worstOf(results, { collection: run.collection, retrieval: Object.fromEntries(own) }));
  heading.focus();
}

function metricsOf({ metrics, by_category: groups, latency_ms: latency, cases, unanswerable, skipped, answers }) {
  const names = Object.keys(groups);
  const rows = Object.keys(metrics).sort(BY_NUMBER).map((name) => [name, decimal(metrics[name]), ...names.map((group) => decimal(groups[group].metrics[name]))]);
  const facts = [phrase("questions", { n: cases }), `${unanswerable} ${words().unanswerable}`, `${skipped} ${words().skipped}`,
    ...Object.entries(latency).map(([name, value]) => `${name} ${duration(value)}`), answers && `${words().answer} p50 ${duration(answers.latency_ms.p50)}`];
  return [make("p", { textContent: joined(...facts) }),
    table([words().metric, words().all, ...names.map((name) => `${words().categories[name]} (${groups[name].cases})`)], rows, words().byCategory)];
}

// The questions with the lowest scores, each linked to its search with the run's configuration.
function worstOf(results, configuration) {
  const value = ({ metrics }) => (metrics["mrr@10"] ?? 0) + (metrics.faithfulness ?? metrics.faithfulness_estimate ?? 1) / 1000;
  const bad = results.filter((result) => result.metrics["mrr@10"] < 1).sort((one, two) => value(one) - value(two)).slice(0, MAX_WORST_QUESTIONS);
  if (!bad.length) return make("p.empty", words().noneBad);
  return make("ol.worst", bad.map(({ query, rank, category }) => make("li", {},
    make("a", { href: addressOf({ question: query, a: configuration }), textContent: query }),
    make("span.soft", { textContent: ` ${words().categories[category]} · ${rank ? phrase("firstAt", { rank }) : words().notFound}` }))));
}

function comparisonForm(runs) {
  if (runs.length < 2) return make("p.soft", words().twoNeeded);
  const { baseline = runs[1].id, candidate = runs[0].id } = read();
  const named = runs.map(({ id, name, created_at: at }) => [id, `${name || "–"} · ${moment(at, { dateStyle: "medium", timeStyle: "medium" })}`]);
  const [before, after] = [select(named, baseline, { id: "baseline" }), select(named, candidate, { id: "candidate" })];
  return make("p.actions", field(words().baseline, before), field(words().candidate, after), actionButton(words().compare, () => compare(before.value, after.value), "button"));
}

async function compare(baseline, candidate) {
  const found = await call("/evaluations/compare", { query: { baseline, candidate } });
  write({ baseline, candidate });
  const rows = Object.entries(found.metrics).map(([name, of]) => [name, decimal(of.baseline), decimal(of.candidate), `${signed(of.difference)}${interval(of.low, of.high)}`,
    decimal(of.corrected_p_value), make(`span.verdict.${of.verdict}`, { textContent: words().outcomes[of.verdict] }), of.needed ?? "–"]);
  const heads = [words().metric, words().baseline, words().candidate, words().effect, "p", words().verdict, words().needed];
  const differing = Object.entries(found.config).filter(([, of]) => !("answers" in found.config) || (of.baseline !== null && of.candidate !== null))
    .map(([name, of]) => `${name}: ${display(of.baseline)} → ${display(of.candidate)}`); // if one run has no answers, all answer options differ
  const heading = make("h2", { textContent: words().comparison, tabIndex: -1 });
  shown.comparison.replaceChildren(heading,
    make("p", { textContent: `${phrase("outcome", found)} ${differing.length ? `${words().differs} ${differing.join(", ")}.` : words().sameConfiguration}` }),
    table(heads, rows, words().comparison), changedList(found.changed));
  heading.focus();
}

function changedList(changed) {
  const items = changed.map(({ query, outcome, baseline: before, candidate: after }) => make("li", {},
    make(`span.move.${outcome === "won" ? "up" : "down"}`, { textContent: outcome === "won" ? "▲" : "▼", ariaLabel: words().outcomes[outcome === "won" ? "better" : "worse"], role: "img" }),
    " ", make("a", { href: addressOf({ question: query, a: { collection: collectionOf() } }), textContent: query }),
    make("span.soft", { textContent: ` ${decimal(before)} → ${decimal(after)}` })));
  return make("ol.worst", items);
}
