"""The parser of each media type."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import ParsedText
from graphrag.models.ingestion import CellsRequest, View, ViewRequest
from graphrag.parsers import detection
from graphrag.parsers.detection import check_archive
from graphrag.parsers.html import parse_html
from graphrag.parsers.office import parse_office, parse_slides
from graphrag.parsers.pdf import parse_pdf, view_page
from graphrag.parsers.spreadsheet import parse_csv, parse_workbook, view_cells
from graphrag.parsers.text import clean, parse_text

_ZIPPED = frozenset({detection.DOCX, detection.PPTX, detection.XLSX, detection.ODT})
_NOBODY = re.compile(r"(\(?(anonymous|unknown|unspecified)\)?|python-docx)?", re.IGNORECASE)  # what programs fill in
_MOST_MARGINALIA = 500  # characters of a title or an author's name


def parse(data: bytes, *, filename: str, limits: ParsingLimits) -> ParsedText:
    """Raises UnreadableDocument. Not to be called where a hang or a crash would matter: isolation.py is for that."""
    with _refusals():
        parsed = _parse(data, filename, limits)
    authors = tuple(author for name in parsed.authors if not _NOBODY.fullmatch(author := _line(name)))
    return replace(parsed, title=_line(parsed.title), authors=authors)


def view(data: bytes, request: ViewRequest, *, filename: str, limits: ParsingLimits) -> View:
    """Return a view of a file: a page of a PDF, or the cells of a table. Raises as `parse` does."""
    if isinstance(request, CellsRequest):
        return view_cells(parse(data, filename=filename, limits=limits), request)
    with _refusals():
        return view_page(data, request)


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn any error of a parser into UnreadableDocument, so that it concerns this file only."""
    try:
        yield
    except UnreadableDocument:
        raise
    except MemoryError as exc:
        raise UnreadableDocument("reading the file takes more memory than it may", reason="too_large") from exc
    except RecursionError as exc:
        raise UnreadableDocument("the file is damaged: its parts nest too deep", reason="damaged") from exc
    except Exception as exc:
        cause = f"{type(exc).__name__}: {' '.join(str(exc).split())[:200]}"
        raise UnreadableDocument(f"the file is damaged: {cause}", reason="damaged") from exc


def _line(text: str) -> str:
    return " ".join(clean(text).split())[:_MOST_MARGINALIA]


def _parse(data: bytes, filename: str, limits: ParsingLimits) -> ParsedText:
    media_type = detection.detect(data, filename=filename)
    if media_type in _ZIPPED:
        check_archive(data, limits)
    match media_type:
        case detection.PDF:
            return parse_pdf(data, limits=limits)
        case detection.PPTX:
            return parse_slides(data, limits=limits)
        case detection.XLSX | detection.XLS:
            return parse_workbook(data, media_type=media_type, limits=limits)
        case detection.CSV:
            return parse_csv(data, limits=limits)
        case detection.HTML:
            return parse_html(data, limits=limits)
        case detection.MARKDOWN | detection.PLAIN:
            return parse_text(data, media_type=media_type, limits=limits)
    return parse_office(data, media_type=media_type, limits=limits)


class InProcessParser:
    """A Parser that keeps nothing from a file: for files of one's own."""

    def __init__(self, limits: ParsingLimits) -> None:
        self._limits = limits

    async def parse(self, data: bytes, *, filename: str) -> ParsedText:
        return await asyncio.to_thread(parse, data, filename=filename, limits=self._limits)
