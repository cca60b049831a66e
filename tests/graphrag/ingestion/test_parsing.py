"""A file's bytes → text with its headings."""

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag.errors import UnreadableDocument
from graphrag.ingestion.parsing import parse

SPANISH = "El señor Muñoz pagó tres cafés: «¿cuánto es?», preguntó; la pingüina calló."
FRENCH = "L'été, à Noël où ça gèle, le garçon a reçu l'œuvre d'un maître."


@pytest.mark.parametrize("text", [SPANISH, FRENCH, "Plain English text.", "日本語、Привет, 👩‍🔧"])
@pytest.mark.parametrize("charset", ["utf-8", "utf-8-sig", "utf-16"])
def test_unicode_is_read(text: str, charset: str) -> None:
    """R1.1"""
    assert parse(text.encode(charset), filename="a.txt").text == text


def test_utf_16_is_read_in_either_byte_order() -> None:
    """R1.1"""
    for bom, charset in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        assert parse(bom + SPANISH.encode(charset), filename="a.txt").text == SPANISH


@pytest.mark.parametrize("text", [SPANISH, FRENCH, "Pagó 3 € en la caja número uno."])
def test_legacy_western_text_keeps_its_accents(text: str) -> None:
    """R1.1"""
    assert parse(text.encode("cp1252"), filename="a.txt").text == text


def test_a_broken_byte_does_not_spoil_utf_8() -> None:
    """R1.1"""
    data = (SPANISH * 3).encode()
    assert parse(data + b"\xff fin", filename="a.txt").text == SPANISH * 3 + "\ufffd fin"
    assert parse(data + "é".encode()[:1], filename="a.txt").text == SPANISH * 3 + "\ufffd"


@pytest.mark.parametrize(
    ("data", "filename", "reason"),
    [
        (b"%PDF-1.7", "a.pdf", "unsupported"),
        (b"hola", "sin-sufijo", "unsupported"),
        (b"hola", "a.md.exe", "unsupported"),
        (b"hola\0mundo", "a.txt", "unsupported"),
        (SPANISH.encode("utf-16-le"), "a.txt", "unsupported"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a.txt", "unsupported"),
        (b"", "a.txt", "empty"),
        (b" \r\n\t \n", "a.md", "empty"),
        (codecs.BOM_UTF8, "a.txt", "empty"),
        (b"--- ... ***", "a.md", "empty"),
        ("\u200b\u00ad\u00a0".encode(), "a.txt", "empty"),
        (bytes(range(1, 32)) * 5 + bytes(range(128, 256)) * 3, "a.txt", "encoding"),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, filename: str, reason: str) -> None:
    """R1.2"""
    with pytest.raises(UnreadableDocument) as caught:
        parse(data, filename=filename)
    assert caught.value.details["reason"] == reason
    assert str(caught.value)


@settings(deadline=None, max_examples=150)
@given(st.binary(max_size=200), st.sampled_from(["a.txt", "a.md"]))
def test_any_bytes_are_read_or_refused(data: bytes, filename: str) -> None:
    """R1.2: nothing but UnreadableDocument comes out of the parser, and every heading stands in the text."""
    try:
        parsed = parse(data, filename=filename)
    except UnreadableDocument:
        return
    assert parsed.text.strip()
    assert "\0" not in parsed.text
    assert all(0 <= heading.start_char < len(parsed.text) for heading in parsed.headings)


@pytest.mark.parametrize(
    ("filename", "media_type"),
    [("a.txt", "text/plain"), ("a.TEXT", "text/plain"), ("A.MD", "text/markdown"), ("b.c.markdown", "text/markdown")],
)
def test_the_name_chooses_the_kind_of_text(filename: str, media_type: str) -> None:
    """R1.1"""
    assert parse(b"# hola", filename=filename).media_type == media_type


def test_plain_text_has_no_headings() -> None:
    """R1.3"""
    assert parse(b"# hola\n\nmundo", filename="a.txt").headings == ()


def headings(markdown: str) -> list[tuple[int, str, str]]:
    """Level, text, and the line of the text that the heading's offset points at."""
    parsed = parse(markdown.encode(), filename="a.md")
    return [
        (heading.level, heading.text, parsed.text[heading.start_char :].split("\n")[0]) for heading in parsed.headings
    ]


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("# Uno\n\ntexto\n\n## Dos ##\n", [(1, "Uno", "# Uno"), (2, "Dos", "## Dos ##")]),
        ("texto\n  ## Sangrado\notro", [(2, "Sangrado", "  ## Sangrado")]),
        ("Año\n===\n\nSub\n---\nx", [(1, "Año", "Año"), (2, "Sub", "Sub")]),
        ("texto\n# justo debajo\notro", [(1, "justo debajo", "# justo debajo")]),
        ("x\n\n```\n# no\n```\n\n# sí", [(1, "sí", "# sí")]),
        ("x\n\n~~~py\n# no\n~~~\n", []),
        ("texto\n\n    # no\n", []),
        ("#sin-espacio\n", []),
        ("####### siete\n", []),
        ("#\n\n## \n\ntexto", []),
        (
            "# **Horno** *H2* `x` [enlace](http://a)",
            [(1, "Horno H2 x enlace", "# **Horno** *H2* `x` [enlace](http://a)")],
        ),
        ("# A &amp; B \\* <b>c</b>", [(1, "A & B * c", "# A &amp; B \\* <b>c</b>")]),
        ("Título en\ndos líneas\n===", [(1, "Título en dos líneas", "Título en")]),
        ("> # cita\n\n- # en lista", [(1, "cita", "> # cita"), (1, "en lista", "- # en lista")]),
        ("---\ntitle: X\ntags: [a]\n---\n\n# Uno", [(1, "Uno", "# Uno")]),
        ("👩‍🔧 café\r\n\r\n\r\n\r\n# Tras emoji", [(1, "Tras emoji", "# Tras emoji")]),
        ("| a |\n|---|\n| b |\n", []),
    ],
)
def test_headings_of_markdown(markdown: str, expected: list[tuple[int, str, str]]) -> None:
    """R1.3"""
    assert headings(markdown) == expected
