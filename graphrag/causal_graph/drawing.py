"""The causal graph as a picture: SVG that needs nothing else, for a page, a notebook or a file."""

import re
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from uuid import UUID

from graphrag.causal_graph.concepts import similarity
from graphrag.causal_graph.layout import Box, Layout, Node, Route, lay_out
from graphrag.causal_graph.linking import LINKED, roots
from graphrag.graph_models import CausalEdge, Polarity, RelationType

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
    """Causes to the left, effects to the right; an effect and the cause that means nearly the same are joined by a pale
    line. What a box or an arrow is about is told where the pointer rests: the documents, the quote.
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


def _box(name: str, lines: Sequence[str], box: Box, documents: Sequence[str]) -> str:
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
    """From point to point, level at each."""
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
    """Of the kinds that are in the picture."""
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
    """Without what no XML may hold."""
    return _UNPRINTABLE.sub(" ", text)
