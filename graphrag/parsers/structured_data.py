"""JSON, JSON Lines and XML as text: keys and values by their path; lists of flat objects as tables."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from xml.parsers import expat

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import Cell, ParsedText
from graphrag.parsers.detection import JSON_LINES, PLAIN, XML
from graphrag.parsers.spreadsheet import add_records, written
from graphrag.parsers.text import TextBuilder, decode, parse_text

_LEVELS = 4  # of headings; what nests deeper has its path before it
_MOST_COLUMNS = 200
_LONG = 200  # characters of a list's items, which are lines then
_LONGEST_INTEGER = 18  # digits; a longer one is an identifier
_OF_XML = ("xmlns", "xml:", "xsi:")  # attributes that say nothing of the content
_DECLARED = re.compile(rb"""<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.:-]{2,40})""")


def parse_json(data: bytes, *, media_type: str, limits: ParsingLimits) -> ParsedText:
    """Raises UnreadableDocument: encoding, too_large or empty. What is no JSON is read as plain text."""
    text = decode(data, limits=limits)
    try:
        value = _load_lines(text) if media_type == JSON_LINES else _load(text)
    except ValueError as exc:
        return _as_plain(data, f"it is not valid JSON ({exc}), so it was read as plain text", limits)
    return _parsed("", value, media_type, limits)


def _as_plain(data: bytes, warning: str, limits: ParsingLimits) -> ParsedText:
    return replace(parse_text(data, media_type=PLAIN, limits=limits), warnings=(warning,))


def _parsed(name: str, value: Any, media_type: str, limits: ParsingLimits) -> ParsedText:
    builder = TextBuilder(limits.characters)
    _add(name, value, builder, level=1)
    return builder.parsed(media_type)


def _load(text: str) -> Any:
    try:
        return json.loads(text, parse_float=_float, parse_int=_int)
    except ValueError:
        if len(text.splitlines()) < 2:
            raise
        try:
            return _load_lines(text)
        except ValueError:
            pass
        raise


def _load_lines(text: str) -> list[Any]:
    return [json.loads(line, parse_float=_float, parse_int=_int) for line in text.split("\n") if line.strip()]


def _float(digits: str) -> float | str:
    """Return the number, or its digits where a number would not keep them all."""
    return number if written(number := float(digits)) == digits else digits


def _int(digits: str) -> int | str:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else digits


def _add(name: str, value: Any, builder: TextBuilder, *, level: int) -> None:
    """Append a value; the leaves of an object before what nests in it, since a section ends with the next heading."""
    if not isinstance(value, dict | list):
        builder.add(f"{name}: {_leaf(value)}" if name else _leaf(value), gap="\n")
        return
    if isinstance(value, list) and not any(isinstance(each, dict | list) for each in value):
        _add_leaves(name, [_leaf(each) for each in value], builder, level=level)
        return
    if isinstance(value, list) and (records := _records(value)):
        if name:
            builder.add(name, level=level)
        add_records(builder, name, *records)
        return
    is_section = bool(name) and level <= _LEVELS
    if is_section:
        builder.add(name, level=level)
    children = (
        [(f"{name}[{number}]", each) for number, each in enumerate(value, start=1)]
        if isinstance(value, list)
        else [(key if is_section or not name else f"{name}.{key}", each) for key, each in value.items()]
    )
    for key, child in sorted(children, key=lambda pair: isinstance(pair[1], dict | list)):
        _add(key, child, builder, level=level + is_section)


def _add_leaves(name: str, leaves: Sequence[str], builder: TextBuilder, *, level: int) -> None:
    if sum(map(len, leaves)) <= _LONG:
        builder.add(f"{name}: {', '.join(leaves)}" if name else ", ".join(leaves), gap="\n")
        return
    if name:
        builder.add(name, level=level)
    for leaf in leaves:
        builder.add(leaf, gap="\n")


def _leaf(value: Cell) -> str:
    return "null" if value is None else written(value)


def _records(values: Sequence[Any]) -> tuple[tuple[str, ...], list[list[Cell]]] | None:
    """Return headers and rows of a list of flat objects; None where it is not one."""
    if len(values) < 2 or not all(isinstance(each, dict) for each in values):
        return None
    columns: dict[str, int] = {}
    rows = []
    for each in values:
        row: dict[str, Cell] = {}
        for key, leaf in _flat("", each):
            if leaf is _NESTED:
                return None
            row[key] = leaf
            columns.setdefault(key, len(columns))
        if len(columns) > _MOST_COLUMNS:
            return None
        rows.append(row)
    return tuple(columns), [[row.get(column) for column in columns] for row in rows]


_NESTED: Any = object()


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the leaves of an object by their paths; a list of leaves is one."""
    for key, each in value.items():
        path = f"{name}.{key}" if name else key
        if isinstance(each, dict):
            yield from _flat(path, each)
        elif not isinstance(each, list):
            yield path, each
        elif any(isinstance(item, dict | list) for item in each):
            yield path, _NESTED
        else:
            yield path, ", ".join(map(_leaf, each))


@dataclass(slots=True)
class _Element:
    name: str
    attributes: dict[str, Any]
    parts: list["str | _Element"] = field(default_factory=list)  # text and elements, in order

    def value(self) -> Any:
        """Return an object of attributes and elements by name; a text where there is only that, or both mixed."""
        elements = [part for part in self.parts if isinstance(part, _Element)]
        is_mixed = any(isinstance(part, str) and not part.isspace() for part in self.parts) and bool(elements)
        text = "" if elements and not is_mixed else " ".join(self.text().split())
        if is_mixed:
            return text
        if text:
            of = ", ".join(f"{name}: {each}" for name, each in self.attributes.items())
            return f"{text} ({of})" if of else text
        found: dict[str, Any] = {name: [value] for name, value in self.attributes.items()}
        for element in elements:
            found.setdefault(element.name, []).append(element.value())
        return {name: values if len(values) > 1 else values[0] for name, values in found.items()} or ""

    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text() for part in self.parts)


def parse_xml(data: bytes, *, limits: ParsingLimits) -> ParsedText:
    """Raises UnreadableDocument: encoding, damaged, too_large or empty. What is not XML is read as plain text."""
    declared = _DECLARED.search(data[:200])
    text = decode(data, limits=limits, declared=declared[1].decode("ascii") if declared else None)
    try:
        root = _read_elements(text)
    except expat.ExpatError as exc:
        return _as_plain(data, f"it is not well-formed XML ({exc}), so it was read as plain text", limits)
    return _parsed(root.name, root.value(), XML, limits)


def _read_elements(text: str) -> _Element:
    """Return the root. Raises ExpatError, or UnreadableDocument: damaged, where entities are defined."""
    document = _Element("", {})
    opened = [document]

    def start(name: str, attributes: dict[str, str]) -> None:
        own = {_local(key): value for key, value in attributes.items() if not key.startswith(_OF_XML) and value}
        element = _Element(_local(name), own)
        opened[-1].parts.append(element)
        opened.append(element)

    def refuse(*_: object) -> None:
        raise UnreadableDocument("the file defines XML entities, which no document needs", reason="damaged")

    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: opened.pop()
    parser.CharacterDataHandler = lambda data: opened[-1].parts.append(data)
    parser.EntityDeclHandler = refuse
    parser.Parse(text.encode("utf-8", errors="replace"), True)
    return next(part for part in document.parts if isinstance(part, _Element))


def _local(name: str) -> str:
    return name.rpartition(":")[2]
