"""Word processors' files through xberg: its nodes, in order, become blocks."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import xberg

from graphrag.errors import UnreadableDocument
from graphrag.models import ParsedText
from graphrag.parsers.detection import RTF
from graphrag.parsers.tables import as_rows
from graphrag.parsers.text_builder import TextBuilder
from graphrag.settings import ParsingLimits

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
    """RTF's properties come with its escapes: «t\\'edtulo»."""
    return _RTF_CHARACTER.sub(_rtf_character, text) if media_type == RTF else text


def _rtf_character(escape: re.Match[str]) -> str:
    if escape[1]:
        return bytes.fromhex(escape[1]).decode("cp1252", errors="replace")
    return chr(int(escape[2]) % 0x10000)
