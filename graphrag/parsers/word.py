"""Word's files (DOCX, ECMA-376-1, 17): the body with its numbers, notes, tables, text boxes and charts."""

import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from xml.etree.ElementTree import Element

from graphrag.config.settings import ParsingLimits
from graphrag.models import ParsedText
from graphrag.parsers.detection import DOCX
from graphrag.parsers.office_xml import (
    BREAKS,
    attribute,
    chart_text,
    local_name,
    named_properties,
    nearest,
    read_part,
    relations,
    table_text,
    text_of,
)
from graphrag.parsers.text import PAGE_NUMBER, TextBuilder
from graphrag.parsers.word_styles import ParagraphStyles

_UNSEEN = frozenset({"Fallback", "del", "moveFrom", "pPr", "rPr", "sdtPr", "instrText", "delText", "tbl"})
_NOTES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}
_SCRIPTS = {"sup": "^", "sub": "_", "den": "/"}  # of formulas


def parse_word(data: bytes, *, limits: ParsingLimits) -> ParsedText:
    """Raises UnreadableDocument: too_large or empty; and whatever zipfile and ElementTree raise of a damaged file."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        document = _Document(archive, TextBuilder(limits.characters))
        document.read()
        return document.builder.parsed(DOCX, **named_properties(archive))


@dataclass(slots=True)
class _Document:
    archive: zipfile.ZipFile
    builder: TextBuilder
    _targets: dict[str, str] = field(init=False)  # parts by the ids of relations
    _parts: dict[str, str] = field(init=False)  # parts by the kinds of relations
    _styles: ParagraphStyles = field(init=False)
    _notes: dict[tuple[str, str], int] = field(init=False, default_factory=dict)  # numbers by kind and id
    _apart: list[Element] = field(init=False, default_factory=list)  # text boxes and drawings of the paragraph

    def read(self) -> None:
        main = _by_kind(self.archive, "").get("officeDocument", "word/document.xml")
        self._targets = {relation.get("Id", ""): target for relation, target in relations(self.archive, main)}
        self._parts = _by_kind(self.archive, main)
        self._styles = ParagraphStyles(self._part("numbering"), self._part("styles"))
        body = read_part(self.archive, main)
        self._add_blocks(body)
        self._add_notes()
        self._add_margins(body)

    def _part(self, kind: str) -> Element:
        return read_part(self.archive, self._parts.get(kind, ""))

    def _add_blocks(self, elements: Iterable[Element]) -> None:
        for child in elements:
            name = local_name(child)
            if name == "p":
                self._add_paragraph(child)
            elif name == "tbl":
                self.builder.add(table_text(child, self._cell))
                self._add_drawings()
            elif name not in _UNSEEN:
                self._add_blocks(child)

    def _add_paragraph(self, paragraph: Element, begin: str = "") -> None:
        text, style = self._text(paragraph), self._styles.next(paragraph)
        if not text:
            pass
        elif style.level:
            self.builder.add(f"{style.number} {text}", level=style.level)
        elif style.is_item:
            self.builder.add(f"{style.number or '-'} {text}", gap="\n")
        else:
            self.builder.add(f"{begin} {text}".strip())
        self._add_drawings()

    def _text(self, paragraph: Element) -> str:
        return "".join(self._pieces(paragraph)).strip()

    def _cell(self, cell: Element) -> str:
        paragraphs = ((self._styles.next(each).number, self._text(each)) for each in nearest(cell, {"p"}))
        return "\n".join(f"{number} {text}".strip() for number, text in paragraphs if text)

    def _pieces(self, element: Element) -> Iterator[str]:
        """Yield the text of a paragraph's parts; text boxes and drawings in it are kept for later."""
        for child in element:
            match local_name(child):
                case "t":
                    yield child.text or ""
                case "r" if _is_hidden(child):
                    continue
                case name if name in BREAKS:
                    yield BREAKS[name]
                case name if name in _NOTES:
                    yield self._mark(_NOTES[name], child)
                case "txbxContent" | "chart" | "relIds":
                    self._apart.append(child)
                case name if name in _SCRIPTS:
                    yield _SCRIPTS[name] + "".join(self._pieces(child))
                case name if name not in _UNSEEN:
                    yield from self._pieces(child)

    def _mark(self, kind: str, reference: Element) -> str:
        number = self._notes.setdefault((kind, attribute(reference, "id")), len(self._notes) + 1)
        return f"[{number}]"

    def _add_drawings(self) -> None:
        apart, self._apart = self._apart, []
        for element in apart:
            match local_name(element):
                case "txbxContent":
                    self._add_blocks(element)
                case "chart":
                    target = self._targets.get(attribute(element, "id"), "")
                    self.builder.add(chart_text(read_part(self.archive, target)))
                case _:
                    points = read_part(self.archive, self._targets.get(attribute(element, "dm"), "")).iter()
                    for text in (text_of(each) for each in points if local_name(each) == "pt"):
                        self.builder.add(text)

    def _add_notes(self) -> None:
        """Append the notes, each after the number that stands where it is referred to, and the comments."""
        notes = {(kind, attribute(note, "id")): note for kind in _NOTES.values() for note in self._part(kind)}
        for key, number in self._notes.items():
            for place, paragraph in enumerate(nearest(notes.get(key, Element("none")), {"p"})):
                self._add_paragraph(paragraph, f"[{number}]" if place == 0 else "")
        self._add_blocks(self._part("comments"))

    def _add_margins(self, body: Element) -> None:
        """Append headers and footers, the same ones once and without those of page numbers."""
        references = (each for each in body.iter() if local_name(each) in {"headerReference", "footerReference"})
        parts = dict.fromkeys(self._targets.get(attribute(each, "id"), "") for each in references)
        seen = set[str]()
        for block in (block for part in parts for block in nearest(read_part(self.archive, part), {"p", "tbl"})):
            text = "".join(each.text or "" for each in block.iter() if local_name(each) == "t")
            if text not in seen and not PAGE_NUMBER.fullmatch(text):
                self._add_blocks([block])
            seen.add(text)


def _by_kind(archive: zipfile.ZipFile, part: str) -> dict[str, str]:
    return {relation.get("Type", "").rpartition("/")[2]: target for relation, target in relations(archive, part)}


def _is_hidden(run: Element) -> bool:
    properties = (each for child in run if local_name(child) == "rPr" for each in child)
    return any(local_name(each) == "vanish" and attribute(each, "val") not in {"0", "false"} for each in properties)
