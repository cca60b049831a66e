"""Files of word processors, PowerPoint 97 and, where their own parsers refuse them, PDF and DOCX: xberg."""

import asyncio
import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from io import BytesIO
from itertools import count
from typing import Any

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import ParsedText, Span
from graphrag.parsers.detection import ODT, PDF, PPT, RTF
from graphrag.parsers.office_xml import read_part, rows_of, table_text, tables_of
from graphrag.parsers.text import PAGE_NUMBER, Cell, TextBuilder, write_table

_RTF_CHARACTER = re.compile(r"\\'([0-9a-fA-F]{2})|\\u(-?\d{1,5}) ?\??")


def parse_office(data: bytes, *, media_type: str, limits: ParsingLimits) -> ParsedText:
    """Raises UnreadableDocument: encrypted, damaged, too_large or empty."""
    document = _extract(data, media_type)
    builder = TextBuilder(limits.characters)
    nodes = list(_nodes(document))
    contents = [content for content, _ in nodes]
    notes = count(1) if any(content["node_type"] == "footnote" for content in contents) else None
    tables = iter(_tables(data, media_type, [each["grid"] for each in contents if each["node_type"] == "table"]))
    pages, current = defaultdict[int, list[Span]](list), 0
    for content, page in nodes:
        is_slide = media_type == PPT and content["node_type"] == "slide"
        current = content["number"] if is_slide else max(current, page if media_type == PDF else 0)
        is_table = content["node_type"] == "table"
        pages[current].append(builder.add(next(tables)) if is_table else _add(content, builder, notes))
    for page, spans in pages.items():
        if page:
            builder.add_page(page, spans)
    metadata = document.metadata
    return builder.parsed(
        media_type,
        title=_unescaped(metadata.title or "", media_type),
        authors=tuple(_unescaped(author, media_type) for author in metadata.authors or ()),
    )


def _nodes(document: Any) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the parts of a text with their pages.

    Headers and footers, which follow the body, come once and without those of page numbers.
    """
    seen = set[str]()
    for node in document.document.nodes if document.document else ():
        written = str(node.content)
        content = json.loads(written)
        if str(node.content_layer) in _MARGINS:
            if written in seen or PAGE_NUMBER.fullmatch(content.get("text", "")):
                continue
            seen.add(written)
        yield content, node.page or 0


_MARGINS = frozenset({"header", "footer"})


@lru_cache(maxsize=1)
def load() -> Callable[[bytes, str], Any]:
    """Import xberg, which takes 0.15 s of CPU and 35 MB; return what reads a file of a media type."""
    import xberg

    # Recognition of characters stays off: with it a scanned page would fetch models.
    config = xberg.ExtractionConfig(
        use_cache=False, disable_ocr=True, include_document_structure=True, enable_quality_processing=False
    )

    def extract(data: bytes, media_type: str) -> Any:
        return asyncio.run(xberg.extract(xberg.ExtractInput(kind="bytes", bytes=data, mime_type=media_type), config))

    return extract


def _extract(data: bytes, media_type: str) -> Any:
    try:
        extracted = load()(data, media_type)
    except Exception as exc:  # its errors share no class of their own
        raise _error(str(exc)) from exc
    if not extracted.results:
        raise _error("; ".join(str(error) for error in extracted.errors))
    return extracted.results[0]


def _error(cause: str) -> UnreadableDocument:
    if "password" in cause.lower() or "encrypted" in cause.lower():
        return UnreadableDocument("the file is protected by a password: save it without one", reason="encrypted")
    return UnreadableDocument(f"the file is damaged: {' '.join(cause.split())[:200]}", reason="damaged")


def _add(content: Mapping[str, Any], builder: TextBuilder, notes: Iterator[int] | None) -> Span:
    text = content.get("text") or content.get("content") or ""
    text = _NOTE_MARK.sub(r"[\1]", text) if notes else text
    match content["node_type"]:
        case "slide":
            return builder.add(content.get("title") or "", level=_SLIDE_LEVEL)
        case "title" | "heading":
            return builder.add(text, level=content.get("level", 1))
        case "list_item":
            return builder.add(f"- {text}" if text else "", gap="\n")
        case "definition_item":
            return builder.add(f"{content['term']}: {content['definition']}")
        case "footnote" if notes:
            return builder.add(f"[{next(notes)}] {text}")
    return builder.add(text)


_SLIDE_LEVEL = 1  # of its title among the headings


def _tables(data: bytes, media_type: str, grids: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the tables as text; those of an ODT's body from its XML, since xberg's grids have no merged cells."""
    body = []
    if grids and media_type == ODT:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            body = tables_of(read_part(archive, "content.xml"))
    if [len(rows_of(table)) for table in body] != [grid["rows"] for grid in grids[: len(body)]]:
        body = []
    yield from map(table_text, body)
    yield from (write_table(_grid(grid)) for grid in grids[len(body) :])


def _grid(grid: Mapping[str, Any]) -> list[list[Cell]]:
    rows = [[Cell("")] * grid["cols"] for _ in range(grid["rows"])]
    for cell in grid["cells"]:
        rows[cell["row"]][cell["col"]] = Cell(_EMPHASIS.sub(r"\2", _NOTE_MARK.sub("", cell["content"])))
    return rows


# That xberg adds to the cells of its grids, and to the texts with notes.
_EMPHASIS = re.compile(r"(\*{1,3})(?=\S)(.+?)(?<=\S)\1")
_NOTE_MARK = re.compile(r"\[\^(\d{1,5})\]")


def _unescaped(text: str, media_type: str) -> str:
    r"""Replace RTF's escapes, which its properties contain: «t\'edtulo»."""
    return _RTF_CHARACTER.sub(_rtf_character, text) if media_type == RTF else text


def _rtf_character(escape: re.Match[str]) -> str:
    if escape[1]:
        return bytes.fromhex(escape[1]).decode("cp1252", errors="replace")
    return chr(int(escape[2]) % 0x10000)
