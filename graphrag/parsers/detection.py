"""The type of a file by its bytes, and the limits of packed files."""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import PurePath

import olefile

from graphrag.config.settings import ParsingLimits
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


_STEP = 16_384  # bytes, which unpack to a thousand times as many at most
_SMALL = 1 << 20  # bytes; below it no ratio is too high
_PROLOG = 65_536  # bytes of an entry, where it would declare XML entities
_ENTITY = b"<!ENTITY"  # no program writes one into an Office file: it is a bomb, or reaches for other files


def check_archive(data: bytes, limits: ParsingLimits) -> None:
    """Raises UnreadableDocument: too_large, encrypted or damaged."""
    total = 0
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            for entry in archive.infolist():
                if entry.flag_bits & 0x1:
                    raise UnreadableDocument(
                        "the file is protected by a password: save it without one", reason="encrypted"
                    )
                total += _measure(data, entry, limits, total)
    except UnreadableDocument:
        raise
    except Exception as exc:  # zipfile and struct raise whatever a broken structure leads to
        raise UnreadableDocument(f"the file is damaged: {exc}", reason="damaged") from exc


def _measure(data: bytes, entry: zipfile.ZipInfo, limits: ParsingLimits, before: int) -> int:
    """Return how many bytes the entry unpacks to; its declared size may be wrong."""
    size = 0
    most = min(limits.archive_entry_bytes, limits.archive_bytes - before)
    for part in _unpacked(data, entry):
        if not size and _ENTITY in part[:_PROLOG]:
            raise UnreadableDocument("the file defines XML entities, which no document needs", reason="damaged")
        size += len(part)
        swollen = size > _SMALL and size > limits.archive_ratio * max(entry.compress_size, 1)
        if size > most or swollen:
            raise UnreadableDocument(
                "the file unpacks to far more than it should: it may be a zip bomb", reason="too_large"
            )
    return size


def _unpacked(data: bytes, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    # Not through zipfile, which stops at the declared size: parsers go on.
    name_length, extra_length = struct.unpack_from("<HH", data, entry.header_offset + 26)
    start = entry.header_offset + 30 + name_length + extra_length
    packed = data[start : start + entry.compress_size]
    if entry.compress_type == zipfile.ZIP_STORED:
        yield packed
        return
    if entry.compress_type != zipfile.ZIP_DEFLATED:
        raise ValueError("it is packed by a method that such files don't use")
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    yield from (stream.decompress(packed[place : place + _STEP]) for place in range(0, len(packed), _STEP))
