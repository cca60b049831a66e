"""What a file is, by its bytes."""

import codecs

import pytest

from graphrag.errors import UnreadableDocument
from graphrag.parsers import detection
from graphrag.parsers.detection import detect, supported_suffixes
from tests.graphrag.parsers.documents import RTF, make_every_format, make_odt, make_ole, make_ppt, zipped

TYPES = {
    "a.txt": detection.PLAIN,
    "a.md": detection.MARKDOWN,
    "a.html": detection.HTML,
    "a.csv": detection.CSV,
    "a.pdf": detection.PDF,
    "a.docx": detection.DOCX,
    "a.pptx": detection.PPTX,
    "a.xlsx": detection.XLSX,
    "a.odt": detection.ODT,
    "a.rtf": detection.RTF,
    "a.ods": detection.ODS,
    "a.odp": detection.ODP,
    "a.epub": detection.EPUB,
    "a.zip": detection.ZIP,
    "a.eml": detection.EML,
    "a.msg": detection.MSG,
    "a.ppt": detection.PPT,
    "a.json": detection.JSON,
    "a.jsonl": detection.JSON_LINES,
    "a.xml": detection.XML,
    "a.rst": detection.RST,
    "a.org": detection.ORG,
    "a.adoc": detection.ASCIIDOC,
    "a.tex": detection.TEX,
    "a.toml": detection.INI,
    "a.srt": detection.SUBTITLES,
    "a.log": detection.PLAIN,
}
BOF = b"\x09\x08\x10\0" + bytes(16)  # of a workbook of Excel 97
WORD_97 = b"\xec\xa5\xc1\x00" + bytes(6)


@pytest.mark.parametrize(("name", "data"), make_every_format().items())
def test_every_format_is_known(name: str, data: bytes) -> None:
    """R1.1"""
    assert detect(data, filename=name) == TYPES[name]


@pytest.mark.parametrize("recognizes", [True, False])
def test_the_supported_types_are_listed(recognizes: bool) -> None:
    """R1.1 each format that is read by the endings of its files; pictures only where their text can be recognised."""
    listed = supported_suffixes(recognizes_pictures=recognizes)
    assert {name.removeprefix("a") for name in make_every_format()} <= set(listed)
    assert (".png" in listed) is recognizes
    for suffix in {".png", ".heic", ".exe"} - set(listed):
        with pytest.raises(UnreadableDocument):
            detect(b"MZ\0\1" * 50, filename=f"a{suffix}")


BY_CONTENT = (
    *("a.pdf", "a.docx", "a.pptx", "a.xlsx", "a.odt", "a.rtf", "a.html"),
    *("a.ods", "a.odp", "a.epub", "a.zip", "a.eml", "a.msg"),
)


@pytest.mark.parametrize("name", BY_CONTENT)
@pytest.mark.parametrize("wrong", ["a.txt", "a.csv", "a.exe", "a", "../../etc/passwd"])
def test_content_decides_not_the_name(name: str, wrong: str) -> None:
    """R1.1: type by content, not by name. A name of another kind refuses HTML and archives, which may hold anything."""
    data = make_every_format()[name]
    if (name == "a.html" and wrong == "a.exe") or (name == "a.zip" and wrong == "a.exe"):
        with pytest.raises(UnreadableDocument):
            detect(data, filename=wrong)
    else:
        assert detect(data, filename=wrong) == TYPES[name]


def test_main_part_of_another_name_is_found() -> None:
    """R1.1: as some programs write it, «document2.xml»."""
    parts = {"[Content_Types].xml": "<Types/>", "word/document2.xml": "<w/>"}
    assert detect(zipped(parts), filename="a.zip") == detection.DOCX


def test_compound_files_are_told_apart() -> None:
    """R1.1"""
    assert detect(make_ole({"WordDocument": WORD_97 + bytes(500)}), filename="a.xls") == detection.DOC
    assert detect(make_ole({"Workbook": b"x"}), filename="a.doc") == detection.XLS
    assert detect(make_ole({"Book": b"x"}), filename="a.doc") == detection.XLS
    assert detect(make_ppt([("Uno", ["a"])]), filename="a.doc") == detection.PPT


@pytest.mark.parametrize(
    ("data", "filename", "reason"),
    [
        (b"", "a.pdf", "empty"),
        (b" \r\n\0\0", "a.docx", "empty"),
        (codecs.BOM_UTF8, "a.txt", "empty"),
        (codecs.BOM_UTF16_LE, "a.csv", "empty"),
        (b"MZ\x90\0", "a.exe", "unsupported"),
        (b"hola", "a.docx", "unsupported"),
        (zipped({"a.txt": "hola"}), "a.docx", "unsupported"),
        (make_ole({"Other": b"x"}), "a.doc", "unsupported"),
        (zipped({"[Content_Types].xml": "<Types/>", "visio/document.xml": "<a>hola</a>"}), "a.vsdx", "unsupported"),
        (zipped({"Index/Document.iwa": b"x", "preview.txt": "hola"}), "a.pages", "unsupported"),
        (b"PK\x03\x04 and nothing more", "a.docx", "damaged"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and nothing more", "a.doc", "damaged"),
        (make_ole({"EncryptionInfo": b"x", "EncryptedPackage": b"x"}), "a.docx", "encrypted"),
        (make_ole({"WordDocument": WORD_97 + b"\x00\x01" + bytes(500)}), "a.doc", "encrypted"),
        (make_ole({"Workbook": BOF + b"\x2f\0\x02\0xx"}), "a.xls", "encrypted"),
        (make_ppt([("Uno", ["a"])], token=0xF3D1C4DF), "a.ppt", "encrypted"),
        (make_odt("", manifest="<manifest:encryption-data/>"), "a.odt", "encrypted"),
    ],
)
def test_what_is_not_read_says_why(data: bytes, filename: str, reason: str) -> None:
    """R1.1, R1.2: the error's cause is kept."""
    with pytest.raises(UnreadableDocument) as caught:
        detect(data, filename=filename)
    assert caught.value.details["reason"] == reason


def test_workbook_without_a_password_is_no_encrypted_one() -> None:
    """R1.1: the record counts only where records begin, and before the globals' end."""
    for globals_of_it in (b"\x0a\0\0\0\x2f\0\x02\0xx", b"\x31\0\x04\0\x2f\0\x02\0"):
        assert detect(make_ole({"Workbook": BOF + globals_of_it}), filename="a.xls") == detection.XLS


def test_word_97_without_a_password_is_no_encrypted_one() -> None:
    """R1.1"""
    assert detect(make_ole({"WordDocument": WORD_97 + b"\x00\x02" + bytes(500)}), filename="a.doc") == detection.DOC
    assert detect(RTF, filename="a.doc") == detection.RTF
