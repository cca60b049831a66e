"""Words that say the opposite of each other, in three languages: rise and fall, before and after, accept and refuse."""

from functools import lru_cache
from importlib.resources import files

from graphrag.language import fold

_MOST_LONGER = 7  # letters
_SHORTEST = 3


@lru_cache(maxsize=1)
def _lexicon() -> tuple[dict[str, tuple[str, int]], dict[str, tuple[str, int]]]:
    """Whole words, and beginnings of words (those with a *); a line is a concept, a side and its words."""
    whole: dict[str, tuple[str, int]] = {}
    begun: dict[str, tuple[str, int]] = {}
    for line in files("agent.verification").joinpath("opposites.txt").read_text(encoding="utf-8").splitlines():
        concept, side, *words = line.split()
        for word in words:
            (begun if word.endswith("*") else whole).setdefault(word.rstrip("*"), (concept, 1 if side == "+" else -1))
    return whole, begun


@lru_cache(maxsize=50_000)
def opposite_of(word: str) -> tuple[str, int] | None:
    """The pair that a word is of, and its side of it."""
    whole, begun = _lexicon()
    folded = fold(word)
    if folded in whole:
        return whole[folded]
    for length in range(len(folded), _SHORTEST - 1, -1):
        if len(folded) - length <= _MOST_LONGER and (found := begun.get(folded[:length])):
            return found
    return None
