// The causal chains that an answer tells, drawn: causes and effects in boxes, each arrow with the mark of its source.
import { make, makeButton } from "./elements.js";
import { phrase, words } from "./words.js";

const NARROWEST = 130; // pixels of a box in a row; where there is less room, the boxes stand below one another
const [GAP, DROP, PAD, LINE, FONT] = [52, 40, 10, 18, 13]; // pixels: between boxes of a row, of a column; inside of a box

// Those of which the answer cites every link; `open(citations, index, trigger)` shows a link's quote in its document.
export function drawChain(section, paths, citations, open) {
  const told = paths.filter(({ edges }) => edges.every((edge) => citations.some((citation) => isOf(citation, edge))));
  const [first, ...others] = told.map((path) => figureOf(path, open));
  section.hidden = !first;
  if (!first) return;
  section.append(first);
  if (others.length) section.append(make("details", "", make("summary", "", phrase("otherChains", { n: others.length })), ...others));
}

// Whether a citation's sentence is one of those that state a causal link.
function isOf(citation, edge) {
  return citation.number === edge.source && citation.start_char < edge.end_char && edge.start_char < citation.end_char;
}

function figureOf({ entities, edges }, open) {
  const drawing = element("svg", { "aria-hidden": "true" });
  const quote = make("figcaption", "", words().chainHint);
  const cited = edges.map((edge) => ({ ...edge, number: edge.source }));
  const marks = cited.map((edge, index) => markOf(edge, (button) => open(cited, index, button), quote));
  const figure = make("figure", "", listOf(entities), drawing, ...marks, quote);
  new ResizeObserver(([{ contentRect }]) => draw(drawing, entities, marks, contentRect.width)).observe(figure);
  return figure;
}

// For who hears the page; each step is said once, before the marks of the links.
function listOf(entities) {
  return make("ol", "unseen", ...entities.map((name) => make("li", "", name)));
}

function markOf({ source, quote, cause, effect }, open, caption) {
  const button = makeButton("mark", open, String(source));
  const tell = () => { caption.textContent = `“${quote}”`; };
  button.ariaLabel = `${words().source} ${source}: ${cause} → ${effect}. “${quote}”`;
  button.addEventListener("focus", tell);
  button.addEventListener("pointerenter", tell);
  return button;
}

function draw(drawing, names, marks, width) {
  if (!width) return; // it is folded
  const narrowest = Math.max(NARROWEST, ...names.join(" ").split(/\s+/).map((word) => widthOf(word) + 2 * PAD));
  const isRow = names.length * narrowest + (names.length - 1) * GAP <= width;
  const wide = isRow ? (width - (names.length - 1) * GAP) / names.length : width;
  const boxes = names.map((name) => linesOf(name, wide - 2 * PAD));
  const tallest = Math.max(...boxes.map((lines) => lines.length)) * LINE + 2 * PAD;
  let [x, y] = [0, 0];
  const parts = boxes.flatMap((lines, index) => {
    const high = isRow ? tallest : lines.length * LINE + 2 * PAD;
    const box = boxOf(lines, x, y, wide, high);
    const arrow = isRow ? [x + wide + 3, high / 2, GAP - 8, 0] : [wide / 2, y + high + 3, 0, DROP - 8];
    if (isRow) x += wide + GAP;
    else y += high + DROP;
    return index < marks.length ? [...box, ...arrowOf(...arrow, marks[index])] : box;
  });
  drawing.setAttribute("height", isRow ? tallest : y - DROP);
  drawing.setAttribute("width", width);
  drawing.replaceChildren(...parts);
}

function boxOf(lines, x, y, width, height) {
  const top = y + (height - lines.length * LINE) / 2 + FONT;
  return [
    element("rect", { x: x + 0.5, y: y + 0.5, width: width - 1, height: height - 1, rx: 8 }),
    ...lines.map((line, index) => element("text", { x: x + width / 2, y: top + index * LINE }, line)),
  ];
}

// Its mark stands on its middle, or beside it.
function arrowOf(x, y, along, down, mark) {
  const [tipX, tipY] = [x + along, y + down];
  const head = along ? "l-6 -4v8z" : "l-4 -6h8z";
  Object.assign(mark.style, { left: `${x + along / 2 + (down ? 16 : -3)}px`, top: `${y + down / 2 - (along ? 14 : 0)}px` });
  return [element("path", { d: `M${x} ${y}L${tipX} ${tipY}` }), element("path", { class: "head", d: `M${tipX} ${tipY}${head}` })];
}

const ruler = document.createElement("canvas").getContext("2d");
ruler.font = `${FONT}px system-ui, sans-serif`;
const widthOf = (text) => ruler.measureText(text).width;

function linesOf(text, width) {
  const lines = [""];
  for (const word of text.split(/\s+/)) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (!lines.at(-1) || widthOf(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function element(name, attributes, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}
