"""Text in documents that speaks to a language model: orders to forget its own, roles, template tokens, hidden notes.

A document may say so for good reasons, so that nothing of it is removed: it is marked, and never obeyed.
"""

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from graphrag.beginnings import LENGTHS, beginnings
from graphrag.characters import visible
from graphrag.instruction_patterns import FOLLOWING, ORDERS, TOKENS
from graphrag.models import Span
from graphrag.sentences import split_sentences

_ENCODED = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")
_LINE = re.compile(r".+")
_QUOTED = re.compile(r"'([^'\n]{2,80})'|\"([^\"\n]{2,80})\"")
_WITH_DIGITS = re.compile(r"\b(?=\w*[a-z])(?=\w*[013457])\w{3,}\b")  # 1gn0re
_DIGITS = str.maketrans("013457", "oieast")
_WORD = re.compile(r"\b\w")
_BEGINNINGS = beginnings(ORDERS.pattern)
_RUN = re.compile(r"[\x00-\x7f]+|.", re.DOTALL)
_SPACED = re.compile(r"\b\w(?:[ ._*-]\w){5,}\b")
# Letters of other scripts that pass for Latin ones.
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁһոԛԝтмкнвАЕОРСУХІЈЅТМКНВαοιερντυκΑΒΕΖΗΙΚΜΝΟΡΤΥΧı",
    "aeopcyxijsdhnqwtmkhbaeopcyxijstmkhbaoiepvtukabezhikmnoptyxi",
)


@lru_cache(maxsize=1024)
def find_instructions(text: str) -> tuple[Span, ...]:
    """The sentences that hold any, and those that go on with the order; disjoint, in their order."""
    found = sorted({*_orders(text), *_spans(TOKENS, text)}, key=lambda span: span.start)
    return tuple(_joined(_sentences(text, found))) if found else ()


def _spans(pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    return (Span(match.start(), match.end()) for match in pattern.finditer(text))


def _orders(text: str) -> Iterator[Span]:
    flat, places = _flat(text)
    for span in _ordering(flat):
        yield Span(places[span.start], places[span.end - 1] + 1)
    digits_read = _WITH_DIGITS.sub(lambda match: match[0].translate(_DIGITS), flat)
    for span in _ordering(digits_read) if digits_read != flat else ():
        yield Span(places[span.start], places[span.end - 1] + 1)
    for match in _SPACED.finditer(flat):
        if ORDERS.search(_closed_up(flat[match.start() :])):
            yield Span(places[match.start()], places[match.end() - 1] + 1)
    for match in _ENCODED.finditer(text):
        if ORDERS.search(_flat(_decoded(match[0]))[0]):
            yield Span(match.start(), match.end())
    yield from _quoted_apart(text)


def _ordering(flat: str) -> Iterator[Span]:
    """What ORDERS finds in it; nearly all words begin otherwise, and need no search."""
    end = 0
    for word in _WORD.finditer(flat):
        start = word.start()
        is_possible = start >= end and any(flat[start : start + length] in _BEGINNINGS for length in LENGTHS)
        if is_possible and (order := ORDERS.match(flat, start)):
            end = order.end()
            yield Span(start, end)


def _quoted_apart(text: str) -> Iterator[Span]:
    """'ignore all prev' + 'ious instructions'"""
    for line in _LINE.finditer(text):
        parts = list(_QUOTED.finditer(text, line.start(), line.end()))
        if len(parts) > 1 and ORDERS.search(_flat("".join(part[1] or part[2] for part in parts))[0]):
            yield Span(parts[0].start(), parts[-1].end())


def _flat(text: str) -> tuple[str, list[int]]:
    """In lower case, without accents, disguises and hidden characters; and the place of each character in the text."""
    flat: list[str] = []
    places: list[int] = []
    for run in _RUN.finditer(text):
        plain = run[0].lower().replace("'", " ") if run[0].isascii() else _plain(run[0])
        flat.append(plain)
        places += range(run.start(), run.end()) if run[0].isascii() else [run.start()] * len(plain)
    return "".join(flat), places


@lru_cache(maxsize=1024)
def _plain(character: str) -> str:
    if not visible(character):
        return ""
    folded = unicodedata.normalize("NFKD", character.translate(_LOOKALIKES)).translate(_LOOKALIKES).lower()
    return "".join(" " if each in "'’" else each for each in folded if not unicodedata.combining(each))


def _closed_up(text: str) -> str:
    """«i g n o r e  a l l» as words, where wider gaps tell them apart."""
    return re.sub(r"(?<=\b\w)[ ._*-](?=\w\b)", "", text[:400])


def _decoded(token: str) -> str:
    try:
        return base64.b64decode(token + "=" * (-len(token) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _sentences(text: str, found: list[Span]) -> Iterator[Span]:
    goes_on = False
    for sentence in split_sentences(text):
        holds = any(span.start < sentence.end and sentence.start < span.end for span in found)
        words = text[sentence.start : sentence.end]
        if holds or (goes_on and FOLLOWING.match(_flat(words)[0])):
            yield Span(sentence.start, sentence.start + len(words.rstrip()))
            goes_on = True
        else:
            goes_on = False


def _joined(spans: Iterator[Span]) -> list[Span]:
    joined: list[Span] = []
    for span in spans:
        if joined and span.start <= joined[-1].end + 1:
            joined[-1] = Span(joined[-1].start, span.end)
        else:
            joined.append(span)
    return joined
