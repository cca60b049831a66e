"""Word processors' files (xberg) and PPTX slides."""

import asyncio
import json
import posixpath
import re
import zipfile
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import chain
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import xberg

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import ParsedText, SourceLocation
from graphrag.parsers.detection import DOCX, ODT, PPTX, RTF
from graphrag.parsers.text import Cell, TextBuilder, write_table

# Recognition of characters stays off: with it a scanned page would fetch models.
CONFIG = xberg.ExtractionConfig(
    use_cache=False, disable_ocr=True, include_document_structure=True, enable_quality_processing=False
)

_RTF_CHARACTER = re.compile(r"\\'([0-9a-fA-F]{2})|\\u(-?\d{1,5}) ?\??")


def parse_office(data: bytes, *, media_type: str, limits: ParsingLimits) -> ParsedText:
    """Raises UnreadableDocument: encrypted, damaged, too_large or empty."""
    document = _extract(data, media_type)
    builder = TextBuilder(limits.characters)
    nodes = [json.loads(str(node.content)) for node in document.document.nodes] if document.document else []
    tables = iter(_tables(data, media_type, [node["grid"] for node in nodes if node["node_type"] == "table"]))
    for node in nodes:
        if node["node_type"] == "table":
            builder.add(next(tables))
        else:
            _add(node, builder)
    if not any(character.isalnum() for character in builder.text):
        raise UnreadableDocument("the file holds no text", reason="empty")
    metadata = document.metadata
    return ParsedText(
        builder.text,
        media_type,
        tuple(builder.headings),
        title=_unescaped(metadata.title or "", media_type),
        authors=tuple(_unescaped(author, media_type) for author in metadata.authors or ()),
    )


def _extract(data: bytes, media_type: str) -> Any:
    source = xberg.ExtractInput(kind="bytes", bytes=data, mime_type=media_type)
    try:
        extracted = asyncio.run(xberg.extract(source, CONFIG))
    except Exception as exc:  # its errors share no class of their own
        raise _error(str(exc)) from exc
    if not extracted.results:
        raise _error("; ".join(str(error) for error in extracted.errors))
    return extracted.results[0]


def _error(cause: str) -> UnreadableDocument:
    if "password" in cause.lower() or "encrypted" in cause.lower():
        return UnreadableDocument("the file is protected by a password: save it without one", reason="encrypted")
    return UnreadableDocument(f"the file is damaged: {' '.join(cause.split())[:200]}", reason="damaged")


def _add(content: Mapping[str, Any], builder: TextBuilder) -> None:
    kind = content["node_type"]
    if kind in {"title", "heading"}:
        builder.add(content["text"], level=content.get("level", 1))
    elif kind == "list_item":
        builder.add(f"- {content['text']}", gap="\n")
    elif kind == "definition_item":
        builder.add(f"{content['term']}: {content['definition']}")
    else:
        builder.add(content.get("text") or content.get("content") or "")


_BODIES = {DOCX: "word/document.xml", ODT: "content.xml"}


