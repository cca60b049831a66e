"""XML of office files: their parts and relations, the text of an element, tables and charts."""

import posixpath
import re
import zipfile
from collections.abc import Callable, Container, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from graphrag.parsers.text import Cell, write_table


def relations(archive: zipfile.ZipFile, part: str = "") -> Iterator[tuple[Element, str]]:
    """Yield the relations of a part, or of the file, with the parts that they lead to."""
    folder, name = posixpath.split(part)
    for relation in read_part(archive, posixpath.join(folder, "_rels", f"{name}.rels")):
        if relation.get("TargetMode") != "External":
            yield relation, posixpath.normpath(posixpath.join(folder, relation.get("Target", ""))).lstrip("/")


def read_part(archive: zipfile.ZipFile, part: str) -> Element:
    """Return the root of a part; an empty element where the file has no such part."""
    try:
        written = archive.read(part)
    except KeyError:
        return Element("none")
    try:
        return ElementTree.fromstring(written)
    except ElementTree.ParseError:
        return ElementTree.fromstring(_FORBIDDEN.sub(b"", written))


# Control characters, which some programs write although XML has none of them.
_FORBIDDEN = re.compile(
    rb"&#(?:0*(?:[1-8]|1[124-9]|2\d|3[01])|[xX]0*(?:[1-8bcefBCEF]|1[\da-fA-F]));|[\x01-\x08\x0b\x0c\x0e-\x1f]"
)


def named_properties(archive: zipfile.ZipFile, part: str = "docProps/core.xml") -> dict[str, Any]:
    """Return the title and the authors that a file gives itself."""
    found = read_part(archive, part)
    titles, authors = (
        [each.text or "" for each in found.iter() if local_name(each) == name] for name in ("title", "creator")
    )
    return {"title": titles[0] if titles else "", "authors": tuple(authors)}


def local_name(element: Element) -> str:
    """Return the tag without its namespace, which differs in the strict variant."""
    return element.tag.rpartition("}")[2]


def attribute(element: Element, name: str) -> str:
    """Return an attribute by its name without a namespace; "" where it is not set."""
    return next((value for key, value in element.items() if key.rpartition("}")[2] == name), "")


_TABLES, _ROWS, _CELLS = frozenset({"tbl", "table"}), frozenset({"tr", "table-row"}), frozenset({"tc", "table-cell"})
# Fallback is for programs that don't know what is beside it.
_UNENTERED = frozenset({"Fallback", "txbxContent", *_TABLES})
_UNREAD = frozenset({"annotation", "note", *_UNENTERED})
BREAKS = {"br": "\n", "cr": "\n", "line-break": "\n", "tab": "\t", "s": " ", "noBreakHyphen": "\u2011"}
OPEN_DOCUMENT = "{urn:oasis:"  # its text stands between elements, as in HTML
_MAX_POINTS = 1_000  # of a chart
_MAX_SPAN = 1_000  # columns or rows of a merged cell; and times that a cell of ODT is repeated


def text_of(element: Element) -> str:
    """Return the text of a shape or cell, a line a paragraph, without that of tables in it."""
    return "".join(_pieces(element)).strip()


def _pieces(element: Element) -> Iterator[str]:
    is_mixed = element.tag.startswith(OPEN_DOCUMENT)
    if is_mixed or local_name(element) == "t":
        yield element.text or ""
    for child in element:
        name = local_name(child)
        if name in BREAKS:
            yield BREAKS[name]
        elif name not in _UNREAD:
            yield from _pieces(child)
        if name in {"p", "h"}:
            yield "\n"
        if is_mixed:
            yield child.tail or ""


def table_text(table: Element, text: Callable[[Element], str] = text_of) -> str:
    """Return a table of DOCX, ODT or PPTX as text, and after it those in its cells; `text` returns a cell's."""
    outer = write_table(_cells(table, text))
    inner = (each for row in rows_of(table) for cell in nearest(row, _CELLS) for each in nearest(cell, _TABLES))
    return "\n\n".join([outer, *(table_text(each, text) for each in inner)])


def tables_of(element: Element) -> list[Element]:
    return [table for table in nearest(element, _TABLES) if rows_of(table)]


def rows_of(table: Element) -> list[Element]:
    return list(nearest(table, _ROWS))


def nearest(element: Element, names: Container[str]) -> Iterator[Element]:
    """Yield the nearest descendants of these names that stand in no other table or text box."""
    for child in element:
        if local_name(child) in names:
            yield child
        elif local_name(child) not in _UNENTERED:
            yield from nearest(child, names)


def _properties(element: Element) -> dict[str, str]:
    """Return a row's or cell's attributes and, of DOCX, the values of its properties."""
    own = {name.rpartition("}")[2]: value for name, value in element.items()}
    lists = (child for child in element if local_name(child) in {"trPr", "tcPr"})
    return own | {
        local_name(each): next((value for name, value in each.items() if name.endswith("}val")), "")
        for each in chain(*lists)
    }


def _cells(table: Element, text: Callable[[Element], str]) -> list[list[Cell]]:
    """Read a table's cells by rows. One of DOCX that goes on from the row above makes that one taller."""
    heads = {row for head in nearest(table, {"table-header-rows"}) for row in rows_of(head)}
    read: list[list[Cell]] = []
    begun: dict[int, tuple[list[Cell], int]] = {}  # by column: the last cell, as its row and its place there
    for row in rows_of(table):
        of_row = _properties(row)
        is_header = row in heads or of_row.get("tblHeader", "0") not in {"0", "false", "off"}
        column = _span(of_row.get("gridBefore"), least=0)
        line = [Cell("", column)] if column else []
        for element in nearest(row, _CELLS):
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
                cell = Cell(text(element), width, height, is_header)
                begun[column] = line, len(line)
                line += [replace(cell) for _ in range(_span(properties.get("number-columns-repeated")))]
            column += width
        read.append(line)
    return read


def _span(written: str | None, *, least: int = 1) -> int:
    return max(least, min(int(written), _MAX_SPAN)) if written and re.fullmatch(r"\d{1,9}", written) else least


def chart_text(chart: Element) -> str:
    """Return a chart as its title and a table: a row for each category, a column for each series."""
    titles = [text_of(each) for each in nearest(chart, {"title"})]
    series = [each for each in chart.iter() if local_name(each) == "ser"]
    names = [" ".join(_points(each, {"tx"}).values()) for each in series]
    categories: dict[int, str] = {}
    for each in series:
        categories = _points(each, {"cat", "xVal"}) | categories
    values = [_points(each, {"val", "yVal"}) for each in series]
    places = sorted(categories.keys() | {place for column in values for place in column})[:_MAX_POINTS]
    rows = [[categories.get(place, ""), *(column.get(place, "") for column in values)] for place in places]
    table = [[Cell(text) for text in row] for row in (["", *names], *rows)]
    return "\n".join([*filter(None, titles), write_table(table)]).strip()


def _points(series: Element, names: Container[str]) -> dict[int, str]:
    """Return the values that a chart keeps of its cells, by their places. ECMA-376-1, 21.2.2.150."""
    return {
        int(point.get("idx", 0)): next((child.text or "" for child in point if local_name(child) == "v"), "")
        for part in series
        if local_name(part) in names
        for point in part.iter()
        if local_name(point) == "pt"
    }
