"""Sentences with their offsets, in Spanish, French and English, in prose and in Markdown; by their marks elsewhere.

Libraries find fewer of the units of `tests/golden/linguistics/sentences.jsonl` (tune), even paragraph by paragraph of
ours: syntok .79/.81/.87 (es/fr/en), sentencex .74/.71/.85, BlingFire .74/.73/.77, spaCy's sentencizer .69/.74/.70,
Punkt .60/.62/.56, pySBD .60/.58/.67 (at 13,000 tokens/s); this module all, and .97/.98/.98 of those kept aside.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from graphrag.linguistics.paragraphs import BULLETS, ITEMS, find_paragraphs
from graphrag.linguistics.sentence_stops import find_sentence_starts
from graphrag.models import Span

MAX_SENTENCE_CHARS = 2_000
REMEMBERED_CHARS = 10_000  # one answer reads the same chunks in four stages; of whole documents the last is remembered
_UNDERLINE = re.compile(r"\n {0,3}(?:={2,}|-{2,})\s*$")  # makes a heading of the line above
_HEADING = re.compile(r"\s*#{1,6}(?:\s|$)")
_SPACE = re.compile(r"\s*")
_MOST_MARKS = 8  # over one letter
_LEADING_MARKUP = re.compile(rf"(?:\s|#{{1,6}}\s|[{BULLETS}]\s|>\s?|\|)+")
_LIST_NUMBER = re.compile(r"(?:\d{1,3}[.)]|\(?(?:[a-z]|[ivx]{2,5})\))\s+(?=[^\W\d]|[«¿¡\"“(*_])")
_EMPHASIS = re.compile(r"\*{2,3}|__|`|(?<!\w)[*_](?=[^\s*_])|(?<=[^\s*_])[*_](?!\w)")
_ROW_CELLS = re.compile(r"\s*\|\s*")


def split_sentences(text: str) -> tuple[Span, ...]:
    """Return spans that tile the text: sentences, headings, list items, table rows, none above `MAX_SENTENCE_CHARS`.

    Each runs to the beginning of the next, white space included. Empty for empty text.
    """
    return _sentences_of_passage(text) if len(text) <= REMEMBERED_CHARS else _sentences_of_document(text)


@lru_cache(maxsize=1024)
def _sentences_of_passage(text: str) -> tuple[Span, ...]:
    return _sentences(text)


@lru_cache(maxsize=1)
def _sentences_of_document(text: str) -> tuple[Span, ...]:
    return _sentences(text)


def _sentences(text: str) -> tuple[Span, ...]:
    starts: list[int] = []
    for paragraph in find_paragraphs(text):
        starts.append(paragraph.start)
        if paragraph.kind != "alone":
            is_item = paragraph.kind in ITEMS
            starts += find_sentence_starts(text, paragraph.start, paragraph.end, is_item=is_item)
    spans: list[Span] = []
    for start, end in pairwise([*starts, len(text)]):
        if end - start > MAX_SENTENCE_CHARS:
            spans += [Span(*edges) for edges in pairwise([start, *_cuts_of_long(text, start, end), end])]
        else:
            spans.append(Span(start, end))
    return tuple(spans)


def _cuts_of_long(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where a long sentence is cut, at white space if there is some; the white space around it doesn't count."""
    written = trim_space(text, Span(start, end))
    start, end = written.start, written.end
    while end - start > MAX_SENTENCE_CHARS:
        window = text[start : start + MAX_SENTENCE_CHARS + 1]
        words = window.rsplit(None, 1)
        if window[-1].isspace():
            start = _SPACE.match(text, start + len(window.rstrip())).end()  # type: ignore[union-attr]  # or nothing
        elif len(words) > 1:
            start += len(window) - len(words[-1])
        else:
            start += MAX_SENTENCE_CHARS - _marks_before(text, start + MAX_SENTENCE_CHARS)
        yield start


def _marks_before(text: str, cut: int) -> int:
    """Return how many characters before a cut have to go with what follows, since marks are written over them."""
    return next((back for back in range(_MOST_MARKS) if not unicodedata.combining(text[cut - back])), 0)


def trim_space(text: str, span: Span) -> Span:
    """Return a span without the space at its ends."""
    part = text[span.start : span.end]
    start = span.start + len(part) - len(part.lstrip())
    return Span(start, max(start, span.end - (len(part) - len(part.rstrip()))))


def plain(sentence: str) -> str:
    """Return a sentence as it is read: without Markdown's marks, list markers, table bars and line breaks."""
    text = _UNDERLINE.sub("", sentence)
    text = _LEADING_MARKUP.sub("", text, count=1) if _LEADING_MARKUP.match(text) else text
    if _LIST_NUMBER.match(text) and not is_heading(sentence):  # a section keeps its number
        text = _LIST_NUMBER.sub("", text, count=1)
    text = _EMPHASIS.sub("", text)
    text = _ROW_CELLS.sub(" · ", text.strip().strip("|").strip())
    return " ".join(text.split())


def is_heading(sentence: str) -> bool:
    return _HEADING.match(sentence) is not None or _UNDERLINE.search(sentence) is not None
