"""Negated words of a text: the first content word after «no», «ne … pas», "never", "failed to"."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from graphrag.linguistics.language import stop_words
from graphrag.linguistics.rules import AnyCase, Pattern, Rules, WordSet, read_rules


class NegationRules(Rules):
    cues: dict[str, WordSet]
    failing: dict[str, WordSet]
    exceptions: AnyCase
    negative: Pattern


@lru_cache(maxsize=1)
def _rules() -> NegationRules:
    return read_rules(NegationRules, "graphrag.linguistics", "negation")


_NOT = re.compile(r"n['’]t\b|\bcannot\b", re.IGNORECASE)
_NE = re.compile(r"\b(?:ne|n['’])", re.IGNORECASE)
_STOP = re.compile(r"[.!?;:()]")
_REACH = 5  # words


def denying_words(text: str, matches: Sequence[re.Match[str]], folded: Sequence[str], language: str) -> list[int]:
    """Places of the words that deny."""
    spared = [(match.start(), match.end()) for match in _rules().exceptions.finditer(text)]
    return [
        cue
        for cue in _cues(text, matches, folded, language)
        if not any(start <= matches[cue].start() < end for start, end in spared)
    ]


def negated_words(
    text: str, matches: Sequence[re.Match[str]], folded: Sequence[str], cues: Sequence[int], language: str
) -> set[int]:
    """Places of the words that the cues deny; «no … nunca» denies once."""
    places = (_denied(text, matches, folded, cue, language) for cue in cues)
    return {place for place in places if place is not None}


def is_negative(word: str) -> bool:
    """A word that denies by itself: «rechazó», «sauf», "only"."""
    return _rules().negative.match(word) is not None


def _cues(text: str, matches: Sequence[re.Match[str]], folded: Sequence[str], language: str) -> Iterator[int]:
    cues, failing = _rules().cues.get(language, frozenset()), _rules().failing.get(language, frozenset())
    for place, word in enumerate(folded):
        if (
            word in cues
            or (word in failing and (word != "dejo" or folded[place + 1 : place + 2] == ["de"]))
            or (
                language == "fr"
                and word == "plus"
                and _NE.search(text, max(0, matches[place].start() - 30), matches[place].start())
            )
            or (language == "en" and _NOT.match(text, matches[place].end() - (word[-1:] == "n")))
        ):
            yield place


def _denied(text: str, matches: Sequence[re.Match[str]], folded: Sequence[str], cue: int, language: str) -> int | None:
    """Return the negated word, «signe» in «n'a pas signé» and «ne signe pas»; a word between the two comes first."""
    empty = stop_words(language)
    if language == "fr" and folded[cue] in {"pas", "plus", "jamais", "rien", "personne", "aucun", "aucune", "guere"}:
        for place in range(cue - 1, max(-1, cue - 5), -1):
            if folded[place] in {"ne", "n"}:
                between = [at for at in range(place + 1, cue) if folded[at] not in empty and len(folded[at]) > 1]
                if between:
                    return between[0]
                break
    for place in range(cue + 1, min(len(folded), cue + 1 + _REACH)):
        if _STOP.search(text, matches[place - 1].end(), matches[place].start()):
            return None
        if folded[place] not in empty and len(folded[place]) > 1:
            return place
    return None
