"""Word processors' files (xberg) and PPTX slides."""

import asyncio
import json
import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import xberg

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import ParsedText, SourceLocation
from graphrag.parsers.detection import PPTX, RTF
from graphrag.parsers.text import TextBuilder, as_rows

# Recognition of characters stays off: with it a scanned page would fetch models.
CONFIG = xberg.ExtractionConfig(
    use_cache=False, disable_ocr=True, include_document_structure=True, enable_quality_processing=False
)

_RTF_CHARACTER = re.compile(r"\\'([0-9a-fA-F]{2})|\\u(-?\d{1,5}) ?\??")


def parse_office(data: bytes, *, media_type: str, limits: ParsingLimits) -> ParsedText:
    """Raises UnreadableDocument: encrypted, damaged, too_large or empty."""
    document = _extract(data, media_type)
    builder = TextBuilder(limits.characters)
    for node in document.document.nodes if document.document else []:
        _add(json.loads(str(node.content)), builder)
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
    elif kind == "table":
        builder.add("\n".join(as_rows(_grid(content["grid"]))))
    elif kind == "definition_item":
        builder.add(f"{content['term']}: {content['definition']}")
    else:
        builder.add(content.get("text") or content.get("content") or "")


def _grid(grid: Mapping[str, Any]) -> Sequence[Sequence[str]]:
    rows = [[""] * grid["cols"] for _ in range(grid["rows"])]
    for cell in grid["cells"]:
        rows[cell["row"]][cell["col"]] = cell["content"]
    return rows


def _unescaped(text: str, media_type: str) -> str:
    r"""Replace RTF's escapes, which its properties contain: «t\'edtulo»."""
    return _RTF_CHARACTER.sub(_rtf_character, text) if media_type == RTF else text


def _rtf_character(escape: re.Match[str]) -> str:
    if escape[1]:
        return bytes.fromhex(escape[1]).decode("cp1252", errors="replace")
    return chr(int(escape[2]) % 0x10000)


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
