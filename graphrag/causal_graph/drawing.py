"""The causal graph as an SVG picture."""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import accumulate, pairwise
from uuid import UUID

import networkx as nx
from scipy.optimize import isotonic_regression

from graphrag.causal_graph.concepts import LINKED, roots, similarity
from graphrag.models.graph import CausalEdge, Polarity, RelationType

SWEEPS = 12  # over the columns, until the order has settled
COLUMN_GAP, ROW_GAP, PART_GAP = 72.0, 16.0, 40.0
LANE_HEIGHT = 10.0  # what a line keeps free where it passes a column

Node = Hashable
Arrow = tuple[Node, Node]
Route = tuple[tuple[float, float], ...]  # points from one box to the other


@dataclass(frozen=True, slots=True)
class LayoutBox:
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class Layout:
    boxes: Mapping[Node, LayoutBox]
    routes: Mapping[Arrow, Route]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class _Lane:
    """The passage of an arrow through a column between its ends."""

    arrow: Arrow
    column: int


def lay_out(heights: Mapping[Node, float], arrows: Iterable[Arrow], *, box_width: float, page_width: float) -> Layout:
    """Place causes to the left of their effects.

    Unconnected parts stand side by side as far as the page is wide, then below.
    """
    graph: nx.DiGraph[Node] = nx.DiGraph()
    graph.add_nodes_from(heights)
    graph.add_edges_from((one, other) for one, other in arrows if one != other)
    parts = [graph.subgraph(part) for part in nx.weakly_connected_components(graph)]
    drawn = [_lay_out_part(part, heights, box_width) for part in parts]
    return _pack(sorted(drawn, key=lambda part: (-part.width, -part.height)), page_width)


def _lay_out_part(part: "nx.DiGraph[Node]", heights: Mapping[Node, float], box_width: float) -> Layout:
    forward = _without_circles(part)
    column_of = _columns(forward)
    chains = {(one, other): _chain(one, other, column_of) for one, other in forward.edges}
    columns: list[list[Node]] = [[] for _ in range(max(column_of.values()) + 1)]
    for node in part:
        columns[column_of[node]].append(node)
    for lane in (lane for chain in chains.values() for lane in chain if isinstance(lane, _Lane)):
        columns[lane.column].append(lane)
    middles = _place(columns, list(chains.values()), {**heights})
    xs = [column * (box_width + COLUMN_GAP) for column in range(len(columns))]
    boxes = {
        node: LayoutBox(xs[column_of[node]], middles[node] - heights[node] / 2, box_width, heights[node])
        for node in part
    }
    routes: dict[Arrow, Route] = {}
    for (one, other), chain in chains.items():
        lanes = [(xs[lane.column], middles[lane]) for lane in chain if isinstance(lane, _Lane)]
        passed = [point for x, y in lanes for point in ((x, y), (x + box_width, y))]
        route = ((boxes[one].x + box_width, boxes[one].middle), *passed, (boxes[other].x, boxes[other].middle))
        routes |= {
            arrow: points
            for arrow, points in (((one, other), route), ((other, one), route[::-1]))
            if arrow in part.edges
        }
    top = min(box.y for box in boxes.values())
    bottom = max(box.y + box.height for box in boxes.values())
    ys = [y for route in routes.values() for _, y in route]
    top, bottom = min([top, *ys]), max([bottom, *ys])
    return _moved(Layout(boxes, routes, xs[-1] + box_width, bottom - top), 0, -top)


def _without_circles(part: "nx.DiGraph[Node]") -> "nx.DiGraph[Node]":
    """Return the graph with the arrows reversed that close a cycle."""
    forward = nx.DiGraph(part)
    while True:
        try:
            one, other = nx.find_cycle(forward)[-1][:2]
        except nx.NetworkXNoCycle:
            return forward
        forward.remove_edge(one, other)
        if not forward.has_edge(other, one):
            forward.add_edge(other, one)


