"""The causal graph as an SVG image: the places of its boxes and arrows, which the template drawing.svg draws."""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from textwrap import wrap as wrap_words
from uuid import UUID

import networkx as nx
from jinja2 import Environment, StrictUndefined, Template
from scipy.optimize import isotonic_regression

from graphrag.causal_graph.concepts import count_roots
from graphrag.causal_graph.link_scoring import LinkScorer
from graphrag.causal_graph.traversal import JOINED
from graphrag.models.graph import LINK_THRESHOLD, CausalEdge, Polarity, RelationType

SWEEPS = 12  # over the columns, until the order has settled
COLUMN_GAP, ROW_GAP, PART_GAP = 72.0, 16.0, 40.0
LANE_HEIGHT = 10.0  # what a line keeps free where it passes a column
LABEL_CHARS, LABEL_LINES = 22, 4
CHAR_WIDTH, LINE_HEIGHT = 7.0, 17.0  # of the template's font, generously
BOX_WIDTH = LABEL_CHARS * CHAR_WIDTH + 22
PADDING, MARGIN, LEGEND_HEIGHT = 9.0, 28.0, 44.0
PAGE_WIDTH, LEAST_WIDTH = 1560.0, 560.0
LEGEND = {
    RelationType.CAUSES: "causes",
    RelationType.TRIGGERS: "triggers",
    RelationType.LEADS_TO: "leads to",
    Polarity.NEGATED: "denied",
    Polarity.HYPOTHETICAL: "only possible",
}
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")  # that XML doesn't allow

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

    @property
    def sides(self) -> Route:
        return (self.x, self.middle), (self.x + self.width, self.middle)


@dataclass(frozen=True, slots=True)
class Layout:
    boxes: Mapping[Node, LayoutBox]
    routes: Mapping[Arrow, Route]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class _Lane:
    """The passage of an arrow through a column between its ends: a low box that is not drawn."""

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
    column_of: dict[Node, int] = _columns(forward)
    chains: dict[Arrow, list[Node]] = {}
    for one, other in forward.edges:
        lanes = [_Lane((one, other), column) for column in range(column_of[one] + 1, column_of[other])]
        chains[one, other] = [one, *lanes, other]
        column_of |= {lane: lane.column for lane in lanes}
    joined: nx.Graph[Node] = nx.Graph()
    joined.add_nodes_from(part)
    for chain in chains.values():
        nx.add_path(joined, chain)
    columns = [[node for node in joined if column_of[node] == column] for column in range(max(column_of.values()) + 1)]
    sizes = {node: heights.get(node, LANE_HEIGHT) for node in joined}
    middles = _place(columns, joined, sizes)
    top = min(middles[node] - sizes[node] / 2 for node in joined)
    boxes = {
        node: LayoutBox(
            column_of[node] * (box_width + COLUMN_GAP), middles[node] - sizes[node] / 2 - top, box_width, sizes[node]
        )
        for node in joined
    }
    routes: dict[Arrow, Route] = {}
    for (one, other), chain in chains.items():
        route = tuple(point for node in chain for point in boxes[node].sides)[1:-1]
        found = {(one, other): route, (other, one): route[::-1]}
        routes |= {arrow: points for arrow, points in found.items() if part.has_edge(*arrow)}
    width = max(box.x + box.width for box in boxes.values())
    height = max(box.y + box.height for box in boxes.values())
    return Layout({node: boxes[node] for node in part}, routes, width, height)


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


def _place(columns: Sequence[list[Node]], joined: "nx.Graph[Node]", sizes: Mapping[Node, float]) -> dict[Node, float]:
    """Place the middle of each box near the middles of those it is joined with, in columns without overlaps."""
    middles = {node: place for column in columns for node, place in _stack(column, sizes).items()}
    for sweep in range(SWEEPS):
        for column in columns if sweep % 2 == 0 else reversed(columns):
            wished = {
                node: sum(middles[other] for other in joined[node]) / len(joined[node])
                if joined[node]
                else middles[node]
                for node in column
            }
            column.sort(key=lambda node: wished[node])
            stacked = _stack(column, sizes)
            free = isotonic_regression([wished[node] - stacked[node] for node in column]).x
            middles |= {node: float(shift) + stacked[node] for node, shift in zip(column, free, strict=True)}
    return middles


def _stack(column: Sequence[Node], sizes: Mapping[Node, float]) -> dict[Node, float]:
    """Return the middles of the nodes where each stands right below the one before."""
    ends = accumulate(sizes[node] + ROW_GAP for node in column)
    return {node: end - (sizes[node] + ROW_GAP) / 2 for node, end in zip(column, ends, strict=True)}


