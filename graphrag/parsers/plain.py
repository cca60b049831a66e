"""Plain text and Markdown."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from graphrag.errors import UnreadableDocument
from graphrag.ingestion.cleaning import clean
from graphrag.models import Heading, ParsedText
from graphrag.parsers.charset import decode
from graphrag.parsers.detection import MARKDOWN

_MARKDOWN = MarkdownIt("commonmark")
_FRONT_MATTER = re.compile(r"---\n(?=[\w-]+:)(?:.*\n)*?---(?:\n|$)")  # to CommonMark its last line is a heading


def parse_text(data: bytes, *, media_type: str) -> ParsedText:
    """Raises UnreadableDocument: unsupported, encoding or empty."""
    text = clean(decode(data))
    if not any(character.isalnum() for character in text):
        raise UnreadableDocument("the file holds no text", reason="empty")
    return ParsedText(text, media_type, tuple(_markdown_headings(text)) if media_type == MARKDOWN else ())


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
