// The table that an answer was computed from: a chart of its groups, its first rows with the marks of their sources, all rows as CSV.
import { attempt, download } from "./api.js";
import { make, makeButton, makeSvg, shortened } from "./elements.js";
import { kindOf, scrollable } from "./passage_elements.js";
import { phrase, words } from "./words.js";

const [MAX_BARS, BAR, MAX_LABEL_CHARS] = [12, 38, 30]; // pixels from a bar to the next
const [HEIGHT, PAD] = [170, 38]; // pixels of a line's drawing, and of the room above and below the line

// Shows the table of a turn's answer below it. Where the answer's first line is the plan, the list of rows that follows is removed.
export function showTable(section, { table, answer, message_id: id }, { element, sources, open, conversation }) {
  const { plan, columns, rows, row_count: rowCount, group_count: groupCount, values = [], is_series: isSeries } = table;
  const isTold = answer.split("\n", 1)[0].includes(plan);
  if (isTold) element.querySelector(".answer ul")?.remove();
  const quoted = rows.map((row, index) => sources.get(table.sources?.[index]));
  const cited = quoted.filter(Boolean).map((source) => ({ ...source, quote: source.content }));
  const markOf = (source, label) => source && Object.assign(
    makeButton("button.mark", (button) => open(cited, cited.findIndex(({ number }) => number === source.number), button), String(source.number)),
    { ariaLabel: `${words().source} ${source.number}: ${label}` },
  );
  const head = make("tr", make("th", { scope: "col" }, make("span.unseen", words().source)), columns.map((name) => make("th", { scope: "col" }, name)));
  const body = rows.map(([name, ...cells], index) => make("tr", make("td", markOf(quoted[index], name)), make(`th.${kindOf(name)}`, { scope: "row" }, name),
    cells.map((cell) => make(`td.${values.length ? "amount" : kindOf(cell)}`, cell))));
  const caption = make(isTold ? "caption.unseen" : "caption", plan);
  const all = groupCount ?? rowCount;
  const count = rows.length < all && phrase(groupCount ? "firstGroups" : "firstRows", { n: rows.length, all });
  const save = () => attempt(() => download(`/conversations/${conversation}/messages/${id}/table.csv`, `${words().table}.csv`));
  const chart = values.length > 1 && (isSeries ? drawLine : drawBars)(rows, values);
  section.replaceChildren(...[chart, scrollable(make("table", caption, make("thead", head), make("tbody", body)), plan), make("p", count, id && makeButton("button", save, words().downloadTable))].filter(Boolean));
}

// The share of [least, most], which zero is in, that a number is above the least.
function scaleOf(values) {
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
  return (value) => (value - least) / (most - least || 1);
}

const percent = (share) => `${100 * share}%`;
const draw = (height, ...content) => makeSvg("svg", { "aria-hidden": "true", height }, ...content); // the table says the same

function drawBars(rows, values) {
  const share = scaleOf(values);
  const bars = rows.slice(0, MAX_BARS).map(([name, shown], index) => {
    const [from, to] = [0, values[index]].map(share).sort((one, other) => one - other);
    const bar = makeSvg("rect", { x: percent(from), y: 18, width: percent(Math.max(to - from, 0.002)), height: 10, rx: 3 });
    const texts = [makeSvg("text", { y: 12 }, shortened(name, MAX_LABEL_CHARS)), makeSvg("text", { x: "100%", y: 12, "text-anchor": "end" }, shown)];
    return makeSvg("g", { transform: `translate(0 ${index * BAR})` }, bar, texts);
  });
  return draw(bars.length * BAR, bars);
}

function drawLine(rows, values) {
  const share = scaleOf(values);
  const last = values.length - 1;
  const x = (index) => percent(0.02 + 0.96 * index / last);
  const y = (value) => HEIGHT - PAD - share(value) * (HEIGHT - 2 * PAD);
  const write = (index, top, text) => makeSvg("text", { x: x(index), y: top, "text-anchor": ["start", "middle", "end"][Math.floor(2.99 * index / last)] }, text);
  const axis = makeSvg("line", { class: "axis", x1: 0, x2: "100%", y1: y(0), y2: y(0) });
  const lines = values.slice(1).map((value, index) => makeSvg("line", { x1: x(index), y1: y(values[index]), x2: x(index + 1), y2: y(value) }));
  const points = values.map((value, index) => makeSvg("circle", { cx: x(index), cy: y(value), r: 3 }));
  const told = [[Math.max, -9], [Math.min, 19]].map(([of, offset]) => [values.indexOf(of(...values)), offset])
    .map(([index, offset]) => write(index, y(values[index]) + offset, rows[index][1]));
  const names = [...new Set([0, Math.floor(last / 2), last])].map((index) => write(index, HEIGHT - 6, shortened(rows[index][0], MAX_LABEL_CHARS)));
  return draw(HEIGHT, axis, lines, points, told, names);
}
