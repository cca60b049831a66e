"""A text as the rules read it: small letters, straight apostrophes, no Markdown; as long, so that offsets hold."""

import re

_LOWER = {code: chr(code).lower() for code in range(0x250) if len(chr(code).lower()) == 1}
_TRANSLATION = _LOWER | {ord("’"): "'", ord("ʼ"): "'", 0xA0: " ", 0x202F: " ", 0x2009: " ", ord("\t"): " "}
_LINE_START = re.compile(r"^[ ]*(?:#{1,6} |[-*+•–] |> ?|\d{1,3}[.)] |\[[ x]\] )+", re.MULTILINE)
_EMPHASIS = re.compile(r"\*+|__|`+|~~|(?<!\w)_|_(?!\w)")
_LINK = re.compile(r"\]\([^()\s]*\)|\[(?=[^\[\]\n]*\]\()")
# A line break within a paragraph: before a small letter, or at the end of a line as long as those wrapped by hand.
_WRAPPED = re.compile(r"(?<=[^\s.:;!?])[ ]*\n(?=[a-zà-ÿ0-9(])")
_WRAPPED_LINE = re.compile(r"^([^\n]{60,120})\n(?=\w)", re.MULTILINE)
_ACRONYM = re.compile(r"(?<=\s)\([^()\n]{1,12}\)")  # «(TMI)»: between a subject and its verb


def shadow(text: str) -> str:
    text = _LINE_START.sub(_blank, text)
    text = _WRAPPED_LINE.sub(r"\1 ", text)
    for mark in (_WRAPPED, _EMPHASIS, _LINK, _ACRONYM):
        text = mark.sub(_blank, text)
    return text.translate(_TRANSLATION)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())
