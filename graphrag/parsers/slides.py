"""PPTX from its XML: slides in the order they are shown, each with its title, texts, tables and speaker's notes."""

import posixpath
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from graphrag.errors import UnreadableDocument
from graphrag.models import ParsedText, Place
from graphrag.parsers.detection import PPTX
from graphrag.parsers.tables import as_rows
from graphrag.parsers.text_builder import TextBuilder
from graphrag.settings import ParsingLimits

_LEVEL = 1  # of a slide's title among the headings
_FURNITURE = frozenset({"sldNum", "ftr", "hdr", "dt", "sldImg"})  # placeholders that every slide repeats
_TITLES = frozenset({"title", "ctrTitle"})
_BREAKS = {"br": "\n", "tab": "\t"}


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
                builder.places.append(Place(spans[0].start, spans[-1].end, page=number))
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
        places=tuple(builder.places),
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
    """Without its namespace, which differs in the strict variant."""
    return element.tag.rpartition("}")[2]


def _attached(archive: zipfile.ZipFile, part: str) -> Iterator[_Block]:
    """What stands in parts of its own: diagrams' texts and the speaker's notes."""
    for relation, target in _relations(archive, part):
        if relation.get("Type", "").endswith(("/diagramData", "/notesSlide")):
            yield from (_Block(block.text) for block in _blocks(_read(archive, target)))


def _blocks(element: Element) -> Iterator[_Block]:
    match _tag(element):
        case "Fallback":  # for programs that don't know what stands beside it
            return
        case "tbl":
            rows = [[_text(cell) for cell in row if _tag(cell) == "tc"] for row in element if _tag(row) == "tr"]
            yield _Block("\n".join(as_rows(rows)))
        case "sp":
            kind = next((child.get("type", "") for child in element.iter() if _tag(child) == "ph"), "")
            if kind not in _FURNITURE:
                yield _Block(_text(element), is_title=kind in _TITLES)
        case "pt":  # of a diagram
            yield _Block(_text(element))
        case _:
            for child in element:
                yield from _blocks(child)


def _text(element: Element) -> str:
    """A line a paragraph."""
    paragraphs = (paragraph for paragraph in element.iter() if _tag(paragraph) == "p")
    return "\n".join(
        "".join(_BREAKS.get(_tag(run), run.text or "" if _tag(run) == "t" else "") for run in paragraph.iter())
        for paragraph in paragraphs
    )
