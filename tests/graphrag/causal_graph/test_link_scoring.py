"""R7.2 Which effect of one link is the cause of another."""

from dataclasses import replace

import pytest

from graphrag.causal_graph.link_scoring import COMMON, REFERRED, LinkScorer
from graphrag.models import Document
from graphrag.models.graph import LINK_THRESHOLD, CausalEdge
from tests.factories import make_document
from tests.graphrag.causal_graph.neighbourhoods import make_edge

NOTHING = 0.0
LETTER = make_document(filename="carta.md")
REPORT = make_document(filename="informe.md")
NOTE = make_document(filename="note.md", language="en")


def joint(one: CausalEdge, other: CausalEdge, **frequencies: int) -> float:
    noise = [make_edge(f"la causa {n}", f"el turno del almacén {n}", document=REPORT) for n in range(6)]
    return LinkScorer([one, other, *noise], {}, frequencies, threshold=LINK_THRESHOLD).between(one, other)


def said_in(document: Document, cause: str, effect: str, quote: str = "") -> CausalEdge:
    return make_edge(cause, effect, document=document, quote=quote or f"{effect}, por {cause}.")


def test_the_same_words_join() -> None:
    """R7.2"""
    one = make_edge("la helada", "la subida del precio", document=LETTER)
    assert joint(one, make_edge("La subida del precio", "la queja", document=LETTER)) == 1


def test_what_a_cause_begins_with_says_what_it_is() -> None:
    """R7.2 «La condensation sur le quai 3», and the one before the cold room."""
    one = make_edge("el aire frío", "la condensación en el muelle 3", document=LETTER)
    other = make_edge("la condensación delante de la cámara", "el suelo mojado", document=LETTER)
    assert joint(one, other) > 0.4
    assert joint(one, make_edge("la cámara 3", "el suelo mojado", document=REPORT)) < 0.4


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


@pytest.mark.parametrize(
    ("effect", "cause", "is_joined"),
    [
        ("el club tuvo malos resultados", "los mejores resultados en la pista", False),
        ("su baja", "está de baja", False),  # whoever they are
        ("Parada", "Parada", False),
        ("la avería del 7 de marzo", "la visita del 7 de marzo", False),
        (
            "la riada rompió la presa del molino de Orduña",
            "la rotura de la presa del molino de Orduña",
            True,
        ),  # an event's words
        ("la presión del compresor C3 cayó", "la caída de presión del compresor C3", True),  # a code
    ],
)
def test_two_documents_join_by_more_than_a_word(effect: str, cause: str, is_joined: bool) -> None:
    """R7.2"""
    one, other = said_in(REPORT, "el temporal", effect), said_in(LETTER, cause, "el cierre")
    assert bool(joint(one, other)) is is_joined


def test_a_word_in_common_joins_where_the_sentences_tell_of_the_same() -> None:
    """R7.2 Frost on one evaporator: what else is said of it is evidence too."""
    one = said_in(REPORT, "el aire húmedo", "la escarcha", "El aire húmedo puso escarcha en el evaporador del grupo.")
    other = said_in(LETTER, "la escarcha", "más horas", "La escarcha del evaporador obliga al grupo a más horas.")
    assert joint(one, other) >= LINK_THRESHOLD
    assert not joint(one, said_in(LETTER, "la escarcha", "la cosecha perdida"))


def test_words_that_a_collection_uses_everywhere_join_nothing() -> None:
    """R7.2 Rarity is of the collection, whatever is near."""
    one = said_in(REPORT, "el temporal", "la rotura de la presa de Orduña")
    other = said_in(LETTER, "la rotura de la presa de Orduña", "el cierre")
    assert joint(one, other) >= LINK_THRESHOLD
    assert not joint(one, other, rotur=COMMON, presa=COMMON, ordun=COMMON)


def test_a_restatement_continues_nothing() -> None:
    """R7.2 Two documents that state the same link: its effect is not its own cause."""
    one = said_in(REPORT, "la falta de lluvia en Orduña", "la cosecha de Orduña se perdió con la lluvia")
    other = said_in(LETTER, "la falta de lluvia en Orduña", "la cosecha de Orduña se perdió con la lluvia")
    assert joint(one, other) == NOTHING


def test_two_languages_need_more_than_one_word_alike() -> None:
    """R7.2 «Recambio» and "recall" look alike; a code with another word is no chance."""
    spare = make_edge("el recorte", "no había recambio", document=REPORT)
    recall = make_edge("the recall", "the departure", document=NOTE)
    assert joint(spare, recall) == NOTHING
    one = make_edge("el desgaste", "la parada del compresor C3 en la línea L4", document=REPORT)
    other = make_edge("compressor C3 stopped on line L4", "the delay", document=NOTE)
    assert joint(one, other) >= LINK_THRESHOLD
