"""Levels of headings and numbers of list items in DOCX files («2.1», «b)»), which no text of theirs holds.

ECMA-376-1, 17.9 (numbering) and 17.7 (styles).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from graphrag.parsers.office_xml import attribute, local_name

_LEVELS = 9
_MOST = 100_000  # that a counter may be at; Roman numerals grow with it
_MOST_ROMAN = 4_000
_ROMAN = (
    *(("M", 1000), ("CM", 900), ("D", 500), ("CD", 400), ("C", 100), ("XC", 90), ("L", 50), ("XL", 40)),
    *(("X", 10), ("IX", 9), ("V", 5), ("IV", 4), ("I", 1)),
)
_PLACE = re.compile(r"%([1-9])")
_UNNUMBERED = frozenset({"bullet", "none"})


@dataclass(frozen=True, slots=True)
class _Level:
    start: int = 1
    kind: str = "decimal"
    text: str = ""


@dataclass(slots=True)
class _List:
    """A list definition with its counters, which all lists of that definition share."""

    levels: Mapping[int, _Level]
    counts: dict[int, int] = field(default_factory=dict)

    def next(self, depth: int) -> str:
        """Count a paragraph and return its number."""
        self.counts[depth] = min(self.counts.get(depth, self.level(depth).start - 1) + 1, _MOST)
        for deeper in range(depth + 1, _LEVELS):
            self.counts.pop(deeper, None)
        if self.level(depth).kind in _UNNUMBERED:
            return ""
        return _PLACE.sub(lambda place: self._number(int(place[1]) - 1), self.level(depth).text).strip()

    def level(self, depth: int) -> _Level:
        return self.levels.get(depth, _Level())

    def _number(self, depth: int) -> str:
        return _written(self.counts.get(depth, self.level(depth).start), self.level(depth).kind)


def _written(number: int, kind: str) -> str:
    match kind:
        case "lowerLetter" | "upperLetter" if number > 0:
            letter = chr(ord("a") + (number - 1) % 26) * min((number - 1) // 26 + 1, _LEVELS)
            return letter if kind == "lowerLetter" else letter.upper()
        case "lowerRoman" | "upperRoman" if 0 < number < _MOST_ROMAN:
            roman = ""
            for numeral, value in _ROMAN:
                roman += numeral * (number // value)
                number %= value
            return roman if kind == "upperRoman" else roman.lower()
        case "decimalZero":
            return f"{number:02}"
    return str(number)


@dataclass(frozen=True, slots=True)
class _Style:
    """The properties of a paragraph that its style sets, unless it has its own."""

    list_id: str = ""
    depth: str = ""
    level: int | None = None  # among headings, from 1; 0 where it is none

    def over(self, other: "_Style") -> "_Style":
        level = other.level if self.level is None else self.level
        return _Style(self.list_id or other.list_id, self.depth or other.depth, level)


@dataclass(frozen=True, slots=True)
class ParagraphFormat:
    level: int  # among headings, from 1; 0 where it is none
    is_item: bool
    number: str


class ParagraphStyles:
    """Counts the paragraphs of a document, which come in its order."""

    def __init__(self, numbering: Element, styles: Element) -> None:
        self._lists = dict(_lists(numbering))
        self._styles = dict(_styles(styles))

    def next(self, paragraph: Element) -> ParagraphFormat:
        properties = child_of(paragraph, "pPr")
        style = _own(properties).over(self._styles.get(_value(properties, "pStyle"), _Style()))
        numbers = self._lists.get(style.list_id) if style.depth.isdigit() or not style.depth else None
        number = numbers.next(min(int(style.depth or 0), _LEVELS - 1)) if numbers else ""
        return ParagraphFormat(style.level or 0, numbers is not None, number)


def _lists(numbering: Element) -> Iterator[tuple[str, _List]]:
    definitions = {
        attribute(each, "abstractNumId"): _List(dict(_levels(each)))
        for each in numbering
        if local_name(each) == "abstractNum"
    }
    for each in numbering:
        definition = definitions.get(_value(each, "abstractNumId"))
        if local_name(each) != "num" or definition is None:
            continue
        overridden = dict(_overrides(each, definition))
        own = _List({**definition.levels, **overridden}) if overridden else definition
        yield attribute(each, "numId"), own


def _levels(definition: Element) -> Iterator[tuple[int, _Level]]:
    for each in definition:
        if local_name(each) == "lvl" and attribute(each, "ilvl").isdigit():
            start = _value(each, "start")
            kind = "decimal" if child_of(each, "isLgl") is not None else _value(each, "numFmt") or "decimal"
            yield (
                int(attribute(each, "ilvl")),
                _Level(int(start) if re.fullmatch(r"\d{1,5}", start) else 1, kind, _value(each, "lvlText")),
            )


def _overrides(number: Element, definition: _List) -> Iterator[tuple[int, _Level]]:
    for each in number:
        if local_name(each) == "lvlOverride" and attribute(each, "ilvl").isdigit():
            depth = int(attribute(each, "ilvl"))
            start = _value(each, "startOverride")
            level = dict(_levels(each)).get(depth, definition.level(depth))
            yield depth, _Level(int(start) if re.fullmatch(r"\d{1,5}", start) else level.start, level.kind, level.text)


def _styles(styles: Element) -> Iterator[tuple[str, _Style]]:
    """Yield each style by its id; what it does not set is of the style that it is based on."""
    by_id = {attribute(each, "styleId"): each for each in styles if local_name(each) == "style"}
    for name, style in by_id.items():
        read = _Style()
        current: Element | None = style
        for _ in range(_LEVELS):
            if current is None:
                break
            read = read.over(_own(child_of(current, "pPr"))).over(_Style(level=_named_level(_value(current, "name"))))
            current = by_id.get(_value(current, "basedOn"))
        yield name, read


def _own(properties: Element | None) -> _Style:
    numbering, outline = child_of(properties, "numPr"), _value(properties, "outlineLvl")
    level = (int(outline) + 1) % (_LEVELS + 1) if re.fullmatch(r"\d", outline) else None  # 9: body text
    return _Style(_value(numbering, "numId"), _value(numbering, "ilvl"), level)


def _named_level(style: str) -> int | None:
    """Return the level of a built-in style, whose name is in English in every language."""
    heading = _HEADING.fullmatch(style)
    return (int(heading[1]) if heading[1] else 1) if heading else None


_HEADING = re.compile(r"(?:heading ([1-9])|title)", re.IGNORECASE)


def child_of(element: Element | None, name: str) -> Element | None:
    return next((child for child in element if local_name(child) == name), None) if element is not None else None


def _value(element: Element | None, name: str) -> str:
    """Return the value of a property; "" where it is not set."""
    child = child_of(element, name)
    return "" if child is None else attribute(child, "val")