def _columns(forward: "nx.DiGraph[Node]") -> dict[Node, int]:
    """Place each node as far left as its causes allow; a node without causes stands just before its first effect."""
    generations = list(nx.topological_generations(forward))
    column_of = {node: column for column, nodes in enumerate(generations) for node in nodes}
    for node in generations[0]:
        column_of[node] = min((column_of[effect] for effect in forward.successors(node)), default=1) - 1
    first = min(column_of.values())
    return {node: column - first for node, column in column_of.items()}


def _chain(one: Node, other: Node, column_of: Mapping[Node, int]) -> list[Node]:
    """The arrow's ends, and between them its lanes."""
    return [one, *(_Lane((one, other), column) for column in range(column_of[one] + 1, column_of[other])), other]


def _place(
    columns: Sequence[list[Node]], chains: Sequence[Sequence[Node]], heights: dict[Node, float]
) -> dict[Node, float]:
    """The middle of each box and lane: near the middles of what it is joined with, in columns without overlaps."""
    beside: dict[Node, list[Node]] = {node: [] for column in columns for node in column}
    for one, other in (pair for chain in chains for pair in pairwise(chain)):
        beside[one].append(other)
        beside[other].append(one)
    sizes = {node: heights.get(node, LANE_HEIGHT) + ROW_GAP for node in beside}
    middles: dict[Node, float] = {}
    for column in columns:
        middles |= dict(zip(column, accumulate(sizes[node] for node in column), strict=True))
    for sweep in range(SWEEPS):
        for column in columns if sweep % 2 == 0 else reversed(columns):
            wished = {
                node: sum(middles[other] for other in beside[node]) / len(beside[node])
                if beside[node]
                else middles[node]
                for node in column
            }
            column.sort(key=lambda node: wished[node])
            middles |= _spread(column, wished, sizes)
    return middles


def _spread(column: Sequence[Node], wished: Mapping[Node, float], sizes: Mapping[Node, float]) -> dict[Node, float]:
    """Place the nodes in their order, as near to their desired positions as possible without overlap."""
    ends = list(accumulate(sizes[node] for node in column))
    offsets = [end - sizes[node] / 2 for node, end in zip(column, ends, strict=True)]
    free = isotonic_regression([wished[node] - offset for node, offset in zip(column, offsets, strict=True)]).x
    return {node: float(place) + offset for node, place, offset in zip(column, free, offsets, strict=True)}


def _pack(parts: Sequence[Layout], page_width: float) -> Layout:
    """Side by side in rows."""
    x = y = row_height = width = 0.0
    placed = []
    for part in parts:
        if x and x + part.width > page_width:
            x, y, row_height = 0.0, y + row_height + PART_GAP, 0.0
        placed.append(_moved(part, x, y))
        x += part.width + PART_GAP
        row_height, width = max(row_height, part.height), max(width, x - PART_GAP)
    boxes = {node: box for part in placed for node, box in part.boxes.items()}
    routes = {arrow: route for part in placed for arrow, route in part.routes.items()}
    return Layout(boxes, routes, width, y + row_height)


def _moved(part: Layout, dx: float, dy: float) -> Layout:
    boxes = {node: replace(box, x=box.x + dx, y=box.y + dy) for node, box in part.boxes.items()}
    routes = {arrow: tuple((x + dx, y + dy) for x, y in route) for arrow, route in part.routes.items()}
    return Layout(boxes, routes, part.width, part.height)


