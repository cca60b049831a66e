// Evaluations of a collection: ordered, watched, looked into, compared, and their trend.
import { state } from "../state.js";
import { phrase, words } from "../words.js";
import { addressOf, read, write } from "./address.js";
import { trendChart } from "./charts.js";
import { ask, askAll, attempt, button, choice, field, figure, make, milliseconds, respond, table } from "./elements.js";
import { Options, said } from "./options.js";

const SHOWN = ["hit@1", "mrr@10", "ndcg@10", "recall@5", "faithfulness", "faithfulness_estimate", "citation_recall"];
const IN_TREND = ["mrr@10", "recall@5", "faithfulness", "faithfulness_estimate"];
const WATCH_EVERY = 1000; // milliseconds, while a run goes on
const WORST = 12; // questions
const BY_NUMBER = new Intl.Collator("en", { numeric: true }).compare; // hit@3 before hit@10
let shown = null; // the view's parts, as long as it is shown: {options, trend, runs, detail, comparison, timer}

export async function showEvaluation(view, names) {
  clearTimeout(shown?.timer);
  const { a, run, baseline, candidate } = read();
  const parts = Object.fromEntries(["trend", "runs", "detail", "comparison"].map((name) => [name, make("section", { id: name })]));
  const mine = shown = { ...parts, options: new Options(words().measured, names, a, { hasFilters: false }), timer: null };
  await mine.options.show();
  if (shown !== mine) return; // in another language meanwhile
  shown.options.element.addEventListener("change", ({ target }) => target.name === "collection" && attempt(() => refresh(target.value)));
  view.replaceChildren(orderForm(), shown.trend, shown.runs, shown.comparison, shown.detail);
  await refresh();
  if (run) await openRun(run);
  if (baseline && candidate) await compare(baseline, candidate);
}

const collectionOf = () => shown.options.read().collection;

function orderForm() {
  const name = make("input", { maxLength: 200 });
  const answers = make("input", { type: "checkbox", checked: true });
  const order = async () => {
    const { collection, retrieval } = shown.options.read();
    await ask("/evaluations", { method: "POST", body: { collection, retrieval, name: name.value, answers: answers.checked } });
    await refresh();
  };
  return make("form.order", { onsubmit: (event) => { event.preventDefault(); attempt(order); } }, shown.options.element,
    make("p.actions", {}, field(words().name, name), make("label.check", {}, answers, words().withAnswers), make("button.main", { textContent: words().measure })));
}

async function refresh(collection = collectionOf()) {
  const mine = shown;
  clearTimeout(mine.timer);
  const of = `collection=${encodeURIComponent(collection)}`;
  const { evaluations } = await ask(`/evaluations?${of}&limit=50`); // first: a run that ends meanwhile is asked for again
  const { trend } = await ask(`/retrieve/metrics?${of}&limit=30`);
  if (shown !== mine) return;
  const focused = document.activeElement?.id;
  shown.trend.replaceChildren(...trendParts(trend));
  shown.runs.replaceChildren(...runsParts(evaluations));
  if (focused) document.getElementById(focused)?.focus();
  if (evaluations.some(isGoingOn)) shown.timer = setTimeout(() => attempt(() => shown.runs.isConnected && refresh()), WATCH_EVERY);
}

const isGoingOn = ({ status }) => status === "waiting" || status === "running";

function trendParts(points) {
  if (!points.length) return [];
  const names = IN_TREND.filter((name) => points.some(({ metrics }) => metrics[name] != null));
  const [{ changes }] = points;
  const isWorse = changes.some(({ verdict }) => verdict === "worse");
  const gate = changes.length ? words().gate[isWorse ? "worse" : "holds"] : words().gate.alone;
  return [
    make("h2", { textContent: words().trend }),
    make(`p.gate${isWorse ? ".worse" : ""}`, {}, make("strong", { textContent: gate }), ...changes.map((change) => make("span", { textContent: ` ${sentenceOf(change)}` }))),
    trendChart(points, names),
  ];
}

const sentenceOf = ({ metric, difference, low, high, p_value: p, n, verdict }) =>
  `${metric} ${signed(difference)}${interval(low, high)}, p ${figure(p)}, ${phrase("questions", { n })}: ${words().outcomes[verdict]}.`;

const signed = (value) => `${value > 0 ? "+" : ""}${figure(value)}`;
const interval = (low, high) => (low == null ? "" : ` [${signed(low)}; ${signed(high)}]`);

function runsParts(runs) {
  const heading = make("h2", { textContent: words().runs });
  if (!runs.length) {
    return [heading, make("p.empty", {}, words().noRuns, " ", make("a", { href: addressOf({ view: "golden", a: { collection: collectionOf() } }), textContent: words().viewGolden }))];
  }
  const columns = SHOWN.filter((name) => runs.some(({ summary }) => summary?.metrics[name] != null));
  const rows = runs.map((run) => [
    make("span", {}, run.name || "–", make("span.soft", { textContent: ` ${new Date(run.created_at).toLocaleString(state.language, { dateStyle: "medium", timeStyle: "short" })}` })),
    progressOf(run), ...columns.map((name) => figure(run.summary?.metrics[name])), actionsOf(run),
  ]);
  return [heading, table([words().run, words().state, ...columns, words().actions], rows, words().runs), comparisonForm(runs.filter(({ status }) => status === "done"))];
}

function progressOf({ status, done, total, error }) {
  if (status === "running") return make("span", {}, make("progress", { value: done, max: total, ariaLabel: words().states.running }), ` ${done}/${total}`);
  return error ? `${words().states[status]}: ${error.message}` : words().states[status];
}