def _tables(data: bytes, media_type: str, grids: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the tables as text; those of a body from its XML, since xberg's grids have no merged cells."""
    body: list[Element] = []
    if grids and media_type in _BODIES:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            body = [table for table in _nearest(_read(archive, _BODIES[media_type]), _TABLES) if _rows(table)]
    if [len(_rows(table)) for table in body] != [grid["rows"] for grid in grids[: len(body)]]:
        body = []
    yield from map(_write_table, body)
    yield from (write_table(_grid(grid)) for grid in grids[len(body) :])


def _grid(grid: Mapping[str, Any]) -> list[list[Cell]]:
    rows = [[Cell("")] * grid["cols"] for _ in range(grid["rows"])]
    for cell in grid["cells"]:
        rows[cell["row"]][cell["col"]] = Cell(cell["content"])
    return rows


def _unescaped(text: str, media_type: str) -> str:
    r"""Replace RTF's escapes, which its properties contain: «t\'edtulo»."""
    return _RTF_CHARACTER.sub(_rtf_character, text) if media_type == RTF else text


def _rtf_character(escape: re.Match[str]) -> str:
    if escape[1]:
        return bytes.fromhex(escape[1]).decode("cp1252", errors="replace")
    return chr(int(escape[2]) % 0x10000)


_TABLES, _ROWS, _CELLS = frozenset({"tbl", "table"}), frozenset({"tr", "table-row"}), frozenset({"tc", "table-cell"})
_UNENTERED = frozenset(
    {"Fallback", "txbxContent", *_TABLES}
)  # Fallback: for programs that don't know what is beside it
_UNREAD = frozenset({"Fallback", "pPr", "del", "moveFrom", "annotation", "note", *_TABLES})
_BREAKS = {"br": "\n", "cr": "\n", "line-break": "\n", "tab": "\t", "s": " ", "noBreakHyphen": "\u2011"}
_ODF = "{urn:oasis:"  # its text stands between elements, as in HTML
_MAX_SPAN = 1_000  # columns or rows of a merged cell; and times that a cell of ODT is repeated


def _write_table(table: Element) -> str:
    """Return a table of DOCX, ODT or PPTX as text, and after it those in its cells."""
    inner = (each for row in _rows(table) for cell in _nearest(row, _CELLS) for each in _nearest(cell, _TABLES))
    return "\n\n".join([write_table(_cells(table)), *map(_write_table, inner)])


def _rows(table: Element) -> list[Element]:
    return list(_nearest(table, _ROWS))


def _nearest(element: Element, names: Container[str]) -> Iterator[Element]:
    """Yield the nearest descendants of these names that stand in no other table or text box."""
    for child in element:
        if _tag(child) in names:
            yield child
        elif _tag(child) not in _UNENTERED:
            yield from _nearest(child, names)


def _properties(element: Element) -> dict[str, str]:
    """Return a row's or cell's attributes and, of DOCX, the values of its properties."""
    own = {name.rpartition("}")[2]: value for name, value in element.items()}
    lists = (child for child in element if _tag(child) in {"trPr", "tcPr"})
    return own | {
        _tag(each): next((value for name, value in each.items() if name.endswith("}val")), "") for each in chain(*lists)
    }


def _cells(table: Element) -> list[list[Cell]]:
    """Read a table's cells by rows. One of DOCX that goes on from the row above makes that one taller."""
    heads = {row for head in _nearest(table, {"table-header-rows"}) for row in _rows(head)}
    read: list[list[Cell]] = []
    begun: dict[int, tuple[list[Cell], int]] = {}  # by column: the last cell, as its row and its place there
    for row in _rows(table):
        of_row = _properties(row)
        is_header = row in heads or of_row.get("tblHeader", "0") not in {"0", "false", "off"}
        column = _span(of_row.get("gridBefore"), least=0)
        line = [Cell("", column)] if column else []
        for element in _nearest(row, _CELLS):
            properties = _properties(element)
            merged = properties.get("vMerge", "restart")
            if merged in {"1", "true"} or properties.get("hMerge") in {"1", "true"}:
                continue  # of PPTX: part of a cell that knows its spans
            width = _span(properties.get("gridSpan") or properties.get("number-columns-spanned"))
            if merged != "restart" and column in begun:
                above, place = begun[column]
                above[place] = replace(above[place], rows=above[place].rows + 1)
            else:
                height = _span(properties.get("rowSpan") or properties.get("number-rows-spanned"))
                cell = Cell(_text(element), width, height, is_header)
                begun[column] = line, len(line)
                line += [replace(cell) for _ in range(_span(properties.get("number-columns-repeated")))]
            column += width
        read.append(line)
    return read


def _span(written: str | None, *, least: int = 1) -> int:
    return max(least, min(int(written), _MAX_SPAN)) if written and re.fullmatch(r"\d{1,9}", written) else least


def _text(element: Element) -> str:
    """Return the text of a shape or cell, a line a paragraph, without that of tables in it."""
    return "".join(_pieces(element)).strip()


def _pieces(element: Element) -> Iterator[str]:
    is_mixed = element.tag.startswith(_ODF)
    if is_mixed or _tag(element) == "t":
        yield element.text or ""
    for child in element:
        tag = _tag(child)
        if tag in _BREAKS:
            yield _BREAKS[tag]
        elif tag not in _UNREAD:
            yield from _pieces(child)
        if tag in {"p", "h"}:
            yield "\n"
        if is_mixed:
            yield child.tail or ""


_LEVEL = 1  # of a slide's title among the headings
_FURNITURE = frozenset({"sldNum", "ftr", "hdr", "dt", "sldImg"})  # placeholders that every slide repeats
_TITLES = frozenset({"title", "ctrTitle"})


@dataclass(frozen=True, slots=True)
class _Block:
    text: str
    is_title: bool = False


def parse_slides(data: bytes, *, limits: ParsingLimits) -> ParsedText:
    """Raises UnreadableDocument: too_large or empty; and whatever zipfile and ElementTree raise of a damaged file."""
    builder = TextBuilder(limits.characters)
    with zipfile.ZipFile(BytesIO(data)) as archive:
        for number, part in enumerate(_slides(archive), start=1):
            blocks = [*_blocks(_read(archive, part)), *_attached(archive, part)]
            added = [builder.add(block.text, level=_LEVEL if block.is_title else None) for block in blocks]
            spans = [span for span in added if span.end > span.start]
            if spans:
                builder.locations.append(SourceLocation(spans[0].start, spans[-1].end, page=number))
        core = _read(archive, "docProps/core.xml")
    if not any(character.isalnum() for character in builder.text):
        raise UnreadableDocument("the file holds no text", reason="empty")
    titles, authors = (
        [element.text or "" for element in core if _tag(element) == name] for name in ("title", "creator")
    )
    return ParsedText(
        builder.text,
        PPTX,
        tuple(builder.headings),
        locations=tuple(builder.locations),
        title=titles[0] if titles else "",
        authors=tuple(authors),
    )


def _slides(archive: zipfile.ZipFile) -> Iterator[str]:
    """Names of their parts."""
    targets = {relation.get("Id"): target for relation, target in _relations(archive, "ppt/presentation.xml")}
    for element in _read(archive, "ppt/presentation.xml").iter():
        if _tag(element) == "sldId":
            relation = next(value for name, value in element.items() if name.endswith("}id"))
            yield targets[relation]


def _relations(archive: zipfile.ZipFile, part: str) -> Iterator[tuple[Element, str]]:
    folder, name = posixpath.split(part)
    for relation in _read(archive, f"{folder}/_rels/{name}.rels"):
        if relation.get("TargetMode") != "External":
            yield relation, posixpath.normpath(posixpath.join(folder, relation.get("Target", ""))).lstrip("/")


def _read(archive: zipfile.ZipFile, part: str) -> Element:
    """Empty where the file has no such part."""
    try:
        with archive.open(part) as stream:
            return ElementTree.parse(stream).getroot()
    except KeyError:
        return Element("none")


def _tag(element: Element) -> str:
    """Return the tag without its namespace, which differs in the strict variant."""
    return element.tag.rpartition("}")[2]


def _attached(archive: zipfile.ZipFile, part: str) -> Iterator[_Block]:
    """Yield blocks of text stored in parts of their own: diagrams and the speaker's notes."""
    for relation, target in _relations(archive, part):
        if relation.get("Type", "").endswith(("/diagramData", "/notesSlide")):
            yield from (_Block(block.text) for block in _blocks(_read(archive, target)))


def _blocks(element: Element) -> Iterator[_Block]:
    match _tag(element):
        case "Fallback":  # for programs that don't know what stands beside it
            return
        case "tbl":
            yield _Block(_write_table(element))
        case "sp":
            kind = next((child.get("type", "") for child in element.iter() if _tag(child) == "ph"), "")
            if kind not in _FURNITURE:
                yield _Block(_text(element), is_title=kind in _TITLES)
        case "pt":  # of a diagram
            yield _Block(_text(element))
        case _:
            for child in element:
                yield from _blocks(child)
