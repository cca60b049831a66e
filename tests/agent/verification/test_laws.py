"""What holds for every text: a repeated sentence is carried, a changed digit is not, and nothing fails."""

import re
from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.verification.checking import verify
from agent.verification.reading import read
from agent.verification.statements import MarkFilter, StatementStream, find_statements
from agent.verification.support import Support
from tests.agent.verification.passages import check, make_passage

SENTENCES = [
    "El puente de Arenal se cerró el 3 de mayo de 2024 tras la riada.",
    "La reparación costó 9.240 euros y duró 6 semanas.",
    "No se firmó el contrato de 2023 con Talleres Orduña.",
    "Les ventes ont augmenté de 12 % au deuxième trimestre 2025.",
    "La livraison de 350 cartons a été reportée au 14 juin 2025.",
    "The boiler must be serviced every 12 months and costs £480.",
    "Amberley Ports paid 2.4 million dollars to Kestrel Freight in 2019.",
    "Pedido: E-204; Proveedor: Molinos; Fecha prevista: 2026-01-10; Importe: 1200",
]
sentences = st.sampled_from(SENTENCES)
passages = st.lists(sentences, min_size=1, max_size=5, unique=True)
languages = st.sampled_from(["es", "fr", "en", "und"])
texts = st.one_of(
    st.text(max_size=80),
    st.lists(
        st.sampled_from(
            [
                "no",
                "ne",
                "pas",
                "12",
                "3/4",
                "%",
                "mil",
                "Ana",
                "por",
                "subió",
                "fell",
                "[1]",
                ".",
                ",",
                ";",
                ": ",
                "\n",
                "€",
            ]
        ),
        max_size=25,
    ).map(" ".join),
)


@given(passages, languages, st.data())
def test_a_sentence_of_the_passage_is_supported(said: list[str], language: str, data: st.DataObject) -> None:
    """R8.4 Word for word holds in every language, whatever stands around it."""
    sentence = data.draw(st.sampled_from(said))
    assert check(sentence, "\n\n".join(said), language=language).status is Support.SUPPORTED


@given(sentences, st.sampled_from("0123456789"), st.data())
def test_a_changed_digit_is_never_supported(sentence: str, digit: str, data: st.DataObject) -> None:
    """R8.4 Wherever it stands: in a number, a date, a code."""
    places = [match.start() for match in re.finditer(r"\d", sentence) if match.group() != digit]
    place = data.draw(st.sampled_from(places))
    changed = sentence[:place] + digit + sentence[place + 1 :]
    language = {"L": "fr", "T": "en", "A": "en"}.get(sentence[0], "es")
    if sentence.startswith("La reparación"):
        language = "es"
    assert check(changed, sentence, language=language).status is not Support.SUPPORTED, changed


@given(texts, texts, languages)
def test_verification_never_fails(answer: str, content: str, language: str) -> None:
    """R8.4 Whatever a model writes and a document holds."""
    checked = verify(f"{answer} [1].", [make_passage(content, language=language)], today=date(2026, 1, 2))
    for statement in checked.statements:
        assert 0 <= statement.start <= statement.end <= len(checked.answer)
        assert (statement.status is Support.SUPPORTED) == (statement.reasons == ())
    again = verify(checked.answer, [make_passage(content, language=language)], today=date(2026, 1, 2))
    assert again.answer == checked.answer


@given(st.lists(sentences, min_size=1, max_size=5), st.lists(st.integers(0, 400), max_size=8))
def test_statements_of_a_stream_are_those_of_the_whole(said: list[str], cuts: list[int]) -> None:
    """R8.4 Each is read once, wherever the stream is cut."""
    answer = " ".join(f"{sentence} [{number}]" for number, sentence in enumerate(said, start=1))
    stream, marks = StatementStream(), MarkFilter(len(said))
    for start, end in pairwise([0, *sorted(min(cut, len(answer)) for cut in cuts), len(answer)]):
        marks.feed(answer[start:end])
        stream.read(marks.text)
    marks.flush()
    stream.read(marks.text)
    stream.close()
    assert stream.finished == list(find_statements(answer))


@pytest.mark.parametrize("text", ["፩ páginas", "² ① 𐩀", "página " + "9" * 500])
def test_digits_of_any_script_are_read(text: str) -> None:
    """R8.4 Some are no decimal digits; none is an error."""
    assert read(text, "es").words
