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
  if (first) section.append(first);
  if (others.length) section.append(make("details", "", make("summary", "", phrase("otherChains", { n: others.length })), ...others));
}

// Whether a citation's sentence is one of those that state a causal link.
function isOf(citation, edge) {
  return citation.number === edge.source && citation.start_char < edge.end_char && edge.start_char < citation.end_char;
}

function figureOf({ entities, edges }, open) {
  const drawing = element("svg", { "aria-hidden": "true" });
  const list = make("ol", "unseen", ...entities.map((name) => make("li", "", name))); // for who hears the page
  const caption = make("figcaption", "", words().chainHint);
  const cited = edges.map((edge) => ({ ...edge, number: edge.source }));
  const marks = cited.map((edge, index) => markOf(edge, (button) => open(cited, index, button), caption));
  const figure = make("figure", "", list, drawing, ...marks, caption);
  new ResizeObserver(([{ contentRect }]) => draw(drawing, entities, marks, contentRect.width)).observe(figure);
  return figure;
}

function markOf({ number, quote, cause, effect }, open, caption) {
  const button = makeButton("mark", open, number);
  button.ariaLabel = `${words().source} ${number}: ${cause} → ${effect}. “${quote}”`;
  for (const event of ["focus", "pointerenter"]) button.addEventListener(event, () => { caption.textContent = `“${quote}”`; });
  return button;
}

function draw(drawing, names, marks, width) {
  if (!width) return; // it is folded
  const narrowest = Math.max(NARROWEST, ...names.join(" ").split(/\s+/).map((word) => widthOf(word) + 2 * PAD));
  const isRow = names.length * (narrowest + GAP) - GAP <= width;
  const wide = isRow ? (width + GAP) / names.length - GAP : width;
  const boxes = names.map((name) => linesOf(name, wide - 2 * PAD));
  const high = Math.max(...boxes.map(({ length }) => length)) * LINE + 2 * PAD;
  const [right, down] = isRow ? [wide + GAP, 0] : [0, high + DROP]; // from a box to the next
  const arrow = isRow ? `M${wide + 3} ${high / 2}h${GAP - 8}l-6 -4v8l6 -4` : `M${wide / 2} ${high + 3}v${DROP - 8}l-4 -6h8l-4 6`;
  const [left, top] = isRow ? [wide + GAP / 2 - 4, high / 2 - 14] : [wide / 2 + 16, high + DROP / 2 - 1]; // of a mark: at its arrow
  drawing.replaceChildren(...boxes.map((lines, index) => {
    const parts = index < marks.length ? [element("path", { d: arrow })] : [];
    return element("g", { transform: `translate(${index * right} ${index * down})` }, ...boxOf(lines, wide, high), ...parts);
  }));
  marks.forEach((mark, index) => Object.assign(mark.style, { left: `${index * right + left}px`, top: `${index * down + top}px` }));
  drawing.setAttribute("width", width);
  drawing.setAttribute("height", marks.length * down + high);
}

function boxOf(lines, width, height) {
  const top = (height - lines.length * LINE) / 2 + FONT;
  return [
    element("rect", { x: 0.5, y: 0.5, width: width - 1, height: height - 1, rx: 8 }),
    ...lines.map((line, index) => element("text", { x: width / 2, y: top + index * LINE }, line)),
  ];
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

function element(name, attributes, ...content) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}
