"""What a file is, by its bytes."""

import codecs

import pytest

from graphrag.errors import UnreadableDocument
from graphrag.parsers import detection
from graphrag.parsers.detection import detect
from tests.graphrag.parsers.documents import RTF, make_every_format, make_odt, make_ole, zipped

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
}
WORD_97 = b"\xec\xa5\xc1\x00" + bytes(6)


@pytest.mark.parametrize(("name", "data"), make_every_format().items())
def test_every_format_is_known(name: str, data: bytes) -> None:
    """R1.1"""
    assert detect(data, filename=name) == TYPES[name]


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.pptx", "a.xlsx", "a.odt", "a.rtf", "a.html"])
@pytest.mark.parametrize("wrong", ["a.txt", "a.csv", "a.exe", "a", "../../etc/passwd"])
def test_content_decides_not_the_name(name: str, wrong: str) -> None:
    """R1.1: type by content, not by name. HTML is text: a name that is not of text refuses it."""
    data = make_every_format()[name]
    if name == "a.html" and wrong == "a.exe":
        with pytest.raises(UnreadableDocument):
            detect(data, filename=wrong)
    else:
        assert detect(data, filename=wrong) == TYPES[name]


def test_compound_files_are_told_apart() -> None:
    """R1.1"""
    assert detect(make_ole({"WordDocument": WORD_97 + bytes(500)}), filename="a.xls") == detection.DOC
    assert detect(make_ole({"Workbook": b"x"}), filename="a.doc") == detection.XLS
    assert detect(make_ole({"Book": b"x"}), filename="a.doc") == detection.XLS


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
        (b"PK\x03\x04 and nothing more", "a.docx", "damaged"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and nothing more", "a.doc", "damaged"),
        (make_ole({"EncryptionInfo": b"x", "EncryptedPackage": b"x"}), "a.docx", "encrypted"),
        (make_ole({"WordDocument": WORD_97 + b"\x00\x01" + bytes(500)}), "a.doc", "encrypted"),
        (make_odt("", manifest="<manifest:encryption-data/>"), "a.odt", "encrypted"),
    ],
)
def test_what_is_not_read_says_why(data: bytes, filename: str, reason: str) -> None:
    """R1.1, R1.2: the error's cause is kept."""
    with pytest.raises(UnreadableDocument) as caught:
        detect(data, filename=filename)
    assert caught.value.details["reason"] == reason


def test_word_97_without_a_password_is_no_encrypted_one() -> None:
    """R1.1"""
    assert detect(make_ole({"WordDocument": WORD_97 + b"\x00\x02" + bytes(500)}), filename="a.doc") == detection.DOC
    assert detect(RTF, filename="a.doc") == detection.RTF