LABEL_CHARS, LABEL_LINES = 26, 4
CHAR_WIDTH, LINE_HEIGHT = 7.0, 17.0  # of the font below, generously
BOX_WIDTH = LABEL_CHARS * CHAR_WIDTH + 22
PADDING, MARGIN, LEGEND_HEIGHT = 9.0, 28.0, 44.0
PAGE_WIDTH = 1560.0
WORDS = {
    RelationType.CAUSES: "causes",
    RelationType.TRIGGERS: "triggers",
    RelationType.LEADS_TO: "leads to",
    Polarity.NEGATED: "denied",
    Polarity.HYPOTHETICAL: "only possible",
}
STYLE = """
.causes { font: 13px system-ui, sans-serif; --page: #fbfaf7; --box: #fff; --line: #c9cdc4; --text: #20261f;
  --soft: #5c645b; --causes: #1c6650; --triggers: #b4471f; --leads_to: #3f62a8; }
@media (prefers-color-scheme: dark) { .causes { --page: #151917; --box: #1f2623; --line: #48544d; --text: #e5e8e3;
  --soft: #a0aaa2; --causes: #7fcfb2; --triggers: #f0a07f; --leads_to: #9db9f2; } }
.causes .page { fill: var(--page); }
.causes .box rect { fill: var(--box); stroke: var(--line); }
.causes text { fill: var(--text); }
.causes .legend text { fill: var(--soft); font-size: 12px; }
.causes .arrow path { fill: none; stroke: var(--kind); stroke-width: 1.8; }
.causes .arrow .hover { stroke: transparent; stroke-width: 14; }
.causes .arrow polygon { fill: var(--kind); }
.causes .CAUSES { --kind: var(--causes); }
.causes .TRIGGERS { --kind: var(--triggers); }
.causes .LEADS_TO { --kind: var(--leads_to); }
.causes .TRIGGERS path { stroke-width: 2.6; }
.causes .negated path { stroke-dasharray: 2 5; }
.causes .hypothetical path { stroke-dasharray: 9 5; }
.causes .negated path, .causes .hypothetical path { opacity: .75; }
.causes .same path { fill: none; stroke: var(--line); stroke-width: 5; }
""".strip()
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")


def draw(edges: Sequence[CausalEdge]) -> str:
    """Draw a causal graph as SVG, causes to the left of their effects.

    A pale line joins an effect and the cause that means nearly the same. The tooltip of a box lists its documents, that
    of an arrow its quote.
    """
    names = {entity.id: entity.name for edge in edges for entity in (edge.cause, edge.effect)}
    labels = {identity: wrap(name) for identity, name in names.items()}
    heights: dict[Node, float] = {
        identity: len(lines) * LINE_HEIGHT + 2 * PADDING for identity, lines in labels.items()
    }
    joined = _joined(edges)
    arrows = [*((edge.cause.id, edge.effect.id) for edge in edges), *joined]
    layout = lay_out(heights, arrows, box_width=BOX_WIDTH, page_width=PAGE_WIDTH)
    shown = [
        *(f'<g class="same"><path d="{_curve(layout.routes[pair])}"/></g>' for pair in joined),
        *(_arrow(edge, layout) for edge in edges if (edge.cause.id, edge.effect.id) in layout.routes),
        *(_box(names[node], labels[node], layout.boxes[node], _documents(node, edges)) for node in names),
    ]
    width = max(layout.width, 560.0) + 2 * MARGIN
    height = layout.height + 2 * MARGIN + LEGEND_HEIGHT
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="causes" role="img" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}">',
            f"<style>{STYLE}</style>",
            f'<rect class="page" width="{width:.0f}" height="{height:.0f}"/>',
            _legend(edges, is_joined=bool(joined)),
            f'<g transform="translate({MARGIN:.0f} {MARGIN + LEGEND_HEIGHT:.0f})">',
            *shown,
            "</g>",
            "</svg>",
        ]
    )


def _joined(edges: Sequence[CausalEdge]) -> list[tuple[UUID, UUID]]:
    """An effect, and a cause that means nearly the same, where no quote joins the two."""
    causes = {edge.cause.id: edge.cause.key.split() for edge in edges}
    effects = {edge.effect.id: edge.effect.key.split() for edge in edges}
    with_root: dict[str, set[UUID]] = {}
    for cause, words in causes.items():
        for name in roots(words):
            with_root.setdefault(name, set()).add(cause)
    stated = {frozenset((edge.cause.id, edge.effect.id)) for edge in edges}
    return [
        (effect, cause)
        for effect, words in effects.items()
        for cause in sorted(set().union(*(with_root.get(name, ()) for name in roots(words))) - {effect})
        if frozenset((effect, cause)) not in stated and similarity(words, causes[cause]) >= LINKED
    ]


