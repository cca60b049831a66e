"""Words that mean the same, in one language and across three: what letters alone do not show."""

from functools import lru_cache
from importlib.resources import files

from graphrag.language import fold

# meanings.txt has a meaning a line. A word that ends in * stands for all that begin so, and are not much longer.
_MOST_LONGER = 5  # letters
_SHORTEST = 3


@lru_cache(maxsize=1)
def _lexicon() -> tuple[dict[str, set[int]], dict[str, set[int]]]:
    whole: dict[str, set[int]] = {}
    begun: dict[str, set[int]] = {}
    text = files("agent.verification").joinpath("meanings.txt").read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines()):
        for word in line.split():
            (begun if word.endswith("*") else whole).setdefault(fold(word.rstrip("*")), set()).add(number)
    return whole, begun


@lru_cache(maxsize=50_000)
def meanings(word: str) -> frozenset[int]:
    """Of the longest entry that a folded word begins with."""
    whole, begun = _lexicon()
    found = set(whole.get(word, ()))
    for length in range(len(word), _SHORTEST - 1, -1):
        if len(word) - length <= _MOST_LONGER and word[:length] in begun:
            return frozenset(found | begun[word[:length]])
    return frozenset(found)
