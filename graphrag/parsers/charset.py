"""Bytes → characters: by byte order mark, zero bytes of UTF-16, as UTF-8, as declared, by the likeliest charset."""

import codecs
import re

from charset_normalizer import from_bytes

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument

BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
LEGACY_CHARSETS = ["cp1252", "cp850", "mac_roman"]  # what the likeliest comes first; Latin-1 is read as its superset
VALID_PER_ERROR = 10  # accented characters that are good UTF-8 for each that is not; in cp1252 hardly any is
_SAMPLE = 4_096  # bytes
_WESTERN_SAMPLE = 1_000_000  # bytes
_LOWER = "áéíóúüñàâçèêëîïôùûœæäöãõß"
_MARKED = re.compile(r"(?s)(?=(.)([^\x00-\x7f])(.))")  # a character of the upper half between its neighbours
_MOST_ZEROS, _FEWEST_ZEROS = 0.05, 0.3  # of the bytes at the other and at one parity, in Western text as UTF-16
_MOST_CONTROLS = 0.02  # of the characters; random bytes have five times as many


def decode(data: bytes, *, limits: ParsingLimits, declared: str | None = None) -> str:
    """Raises UnreadableDocument: too_large, unsupported where it is no text, encoding where its charset isn't known."""
    text = _decode(data, declared)
    if len(text) > limits.characters:
        raise UnreadableDocument(f"the file holds more than {limits.characters:,} characters", reason="too_large")
    controls = sum(character < " " and character not in "\t\n\r\f\x0b\x1b" for character in text[:_SAMPLE])
    if controls > _MOST_CONTROLS * min(len(text), _SAMPLE):
        raise UnreadableDocument("the file is not text", reason="unsupported")
    return text


def _decode(data: bytes, declared: str | None) -> str:
    for bom, encoding in BOMS.items():
        if data.startswith(bom):
            return data.decode(encoding, errors="replace")
    if len(data) % 2 == 0 and (utf16 := _utf16(data[:_SAMPLE])):
        return data.decode(utf16, errors="replace")
    if b"\0" in data:
        raise UnreadableDocument("the file is not text: it holds NUL bytes", reason="unsupported")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _decode_broken(data, declared)


def _utf16(sample: bytes) -> str | None:
    pairs = len(sample) // 2
    if not pairs:
        return None
    first, second = (sample[parity::2].count(0) / pairs for parity in (0, 1))
    if second >= _FEWEST_ZEROS and first <= _MOST_ZEROS:
        return "utf-16-le"
    return "utf-16-be" if first >= _FEWEST_ZEROS and second <= _MOST_ZEROS else None


def _decode_broken(data: bytes, declared: str | None) -> str:
    text = data.decode("utf-8", errors="replace")
    errors = text.count("\ufffd")
    if sum(character > "\x7f" for character in text) - errors >= VALID_PER_ERROR * errors:
        return text
    if declared:
        try:
            return data.decode(declared)
        except (LookupError, UnicodeDecodeError):
            pass  # it declares wrongly: guess
    if western := _western(data):
        return data.decode(western, errors="replace")
    best = from_bytes(data, cp_isolation=LEGACY_CHARSETS).best()
    if best is None:
        raise UnreadableDocument("the file's character encoding is not known", reason="encoding")
    return str(best)


def _western(data: bytes) -> str | None:
    """The charset in which the upper half's characters stand where Spanish, French or English puts them."""
    sample = b" %b " % data[:_WESTERN_SAMPLE]
    scores = {charset: _score(sample.decode(charset, errors="replace")) for charset in LEGACY_CHARSETS}
    best = max(LEGACY_CHARSETS, key=lambda charset: scores[charset])
    return best if scores[best] > 0 else None


def _score(text: str) -> int:
    return sum(1 if _is_in_place(*match.groups()) else -1 for match in _MARKED.finditer(text))


def _is_in_place(before: str, mark: str, after: str) -> bool:
    if mark in _LOWER:
        return True
    if mark.lower() in _LOWER:
        return not before.islower()
    if mark in "¿¡«“‘„":
        return not before.isalpha()
    if mark in "»”…":
        return not after.isalpha()
    if mark == "’":
        return before.isalpha()
    if mark in "–—":
        return not before.isalpha() and not after.isalpha()
    return mark in "°ºª€\u00a0" and not (before.isalpha() and after.isalpha())
