"""Texts normalized for rules, as long as they were, so that offsets hold."""

import re
import unicodedata
from functools import lru_cache

_LOWER = {code: chr(code).lower() for code in range(0x250) if len(chr(code).lower()) == 1}
_TRANSLATION = _LOWER | {ord("’"): "'", ord("ʼ"): "'", 0xA0: " ", 0x202F: " ", 0x2009: " ", ord("\t"): " "}
_LINE_START = re.compile(r"^[ ]*(?:#{1,6} |[-*+•–] |> ?|\d{1,3}[.)] |\[[ x]\] )+", re.MULTILINE)
_EMPHASIS = re.compile(r"\*+|__|`+|~~|(?<!\w)_|_(?!\w)")
_LINK = re.compile(r"\]\([^()\s]*\)|\[(?=[^\[\]\n]*\]\()")
# A line break within a paragraph: before a small letter, or at the end of a line as long as those wrapped by hand.
_WRAPPED = re.compile(r"(?<=[^\s.:;!?])[ ]*\n(?=[a-zà-ÿ0-9(])")
_WRAPPED_LINE = re.compile(r"^([^\n]{60,120})\n(?=\w)", re.MULTILINE)
_ACRONYM = re.compile(r"(?<=\s)\([^()\n]{1,12}\)")  # «(TMI)»: between a subject and its verb


def normalize(text: str) -> str:
    text = _LINE_START.sub(_blank, text)
    text = _WRAPPED_LINE.sub(r"\1 ", text)
    for mark in (_WRAPPED, _EMPHASIS, _LINK, _ACRONYM):
        text = mark.sub(_blank, text)
    return text.translate(_TRANSLATION)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


_APART = {"’": "'", "ʼ": "'", "`": "'", "´": "'", "‑": "-", "\u00a0": " ", "\u202f": " ", "\n": " ", "\t": " "}
# Their accents tell them from the words that join clauses: they stay visible as capitals.
_MARKED = re.compile(
    r"\b(?:qué|quién|quiénes|cuál|cuáles|cuándo|cuánto|cuánta|cuántos|cuántas|dónde|adónde|cómo|où)\b", re.IGNORECASE
)
QUOTED = re.compile(r"«[^«»]*»|“[^“”]*”|\"[^\"]*\"")
_INSIDE = re.compile(r"\w")


@lru_cache(maxsize=4_000)
def _flat(character: str) -> str:
    plain = _APART.get(character) or unicodedata.normalize("NFD", character.lower())[:1]
    return plain if len(plain) == 1 else character


def flatten(text: str) -> str:
    """«¿Cuándo llegó?» → «¿CUANDO llego?»: an accented question word, which can't be a conjunction, is in capitals."""
    flat = "".join(map(_flat, text))
    for match in _MARKED.finditer(text):
        start, end = match.span()
        flat = flat[:start] + flat[start:end].upper() + flat[end:]
    return flat


def without_quotes(flat: str) -> str:
    """Replace the letters of quoted text by x: a quotation asks nothing."""
    return QUOTED.sub(lambda match: _INSIDE.sub("x", match[0]), flat)