def wrap(name: str) -> list[str]:
    """Lines of at most LABEL_CHARS; what does not fit ends in an ellipsis."""
    lines: list[str] = []
    for word in _printable(name).split():
        while word:
            if lines and len(lines[-1]) + 1 + len(word) <= LABEL_CHARS:
                lines[-1] += f" {word}"
                word = ""
            else:
                lines.append(word[:LABEL_CHARS])
                word = word[LABEL_CHARS:]
    if len(lines) > LABEL_LINES:
        lines = [*lines[: LABEL_LINES - 1], f"{lines[LABEL_LINES - 1][: LABEL_CHARS - 1]}…"]
    return lines or ["?"]


def _box(name: str, lines: Sequence[str], box: LayoutBox, documents: Sequence[str]) -> str:
    middle = box.x + box.width / 2
    first = box.y + PADDING + LINE_HEIGHT * 0.75
    spans = "".join(
        f'<tspan x="{middle:.1f}" y="{first + number * LINE_HEIGHT:.1f}">{_text(line)}</tspan>'
        for number, line in enumerate(lines)
    )
    return (
        f'<g class="box"><title>{_text(name)}\n{_text(", ".join(documents))}</title>'
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="9"/>'
        f'<text text-anchor="middle">{spans}</text></g>'
    )


def _arrow(edge: CausalEdge, layout: Layout) -> str:
    route = layout.routes[edge.cause.id, edge.effect.id]
    path = _curve(route)
    return (
        f'<g class="arrow {edge.type.value} {edge.polarity.value}">'
        f"<title>«{_text(' '.join(edge.quote.split()))}»\n{_text(edge.document.filename)}</title>"
        f'<path class="hover" d="{path}"/><path d="{path}"/>{_head(route)}</g>'
    )


def _curve(route: Route) -> str:
    """Return an SVG path from point to point that is level at each."""
    (x, y), *_ = route
    pieces = [f"M{x:.1f} {y:.1f}"]
    for (x, y), (next_x, next_y) in pairwise(route):
        if y == next_y:
            pieces.append(f"H{next_x:.1f}")
        else:
            middle = (x + next_x) / 2
            pieces.append(f"C{middle:.1f} {y:.1f} {middle:.1f} {next_y:.1f} {next_x:.1f} {next_y:.1f}")
    return "".join(pieces)


def _head(route: Route) -> str:
    (before, _), (x, y) = route[-2:]
    back = -8 if x > before else 8
    return f'<polygon points="{x:.1f},{y:.1f} {x + back:.1f},{y - 4.5:.1f} {x + back:.1f},{y + 4.5:.1f}"/>'


def _documents(node: UUID, edges: Sequence[CausalEdge]) -> list[str]:
    return list(dict.fromkeys(edge.document.filename for edge in edges if node in (edge.cause.id, edge.effect.id)))


def _legend(edges: Sequence[CausalEdge], *, is_joined: bool) -> str:
    """Return the legend for the kinds that are in the picture."""
    kinds: list[tuple[str, str]] = [
        (f"{kind.value} fact", WORDS[kind]) for kind in RelationType if any(edge.type is kind for edge in edges)
    ]
    kinds += [
        (f"CAUSES {polarity.value}", WORDS[polarity])
        for polarity in Polarity
        if polarity in WORDS and any(edge.polarity is polarity for edge in edges)
    ]
    kinds += [("same", "nearly the same")] if is_joined else []
    drawn = [
        f'{_sample(classes, route)}<text x="{route[1][0] + 8:.0f}" y="{MARGIN + 4:.0f}">{word}</text>'
        for number, (classes, word) in enumerate(kinds)
        for route in [((MARGIN + 145 * number, MARGIN), (MARGIN + 145 * number + 36, MARGIN))]
    ]
    return f'<g class="legend">{"".join(drawn)}</g>'


def _sample(classes: str, route: Route) -> str:
    if classes == "same":
        return f'<g class="same"><path d="{_curve(route)}"/></g>'
    return f'<g class="arrow {classes}"><path d="{_curve(route)}"/>{_head(route)}</g>'


def _text(text: str) -> str:
    return escape(_printable(text), quote=True)


def _printable(text: str) -> str:
    """Replace the characters that XML doesn't allow."""
    return _UNPRINTABLE.sub(" ", text)
