"""Where boxes stand in a picture of a graph: columns from cause to effect, so that none lies on another."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import networkx as nx
from scipy.optimize import isotonic_regression

SWEEPS = 12  # over the columns, until the order has settled
COLUMN_GAP, ROW_GAP, PART_GAP = 72.0, 16.0, 40.0
LANE_HEIGHT = 10.0  # what a line keeps free where it passes a column

Node = Hashable
Arrow = tuple[Node, Node]
Route = tuple[tuple[float, float], ...]  # points from one box to the other


@dataclass(frozen=True, slots=True)
class Box:
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class Layout:
    boxes: Mapping[Node, Box]
    routes: Mapping[Arrow, Route]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class _Lane:
    """Where an arrow passes a column between its ends."""

    arrow: Arrow
    column: int


def lay_out(heights: Mapping[Node, float], arrows: Iterable[Arrow], *, box_width: float, page_width: float) -> Layout:
    """Causes to the left of their effects. Parts that nothing joins stand beside one another as far as the page is
    wide, then below.
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
        node: Box(xs[column_of[node]], middles[node] - heights[node] / 2, box_width, heights[node]) for node in part
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
    """With the arrows that close a circle turned round."""
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
    """As far left as its causes allow, but what has none stands just before its first effect."""
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
    """In their order, as near to where they are wished as they can be without touching."""
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
