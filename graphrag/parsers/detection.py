"""The type of a file by its bytes, and the limits of packed files."""

import codecs
import re
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
ODS = "application/vnd.oasis.opendocument.spreadsheet"
ODP = "application/vnd.oasis.opendocument.presentation"
EPUB = "application/epub+zip"
ZIP = "application/zip"
PPT = "application/vnd.ms-powerpoint"
MSG = "application/vnd.ms-outlook"
EML = "message/rfc822"
RTF = "application/rtf"
PICTURES = frozenset(f"image/{name}" for name in ("png", "jpeg", "gif", "tiff", "bmp", "webp"))
HTML = "text/html"
MARKDOWN = "text/markdown"
CSV = "text/csv"
JSON = "application/json"
JSON_LINES = "application/x-ndjson"
XML = "application/xml"
RST = "text/x-rst"
ORG = "text/x-org"
ASCIIDOC = "text/asciidoc"
TEX = "text/x-tex"
INI = "text/x-ini"
SUBTITLES = "text/vtt"
PLAIN = "text/plain"

TEXT_SUFFIXES = {  # any other is plain text, if its bytes are text
    **dict.fromkeys((".txt", ".text", ".log", ""), PLAIN),
    **dict.fromkeys((".md", ".markdown"), MARKDOWN),
    **dict.fromkeys((".csv", ".tsv"), CSV),
    **dict.fromkeys((".html", ".htm", ".xhtml"), HTML),
    **dict.fromkeys((".json", ".geojson", ".webmanifest"), JSON),
    **dict.fromkeys((".jsonl", ".ndjson"), JSON_LINES),
    **dict.fromkeys((".xml", ".rss", ".atom", ".opml", ".gpx", ".kml"), XML),
    **dict.fromkeys((".rst", ".rest"), RST),
    **dict.fromkeys((".adoc", ".asciidoc"), ASCIIDOC),
    **dict.fromkeys((".tex", ".ltx"), TEX),
    **dict.fromkeys((".ini", ".cfg", ".toml"), INI),
    **dict.fromkeys((".srt", ".vtt"), SUBTITLES),
    **dict.fromkeys((".eml", ".mht", ".mhtml"), EML),
    ".org": ORG,
}
# Names of files that are not text: under one, text is a damaged or misnamed file.
_DOCUMENT_SUFFIXES = frozenset(
    ".pdf .docx .docm .doc .odt .ods .odp .rtf .pptx .pptm .ppt .xlsx .xlsm .xlsb .xls .epub .msg .zip".split()
)
_PICTURE_SUFFIXES = frozenset(".png .jpg .jpeg .gif .tif .tiff .bmp .webp".split())
_BINARY_SUFFIXES = _DOCUMENT_SUFFIXES | _PICTURE_SUFFIXES | {".heic", ".exe", ".dll", ".bin"}
# Names of what xberg reads, and of what may hold such files.
OFFICE_SUFFIXES = frozenset(".doc .odt .rtf .ppt .zip .msg .eml .mht .mhtml".split())
PNG = b"\x89PNG\r\n\x1a\n"  # with which pictures begin
SUPPORTED = (
    "pdf, docx, doc, odt, rtf, pptx, ppt, odp, xlsx, xls, ods, csv, html, epub, eml, msg, zip, json, xml, md, any text,"
    " and with Tesseract png, jpg, tiff, gif, bmp, webp"
)
WORD_2 = b"\xdb\xa5-\0"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP_PARTS = {
    "word/document.xml": DOCX,
    "xl/workbook.xml": XLSX,
    "xl/workbook.bin": XLSX,
    "ppt/presentation.xml": PPTX,
}
_CONTENT_TYPES = "[Content_Types].xml"  # of Microsoft's programs, also of those whose files are not read
_ZIP_FOLDERS = {"word/document": DOCX, "xl/workbook": XLSX, "ppt/presentation": PPTX}  # some name the part «document2»
_IWORK = ".iwa"  # parts of Pages, Numbers and Keynote
_PICTURE_BEGINNINGS = {
    PNG: "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"II*\0": "image/tiff",
    b"MM\0*": "image/tiff",
}
_FILE_PASS, _END_OF_GLOBALS = 0x2F, 0x0A
_BOOK_BEGINNING = 65_536  # bytes; the record is the third or so
_ENCRYPTED_SLIDES = b"\xdf\xc4\xd1\xf3"  # [MS-PPT] 2.3.2: the token of CurrentUserAtom
_BMP_HEADERS = frozenset({12, 40, 52, 56, 64, 108, 124})  # sizes
_OPEN_DOCUMENTS = frozenset({ODT, ODS, ODP})
# Under these names programs write web pages, tables or text, which Word and Excel open all the same.
_WRITTEN_AS = {".doc": PLAIN, ".rtf": PLAIN, ".xls": CSV}
_BOMS = {  # that of UTF-32 first: it begins with UTF-16's
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_UNITS = {  # where the bytes of a unit are zero in Western text, and where none is
    "utf-32-le": (4, (2, 3), 0),
    "utf-32-be": (4, (0, 1), 3),
    "utf-16-le": (2, (1,), 0),
    "utf-16-be": (2, (0,), 1),
}
_CHARSET_SAMPLE = 4_096  # bytes
_LEAST_TORN = 64  # bytes of a text whose last unit may be torn: a shorter one that is no whole number of them has none
_MOST_ZEROS, _FEWEST_ZEROS = 0.05, 0.3
_HTML_BEGINNINGS = (b"<!doctype html", b"<html", b"<head", b"<body")
# [RFC 5322] 2.2: a block of header fields; programs that send messages write one of the latter.
_MAIL = re.compile(rb"(?:[!-9;-~]{1,76}:[^\n]*\n(?:[ \t][^\n]*\n)*){2,}")
_MAIL_FIELDS = re.compile(rb"(?im)^(?:message-id|received|mime-version|return-path|delivered-to):")
_MAIL_BEGINNING = 65_536  # bytes
_MOST_MANIFEST = 1_000_000  # bytes; it lists a file's parts
_MOST_MEDIA_TYPE = 100  # bytes


def supported_suffixes(*, recognizes_pictures: bool) -> list[str]:
    """Return the endings of file names that are read, sorted; any other text is read too."""
    pictures = _PICTURE_SUFFIXES if recognizes_pictures else frozenset()
    return sorted(_DOCUMENT_SUFFIXES | pictures | TEXT_SUFFIXES.keys() - {""})


def detect(data: bytes, *, filename: str) -> str:
    """The media type. Raises UnreadableDocument: empty, unsupported, encrypted or damaged."""
    if not data.strip(b"\0 \t\r\n\xef\xbb\xbf\xfe\xff"):
        raise UnreadableDocument("the file holds no text", reason="empty")
    suffix = PurePath(filename).suffix.lower()
    if data.startswith(b"PK\x03\x04"):
        return _zip_type(data, suffix)
    if data.startswith(_OLE):
        return _ole_type(data)
    if data.startswith(WORD_2):
        return _word_type(data[:12])
    if b"%PDF-" in data[:1024] and not _is_mail(data, suffix):
        return PDF
    if data.startswith(b"{\\rtf"):
        return RTF
    return _picture_type(data) or _text_type(data, suffix)


def _zip_type(data: bytes, suffix: str) -> str:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            names = set(archive.namelist())
            if "mimetype" in names:
                with archive.open("mimetype") as entry:
                    declared = entry.read(_MOST_MEDIA_TYPE).decode("ascii", "replace").strip()
                if declared in _OPEN_DOCUMENTS:
                    _check_manifest(archive)
                if declared in _OPEN_DOCUMENTS or declared == EPUB:
                    return declared
    except UnreadableDocument:
        raise
    except Exception as exc:  # zipfile raises whatever a broken structure leads to
        raise UnreadableDocument(f"the file is damaged: {exc}", reason="damaged") from exc
    for part, media_type in _ZIP_PARTS.items():
        if part in names:
            return media_type
    is_office_file = _CONTENT_TYPES in names or any(name.endswith(_IWORK) for name in names)
    for folder, media_type in _ZIP_FOLDERS.items():
        if is_office_file and any(name.startswith(folder) for name in names):
            return media_type
    if is_office_file or suffix in _BINARY_SUFFIXES - {".zip"}:
        raise _unsupported()
    return ZIP


def _check_manifest(archive: zipfile.ZipFile) -> None:
    with archive.open("META-INF/manifest.xml") as manifest:
        if b"encryption-data" in manifest.read(_MOST_MANIFEST):
            raise _encrypted()


def _ole_type(data: bytes) -> str:
    try:
        with olefile.OleFileIO(BytesIO(data)) as ole:
            if ole.exists("EncryptedPackage"):
                raise _encrypted()
            if ole.exists("WordDocument"):
                with ole.openstream("WordDocument") as stream:
                    return _word_type(stream.read(12))
            for name in ("Workbook", "Book"):
                if ole.exists(name):
                    with ole.openstream(name) as stream:
                        if _is_encrypted_workbook(stream.read(_BOOK_BEGINNING)):
                            raise _encrypted()
                    return XLS
            if ole.exists("PowerPoint Document"):
                with ole.openstream("Current User") as stream:
                    if stream.read(16)[12:] == _ENCRYPTED_SLIDES:
                        raise _encrypted()
                return PPT
            if ole.exists("__properties_version1.0"):
                return MSG
    except UnreadableDocument:
        raise
    except Exception as exc:  # olefile raises whatever a broken structure leads to
        raise UnreadableDocument(f"the file is damaged: {exc}", reason="damaged") from exc
    raise _unsupported()


def _word_type(beginning: bytes) -> str:
    # [MS-DOC] 2.5.1 FibBase: bit 8 of the flags at offset 10
    if len(beginning) == 12 and int.from_bytes(beginning[10:12], "little") & 0x0100:
        raise _encrypted()
    return DOC


def _is_encrypted_workbook(beginning: bytes) -> bool:
    """Return whether a workbook has a FilePass record before its globals end. [MS-XLS] 2.4.117."""
    place = 0
    while place + 4 <= len(beginning):
        kind, length = struct.unpack_from("<HH", beginning, place)
        if kind in (_FILE_PASS, _END_OF_GLOBALS):
            return bool(kind == _FILE_PASS)
        place += 4 + length
    return False


def _picture_type(data: bytes) -> str | None:
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    if data.startswith(b"BM") and int.from_bytes(data[14:18], "little") in _BMP_HEADERS:
        return "image/bmp"
    return next((kind for beginning, kind in _PICTURE_BEGINNINGS.items() if data.startswith(beginning)), None)


def picture_sizes(data: bytes, media_type: str) -> list[tuple[int, int]]:
    """Return the width and height of a picture's pages, by its header. Raises struct.error of a torn one."""
    match media_type:
        case "image/png":
            return [struct.unpack_from(">II", data, 16)]
        case "image/gif":
            return [struct.unpack_from("<HH", data, 6)]
        case "image/bmp":
            width, height = struct.unpack_from("<HH" if data[14] == 12 else "<ii", data, 18)
            return [(width, abs(height))]
        case "image/webp":
            return [_webp_size(data)]
        case "image/jpeg":
            return [_jpeg_size(data)]
    return list(_tiff_sizes(data))


def _webp_size(data: bytes) -> tuple[int, int]:
    """[RFC 9649] 2.5 to 2.7."""
    if data[12:16] == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if data[12:16] == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    width, height = struct.unpack_from("<HH", data, 26)
    return width & 0x3FFF, height & 0x3FFF


def _jpeg_size(data: bytes) -> tuple[int, int]:
    place = 2
    while True:
        mark, length = struct.unpack_from(">HH", data, place)
        if 0xFFC0 <= mark <= 0xFFCF and mark not in (0xFFC4, 0xFFC8, 0xFFCC):  # a frame; not tables
            height, width = struct.unpack_from(">HH", data, place + 5)
            return width, height
        place += 2 + length


def _tiff_sizes(data: bytes) -> Iterator[tuple[int, int]]:
    """TIFF 6.0, section 2: directories that name the next one."""
    order = "<" if data.startswith(b"II") else ">"
    (place,) = struct.unpack_from(f"{order}I", data, 4)
    seen = set[int]()
    while place and place not in seen:
        seen.add(place)
        (count,) = struct.unpack_from(f"{order}H", data, place)
        tags = {}
        for number in range(count):
            tag, kind, _, value = struct.unpack_from(f"{order}HHII", data, place + 2 + 12 * number)
            tags[tag] = value >> 16 if kind == 3 and order == ">" else value & 0xFFFF if kind == 3 else value
        yield tags[256], tags[257]
        (place,) = struct.unpack_from(f"{order}I", data, place + 2 + 12 * count)


def marked_charset(data: bytes) -> str | None:
    """Return the charset that the byte order mark names, or the zero bytes of UTF-16 and UTF-32; None without them."""
    if marked := next((charset for mark, charset in _BOMS.items() if data.startswith(mark)), None):
        return marked
    sample = data[:_CHARSET_SAMPLE]
    for charset, (size, zero, other) in _UNITS.items():
        if len(data) % size and len(data) < _LEAST_TORN:
            continue
        whole = sample[: len(sample) // size * size]
        shares = [whole[place::size].count(0) * size / max(len(whole), 1) for place in range(size)]
        if all(shares[place] >= _FEWEST_ZEROS for place in zero) and shares[other] <= _MOST_ZEROS:
            return charset
    return None


def _text_type(data: bytes, suffix: str) -> str:
    if _is_mail(data, suffix):
        return EML
    charset = marked_charset(data)
    beginning = data[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if charset:
        beginning = data[:2048].decode(charset, errors="ignore").lstrip("\ufeff \t\r\n").lower().encode()
    holds_nul = b"\0" in data and not charset and suffix not in TEXT_SUFFIXES  # else its own parser tells that
    if suffix in _BINARY_SUFFIXES - _WRITTEN_AS.keys() or holds_nul:
        raise _unsupported()
    if beginning.startswith(_HTML_BEGINNINGS) or (beginning.startswith(b"<?xml") and b"<html" in beginning):
        return HTML
    named = _WRITTEN_AS.get(suffix) or TEXT_SUFFIXES.get(suffix, PLAIN)
    return XML if beginning.startswith(b"<?xml") and named != HTML else named


def _is_mail(data: bytes, suffix: str) -> bool:
    block = _MAIL.match(data[:_MAIL_BEGINNING].lstrip().replace(b"\r\n", b"\n"))
    return block is not None and (TEXT_SUFFIXES.get(suffix) == EML or bool(_MAIL_FIELDS.search(block[0])))


def _unsupported() -> UnreadableDocument:
    return UnreadableDocument(f"files of this type are not read; known are {SUPPORTED}", reason="unsupported")


def _encrypted() -> UnreadableDocument:
    return UnreadableDocument("the file is protected by a password: save it without one", reason="encrypted")


_STEP = 16_384  # bytes, which unpack to a thousand times as many at most
_SMALL = 1 << 20  # bytes; below it no ratio is too high
_PROLOG = 65_536  # bytes of an entry, where it would declare XML entities
_ENTITY = b"<!ENTITY"  # no program writes one into an Office file: it is a bomb, or reaches for other files


def check_archive(data: bytes, limits: ParsingLimits, *, may_define_entities: bool = False) -> int:
    """Return how many bytes it unpacks to. Raises UnreadableDocument: too_large, encrypted or damaged."""
    total = 0
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            for entry in archive.infolist():
                if entry.flag_bits & 0x1:
                    raise UnreadableDocument(
                        "the file is protected by a password: save it without one", reason="encrypted"
                    )
                total += _measure(data, entry, limits, total, may_define_entities)
    except UnreadableDocument:
        raise
    except Exception as exc:  # zipfile and struct raise whatever a broken structure leads to
        raise UnreadableDocument(f"the file is damaged: {exc}", reason="damaged") from exc
    return total


def _measure(data: bytes, entry: zipfile.ZipInfo, limits: ParsingLimits, before: int, may_define_entities: bool) -> int:
    """Return how many bytes the entry unpacks to; its declared size may be wrong."""
    size = 0
    most = min(limits.archive_entry_bytes, limits.archive_bytes - before)
    for part in _unpacked(data, entry):
        if not size and not may_define_entities and _ENTITY in part[:_PROLOG]:
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
