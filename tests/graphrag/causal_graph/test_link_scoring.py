"""R7.2 Which effect of one link is the cause of another."""

from dataclasses import replace

import pytest

from graphrag.causal_graph.link_scoring import REFERRED, LinkScorer
from graphrag.models.graph import CausalEdge
from tests.factories import make_document
from tests.graphrag.causal_graph.neighbourhoods import make_edge

SURE, NOTHING = 0.5, 0.0
LETTER = make_document(filename="carta.md")
REPORT = make_document(filename="informe.md")
NOTE = make_document(filename="note.md", language="en")


def joint(one: CausalEdge, other: CausalEdge, similarity: float = 0.0) -> float:
    links = {(one.effect.id, other.cause.id): similarity} if similarity else {}
    noise = [make_edge(f"la causa {n}", f"el turno del almacén {n}", document=REPORT) for n in range(6)]
    return LinkScorer([one, other, *noise], links).between(one, other)


def test_the_same_words_join() -> None:
    """R7.2"""
    one, other = make_edge("la helada", "la subida del precio"), make_edge("La subida del precio", "la queja")
    assert joint(one, other) == 1


def test_what_a_cause_begins_with_says_what_it_is() -> None:
    """R7.2 «La condensation sur le quai 3», and the one before the cold room."""
    one = make_edge("el aire frío", "la condensación en el muelle 3", document=REPORT)
    other = make_edge("la condensación delante de la cámara", "el suelo mojado", document=LETTER)
    assert joint(one, other) > 0.4
    assert joint(one, make_edge("la cámara 3", "el suelo mojado", document=LETTER)) < 0.4


def test_a_demonstrative_speaks_of_what_was_said_before() -> None:
    """R7.2 «Esa bajada de pedidos», in one document and after it."""
    one = make_edge("la subida", "Lindazo reduce su pedido semanal", document=LETTER)
    other = make_edge("ese recorte del jefe de compras en los pedidos", "el cierre del horno", document=LETTER)
    assert joint(one, other) >= REFERRED
    assert joint(one, replace(other, document=REPORT)) < REFERRED
    assert joint(replace(one, start_char=900, end_char=950), other) < REFERRED


@pytest.mark.parametrize(
    ("effect", "cause"),
    [
        ("la falta de mantequilla", "la falta de presión"),  # what is lacking is another thing
        ("el lote A-2518 se detuvo", "la retirada del lote A-2517"),
        ("el presupuesto baja", "su baja"),
        ("el retraso del camión", "la avería del compresor"),
    ],
)
def test_different_things_do_not_join(effect: str, cause: str) -> None:
    """R7.2"""
    one, other = make_edge("algo", effect, document=LETTER), make_edge(cause, "otra cosa", document=LETTER)
    assert joint(one, other) == NOTHING


def test_two_languages_need_more_than_one_word_alike() -> None:
    """R7.2 «Recambio» and "recall" look alike; a code, or two words, are no chance."""
    spare = make_edge("el recorte", "no había recambio", document=REPORT)
    recall = make_edge("the recall", "the departure", document=NOTE)
    assert joint(spare, recall, 0.4) == NOTHING
    shift = make_edge("su baja", "el turno de la línea L4 queda suspendido", document=REPORT)
    night = make_edge("the shift on line L4 was suspended", "the delay", document=NOTE)
    assert joint(shift, night, 0.4) >= SURE
    assert joint(spare, recall, 0.6) >= SURE  # whoever linked them so surely knows more than words
