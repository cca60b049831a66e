"""A question as the rules read it: lower case without accents, letter for letter as long as what was written."""

import re
import unicodedata
from functools import lru_cache

_APART = {"’": "'", "ʼ": "'", "`": "'", "´": "'", "‑": "-", "\u00a0": " ", "\u202f": " ", "\n": " ", "\t": " "}
# Their accents tell them from the words that join clauses: they stay visible as capitals.
_MARKED = re.compile(
    r"\b(?:qué|quién|quiénes|cuál|cuáles|cuándo|cuánto|cuánta|cuántos|cuántas|dónde|adónde|cómo|où)\b", re.IGNORECASE
)
_QUOTED = re.compile(r"«[^«»]*»|“[^“”]*”|\"[^\"]*\"")
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
    """What is quoted asks nothing: its letters become x."""
    return _QUOTED.sub(lambda match: _INSIDE.sub("x", match[0]), flat)
