"""The canonical text."""

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphrag.parsers.text import clean

texts = st.one_of(
    st.text(max_size=200),
    st.text(alphabet="ae\u0301 \t\r\n\x0b\x0c\x00\x85\u00a0\u00ad\u200b\u2028\u2029\ufeff\ud800", max_size=40),
)


@given(texts)
@example("\r\x00\n")
@example(" \n\u00a0\n\n\n\x00 ")
def test_cleaning_twice_changes_nothing(text: str) -> None:
    """R1.3"""
    assert clean(clean(text)) == clean(text)


@given(texts)
@example("\u0958")  # its composed form has two characters
def test_a_clean_text_is_composed_and_without_debris(text: str) -> None:
    """R1.3: never longer than the composed text, and nothing in it that is not read."""
    cleaned = clean(text)
    assert len(cleaned) <= len(unicodedata.normalize("NFC", text))
    assert unicodedata.is_normalized("NFC", cleaned)
    assert not re.search(r"[ \t]\n|\n{3}|[\r\x0b\x0c\x85\u2028\u2029]", cleaned)
    assert all(character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cs"} for character in cleaned)
    assert cleaned == cleaned.strip()


@given(st.text(alphabet=st.characters(categories=["L", "N", "P"]), max_size=50))
def test_letters_numbers_and_punctuation_stay(text: str) -> None:
    """R1.3"""
    assert clean(text) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("uno\r\ndos\rtres\n", "uno\ndos\ntres"),
        ("uno\x0bdos\x0ctres\u2028cuatro\x85cinco", "uno\ndos\ntres\ncuatro\ncinco"),
        ("ho\x00la\x07 \x1bmundo\x7f", "hola mundo"),
        ("\ufeffhola", "hola"),
        ("exten\u00adsión", "extensión"),
        ("ho\u200bla", "hola"),
        ("roto \ud83d", "roto"),
        ("cafe\u0301", "café"),
        ("uno\n\n\n\n\ndos", "uno\n\ndos"),
        ("uno\n \t\n  \n\ndos", "uno\n\ndos"),
        ("uno  \ndos\t\n", "uno\ndos"),
        ("col1\tcol2  col3", "col1\tcol2  col3"),
        ("  - sangrado\n    - más", "- sangrado\n    - más"),
        ("👩\u200d🔧", "👩\u200d🔧"),
        ("", ""),
        (" \r\n\t\x00", ""),
    ],
)
def test_cleaning(text: str, cleaned: str) -> None:
    """R1.3"""
    assert clean(text) == cleaned
