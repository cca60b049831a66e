"""Slides: PPTX (ECMA-376-1, 19) and ODP files."""

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from xml.etree.ElementTree import Element

from graphrag.config.settings import ParsingLimits
from graphrag.models import ParsedText
from graphrag.parsers.detection import PPTX
from graphrag.parsers.office_xml import (
    OPEN_DOCUMENT,
    chart_text,
    local_name,
    named_properties,
    read_part,
    relations,
    table_text,
    text_of,
)
from graphrag.parsers.text import TextBuilder

_LEVEL = 1  # of a slide's title among the headings
_FURNITURE = frozenset({"sldNum", "ftr", "hdr", "dt", "sldImg"})  # placeholders that every slide repeats
_TITLES = frozenset({"title", "ctrTitle"})
_CLASS = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}class"
_ODP_FURNITURE = frozenset({"page-number", "footer", "header", "date-time", "page"})


@dataclass(frozen=True, slots=True)
class _Block:
    text: str
    is_title: bool = False


def parse_slides(data: bytes, *, media_type: str, limits: ParsingLimits) -> ParsedText:
    """Raises UnreadableDocument: too_large or empty; and whatever zipfile and ElementTree raise of a damaged file."""
    builder = TextBuilder(limits.characters)
    with zipfile.ZipFile(BytesIO(data)) as archive:
        slides = _pptx_slides(archive) if media_type == PPTX else _odp_slides(archive)
        for number, blocks in enumerate(slides, start=1):
            builder.add_page(
                number, [builder.add(block.text, level=_LEVEL if block.is_title else None) for block in blocks]
            )
        properties = named_properties(archive, *([] if media_type == PPTX else ["meta.xml"]))
    return builder.parsed(media_type, **properties)


def _pptx_slides(archive: zipfile.ZipFile) -> Iterator[list[_Block]]:
    for part in _slides(archive):
        yield [*_blocks(read_part(archive, part)), *_attached(archive, part)]


def _odp_slides(archive: zipfile.ZipFile) -> Iterator[list[_Block]]:
    for page in read_part(archive, "content.xml").iter():
        if local_name(page) == "page" and page.tag.startswith(OPEN_DOCUMENT):
            yield list(_odp_blocks(page))


def _odp_blocks(element: Element) -> Iterator[_Block]:
    for child in element:
        if local_name(child) == "table":
            yield _Block(table_text(child))
        elif local_name(child) in {"text-box", "custom-shape"}:
            yield _Block(text_of(child), is_title=element.get(_CLASS) == "title")
        elif child.get(_CLASS) not in _ODP_FURNITURE:
            yield from _odp_blocks(child)


def _slides(archive: zipfile.ZipFile) -> Iterator[str]:
    """Names of their parts."""
    targets = {relation.get("Id"): target for relation, target in relations(archive, "ppt/presentation.xml")}
    for element in read_part(archive, "ppt/presentation.xml").iter():
        if local_name(element) == "sldId":
            relation = next(value for name, value in element.items() if name.endswith("}id"))
            yield targets[relation]


def _attached(archive: zipfile.ZipFile, part: str) -> Iterator[_Block]:
    """Yield blocks of text stored in parts of their own: diagrams and the speaker's notes."""
    for relation, target in relations(archive, part):
        kind = relation.get("Type", "")
        if kind.endswith(("/diagramData", "/notesSlide")):
            yield from (_Block(block.text) for block in _blocks(read_part(archive, target)))
        elif kind.endswith("/chart"):
            yield _Block(chart_text(read_part(archive, target)))


def _blocks(element: Element) -> Iterator[_Block]:
    match local_name(element):
        case "Fallback":  # for programs that don't know what stands beside it
            return
        case "tbl":
            yield _Block(table_text(element))
        case "sp":
            kind = next((child.get("type", "") for child in element.iter() if local_name(child) == "ph"), "")
            if kind not in _FURNITURE:
                yield _Block(text_of(element), is_title=kind in _TITLES)
        case "pt":  # of a diagram
            yield _Block(text_of(element))
        case _:
            for child in element:
                yield from _blocks(child)