def _pack(parts: Sequence[Layout], page_width: float) -> Layout:
    """Place the parts side by side in rows."""
    x = y = row_height = width = 0.0
    boxes: dict[Node, LayoutBox] = {}
    routes: dict[Arrow, Route] = {}
    for part in parts:
        if x and x + part.width > page_width:
            x, y, row_height = 0.0, y + row_height + PART_GAP, 0.0
        boxes |= {node: replace(box, x=box.x + x, y=box.y + y) for node, box in part.boxes.items()}
        routes |= {arrow: tuple((px + x, py + y) for px, py in route) for arrow, route in part.routes.items()}
        x += part.width + PART_GAP
        row_height, width = max(row_height, part.height), max(width, x - PART_GAP)
    return Layout(boxes, routes, width, y + row_height)


@lru_cache(maxsize=1)
def _template() -> Template:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(Path(__file__).with_name("drawing.svg").read_text(encoding="utf-8"))


def draw(edges: Sequence[CausalEdge]) -> str:
    """Draw a causal graph as SVG, causes to the left of their effects.

    A pale line joins an effect and the cause that continues it in other words. The tooltip of a box lists its
    documents, that of an arrow its quote.
    """
    names = {entity.id: entity.name for edge in edges for entity in (edge.cause, edge.effect)}
    labels = {identity: wrap(name) for identity, name in names.items()}
    heights: dict[Node, float] = {
        identity: len(lines) * LINE_HEIGHT + 2 * PADDING for identity, lines in labels.items()
    }
    joined = _joined(edges)
    stated = [edge for edge in edges if edge.cause.id != edge.effect.id]
    arrows = [*((edge.cause.id, edge.effect.id) for edge in stated), *joined]
    layout = lay_out(heights, arrows, box_width=BOX_WIDTH, page_width=PAGE_WIDTH)
    return _template().render(
        width=round(max(layout.width, LEAST_WIDTH) + 2 * MARGIN),
        height=round(layout.height + 2 * MARGIN + LEGEND_HEIGHT),
        margin=MARGIN,
        top=MARGIN + LEGEND_HEIGHT,
        first_line=PADDING + LINE_HEIGHT * 0.75,
        line_height=LINE_HEIGHT,
        legend=_legend(edges) + [("same", "nearly the same")] * bool(joined),
        arrows=[
            *(("same", layout.routes[pair], "") for pair in joined),
            *((_kind(edge), layout.routes[edge.cause.id, edge.effect.id], _tooltip(edge)) for edge in stated),
        ],
        boxes=[
            (layout.boxes[node], labels[node], _printable(f"{name}\n{', '.join(_documents(node, edges))}"))
            for node, name in names.items()
        ],
    )


def _joined(edges: Sequence[CausalEdge]) -> list[tuple[UUID, UUID]]:
    """Return each effect and the cause that continues it in other words, where no quote joins the two."""
    frequencies = count_roots(end for edge in edges for end in (edge.cause, edge.effect))
    scorer = LinkScorer(edges, {}, frequencies, threshold=LINK_THRESHOLD)
    stated = {frozenset((edge.cause.id, edge.effect.id)) for edge in edges}
    joined = {
        (one.effect.id, other.cause.id)
        for one in edges
        for other in scorer.followers(one)
        if one.effect.id != other.cause.id and scorer.between(one, other) >= JOINED
    }
    return sorted(pair for pair in joined if frozenset(pair) not in stated)


def wrap(name: str) -> list[str]:
    """Return lines of at most LABEL_CHARS; text that doesn't fit ends in an ellipsis."""
    text = " ".join(_printable(name).split())
    return wrap_words(text, LABEL_CHARS, max_lines=LABEL_LINES, placeholder="…") or ["?"]


def _kind(edge: CausalEdge) -> str:
    return f"arrow {edge.type.value} {edge.polarity.value}"


def _tooltip(edge: CausalEdge) -> str:
    return _printable(f"«{' '.join(edge.quote.split())}»\n{edge.document.filename}")


def _documents(node: UUID, edges: Sequence[CausalEdge]) -> list[str]:
    return list(dict.fromkeys(edge.document.filename for edge in edges if node in (edge.cause.id, edge.effect.id)))


def _legend(edges: Sequence[CausalEdge]) -> list[tuple[str, str]]:
    """Return the classes and meanings of the kinds of arrows in the drawing."""
    types = [kind for kind in RelationType if any(edge.type is kind for edge in edges)]
    polarities = [kind for kind in Polarity if kind in LEGEND and any(edge.polarity is kind for edge in edges)]
    return [
        *((f"arrow {kind.value} fact", LEGEND[kind]) for kind in types),
        *((f"arrow CAUSES {kind.value}", LEGEND[kind]) for kind in polarities),
    ]


def _printable(text: str) -> str:
    return _UNPRINTABLE.sub(" ", text)
