"""Lines that say who wrote a document, to whom and when: a logistic regression over their form."""

import json
import math
import re
from functools import lru_cache
from importlib.resources import files

from graphrag.linguistics.language import all_stop_words, fold, words

MAX_FRONT_CHARS = 300  # longer lines are prose
FIRST_LINES = 8
_MARGIN_WITHIN = 3.0  # in log odds, which front matter has to reach within a document, where it is rare
_LABEL = re.compile(r"\W{0,4}((?:\w[\w.'’-]{0,20}[ \u00a0\u202f]?){1,3}):(?:\s|$|\*)")
_DATE = re.compile(r"\b(?:19|20)\d\d\b|\b\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}\b")
_SUM = re.compile(r"[€£$%°]|\b\d[\d.,]*\s?(?:kg|km|mm|cm|h|kWh)\b")
_END = re.compile(r"[.!?…][\"»”)*_]*$")


def read_features(line: str, *, place: int, is_last: bool = False) -> dict[str, float]:
    """Return the features of a line; `place`: its number from the beginning of the document, -1 where unknown."""
    text = line.strip()[:MAX_FRONT_CHARS]
    found = words(text)
    count = len(found) or 1
    capitals = sum(word[:1].isupper() for word in found)
    lower = [word for word in found if word.islower()]
    common = sum(fold(word) in all_stop_words() for word in lower)
    label = _LABEL.match(text)
    features = {
        "bias": 1.0,
        "label": float(label is not None),
        "capitals": capitals / count,
        "figures": sum(word[:1].isdecimal() for word in found) / count,
        "common": common / count,
        "length": min(2.0, math.log1p(count) / 2),
        "is long": float(count > 16),
        "date": float(_DATE.search(text) is not None),
        "sum": float(_SUM.search(text) is not None),
        "ends": float(_END.search(text) is not None),
        "begins small": float(text[:1].islower()),
        "address": float("@" in text),
        "commas": min(1.0, text.count(",") / count * 3),
        "number alone": float(count <= 3 and any(character.isdecimal() for character in text)),
        "greeting": float(count <= 6 and text[-1:] == "," and text[:1].isupper()),
        "label alone": float(text[-1:] == ":" and count > 3),
        "label and names": capitals / count if label else 0.0,
        "first": float(0 <= place < FIRST_LINES),
        "top": float(0 <= place < 3),
        "first and label": float(label is not None and 0 <= place < FIRST_LINES),
        "first and date": float(_DATE.search(text) is not None and 0 <= place < FIRST_LINES),
        "first and ends": float(_END.search(text) is not None and 0 <= place < FIRST_LINES),
        "last": float(is_last),
        "last and names": capitals / count if is_last else 0.0,
    }
    features |= {f"word {fold(word)}": 1.0 for word in found[:2] if word.isalpha()}
    return features


def is_front_matter(line: str, *, place: int, is_last: bool = False) -> bool:
    """Return whether a line names the author, the receivers, the date or the version of its document, or greets."""
    if not line.strip() or len(line) > MAX_FRONT_CHARS:
        return False
    weights = _weights()
    margin = 0.0 if 0 <= place < FIRST_LINES or is_last else _MARGIN_WITHIN
    features = read_features(line, place=place, is_last=is_last)
    return math.fsum(weights.get(name, 0.0) * value for name, value in features.items()) > margin


@lru_cache(maxsize=1)
def _weights() -> dict[str, float]:
    path = files("graphrag.extractive_answers").joinpath("rules", "front_matter.json")
    weights: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))
    return weights
