"""Words by their meaning in three languages: opposites, synonyms, people and bodies."""

from functools import lru_cache
from importlib.resources import files

from graphrag.linguistics.language import fold
from graphrag.linguistics.rules import Pattern, Rules, WordSet, read_rules

_OPPOSITE_MOST_LONGER = 7  # letters
_OPPOSITE_SHORTEST = 3


@lru_cache(maxsize=1)
def _opposites() -> tuple[dict[str, tuple[str, int]], dict[str, tuple[str, int]]]:
    """Whole words, and beginnings of words (those with a *); a line is a concept, a side and its words."""
    whole: dict[str, tuple[str, int]] = {}
    begun: dict[str, tuple[str, int]] = {}
    for line in (
        files("graphrag.linguistics").joinpath("rules", "opposites.txt").read_text(encoding="utf-8").splitlines()
    ):
        concept, side, *words = line.split()
        for word in words:
            (begun if word.endswith("*") else whole).setdefault(word.rstrip("*"), (concept, 1 if side == "+" else -1))
    return whole, begun


@lru_cache(maxsize=50_000)
def opposite_of(word: str) -> tuple[str, int] | None:
    """The pair that a word is of, and its side of it."""
    whole, begun = _opposites()
    folded = fold(word)
    if folded in whole:
        return whole[folded]
    for length in range(len(folded), _OPPOSITE_SHORTEST - 1, -1):
        if len(folded) - length <= _OPPOSITE_MOST_LONGER and (found := begun.get(folded[:length])):
            return found
    return None


# meanings.txt has a meaning a line. A word that ends in * stands for all that begin so, and are not much longer.
_MOST_LONGER = 5  # letters
_SHORTEST = 3


@lru_cache(maxsize=1)
def _synonyms() -> tuple[dict[str, set[int]], dict[str, set[int]]]:
    whole: dict[str, set[int]] = {}
    begun: dict[str, set[int]] = {}
    text = files("graphrag.linguistics").joinpath("rules", "meanings.txt").read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines()):
        for word in line.split():
            (begun if word.endswith("*") else whole).setdefault(fold(word.rstrip("*")), set()).add(number)
    return whole, begun


@lru_cache(maxsize=50_000)
def meanings(word: str) -> frozenset[int]:
    """Return the meanings of the longest entry that a folded word begins with."""
    whole, begun = _synonyms()
    found = set(whole.get(word, ()))
    for length in range(len(word), _SHORTEST - 1, -1):
        if len(word) - length <= _MOST_LONGER and word[:length] in begun:
            return frozenset(found | begun[word[:length]])
    return frozenset(found)


class LexiconRules(Rules):
    people: WordSet
    bodies: WordSet
    things: WordSet  # that end as callings do
    callings: dict[str, Pattern]


@lru_cache(maxsize=1)
def _rules() -> LexiconRules:
    return read_rules(LexiconRules, "graphrag.linguistics", "lexicon")


def is_agent(word: str, language: str) -> bool:
    """Return whether a folded word denotes a person or a body that acts."""
    rules = _rules()
    if word in rules.things or word.removesuffix("s") in rules.things:
        return False
    singulars = {word, word.removesuffix("s"), word.removesuffix("es")}
    if singulars & rules.people or singulars & rules.bodies:
        return True
    calling = rules.callings.get(language)
    return calling is not None and calling.search(word) is not None
