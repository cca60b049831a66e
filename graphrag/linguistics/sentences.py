"""Sentences with their offsets, in Spanish, French and English, in prose and in Markdown; by their marks elsewhere."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from graphrag.models import Span

ABBREVIATIONS = frozenset(
    # A full stop after these does not end a sentence. Lower case, without the stop.
    "sr sra srta dña dr dra prof ing lic ej aprox tel avda av c/ ud uds gral ee"
    " mme mmes mlle mgr éd ed env cf n°"
    " mr mrs ms jr vs inc ltd co approx dept e.g i.e p.ej a.m p.m u.s".split()
)
BEFORE_NUMBERS = frozenset("art núm num pág pag cap vol p pp fig no nos est".split())  # else words, or pages alone
CAPITALISED = frozenset("M MM Me St Ste".split())  # «M. Roy» and "5 m.", «Me Roy» and "told me."
REMEMBERED_CHARS = 10_000  # one answer reads the same chunks in four stages; whole documents come only once
_END = re.compile(r"[.!?…؟۔।]+(?:[\"'»”’)\]]|[ \u00a0\u202f]»)*(?=\s)|[。！？｡]+[」』”’）]*")
_SPACE = re.compile(r"\s*")
_OPENING = re.compile(r"[\s\"'«“‘(\[¿¡*_–—-]*")
# A line that begins something of its own: heading, list item, quotation, table row, or rule; «Name: value» is another.
_OWN_LINE = re.compile(r"\s*(?:#{1,6}\s|[-*+•–]\s|\d{1,3}[.)]\s|>|\||\*{3,}[ \t]*(?:\n|$))")
_NAMED_LINE = re.compile(r"\s*\w[\w .'-]{0,24}:\s")
_HEADING = re.compile(r"\s*#{1,6}(?:\s|$)")
_UNDERLINE = re.compile(r"\n {0,3}(?:={2,}|-{2,})\s*$")  # makes a heading of the line above
_SHORT_LINE = 60  # characters; prose that was wrapped by hand runs longer
_NUMBER = re.compile(r"\s*\d")
_LEADING_MARKUP = re.compile(r"(?:\s|#{1,6}\s|[-*+•–]\s|>\s?|\|)+")
_LIST_NUMBER = re.compile(r"\d{1,3}[.)]\s+(?=[^\W\d]|[«¿¡\"“(*_])")
_EMPHASIS = re.compile(r"\*{2,3}|__|`|(?<!\w)[*_](?=[^\s*_])|(?<=[^\s*_])[*_](?!\w)")
_ROW_CELLS = re.compile(r"\s*\|\s*")


def split_sentences(text: str) -> tuple[Span, ...]:
    """Spans that tile the text: each runs to the beginning of the next, white space included. Empty for empty text."""
    return _remembered_sentences(text) if len(text) <= REMEMBERED_CHARS else _sentences(text)


@lru_cache(maxsize=1024)
def _remembered_sentences(text: str) -> tuple[Span, ...]:
    return _sentences(text)


def _sentences(text: str) -> tuple[Span, ...]:
    cuts = [0, *sorted(set(_line_cuts(text)) | set(_stop_cuts(text))), len(text)]
    spans = [Span(start, end) for start, end in pairwise(cuts) if end > start]
    return tuple(_join_blank(text, spans))


def _join_blank(text: str, spans: list[Span]) -> list[Span]:
    joined: list[Span] = []
    for span in spans:
        if joined and not text[span.start : span.end].strip():
            joined[-1] = Span(joined[-1].start, span.end)
        else:
            joined.append(span)
    if len(joined) > 1 and not text[: joined[0].end].strip():
        joined[:2] = [Span(joined[0].start, joined[1].end)]
    return joined


def _stop_cuts(text: str) -> Iterator[int]:
    for match in _END.finditer(text):
        start = _SPACE.match(text, match.end()).end()  # type: ignore[union-attr]  # it also matches nothing
        letter = _OPENING.match(text, start).end()  # type: ignore[union-attr]
        is_end = not match.group().startswith(".") or _ends_sentence(text, match.start())
        if start < len(text) and is_end and not text[letter : letter + 1].islower():
            yield start


def _ends_sentence(text: str, stop: int) -> bool:
    before = text[max(0, stop - 12) : stop].split()
    written = before[-1].lstrip("(«\"'¿¡") if before else ""
    word = written.lower()
    if word in ABBREVIATIONS or written in CAPITALISED:
        return False
    if word in BEFORE_NUMBERS and _NUMBER.match(text, stop + 1):
        return False
    is_initial = len(word) == 1 and word.isalpha() and text[stop - 1].isupper()
    is_list_number = word.isdigit() and text.rfind("\n", 0, stop) + 1 + len(word) == stop
    return not (is_initial or is_list_number)


def _line_cuts(text: str) -> Iterator[int]:
    start = 0
    while (newline := text.find("\n", start)) != -1:
        line, following = text[start:newline], newline + 1
        start = following
        after = text[following : following + 80]
        if not after.strip() and following < len(text) and "\n" not in after:
            continue
        blank_next = after.lstrip(" \t").startswith("\n")
        own = _OWN_LINE.match(after) is not None
        begins = after.lstrip()[:1].isupper()
        named = _NAMED_LINE.match(after) is not None and (begins or len(line) < _SHORT_LINE)
        short = len(line) < _SHORT_LINE and after[:1].isupper() and not line.rstrip().endswith(",")
        if blank_next or own or named or is_heading(line) or short or not line.strip():
            yield following


def trim_space(text: str, span: Span) -> Span:
    """Return a span without the space at its ends."""
    part = text[span.start : span.end]
    start = span.start + len(part) - len(part.lstrip())
    return Span(start, max(start, span.end - (len(part) - len(part.rstrip()))))


def plain(sentence: str) -> str:
    """A sentence as it is read: without Markdown's marks, list bullets and numbers, table bars and line breaks."""
    text = _UNDERLINE.sub("", sentence)
    text = _LEADING_MARKUP.sub("", text, count=1) if _LEADING_MARKUP.match(text) else text
    if _LIST_NUMBER.match(text) and not is_heading(sentence):  # a section keeps its number
        text = _LIST_NUMBER.sub("", text, count=1)
    text = _EMPHASIS.sub("", text)
    text = _ROW_CELLS.sub(" · ", text.strip().strip("|").strip())
    return " ".join(text.split())


def is_heading(sentence: str) -> bool:
    return _HEADING.match(sentence) is not None or _UNDERLINE.search(sentence) is not None
