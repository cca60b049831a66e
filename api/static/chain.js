// Drawings of an answer's causal chains: causes and effects in boxes, each arrow with the mark of its source.
import { make, makeButton, makeSvg, shortened } from "./elements.js";
import { phrase, words } from "./words.js";

const MIN_BOX_WIDTH = 130; // pixels of a box in a row; with less room, the boxes are stacked
const [GAP, DROP, PAD, LINE, FONT] = [52, 40, 10, 18, 13]; // pixels: between boxes in a row, in a column; padding, line height and font size in a box

// Draws the paths whose links are all cited; `open(citations, index, trigger)` shows a link's quote in its document.
export function drawChain(section, paths, citations, open) {
  const cited = paths.filter(({ edges }) => edges.every((edge) => citations.some((citation) => states(citation, edge))));
  const [first = "", ...others] = cited.map((path) => figureOf(path, open));
  section.hidden = !first;
  section.append(first, others.length ? make("details", make("summary", phrase("otherChains", { n: others.length })), ...others) : "");
}

// Whether a citation quotes a sentence that states a causal link.
function states(citation, edge) {
  return citation.number === edge.source && citation.start_char < edge.end_char && edge.start_char < citation.end_char;
}

function figureOf({ entities, edges }, open) {
  const drawing = makeSvg("svg", { "aria-hidden": "true" });
  const list = make("ol.unseen", entities.map((name) => make("li", name))); // for screen readers
  const caption = make("figcaption", words().chainHint);
  const cited = edges.map((edge) => ({ ...edge, number: edge.source }));
  const marks = cited.map((edge, index) => markOf(edge, (button) => open(cited, index, button), caption));
  const figure = make("figure", list, drawing, ...marks, caption);
  new ResizeObserver(([{ contentRect }]) => draw(drawing, entities, marks, contentRect.width)).observe(figure);
  return figure;
}

function markOf({ number, quote, cause, effect }, open, caption) {
  const button = makeButton("button.mark", open, String(number));
  button.ariaLabel = `${words().source} ${number}: ${cause} → ${effect}. “${quote}”`;
  for (const event of ["focus", "pointerenter"]) button.addEventListener(event, () => { caption.textContent = `“${quote}”`; });
  return button;
}

function draw(drawing, names, marks, width) {
  if (!width) return; // it is collapsed
  const narrowest = Math.max(MIN_BOX_WIDTH, ...names.join(" ").split(/\s+/).map((word) => widthOf(word) + 2 * PAD));
  const isRow = names.length * (narrowest + GAP) - GAP <= width;
  const wide = isRow ? (width + GAP) / names.length - GAP : width;
  const boxes = names.map((name) => linesOf(shortened(name), wide - 2 * PAD));
  const high = Math.max(...boxes.map(({ length }) => length)) * LINE + 2 * PAD;
  const [right, down] = isRow ? [wide + GAP, 0] : [0, high + DROP]; // offset from a box to the next
  const arrow = isRow ? `M${wide + 3} ${high / 2}h${GAP - 8}l-6 -4v8l6 -4` : `M${wide / 2} ${high + 3}v${DROP - 8}l-4 -6h8l-4 6`;
  const [left, top] = isRow ? [wide + GAP / 2 - 4, high / 2 - 14] : [wide / 2 + 16, high + DROP / 2 - 1]; // of a mark: at its arrow
  drawing.replaceChildren(...boxes.map((lines, index) => {
    const parts = index < marks.length ? [makeSvg("path", { d: arrow })] : [];
    return makeSvg("g", { transform: `translate(${index * right} ${index * down})` }, ...boxOf(lines, wide, high), ...parts);
  }));
  marks.forEach((mark, index) => Object.assign(mark.style, { left: `${index * right + left}px`, top: `${index * down + top}px` }));
  drawing.setAttribute("width", width);
  drawing.setAttribute("height", marks.length * down + high);
}

function boxOf(lines, width, height) {
  const top = (height - lines.length * LINE) / 2 + FONT;
  return [
    makeSvg("rect", { x: 0.5, y: 0.5, width: width - 1, height: height - 1, rx: 8 }),
    ...lines.map((line, index) => makeSvg("text", { x: width / 2, y: top + index * LINE }, line)),
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
