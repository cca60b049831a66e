"""A file's bytes → text with its headings. The name only chooses between plain text and Markdown."""

import codecs
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePath

from charset_normalizer import from_bytes
from markdown_it import MarkdownIt
from markdown_it.token import Token

from graphrag.errors import UnreadableDocument
from graphrag.ingestion.cleaning import clean
from graphrag.models import Heading, ParsedText

SUFFIXES = {".txt": "text/plain", ".text": "text/plain", ".md": "text/markdown", ".markdown": "text/markdown"}
BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
LEGACY_CHARSETS = ["cp1252", "latin_1", "cp850", "mac_roman"]
_MARKDOWN = MarkdownIt("commonmark")
_FRONT_MATTER = re.compile(r"---\n(?=[\w-]+:)(?:.*\n)*?---(?:\n|$)")  # to CommonMark its last line is a heading
VALID_PER_ERROR = 10  # accented characters that are good UTF-8 for each that is not; in cp1252 hardly any is


def parse(data: bytes, *, filename: str) -> ParsedText:
    """Raises UnreadableDocument with the reason."""
    media_type = SUFFIXES.get(PurePath(filename).suffix.lower())
    if media_type is None:
        known = ", ".join(sorted(SUFFIXES))
        raise UnreadableDocument(f"files of this type are not read; known are {known}", reason="unsupported")
    text = clean(decode(data))
    if not any(character.isalnum() for character in text):
        raise UnreadableDocument("the file holds no text", reason="empty")
    headings = tuple(_markdown_headings(text)) if media_type == "text/markdown" else ()
    return ParsedText(text, media_type, headings)


def decode(data: bytes) -> str:
    """By byte order mark, then as UTF-8, also with few errors, then as the likeliest Western charset.

    Raises UnreadableDocument.
    """
    for bom, encoding in BOMS.items():
        if data.startswith(bom):
            return data.decode(encoding, errors="replace")
    if b"\0" in data:
        raise UnreadableDocument("the file is not text: it holds NUL bytes", reason="unsupported")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", errors="replace")
        errors = text.count("\ufffd")
        if sum(character > "\x7f" for character in text) - errors >= VALID_PER_ERROR * errors:
            return text
        best = from_bytes(data, cp_isolation=LEGACY_CHARSETS).best()
        if best is None:
            raise UnreadableDocument("the file's character encoding is not known", reason="encoding") from None
        return str(best)


def _markdown_headings(text: str) -> Iterator[Heading]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    front_matter = _FRONT_MATTER.match(text)
    first = front_matter.end() if front_matter else 0
    for opening, inline in pairwise(_MARKDOWN.parse(text)):
        if opening.type == "heading_open" and opening.map:
            start, visible = starts[opening.map[0]], _visible(inline.children or [])
            if visible and start >= first:
                yield Heading(int(opening.tag[1:]), visible, start)


def _visible(tokens: Sequence[Token]) -> str:
    """What is read of a line of Markdown: no marks, no tags, no addresses of links."""
    texts = (" " if token.type.endswith("break") else token.content for token in tokens if token.type != "html_inline")
    return " ".join("".join(texts).split())
