"""Plain text and Markdown."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import Heading, ParsedText
from graphrag.parsers.charset import decode
from graphrag.parsers.detection import MARKDOWN
from graphrag.parsers.text_builder import clean

LONGEST_MARKDOWN = 3_000_000  # characters; dense with marks they take ten seconds
_LINES = MarkdownIt("commonmark")
_BLOCKS = MarkdownIt("commonmark").disable("inline")  # only headings' own marks are looked at
_FRONT_MATTER = re.compile(r"---\n(?=[\w-]+:)(?:.*\n)*?---(?:\n|$)")  # to CommonMark its last line is a heading


def parse_text(data: bytes, *, media_type: str, limits: ParsingLimits) -> ParsedText:
    """Raises UnreadableDocument: unsupported, encoding, too_large or empty."""
    text = clean(decode(data, limits=limits))
    if not any(character.isalnum() for character in text):
        raise UnreadableDocument("the file holds no text", reason="empty")
    if media_type != MARKDOWN:
        return ParsedText(text, media_type)
    if len(text) > LONGEST_MARKDOWN:
        return ParsedText(text, media_type, warnings=("the text is too long to look for its headings",))
    return ParsedText(text, media_type, tuple(_markdown_headings(text)))


def _markdown_headings(text: str) -> Iterator[Heading]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    front_matter = _FRONT_MATTER.match(text)
    first = front_matter.end() if front_matter else 0
    references: dict[str, Any] = {}
    for opening, inline in pairwise(_BLOCKS.parse(text, references)):
        if opening.type == "heading_open" and opening.map:
            start, visible = starts[opening.map[0]], _visible(_LINES.parseInline(inline.content, references))
            if visible and start >= first:
                yield Heading(int(opening.tag[1:]), visible, start)


def _visible(tokens: Sequence[Token]) -> str:
    """Return the visible text of Markdown tokens: no marks, no tags, no addresses of links."""
    parts = (part for token in tokens for part in token.children or [])
    texts = (" " if part.type.endswith("break") else part.content for part in parts if part.type != "html_inline")
    return " ".join("".join(texts).split())
