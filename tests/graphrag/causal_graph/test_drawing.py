"""The picture of a causal graph: nothing lies on anything else, and what documents say stays text."""

from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.causal_graph.drawing import BOX_WIDTH, LABEL_CHARS, LABEL_LINES, LayoutBox, Node, draw, lay_out, wrap
from graphrag.models.graph import CausalEdge, Polarity, RelationType
from tests.factories import make_document
from tests.graphrag.causal_graph.neighbourhoods import make_edge

SVG = "{http://www.w3.org/2000/svg}"
WEAR = make_edge("el desgaste del retén", "la caída de la presión", document=make_document(filename="diario.md"))
OVEN = make_edge(
    "la caída de la presión", "las oscilaciones del horno H2", document=make_document(filename="calidad.md")
)


def parse(edges: list[CausalEdge]) -> ElementTree.Element:
    return ElementTree.fromstring(draw(edges))


def groups(picture: ElementTree.Element, kind: str) -> list[ElementTree.Element]:
    return [group for group in picture.iter(f"{SVG}g") if kind in group.get("class", "").split()]


def drawn_arrows(picture: ElementTree.Element) -> list[ElementTree.Element]:
    """Without the legend's."""
    return [arrow for arrow in groups(picture, "arrow") if arrow.find(f"{SVG}title") is not None]


def text_of(group: ElementTree.Element) -> str:
    return " ".join(span.text or "" for span in group.iter(f"{SVG}tspan"))


def title_of(group: ElementTree.Element) -> str:
    return group.findtext(f"{SVG}title") or ""


def test_a_chain_is_drawn_from_left_to_right() -> None:
    """R7.1 A box for each thing, once; an arrow for each statement, with its quote and document."""
    picture = parse([WEAR, OVEN])
    boxes = {text_of(box): box.find(f"{SVG}rect") for box in groups(picture, "box")}
    lefts = {name: float(rect.get("x", "")) for name, rect in boxes.items() if rect is not None}
    assert sorted(lefts, key=lambda name: lefts[name]) == [
        "el desgaste del retén",
        "la caída de la presión",
        "las oscilaciones del horno H2",
    ]
    assert [title_of(arrow) for arrow in drawn_arrows(picture)] == [
        f"«{WEAR.quote}»\ndiario.md",
        f"«{OVEN.quote}»\ncalidad.md",
    ]
    assert "la caída de la presión\ndiario.md, calidad.md" in [title_of(box) for box in groups(picture, "box")]


def test_kinds_are_told_apart() -> None:
    """R7.1 Types and what is no fact differ, and the legend names those that are there."""
    edges = [
        make_edge("a lluvia", "b riada", type=RelationType.TRIGGERS),
        make_edge("c huelga", "d retraso", polarity=Polarity.NEGATED),
        make_edge("e hielo", "f avería", type=RelationType.LEADS_TO, polarity=Polarity.HYPOTHETICAL),
    ]
    picture = parse(edges)
    assert [arrow.get("class") for arrow in drawn_arrows(picture)] == [
        "arrow TRIGGERS fact",
        "arrow CAUSES negated",
        "arrow LEADS_TO hypothetical",
    ]
    (legend,) = groups(picture, "legend")
    assert [text.text for text in legend.iter(f"{SVG}text")] == [
        "causes",
        "triggers",
        "leads to",
        "denied",
        "only possible",
    ]
    (plain,) = groups(parse([WEAR]), "legend")
    assert [text.text for text in plain.iter(f"{SVG}text")] == ["causes"]


def test_nearly_the_same_things_are_joined() -> None:
    """R7.1 An effect in one document and the cause that it is in another stand in one row of columns."""
    fall = make_edge("el desgaste", "la caída de presión del compresor C3")
    later = make_edge("la presión del compresor C3 que había caído", "la avería")
    picture = parse([fall, later])
    assert len(groups(picture, "same")) == 2  # one of them the legend's
    assert groups(parse([fall, make_edge("la presión de los precios", "la avería")]), "same") == []


@pytest.mark.parametrize("name", ['<script>alert("x")</script> & "co"', "nul\0 \x1b[31m and \ufffe", "]]> --> <!--"])
def test_what_a_document_says_stays_text(name: str) -> None:
    """Security 14: no markup, and nothing that a reader of XML refuses."""
    hostile = make_edge(name, "efecto", quote=name, document=make_document(filename=f"{name}.md"))
    picture = parse([hostile])
    assert {element.tag.removeprefix(SVG) for element in picture.iter()} == {
        *("svg", "style", "rect", "g", "path", "polygon", "text", "tspan", "title")
    }


def test_the_picture_asks_for_nothing() -> None:
    """It works offline: no font, script or image from elsewhere; light and dark are its own."""
    svg = draw([WEAR, OVEN])
    assert svg.count("http") == 1  # the name of the format
    assert "url(" not in svg
    assert "prefers-color-scheme: dark" in svg


def test_long_names_are_cut() -> None:
    """R7.1"""
    lines = wrap("una " * 60 + "Donaudampfschifffahrtsgesellschaftskapitän")
    assert len(lines) == LABEL_LINES
    assert sum(map(len, lines)) <= 90
    assert lines[-1].endswith("…")
    assert wrap("Donaudampfschifffahrtsgesellschaft") == ["Donaudampfschifffahrts", "gesellschaft"]
    assert wrap("") == ["?"]


@given(st.text())
def test_no_line_is_wider_than_its_box(name: str) -> None:
    """R7.1"""
    assert all(0 < len(line) <= LABEL_CHARS for line in wrap(name))


nodes = st.integers(0, 40)


@given(st.lists(st.tuples(nodes, nodes), max_size=60), st.lists(st.floats(20, 90), min_size=41, max_size=41))
def test_nothing_lies_on_anything(arrows: list[tuple[int, int]], heights: list[float]) -> None:
    """R7.1 Whatever the graph, circles and all: no two boxes touch, all are on the page, and every arrow leads from its
    cause to its effect.
    """
    held: dict[Node, float] = {node: heights[node] for pair in arrows for node in pair}
    layout = lay_out(held, arrows, box_width=BOX_WIDTH, page_width=1500)
    assert layout.boxes.keys() == held.keys()
    for one, other in combinations(layout.boxes.values(), 2):
        assert are_apart(one, other)
    for box in layout.boxes.values():
        assert -0.1 <= box.x <= box.x + box.width <= layout.width + 0.1
        assert -0.1 <= box.y <= box.y + box.height <= layout.height + 0.1
    for cause, effect in arrows:
        if cause != effect:
            route = layout.routes[cause, effect]
            assert on_side(route[0], layout.boxes[cause])
            assert on_side(route[-1], layout.boxes[effect])


def are_apart(one: LayoutBox, other: LayoutBox) -> bool:
    gap = 1.0
    return (
        one.x + one.width + gap <= other.x
        or other.x + other.width + gap <= one.x
        or one.y + one.height + gap <= other.y
        or other.y + other.height + gap <= one.y
    )


def on_side(point: tuple[float, float], box: LayoutBox) -> bool:
    x, y = point
    return min(abs(x - box.x), abs(x - box.x - box.width)) < 0.1 and abs(y - box.middle) < 0.1
