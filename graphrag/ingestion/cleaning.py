"""The canonical text: what is stored, searched and quoted. Every offset counts its characters."""

import re
import unicodedata

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u2060\ufeff\ufffe\uffff\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n?|[\x0b\x0c]|\x85|\u2028|\u2029")
_TRAILING_SPACE = re.compile(r"[ \t]+(?=\n|$)")
_BLANK_LINES = re.compile(r"\n{3,}")


def clean(text: str) -> str:
    """Composed Unicode, \\n line ends, no control characters, no trailing space, one blank line at most. Idempotent."""
    text = _LINE_END.sub("\n", text)
    text = _CONTROL.sub("", text)
    text = unicodedata.normalize("NFC", text)
    text = _TRAILING_SPACE.sub("", text)
    return _BLANK_LINES.sub("\n\n", text).strip()


def holds_words(text: str) -> bool:
    return any(character.isalnum() for character in text)
