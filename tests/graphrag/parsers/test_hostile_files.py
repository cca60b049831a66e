"""Bombs, nests, torn and random files: each ends as a text or with its cause, within the parser's ten seconds."""

import random
import struct
import zipfile
import zlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphrag.errors import UnreadableDocument
from graphrag.models import ParsedText
from graphrag.parsers.detection import ODP
from graphrag.parsers.recognition import find_tesseract
from tests.graphrag.parsers.documents import (
    make_docx,
    make_epub,
    make_every_format,
    make_odt,
    make_ole,
    make_open_document,
    make_pdf,
    make_pptx,
    make_xlsx,
    part,
    with_part,
    zipped,
)
from tests.graphrag.parsers.isolated import IsolatedParser
from tests.graphrag.parsers.laws import assert_lawful

UNREAD_SCAN = "unrecognized" if find_tesseract() else "scanned"
REASONS = {
    *("unsupported", "encoding", "empty", "too_large", "encrypted", "damaged", "timeout", "nested", UNREAD_SCAN),
}
DEEP = 10_000
FILES = make_every_format()
FUZZING = settings(
    max_examples=settings().max_examples // 3, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def entities(document: bytes) -> bytes:
    """An XML document that would unfold to ten thousand million characters where it says «bomba»."""
    levels = "".join(
        f'<!ENTITY e{level} "{f"&e{level - 1};" * 10}">' if level else '<!ENTITY e0 "bomba">' for level in range(10)
    )
    head, _, body = document.partition(b"?>")
    return head + b"?><!DOCTYPE lolz [" + levels.encode() + b"]>" + body.replace(b"bomba", b"&e9;")


def with_bomb(data: bytes, name: str, *, declared: int) -> bytes:
    """An Office file, one of whose parts unpacks to a gigabyte; without packing so much."""
    stream = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    block = stream.compress(b" " * 10_000_000) + stream.flush(zlib.Z_FULL_FLUSH)
    packed = block * 100 + stream.flush()
    stored = bytearray(with_part(data, name, packed, stored=name))
    encoded = name.encode()
    for header, method in ((stored.find(encoded) - 30, 8), (stored.rfind(encoded) - 46, 10)):
        struct.pack_into("<H", stored, header + method, zipfile.ZIP_DEFLATED)
        struct.pack_into("<II", stored, header + method + 10, len(packed), declared)
    return bytes(stored)


DOCX = make_docx(lambda document: document.add_paragraph("bomba"))
XLSX = make_xlsx({"Hoja": [["bomba"]]})
PPTX = make_pptx()
WORD, STRINGS, SLIDE = "word/document.xml", "xl/sharedStrings.xml", "ppt/slides/slide1.xml"
PARTS = {"a.docx": WORD, "a.xlsx": STRINGS, "a.pptx": SLIDE, "a.odt": "content.xml"}
ENTITIES = {
    "a.docx": with_part(DOCX, WORD, entities(part(DOCX, WORD))),
    "a.xlsx": with_part(XLSX, STRINGS, entities(part(XLSX, STRINGS))),
    "a.pptx": with_part(PPTX, SLIDE, entities(part(PPTX, SLIDE).replace(b"Objetivos", b"bomba"))),
    "a.odt": with_part(make_odt(""), "content.xml", entities(part(make_odt("<text:p>bomba</text:p>"), "content.xml"))),
}
NESTED = {
    "a.docx": with_part(
        DOCX, WORD, part(DOCX, WORD).replace(b"<w:body>", b"<w:body>" + b"<w:sdt><w:sdtContent>" * DEEP)
    ),
    "a.pptx": with_part(
        PPTX,
        SLIDE,
        part(PPTX, SLIDE).replace(b"</p:spTree>", b"<p:grpSp>" * DEEP + b"</p:grpSp>" * DEEP + b"</p:spTree>"),
    ),
    "a.xlsx": with_part(XLSX, STRINGS, part(XLSX, STRINGS).replace(b"<si>", b"<si>" + b"<r>" * DEEP)),
    "a.odp": make_open_document(
        ODP, "<office:presentation><drawing:page>" + "<drawing:g>" * DEEP + "<text:p>x</text:p>" + "</drawing:g>" * DEEP
    ),
    "a.epub": make_epub({"a.xhtml": "<html><body>" + "<div>" * DEEP + "hola"}),
    "a.json": b"[" * DEEP + b"1" + b"]" * DEEP,
    "a.xml": b"<a>" * DEEP + b"hola" + b"</a>" * DEEP,
    "a.eml": b"Subject: x\nMIME-Version: 1.0\nContent-Type: message/rfc822\n\n" * DEEP + b"Subject: fin\n\nhola\n",
    "a.odt": make_odt("<text:section>" * DEEP + "<text:p>x</text:p>" + "</text:section>" * DEEP),
    "a.html": b"<html>" + b"<div>" * DEEP + b"hola",
    "table.html": b"<html>" + b"<table><tr><td>" * DEEP + b"hola",
    "list.html": b"<html>" + b"<ul><li>" * DEEP + b"hola",
    "inline.html": b"<html>" + b"<p><b><i>x" * DEEP,
    "a.md": b">" * DEEP + b" hola",
    "brackets.md": b"# " + b"[" * DEEP + b"hola",
    "emphasis.md": b"# " + b"*a_" * DEEP,
    "a.rtf": rb"{\rtf1 " + b"{" * DEEP + b"hola" + b"}" * DEEP + b"}",
    "a.pdf": b"%PDF-1.7\n1 0 obj " + b"[" * DEEP + b"]" * DEEP + b" endobj\ntrailer <</Root 1 0 R>>",
}


async def outcome(parser: IsolatedParser, data: bytes, *, filename: str) -> ParsedText | str:
    """The text, or why there is none."""
    try:
        parsed = await parser.parse(data, filename=filename)
    except UnreadableDocument as exc:
        refusal = exc
    else:
        assert_lawful(parsed)
        return parsed
    assert len(str(refusal)) > 10
    assert "\n" not in str(refusal)
    return str(refusal.details["reason"])


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx", "a.pptx", "a.odt"])
@pytest.mark.parametrize("declared", [1_000_000_000, 24])
async def test_zip_bomb_is_refused(parser: IsolatedParser, name: str, declared: int) -> None:
    """Security 9: a megabyte that unpacks to a gigabyte, whatever it says of itself."""
    bomb = with_bomb(FILES[name], PARTS[name], declared=declared)
    assert len(bomb) < 1_100_000
    assert await outcome(parser, bomb, filename=name) == "too_large"


async def test_zip_bomb_of_many_small_parts_is_refused(parser: IsolatedParser) -> None:
    """Security 9"""
    parts = {f"part{number}": random.Random(number).randbytes(1000) * 150 for number in range(1_800)}
    assert await outcome(parser, zipped({"word/document.xml": "<w/>", **parts}), filename="a.docx") == "too_large"


@pytest.mark.parametrize(("name", "data"), ENTITIES.items())
async def test_xml_entities_are_not_unfolded(parser: IsolatedParser, name: str, data: bytes) -> None:
    """Security 9: XML entities off."""
    assert await outcome(parser, data, filename=name) == "damaged"


@pytest.mark.parametrize("name", ["a.docx", "a.pptx", "a.odt"])
async def test_entities_in_another_charset_are_not_unfolded(parser: IsolatedParser, name: str) -> None:
    """Security 9"""
    where = PARTS[name]
    data = part(ENTITIES[name], where).decode().replace('encoding="UTF-8"', 'encoding="UTF-16"').encode("utf-16")
    found = await outcome(parser, with_part(FILES[name], where, data), filename=name)
    assert found in {"damaged", "empty"}


async def test_entities_of_a_page_are_text(parser: IsolatedParser) -> None:
    """Security 9"""
    page = entities(b"<?xml version='1.0'?><html><body><svg><text>bomba</text></svg>hola</body></html>")
    found = await outcome(parser, page, filename="a.html")
    assert not isinstance(found, str)
    assert len(found.text) < 100


async def test_external_entity_reads_no_file(parser: IsolatedParser) -> None:
    """Security 9"""
    head, _, body = part(DOCX, WORD).partition(b"?>")
    document = head + b'?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>' + body.replace(b"bomba", b"&e;")
    assert await outcome(parser, with_part(DOCX, WORD, document), filename="a.docx") == "damaged"


@pytest.mark.parametrize(("name", "data"), NESTED.items())
async def test_ten_thousand_nested_parts(parser: IsolatedParser, name: str, data: bytes) -> None:
    """Security 9"""
    found = await outcome(parser, data, filename=name)
    if isinstance(found, str):
        assert found in {"damaged", "empty"}


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv", "a.html"])
async def test_fifty_megabytes_of_text(parser: IsolatedParser, name: str) -> None:
    """Security 9"""
    assert await outcome(parser, b"<html>hola, mundo\n" * 2_900_000, filename=name) == "too_large"


@pytest.mark.parametrize("name", FILES)
async def test_random_bytes_under_every_name(parser: IsolatedParser, name: str) -> None:
    """Security 10"""
    for seed in range(5):
        found = await outcome(parser, random.Random(seed).randbytes(20_000), filename=name)
        assert found in {"unsupported", "encoding", "damaged"}


@pytest.mark.parametrize("name", FILES)
@FUZZING
@given(data=st.data())
async def test_torn_file_is_read_or_refused(parser: IsolatedParser, name: str, data: st.DataObject) -> None:
    """Security 10: truncated anywhere."""
    whole = FILES[name]
    found = await outcome(parser, whole[: data.draw(st.integers(0, len(whole)))], filename=name)
    assert not isinstance(found, str) or found in REASONS - {"timeout"}


@pytest.mark.parametrize("name", FILES)
@FUZZING
@given(data=st.data())
async def test_garbled_file_is_read_or_refused(parser: IsolatedParser, name: str, data: st.DataObject) -> None:
    """Security 10: bytes changed here and there, also inside of what is packed."""
    garbled = bytearray(FILES[name])
    changes = st.lists(st.tuples(st.integers(0, len(garbled) - 1), st.integers(0, 255)), min_size=1, max_size=20)
    for place, value in data.draw(changes):
        garbled[place] = value
    found = await outcome(parser, bytes(garbled), filename=name)
    assert not isinstance(found, str) or found in REASONS


@pytest.mark.parametrize(
    ("name", "where"), [("a.docx", WORD), ("a.pptx", SLIDE), ("a.xlsx", STRINGS), ("a.odt", "content.xml")]
)
@FUZZING
@given(data=st.data())
async def test_garbled_part_is_read_or_refused(
    parser: IsolatedParser, name: str, where: str, data: st.DataObject
) -> None:
    """Security 10: the archive is whole, its XML is not."""
    xml = part(FILES[name], where)
    start = data.draw(st.integers(0, len(xml)))
    garbled = xml[:start] + data.draw(st.binary(max_size=20)) + xml[start + data.draw(st.integers(0, 50)) :]
    found = await outcome(parser, with_part(FILES[name], where, garbled), filename=name)
    assert not isinstance(found, str) or found in REASONS - {"timeout"}


async def test_broken_word_97_file(parser: IsolatedParser) -> None:
    """Security 9"""
    word = b"\xec\xa5\xc1\x00" + random.Random(1).randbytes(6).replace(b"\x01", b"\0") + b"\0\0" + bytes(6_000)
    assert await outcome(parser, make_ole({"WordDocument": word, "1Table": b"x"}), filename="a.doc") in {
        "damaged",
        "empty",
        "encrypted",
    }


async def test_every_refusal_has_its_own_cause(parser: IsolatedParser) -> None:
    """R1.2"""
    refused = {
        "empty": (b"", "a.pdf"),
        "unsupported": (b"\x7fELF", "a.bin"),
        UNREAD_SCAN: (make_pdf([[]]), "a.pdf"),
        "encrypted": (make_pdf([["x"]], password="x"), "a.pdf"),
        "damaged": (FILES["a.docx"][:5_000], "a.docx"),
    }
    assert {reason: await outcome(parser, *args[:1], filename=args[1]) for reason, args in refused.items()} == {
        reason: reason for reason in refused
    }
