"""Causal chains for a question: which paths, in which order."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.causal_graph.question import forms, read_question
from graphrag.causal_graph.traversal import MAX_EDGES, find_paths, rank_paths
from graphrag.models import Collection, Direction, Filters, Intent, TransformedQuery
from graphrag.models.graph import LINK_THRESHOLD, CausalNeighbourhood, CausalPath
from tests.factories import COLLECTION_ID, make_chunk, make_document
from tests.graphrag.causal_graph.neighbourhoods import (
    HandMadeGraph,
    edge_in,
    link,
    make_edge,
    make_entity,
    make_neighbourhood,
)

COLLECTION = Collection(COLLECTION_ID, "local", "demo", "bundled")
REPORT = make_document(filename="informe.md")
WEAR = make_edge("el desgaste del retén", "la caída de presión", document=REPORT)
PRESSURE = make_edge("la caída de presión", "el fallo de la válvula", document=REPORT)
VALVE = make_edge("el fallo de la válvula", "las oscilaciones del horno H2", document=REPORT)
OVEN = make_edge("las oscilaciones del horno H2", "la retirada del lote", document=REPORT)
LEFT = make_edge("el comprador dejó la empresa", "el retraso de Valadour")
CHAIN = [WEAR, PRESSURE, VALVE]


def ask(question: str, direction: Direction | None = "causes", language: str = "es") -> TransformedQuery:
    return TransformedQuery(question, language, Intent.CAUSAL, direction=direction)


def paths(
    neighbourhood: CausalNeighbourhood, question: str = "¿Por qué hubo oscilaciones en el horno H2?", **options: str
) -> list[CausalPath]:
    return rank_paths(neighbourhood, read_question(ask(question, **options)))  # type: ignore[arg-type]


def told(found: list[CausalPath]) -> list[tuple[str, ...]]:
    return [path.entities for path in found]


def test_the_whole_chain_from_its_root_explains() -> None:
    """R7.2 «¿Por qué X?»: A → B → C → X where each link is a stated fact; its parts are not listed again."""
    found = paths(make_neighbourhood(CHAIN, [("las oscilaciones del horno H2", 0.8)]))
    assert told(found) == [
        (
            "el desgaste del retén",
            "la caída de presión",
            "el fallo de la válvula",
            "las oscilaciones del horno H2",
        )
    ]
    assert found[0].edges == (WEAR, PRESSURE, VALVE)


def test_effects_follow_from_what_is_asked() -> None:
    """R7.2"""
    neighbourhood = make_neighbourhood(CHAIN, [("el desgaste del retén", 0.9)])
    (path,) = paths(neighbourhood, "¿Qué consecuencias tuvo el desgaste del retén?", direction="effects")
    assert path.edges == (WEAR, PRESSURE, VALVE)


def test_no_chain_is_longer_than_three_links() -> None:
    """R7.2 depth ≤ 3"""
    found = paths(make_neighbourhood([*CHAIN, OVEN], [("la retirada del lote", 0.9)]), "¿Por qué se retiró el lote?")
    assert [path.edges for path in found] == [(PRESSURE, VALVE, OVEN)]


def test_a_doubtful_link_does_not_lengthen_the_answer() -> None:
    """R7.2 The sure part stands first, by itself."""
    doubtful = make_edge("la huelga", "el fallo de la válvula", document=REPORT, confidence=0.3)
    found = paths(make_neighbourhood([doubtful, VALVE], [("las oscilaciones del horno H2", 0.8)]))
    assert [path.edges for path in found] == [(VALVE,), (doubtful, VALVE)]


def test_direct_comes_before_indirect_among_equals() -> None:
    """R7.2 A doubtful detour comes after the direct statements."""
    direct = make_edge("el desgaste del retén", "las oscilaciones del horno H2")
    detour = make_edge("el desgaste del retén", "la mala suerte", document=REPORT, confidence=0.45)
    last = make_edge("la mala suerte", "las oscilaciones del horno H2", document=REPORT)
    found = paths(make_neighbourhood([direct, detour, last], [("las oscilaciones del horno H2", 0.8)]))
    assert {path.edges for path in found[:2]} == {(direct,), (last,)}
    assert [path.edges for path in found[2:]] == [(detour, last)]


def test_links_of_two_documents_join_from_a_threshold() -> None:
    """R7.2 The same compressor in two languages: each link tells how surely it continues the one before."""
    french = make_document(language="fr", filename="rapport.md")
    wear = make_edge("l'usure du joint", "la chute de pression du compresseur C3", document=french)
    spanish = make_edge("la caída de presión del compresor C3", "las oscilaciones del horno H2", document=REPORT)
    neighbourhood = make_neighbourhood(
        [wear, spanish],
        [("las oscilaciones del horno H2", 0.8)],
        [link(wear.effect.name, spanish.cause.name, 0.7, languages=("fr", "es"))],
    )
    (path,) = paths(neighbourhood)
    assert path.edges == (wear, spanish)
    assert LINK_THRESHOLD <= path.link_scores[0] < 1
    question = read_question(ask("¿Por qué hubo oscilaciones en el horno H2?"))
    (alone,) = rank_paths(neighbourhood, question, link_threshold=1.0)
    assert alone.edges == (spanish,)


def test_a_start_is_found_in_other_words() -> None:
    """R7.2 What is linked to what the question means is meant a little less."""
    starts = [("la inestabilidad del horno H2", 0.9)]
    joined = [link("la inestabilidad del horno H2", "las oscilaciones del horno H2", 0.8)]
    question = "¿Por qué hubo inestabilidad en el horno H2?"
    (path,) = paths(make_neighbourhood([VALVE], starts, joined), question)
    assert path.edges == (VALVE,)
    assert paths(make_neighbourhood([VALVE], starts), question) == []


def test_the_same_chain_of_two_documents_is_listed_once() -> None:
    """R7.2"""
    weaker = make_edge("el fallo de la válvula", "las oscilaciones del horno H2", confidence=0.6)
    found = paths(make_neighbourhood([weaker, VALVE], [("las oscilaciones del horno H2", 0.8)]))
    assert [path.edges for path in found] == [(VALVE,)]


def test_a_circle_is_walked_once() -> None:
    """R7.2 Simple paths only."""
    back = make_edge("las oscilaciones del horno H2", "la caída de presión", document=REPORT)
    found = paths(make_neighbourhood([*CHAIN, back], [("las oscilaciones del horno H2", 0.8)]))
    assert all(len(set(path.entities)) == len(path.entities) for path in found)
    assert found[0].edges == (WEAR, PRESSURE, VALVE)


@pytest.mark.parametrize(
    ("question", "edge"),
    [
        ("¿Por qué se averió el horno H3 en agosto?", VALVE),
        ("¿Por qué dejó la empresa el comprador de Valadour?", LEFT),
        ("¿Por qué enrojecen las hojas de los árboles en otoño?", VALVE),
    ],
)
def test_a_chain_about_something_else_is_none(question: str, edge: object) -> None:
    """R7.2, R8.5 Another oven; the asked thing as the cause of something; a shared word."""
    neighbourhood = CausalNeighbourhood((edge,), (), ((edge.effect.id, 0.3),))  # type: ignore[arg-type,attr-defined]
    assert paths(neighbourhood, question) == []


async def test_the_graph_is_asked_for_what_the_question_is_about() -> None:
    """R7.2 Its words without those that only ask; its direction; depth 3."""
    graph = HandMadeGraph(make_neighbourhood(CHAIN, [("las oscilaciones del horno H2", 0.8)]))
    (path,) = await find_paths(ask("¿Qué provocó las oscilaciones del horno H2?"), graph=graph, collection=COLLECTION)
    assert path.edges == (WEAR, PRESSURE, VALVE)
    assert graph.asked == [(("oscil", "horn", "h2"), "causes", 3)]


async def test_only_filtered_documents_make_chains() -> None:
    """R4.5, R7.2"""
    elsewhere = make_edge("la caída de presión", "el fallo de la válvula")
    graph = HandMadeGraph(make_neighbourhood([elsewhere, VALVE], [("las oscilaciones del horno H2", 0.8)]))
    query = ask("¿Qué provocó las oscilaciones del horno H2?")
    only = Filters(filenames=(VALVE.document.filename,))
    (path,) = await find_paths(query, graph=graph, collection=COLLECTION, filters=only)
    assert path.edges == (VALVE,)


async def test_a_question_without_words_finds_no_chain() -> None:
    """R7.2"""
    graph = HandMadeGraph(make_neighbourhood(CHAIN))
    assert await find_paths(ask("¿Por qué?"), graph=graph, collection=COLLECTION) == []


NAMES = [f"{thing} {code}" for thing in ("la avería", "el retraso", "la fuga") for code in ("", "grave")]
names = st.sampled_from(NAMES)
scores = st.floats(0.05, 1)


@st.composite
def neighbourhoods(draw: st.DrawFn) -> CausalNeighbourhood:
    document = make_document()
    pairs = draw(st.lists(st.tuples(names, names, scores), max_size=12))
    edges = [make_edge(cause, effect, confidence=sure, document=document) for cause, effect, sure in pairs]
    links = [link(*pair) for pair in draw(st.lists(st.tuples(names, names, scores), max_size=4)) if pair[0] != pair[1]]
    starts = draw(st.lists(st.tuples(names, scores), max_size=3, unique_by=lambda start: start[0]))
    return make_neighbourhood(edges, starts, links)


@given(neighbourhoods(), st.sampled_from(["causes", "effects", None]))
def test_every_path_is_a_chain(neighbourhood: CausalNeighbourhood, direction: Direction | None) -> None:
    """R7.2 Simple, not too long, each effect is, means or says again the next cause; the best first, in [0, 1]."""
    question = read_question(ask("¿Por qué hubo una avería y un retraso y una fuga graves?", direction))
    found = rank_paths(neighbourhood, question)
    linked = {frozenset((each.entity_id, each.other_id)) for each in neighbourhood.links}
    meant = {entity for entity, _ in neighbourhood.starts}
    meant |= {entity for pair in linked if pair & meant for entity in pair}
    for path in found:
        assert 1 <= len(path.edges) <= MAX_EDGES
        entities = [make_entity(name).id for name in path.entities]
        assert len(set(entities)) == len(entities)
        for one, other in pairwise(path.edges):
            is_linked = one.effect.id == other.cause.id or frozenset((one.effect.id, other.cause.id)) in linked
            assert is_linked or forms(one.effect.name, "es") & forms(other.cause.name, "es")
        ends = {"causes": {entities[-1]}, "effects": {entities[0]}, None: {entities[0], entities[-1]}}[direction]
        assert ends & meant
        assert 0 < path.score <= 1
    assert [path.score for path in found] == sorted((path.score for path in found), reverse=True)
    assert len({path.edges for path in found}) == len(found)


@given(neighbourhoods())
def test_order_does_not_depend_on_the_store(neighbourhood: CausalNeighbourhood) -> None:
    """R4.6 The same graph, read in another order, gives the same paths."""
    question = read_question(ask("¿Por qué hubo una avería y un retraso y una fuga graves?"))
    turned = CausalNeighbourhood(neighbourhood.edges[::-1], neighbourhood.links[::-1], neighbourhood.starts[::-1])
    scored = [(path.edges, path.score) for path in rank_paths(neighbourhood, question)]
    # Of one relation with two confidences the graph keeps one edge, whose place in the list says nothing.
    if len({edge.id for edge in neighbourhood.edges}) == len(neighbourhood.edges):
        assert [(path.edges, path.score) for path in rank_paths(turned, question)] == scored


def test_what_stands_in_another_paragraph_is_not_spoken_of() -> None:
    """R7.2 «La subida se debe…» speaks of the gas before it, the façade of the next heading does not."""
    rise = "La subida se debe a la sonda rota."
    facade = "La fachada se retrasa por falta de tesorería."
    text = f"2. Calefacción\nLa factura del gas subió. {rise}\n\n3. Fachada\n{facade}"
    chunk = make_chunk(text)
    right = edge_in(chunk, "la sonda rota", "La subida", rise)
    wrong = edge_in(chunk, "falta de tesorería", "La fachada se retrasa", facade)
    starts = [("La subida", 0.8), ("La fachada se retrasa", 0.8)]
    question = read_question(ask("¿Por qué subió la factura del gas?"))
    found = rank_paths(make_neighbourhood([right, wrong], starts), question, {chunk.id: chunk})
    assert [path.edges for path in found] == [(right,), (wrong,)]
    assert found[0].score > found[1].score + 0.1