function actionsOf(run) {
  const { id, name, status } = run;
  const of = `/evaluations/${id}`;
  const act = (text, action) => Object.assign(button(text, action), { id: `${id}-${text.replaceAll(" ", "-")}`, ariaLabel: `${text}: ${name || new Date(run.created_at).toLocaleString(state.language)}` });
  const remove = async () => {
    if (!confirm(words().sureRun)) return;
    await ask(of, { method: "DELETE" });
    await refresh();
  };
  if (isGoingOn(run)) return make("span.actions", {}, act(words().cancelRun, async () => { await ask(`${of}/cancel`, { method: "POST" }); await refresh(); }));
  const seen = status === "done" ? [act(words().open, () => openRun(id)), act(words().report, () => download(`${of}/report`, `${name || "evaluation"}.html`))] : [];
  return make("span.actions", {}, seen, act(words().remove, remove));
}

// A page of its own, which a link could not ask for with the key.
async function download(path, name) {
  const address = URL.createObjectURL(await (await respond(path)).blob());
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000); // the browser reads it after the click
}

async function openRun(id) {
  const run = await ask(`/evaluations/${id}`);
  write({ run: id });
  const { values } = await ask(`/retrieval-options?collection=${encodeURIComponent(run.collection)}`);
  const results = await askAll(`/evaluations/${id}/results`, "results");
  const own = Object.entries(run.config).filter(([name, value]) => name in values && value !== values[name]);
  const heading = make("h2", { textContent: `${words().run} · ${run.name || new Date(run.created_at).toLocaleString(state.language)}`, tabIndex: -1 });
  const notes = [`${words().told.embeddingModel} ${run.embedding_model}`, ...own.map(([name, value]) => `${name}: ${said(value)}`), ...run.warnings];
  shown.detail.replaceChildren(heading, make("p.soft", { textContent: notes.join(" · ") }), ...(run.summary ? figuresOf(run.summary) : []),
    make("h3", { textContent: words().worst }), worstOf(results, { collection: run.collection, retrieval: Object.fromEntries(own) }));
  heading.focus();
}

function figuresOf({ metrics, by_category: groups, latency_ms: latency, cases, unanswerable, skipped, answers }) {
  const names = Object.keys(groups);
  const rows = Object.keys(metrics).sort(BY_NUMBER).map((name) => [name, figure(metrics[name]), ...names.map((group) => figure(groups[group].metrics[name]))]);
  const told = [phrase("questions", { n: cases }), `${unanswerable} ${words().unanswerable}`, `${skipped} ${words().skipped}`,
    ...Object.entries(latency).map(([name, value]) => `${name} ${milliseconds(value)}`), answers && `${words().answer} p50 ${milliseconds(answers.latency_ms.p50)}`];
  return [make("p", { textContent: told.filter(Boolean).join(" · ") }),
    table([words().metric, words().all, ...names.map((name) => `${words().categories[name]} (${groups[name].cases})`)], rows, words().byCategory)];
}

// The questions that found least, each as a link that searches for it as the run did.
function worstOf(results, configuration) {
  const value = ({ metrics }) => (metrics["mrr@10"] ?? 0) + (metrics.faithfulness ?? metrics.faithfulness_estimate ?? 1) / 1000;
  const bad = results.filter((result) => result.metrics["mrr@10"] < 1).sort((one, two) => value(one) - value(two)).slice(0, WORST);
  if (!bad.length) return make("p.empty", { textContent: words().noneBad });
  return make("ol.worst", {}, bad.map(({ query, rank, category }) => make("li", {},
    make("a", { href: addressOf({ question: query, a: configuration }), textContent: query }),
    make("span.soft", { textContent: ` ${words().categories[category]} · ${rank ? phrase("firstAt", { rank }) : words().notFound}` }))));
}

function comparisonForm(runs) {
  if (runs.length < 2) return make("p.soft", { textContent: words().twoNeeded });
  const { baseline = runs[1].id, candidate = runs[0].id } = read();
  const named = runs.map(({ id, name, created_at: at }) => [id, `${name || "–"} · ${new Date(at).toLocaleString(state.language, { dateStyle: "medium", timeStyle: "medium" })}`]);
  const [before, after] = [choice(named, baseline, { id: "baseline" }), choice(named, candidate, { id: "candidate" })];
  return make("p.actions", {}, field(words().baseline, before), field(words().candidate, after), button(words().compare, () => compare(before.value, after.value), "button"));
}

async function compare(baseline, candidate) {
  const found = await ask(`/evaluations/compare?${new URLSearchParams({ baseline, candidate })}`);
  write({ baseline, candidate });
  const rows = Object.entries(found.metrics).map(([name, of]) => [name, figure(of.baseline), figure(of.candidate), `${signed(of.difference)}${interval(of.low, of.high)}`,
    figure(of.corrected_p_value), make(`span.verdict.${of.verdict}`, { textContent: words().outcomes[of.verdict] }), of.needed ?? "–"]);
  const heads = [words().metric, words().baseline, words().candidate, words().effect, "p", words().verdict, words().needed];
  const differing = Object.entries(found.config).filter(([, of]) => !("answers" in found.config) || (of.baseline !== null && of.candidate !== null))
    .map(([name, of]) => `${name}: ${said(of.baseline)} → ${said(of.candidate)}`); // where one did not answer, all of answering differs
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
    make("span.soft", { textContent: ` ${figure(before)} → ${figure(after)}` })));
  return make("ol.worst", {}, items);
}
