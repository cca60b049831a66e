"""What a file is, by its bytes. Its name only chooses among kinds of text."""

import zipfile
from io import BytesIO
from pathlib import PurePath

import olefile

from graphrag.errors import UnreadableDocument

PDF = "application/pdf"
DOC = "application/msword"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
XLS = "application/vnd.ms-excel"
ODT = "application/vnd.oasis.opendocument.text"
RTF = "application/rtf"
HTML = "text/html"
MARKDOWN = "text/markdown"
CSV = "text/csv"
PLAIN = "text/plain"

TEXT_SUFFIXES = {
    **dict.fromkeys((".txt", ".text", ""), PLAIN),
    **dict.fromkeys((".md", ".markdown"), MARKDOWN),
    **dict.fromkeys((".csv", ".tsv"), CSV),
    **dict.fromkeys((".html", ".htm", ".xhtml"), HTML),
}
SUPPORTED = "pdf, docx, doc, odt, rtf, pptx, xlsx, xls, csv, html, md, txt"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP_PARTS = {"word/document.xml": DOCX, "xl/workbook.xml": XLSX, "xl/workbook.bin": XLSX, "ppt/presentation.xml": PPTX}
_HTML_BEGINNINGS = (b"<!doctype html", b"<html", b"<head", b"<body")
_MOST_MANIFEST = 1_000_000  # bytes; it lists a file's parts


def detect(data: bytes, *, filename: str) -> str:
    """The media type. Raises UnreadableDocument: empty, unsupported, encrypted or damaged."""
    if not data.strip(b"\0 \t\r\n\xef\xbb\xbf\xfe\xff"):
        raise UnreadableDocument("the file holds no text", reason="empty")
    if b"%PDF-" in data[:1024]:
        return PDF
    if data.startswith(b"PK\x03\x04"):
        return _zip_type(data)
    if data.startswith(_OLE):
        return _ole_type(data)
    if data.startswith(b"{\\rtf"):
        return RTF
    return _text_type(data, PurePath(filename).suffix.lower())


def _zip_type(data: bytes) -> str:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            names = set(archive.namelist())
            if "mimetype" in names and archive.getinfo("mimetype").file_size == len(ODT):
                with archive.open("mimetype") as entry:
                    is_odt = entry.read(len(ODT)) == ODT.encode()
                if is_odt:
                    return _odt(archive)
    except UnreadableDocument:
        raise
    except Exception as exc:  # zipfile raises whatever a broken structure leads to
        raise UnreadableDocument(f"the file is damaged: {exc}", reason="damaged") from exc
    for part, media_type in _ZIP_PARTS.items():
        if part in names:
            return media_type
    raise _unsupported()


def _odt(archive: zipfile.ZipFile) -> str:
    with archive.open("META-INF/manifest.xml") as manifest:
        if b"encryption-data" in manifest.read(_MOST_MANIFEST):
            raise _encrypted()
    return ODT


def _ole_type(data: bytes) -> str:
    try:
        with olefile.OleFileIO(BytesIO(data)) as ole:
            if ole.exists("EncryptedPackage"):
                raise _encrypted()
            if ole.exists("WordDocument"):
                with ole.openstream("WordDocument") as stream:
                    beginning = stream.read(12)
                # [MS-DOC] 2.5.1 FibBase: bit 8 of the flags at offset 10
                if len(beginning) == 12 and int.from_bytes(beginning[10:12], "little") & 0x0100:
                    raise _encrypted()
                return DOC
            if ole.exists("Workbook") or ole.exists("Book"):
                return XLS
    except UnreadableDocument:
        raise
    except Exception as exc:  # olefile raises whatever a broken structure leads to
        raise UnreadableDocument(f"the file is damaged: {exc}", reason="damaged") from exc
    raise _unsupported()


def _text_type(data: bytes, suffix: str) -> str:
    if suffix not in TEXT_SUFFIXES:
        raise _unsupported()
    if data[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_HTML_BEGINNINGS):
        return HTML
    return TEXT_SUFFIXES[suffix]


def _unsupported() -> UnreadableDocument:
    return UnreadableDocument(f"files of this type are not read; known are {SUPPORTED}", reason="unsupported")


def _encrypted() -> UnreadableDocument:
    return UnreadableDocument("the file is protected by a password: save it without one", reason="encrypted")
