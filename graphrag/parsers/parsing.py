"""The parser of each media type."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import ParsedText
from graphrag.models.ingestion import CellsRequest, View, ViewRequest
from graphrag.parsers import detection
from graphrag.parsers.detection import check_archive
from graphrag.parsers.epub import parse_epub
from graphrag.parsers.html import parse_html
from graphrag.parsers.inner_files import InnerFiles, parse_archive, refusals
from graphrag.parsers.mail import parse_mail, parse_msg
from graphrag.parsers.office import parse_office
from graphrag.parsers.pdf import parse_pdf, view_page
from graphrag.parsers.recognition import parse_picture
from graphrag.parsers.slides import parse_slides
from graphrag.parsers.spreadsheet import parse_csv, parse_workbook, view_cells
from graphrag.parsers.structured_data import parse_json, parse_xml
from graphrag.parsers.text import clean, parse_text
from graphrag.parsers.word import parse_word
from graphrag.parsers.word_97 import parse_word_97

_ZIPPED = frozenset(
    {
        *(detection.DOCX, detection.PPTX, detection.XLSX),
        *(detection.ODT, detection.ODS, detection.ODP, detection.EPUB),
    }
)
_NOBODY = re.compile(r"(\(?(anonymous|unknown|unspecified)\)?|python-docx)?", re.IGNORECASE)  # what programs fill in
_MOST_MARGINALIA = 500  # characters of a title or an author's name


def parse(data: bytes, *, filename: str, limits: ParsingLimits) -> ParsedText:
    """Raises UnreadableDocument. Not to be called where a hang or a crash would matter: the sandbox is for that."""
    with refusals():
        parsed = _parse(data, filename, InnerFiles(_parse, limits))
    authors = tuple(author for name in parsed.authors if not _NOBODY.fullmatch(author := _line(name)))
    return replace(parsed, title=_line(parsed.title), authors=authors)


def view(data: bytes, request: ViewRequest, *, filename: str, limits: ParsingLimits) -> View:
    """Return a view of a file: a page of a PDF, or the cells of a table. Raises as `parse` does."""
    if isinstance(request, CellsRequest):
        return view_cells(parse(data, filename=filename, limits=limits), request)
    with refusals():
        return view_page(data, request)


def _line(text: str) -> str:
    return " ".join(clean(text).split())[:_MOST_MARGINALIA]


def _parse(data: bytes, filename: str, inner: InnerFiles) -> ParsedText:
    media_type = detection.detect(data, filename=filename)
    if media_type in _ZIPPED:
        check_archive(data, inner.limits)
    try:
        with refusals():
            return _read(data, media_type, inner)
    except UnreadableDocument as exc:
        if exc.details["reason"] == "damaged" and (read_again := _SECOND_READERS.get(media_type)):
            with suppress(UnreadableDocument), refusals():
                return replace(read_again(data, limits=inner.limits), warnings=(_DAMAGED,))
        raise


# By the types of which they read files that the first reader finds damaged.
_SECOND_READERS: Mapping[str, Callable[..., ParsedText]] = {
    detection.DOC: parse_word_97,
    **{kind: partial(parse_office, media_type=kind) for kind in (detection.PDF, detection.DOCX)},
}
_DAMAGED = "the file is damaged: parts of its text may be missing"


def _read(data: bytes, media_type: str, inner: InnerFiles) -> ParsedText:
    limits = inner.limits
    match media_type:
        case detection.PDF:
            return parse_pdf(data, limits=limits, recognizer=inner.recognizer)
        case detection.PPTX | detection.ODP:
            return parse_slides(data, media_type=media_type, limits=limits)
        case detection.EPUB:
            return parse_epub(data, limits=limits)
        case detection.XLSX | detection.XLS | detection.ODS:
            return parse_workbook(data, media_type=media_type, limits=limits)
        case detection.EML:
            return parse_mail(data, inner=inner)
        case detection.MSG:
            return parse_msg(data, inner=inner)
        case detection.ZIP:
            return parse_archive(data, inner=inner)
        case detection.CSV:
            return parse_csv(data, limits=limits)
        case detection.HTML:
            return parse_html(data, limits=limits)
        case detection.JSON | detection.JSON_LINES:
            return parse_json(data, media_type=media_type, limits=limits)
        case _ if media_type in detection.PICTURES:
            return parse_picture(data, media_type=media_type, limits=limits, recognizer=inner.recognizer)
        case detection.XML:
            return parse_xml(data, limits=limits)
        case detection.DOCX:
            return parse_word(data, limits=limits)
        case detection.DOC if data.startswith(detection.WORD_2):
            return parse_word_97(data, limits=limits)
        case detection.DOC | detection.ODT | detection.RTF | detection.PPT:
            return parse_office(data, media_type=media_type, limits=limits)
    return parse_text(data, media_type=media_type, limits=limits)
