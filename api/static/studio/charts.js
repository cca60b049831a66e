// Charts as SVG in the page's colours; every value is also text, beside it or in a title.
import { make, makeSvg } from "../elements.js";
import { state } from "../state.js";
import { duration, words } from "../words.js";
import { decimal, moment } from "./elements.js";

const STAGES = ["transform", "fulltext", "vector", "chunkenizer", "fuse", "rerank", "associate", "search", "expand"]; // in the order of the pipeline
const WIDTH = 640, HEIGHT = 220, LEFT = 36, BOTTOM = 24; // of the trend, in units of its view box

// How long each stage took; a bar is full at `longest` milliseconds.
export function timingBars(timings, longest) {
  const place = (name) => (STAGES.indexOf(name) + STAGES.length + 1) % (STAGES.length + 1); // unknown ones come last
  const names = Object.keys(timings).sort((one, other) => place(one) - place(other));
  return make("dl.bars", names.map((name) => [
    make("dt", { textContent: words().stages[name] ?? name }),
    make("dd", {},
      makeSvg("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": true }, makeSvg("rect", { width: (100 * timings[name]) / longest, height: 8 })),
      make("span", { textContent: duration(timings[name]) })),
  ]));
}

// points: as GET /retrieve/metrics returns them, the latest first; one line for each metric, in [0, 1].
export function trendChart(points, names) {
  const inOrder = [...points].reverse();
  const x = (index) => LEFT + 8 + (inOrder.length < 2 ? 0 : (index * (WIDTH - LEFT - 24)) / (inOrder.length - 1));
  const y = (value) => 8 + (1 - value) * (HEIGHT - BOTTOM - 8);
  const grid = [0, 0.25, 0.5, 0.75, 1].map((value) => [
    makeSvg("line", { x1: LEFT, x2: WIDTH, y1: y(value), y2: y(value), class: "grid" }),
    makeSvg("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, decimal(value, 2)),
  ]);
  const lines = names.map((name, number) => {
    const places = inOrder.map(({ metrics }, index) => [index, metrics[name]]).filter(([, value]) => value != null);
    const dots = places.map(([index, value]) => makeSvg("circle", { cx: x(index), cy: y(value), r: 4 }, makeSvg("title", {}, pointTitle(inOrder[index], name, value))));
    return makeSvg("g", { class: `line-${number}` }, makeSvg("polyline", { points: places.map(([index, value]) => `${x(index)},${y(value)}`).join(" ") }), dots);
  });
  const days = inOrder.map(({ finished_at: at }) => new Date(at).toLocaleDateString(state.language, { day: "numeric", month: "short" }));
  const ends = days.length ? [makeSvg("text", { x: x(0), y: HEIGHT - 4 }, days[0])] : [];
  if (days.length > 1) ends.push(makeSvg("text", { x: x(days.length - 1), y: HEIGHT - 4, "text-anchor": "end" }, days.at(-1)));
  const label = `${words().trend}: ${names.map((name) => `${name} ${inOrder.map(({ metrics }) => decimal(metrics[name], 2)).join(", ")}`).join("; ")}`;
  const legend = make("ul.legend", names.map((name, number) => make("li", { className: `line-${number}`, textContent: name })));
  return make("figure", makeSvg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label }, grid, lines, ends), legend);
}

const pointTitle = ({ name, finished_at: at }, metric, value) =>
  `${metric} ${decimal(value)} · ${moment(at)}${name && ` · ${name}`}`;
