"""Typing errors, and words that only look like them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.linguistics.language import fold
from graphrag.linguistics.spelling import may_be_misspelt, nearest_word

KNOWN = ("Almendrina", "Quillan", "facturas", "almacén", "devolver", "Kestrel")
LETTERS = st.characters(codec="ascii", categories=["Ll"])


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("Almendirna", "Almendrina"),
        ("Almendrna", "Almendrina"),
        ("almeendrrina", "Almendrina"),
        ("Quilan", "Quillan"),
        ("KESTRAL", "Kestrel"),
        ("alamcen", "almacén"),
        ("devolverá", None),  # another form of a word
        ("facturar", None),
        ("Quilliams", None),
        ("Kest", None),
        ("ALMENDRINA", None),  # it is the word
        ("Almacen", None),
    ],
)
def test_the_nearest_word_is_one_or_two_letters_away(asked: str, meant: str | None) -> None:
    """R4.1"""
    assert nearest_word(asked, KNOWN) == meant


@pytest.mark.parametrize(
    ("word", "language", "may"),
    [
        ("Almendirna", "es", True),
        ("factura", "es", False),  # a word of the lexicon
        ("ORD-123456", "en", False),
        ("3318", "en", False),
        ("Ana", "es", False),  # every short word is near to another
    ],
)
def test_names_and_rare_words_alone_may_be_misspelt(word: str, language: str, may: bool) -> None:
    """R4.1"""
    assert may_be_misspelt(word, language) is may


@given(st.text(LETTERS, min_size=8, max_size=20), st.data())
def test_one_edit_of_a_name_finds_it(word: str, data: st.DataObject) -> None:
    """R4.1 a letter left out, doubled, or swapped with the next."""
    at = data.draw(st.integers(1, len(word) - 2))
    name = word.title()
    before, letter, after = name[:at], name[at], name[at + 1 :]
    for edited in (before + after, before + letter * 2 + after, before + after[0] + letter + after[1:]):
        assert nearest_word(edited, [name]) == (None if fold(edited) == fold(name) else name)
