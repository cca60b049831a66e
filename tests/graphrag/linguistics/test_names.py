"""R7.1 Who and what a text names, by one key in every document."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.linguistics.names import (
    HEADING_WEIGHT,
    SURNAME_WEIGHT,
    find_names,
    mentions,
    name_key,
    names_in,
    title_keys,
)
from graphrag.models.graph import TITLE_WEIGHT
from tests.factories import make_chunk, make_document


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("El compresor C3 lo cambió Íñigo Bescós en marzo.", {"c3", "inigo bescos"}),
        ("Selon l'Épicerie Valadour, le lot A-2517 est rappelé.", {"epicerie valadour", "a-2517"}),
        (
            "She moved to the University of Vienna with O'Neill's help.",
            {"university of vienna", "university", "vienna"},
        ),
        ("La directora de Laiterie Montbrune escribió a Marta Ainsa.", {"laiterie montbrune", "marta ainsa"}),
        ("On 3 May 1915, in Rome, nothing happened on Monday.", {"rome"}),
    ],
)
def test_names_are_found(text: str, names: set[str]) -> None:
    """R7.1 capitals, codes, small words inside; no dates."""
    assert names <= names_in(text).keys()


def test_a_word_that_only_begins_a_sentence_names_nothing() -> None:
    """R7.1"""
    text = "Galletas pálidas salieron. Hubo quejas. Bernabé avisó."
    assert names_in(text, common_words={"galletas", "hubo"}).keys() == {"bernabe"}
    assert not names_in("The biscuits were pale. Las galletas también.")


def test_last_word_of_a_name_is_a_weaker_name() -> None:
    """R7.1 «Salcedo» may be Rubén Salcedo."""
    assert names_in("Vino Rubén Salcedo.", common_words={"vino"}) == {"ruben salcedo": 1.0, "salcedo": SURNAME_WEIGHT}


@pytest.mark.parametrize(
    ("language", "text", "names"),
    [
        ("es", "Felipe VI de España visitó Letonia.", {"Felipe VI de España": "name", "Letonia": "name"}),
        ("es", "El pedido ORD-123456 sale a las 10:30 del 3/5.", {"ORD-123456": "code"}),
        ("es", "Durante el curso 2023-2024 no hubo becas.", {}),
        ("fr", "Il a voté pour Lutte ouvrière.", {"Lutte ouvrière": "name"}),
        ("fr", "La Guerre civile américaine dura quatre ans.", {"Guerre civile américaine": "name"}),
        ("fr", "Dépoussiérez le ventilateur chaque mois.", {}),
        ("en", "Mail o.neill@example.com about /srv/data/may.csv.", {
            "o.neill@example.com": "email", "/srv/data/may.csv": "path",
        }),
        ("en", "See www.example.org for King's College London.", {
            "www.example.org": "url", "King's College London": "name",
        }),
    ],
)  # fmt: skip
def test_names_have_their_ends_and_kinds(language: str, text: str, names: dict[str, str]) -> None:
    """R7.1, R8.4 people and institutions, codes, addresses and paths as they are written."""
    assert {text[name.start : name.end]: name.kind for name in find_names(text, language)} == names


def test_graph_holds_a_long_name_whole_and_in_parts() -> None:
    """R7.1 though titles and commas part it, and addresses are no names."""
    keys = names_in("Kent, Mr. Bell of the Bank of Spain (bell@Spain.es) on Venus.").keys()
    assert keys == {"kent", "mr", "bell of the bank of spain", "bell", "bank", "spain", "venus"}


@pytest.mark.parametrize("unit", ["A", "Ab ", "Ab, ", "Ab and ", "A\\", "(A", "A.", "1-", "a@", "12 ", "/a", "\n"])
def test_reading_takes_linear_time(unit: str) -> None:
    """R8.4 a text without an end of word or sentence."""

    def seconds(count: int) -> float:
        started = time.process_time()
        find_names(unit * count, "en")
        names_in(unit * count)
        return time.process_time() - started

    def is_linear() -> bool:
        short, long = seconds(5_000), seconds(20_000)
        return long < 8 * max(short, 0.005)  # quadratic: sixteen times

    seconds(100)
    assert any(is_linear() for _ in range(5))  # one measure may be disturbed


@pytest.mark.parametrize(
    "written", ["Épicerie Valadour", "l'Épicerie Valadour", "EPICERIE VALADOUR", "L’Épicerie Valadour’s"]
)
def test_one_key_however_it_is_written(written: str) -> None:
    """R7.1 normalised: case, accents, articles."""
    assert name_key(written) == "epicerie valadour"


def test_a_title_is_known_without_what_tells_it_apart() -> None:
    """R7.1"""
    assert title_keys("Brother (Pearl Jam song)") == ["brother pearl jam song", "brother"]
    assert title_keys("Rochester, New York") == ["rochester new york", "rochester"]
    assert title_keys("") == []


def test_chunks_name_their_title_headings_and_headers() -> None:
    """R7.1 in headings and in table headers, too."""
    document = make_document(title="Informe Lindazo")
    chunk = make_chunk(
        "El viernes pagó Teresa Abadía.", document=document, context="Informe Lindazo\nPedidos de Toulouse"
    )
    (found,) = mentions([chunk])
    weights = {mention.key: mention.weight for mention in found}
    assert weights["informe lindazo"] == TITLE_WEIGHT
    assert weights["toulouse"] == HEADING_WEIGHT
    assert weights["teresa abadia"] == 1.0
    assert mentions([]) == []


@given(st.text(max_size=300))
def test_any_text_has_keys_that_are_their_own(text: str) -> None:
    """R7.1 a key's key is itself, and every weight is positive."""
    for key, weight in names_in(text).items():
        assert key
        assert weight > 0
        assert name_key(key) in (key, "")
