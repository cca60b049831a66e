"""Files that the first reader of their type refuses."""

import struct
from contextlib import suppress

import pytest
from docx.document import Document as WordDocument
from hypothesis import given
from hypothesis import strategies as st

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import ParsedText
from graphrag.parsers import detection
from graphrag.parsers.parsing import parse
from graphrag.parsers.word_97 import parse_word_97
from tests.graphrag.parsers.documents import make_doc, make_docx, make_pdf, make_pptx, part, with_part
from tests.graphrag.parsers.laws import assert_lawful

LIMITS = ParsingLimits()
WARNING = ("the file is damaged: parts of its text may be missing",)
LETTERS = st.characters(codec="cp1252", categories=["Ll", "Lu", "Nd"], exclude_characters="ÿ")
WORDS = st.text(LETTERS, min_size=1, max_size=20)


def read(data: bytes, name: str) -> ParsedText:
    parsed = parse(data, filename=name, limits=LIMITS)
    assert_lawful(parsed)
    return parsed


def test_torn_pdf_is_read_as_far_as_it_goes() -> None:
    """R1.1, R1.3: with its pages; a file that arrived in part has no table of its objects."""
    whole = make_pdf([["Una página en la que se dice lo que pasó."], ["Y otra, con el resto."], ["Fin."]])
    parsed = read(whole[: int(len(whole) * 0.8)], "a.pdf")
    assert "lo que pasó" in parsed.text
    assert parsed.warnings == WARNING
    assert [place.page for place in parsed.locations][:2] == [1, 2]


@pytest.mark.parametrize("forbidden", [b"&#1;", b"&#x1F;", b"&#x000b;", b"\x07"])
def test_characters_that_xml_forbids_are_left_out(forbidden: bytes) -> None:
    """R1.1: some programs write them; nothing is missing then."""
    data = make_docx(lambda document: document.add_paragraph("El horno falló."))
    body = part(data, "word/document.xml").replace(b"horno", b"hor" + forbidden + b"no")
    parsed = read(with_part(data, "word/document.xml", body), "a.docx")
    assert (parsed.text, parsed.warnings) == ("El horno falló.", ())
    slides = make_pptx()
    slide = part(slides, "ppt/slides/slide1.xml").replace(b"crecer", b"crecer" + forbidden)
    found = read(with_part(slides, "ppt/slides/slide1.xml", slide), "a.pptx")
    assert (found.text, found.warnings) == (read(slides, "a.pptx").text, ())


def test_word_file_whose_xml_is_torn_is_read_as_far_as_it_goes() -> None:
    """R1.1"""

    def write(document: WordDocument) -> None:
        for number in range(30):
            document.add_paragraph(f"Párrafo {number}.")

    data = make_docx(write)
    body = part(data, "word/document.xml")
    parsed = read(with_part(data, "word/document.xml", body[: len(body) // 2]), "a.docx")
    assert parsed.text.startswith("Párrafo 0.\n\nPárrafo 1.")
    assert parsed.warnings == WARNING


def test_broken_file_keeps_the_cause_of_its_first_reader() -> None:
    """R1.2"""
    with pytest.raises(UnreadableDocument) as caught:
        parse(b"%PDF-1.7\nnothing", filename="a.pdf", limits=LIMITS)
    assert caught.value.details["reason"] == "damaged"


@pytest.mark.parametrize("is_wide", [True, False])
@pytest.mark.parametrize("flags", [0, 0x0200])
def test_word_97_by_its_pieces(is_wide: bool, flags: int) -> None:
    """R1.1: in the order of the text, with cells and the results of fields, without headers and instructions."""
    field = "\x13 HYPERLINK \x13 QUOTE 3 \x14x\x15 \x14Muñoz\x15"
    body = f"Título\rEl señor {field} pagó.\rCliente\x07Total\x07\x07Ana\x073\x07\x07fin\x0bdel todo"
    data = make_doc(body, notes="Una nota.\r", headers="La cabecera\r", is_wide=is_wide, flags=flags)
    assert parse_word_97(data, limits=LIMITS).text == (
        "Título\n\nEl señor Muñoz pagó.\n\nCliente\tTotal\n\nAna\t3\n\nfin\ndel todo\n\nUna nota."
    )


@given(st.lists(WORDS, min_size=1, max_size=30), st.booleans())
def test_words_of_word_97_come_back(words: list[str], is_wide: bool) -> None:
    """R1.1"""
    parsed = parse_word_97(make_doc("Hola " + " ".join(words), is_wide=is_wide), limits=LIMITS)
    assert_lawful(parsed)
    assert parsed.text.split() == ["Hola", *words]


def test_word_97_whose_directory_is_damaged_is_read() -> None:
    """R1.1: the first reader refuses it, the second reads its streams."""
    data = bytearray(make_doc("El horno falló porque se rompió el retén."))
    root = data.find("Root Entry".encode("utf-16-le"))
    data[root + 64 : root + 66] = b"\xff\xff"  # the length of its name
    parsed = read(bytes(data), "a.doc")
    assert parsed.text == "El horno falló porque se rompió el retén."
    assert parsed.warnings == WARNING


def test_word_2() -> None:
    """R1.1: text between two offsets; nothing of it is damaged."""
    text = "Informe de 1993\rEl señor Muñoz pagó.\r".encode("cp1252")
    head = bytearray(0x180)
    struct.pack_into("<HH6xH12xII", head, 0, 0xA5DB, 0x2D, 0, 0x180, 0x180 + len(text))
    parsed = read(bytes(head) + text, "a.doc")
    assert (parsed.text, parsed.media_type) == ("Informe de 1993\n\nEl señor Muñoz pagó.", detection.DOC)
    assert parsed.warnings == ()
    head[11] = 0x01
    with pytest.raises(UnreadableDocument) as caught:
        parse(bytes(head) + text, filename="a.doc", limits=LIMITS)
    assert caught.value.details["reason"] == "encrypted"


GOOD = make_doc("El señor Muñoz pagó tres cafés. " * 20, notes="Una nota.")


@given(st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), min_size=1, max_size=20))
def test_garbled_word_97_is_read_or_refused(changes: list[tuple[int, int]]) -> None:
    """Security 10"""
    garbled = bytearray(GOOD)
    for place, value in changes:
        garbled[place] = value
    with suppress(UnreadableDocument):
        assert_lawful(parse(bytes(garbled), filename="a.doc", limits=LIMITS))


@pytest.mark.parametrize(
    ("name", "text", "media_type"),
    [
        ("a.doc", "<html><body><h1>Acta</h1><p>Se aprobó.</p></body></html>", detection.HTML),
        ("a.xls", "<html><table><tr><th>Mes<th>Total<tr><td>enero<td>7</table></html>", detection.HTML),
        ("a.xls", "Mes\tTotal\nenero\t7\nfebrero\t8\n", detection.CSV),
        ("a.xls", '<?xml version="1.0"?><Workbook><Data>enero</Data></Workbook>', detection.XML),
        ("a.doc", "Se aprobó el acta.", detection.PLAIN),
    ],
)
@pytest.mark.parametrize("charset", ["utf-8", "utf-16"])
def test_text_under_the_names_of_office_files_is_read(name: str, text: str, media_type: str, charset: str) -> None:
    """R1.1: type by content; programs export pages and tables under them."""
    parsed = read(text.encode(charset), name)
    assert parsed.media_type == media_type
    assert "aprobó" in parsed.text or "enero" in parsed.text
