"""What the rules call a conversation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.conversation.titles import LONGEST, title_of


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("¿Cuánto costó la reparación del puente?", "Cuánto costó la reparación del puente"),
        (
            "Buenos días. Estoy con el informe anual y me gustaría saber por qué se retiró el lote A-2517 en marzo",
            "Por qué se retiró el lote A-2517 en marzo",
        ),
        (
            "Bonjour, pourriez-vous me dire combien nous a-t-on fait payer pour le détour et l'attente du camion ?",
            "Combien nous a-t-on fait payer pour le détour et l'attente…",
        ),
        ("what about the Harlow boiler?", "What about the Harlow boiler"),
        ("  Résume\n les\tlivraisons  ", "Résume les livraisons"),
        ("¿?", "…"),
        ("x" * 100, "X" + "x" * 58 + "…"),
    ],
)
def test_title_is_what_is_asked_for(question: str, title: str) -> None:
    """R8.9 In the question's own words: without greetings and circumstances, short, with whole words."""
    assert title_of(question) == title


@given(st.text(min_size=1, max_size=300))
def test_title_is_one_short_line(question: str) -> None:
    """R8.9 Whatever is asked."""
    title = title_of(question)
    assert 0 < len(title) <= LONGEST + 1  # a capital may take more room than its letter
    assert title.isprintable()
