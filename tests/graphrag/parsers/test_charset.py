"""Bytes → characters."""

import codecs
import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.parsers.text import decode

LIMITS = ParsingLimits()
SPANISH = "El señor Muñoz pagó tres cafés: «¿cuánto es?», preguntó; la pingüina calló.\n" * 3
FRENCH = "L'été, à Noël où ça gèle, le garçon a reçu une pâtisserie d'un maître hébété.\n" * 3
ENGLISH = "Plain English text with nothing but ASCII in it.\n" * 3


@pytest.mark.parametrize("text", [SPANISH, FRENCH, ENGLISH])
@pytest.mark.parametrize(
    "charset",
    [
        "utf-8",
        "utf-8-sig",
        "utf-16",
        "utf-16-le",
        "utf-16-be",
        "utf-32",
        "utf-32-le",
        "utf-32-be",
        "cp1252",
        "latin_1",
        "cp850",
        "mac_roman",
    ],
)
def test_charset_is_detected(text: str, charset: str) -> None:
    """R1.1"""
    assert decode(text.encode(charset), limits=LIMITS).removeprefix("\ufeff") == text


@pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_torn_unit_at_the_end_spoils_nothing_else(charset: str) -> None:
    """R1.1"""
    assert decode(SPANISH.encode(charset)[:-1], limits=LIMITS).startswith(SPANISH[:-1])


@pytest.mark.parametrize("bom", [codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE])
def test_utf_16_is_read_in_the_order_that_its_mark_says(bom: bytes) -> None:
    """R1.1"""
    charset = "utf-16-be" if bom == codecs.BOM_UTF16_BE else "utf-16-le"
    assert decode(bom + "日本語、Привет, 👩‍🔧".encode(charset), limits=LIMITS) == "日本語、Привет, 👩‍🔧"


def test_a_broken_byte_does_not_spoil_utf_8() -> None:
    """R1.1"""
    assert decode(SPANISH.encode() + b"\xff fin", limits=LIMITS) == SPANISH + "\ufffd fin"


def test_declared_charset_is_taken_where_it_can_be() -> None:
    """R1.1"""
    data = "Привет, мир и все остальные".encode("cp1251")
    assert decode(data, limits=LIMITS, declared="windows-1251") == "Привет, мир и все остальные"
    assert decode(SPANISH.encode("cp1252"), limits=LIMITS, declared="no-such-charset") == SPANISH


@pytest.mark.parametrize("data", [b"a\0b\0\0c" * 20, bytes(range(1, 256)) * 20, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" * 9])
def test_binary_data_is_no_text(data: bytes) -> None:
    """R1.1: type by content."""
    with pytest.raises(UnreadableDocument) as caught:
        decode(data, limits=LIMITS)
    assert caught.value.details["reason"] in {"unsupported", "encoding"}


def test_longer_than_the_limit() -> None:
    """R1.1: a limit on expansion."""
    assert decode(b"a" * 10, limits=ParsingLimits(characters=10)) == "a" * 10
    with pytest.raises(UnreadableDocument) as caught:
        decode(b"a" * 11, limits=ParsingLimits(characters=10))
    assert caught.value.details["reason"] == "too_large"


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])))
def test_utf_8_comes_back_as_it_was(text: str) -> None:
    """R1.1"""
    assert decode(text.encode(), limits=LIMITS).lstrip("\ufeff") == text.lstrip("\ufeff")


@given(st.binary())
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """Security 10"""
    with contextlib.suppress(UnreadableDocument):
        decode(data, limits=LIMITS)
