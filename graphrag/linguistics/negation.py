"""Negation, its scope, and modality: words that are denied, and words that are only possible, conditional or planned.

The rules are our own: spaCy's matchers find the same cues without their scope, and negspacy's scopes (NegEx) are right
for .55 of the tuning half of tests/golden/linguistics/negation.jsonl in Spanish and .63 in English, in 2 ms.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated

from pydantic import BeforeValidator

from graphrag.linguistics.language import fold, stop_words
from graphrag.linguistics.normalization import normalize
from graphrag.linguistics.rules import Pattern, Rules, read_rules
from graphrag.linguistics.sentences import split_sentences


def _join_kinds(patterns: Mapping[str, str]) -> str:
    return rf"(?:{'|'.join(f'(?P<{kind}>{pattern})' for kind, pattern in patterns.items())})(?:(?<!\w)|(?!\w))"


class NegationRules(Rules):
    cues: dict[str, Annotated[Pattern, BeforeValidator(_join_kinds)]]
    finite: dict[str, Pattern]
    dependent: dict[str, Pattern]
    adverb: dict[str, Pattern]
    negative: Pattern


@lru_cache(maxsize=1)
def _rules() -> NegationRules:
    return read_rules(NegationRules, "graphrag.linguistics", "negation")


WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_BREAK = re.compile(r"[;:()|«»“”]|\s[–—-]+\s|—")
_LIST = re.compile(r"(?:[^\W\d_]+['’ ]+){0,3}?[^\W\d_]+,? (?:or|nor|ni|ou|o|u)\b")
_OR = frozenset({"or", "nor", "ou", "o", "u", "ni"})
_DENIALS = frozenset({"deny", "lack", "never", "object", "not"})
_PHRASE_ENDS = frozenset({"verb", "not", "can", "would"})
_MOST_BACK = 2  # function words between a verb and the object that denies it


@dataclass(slots=True)
class WordPolarity:
    start: int
    end: int
    is_negated: bool = False  # an even number of denials cancels
    is_uncertain: bool = False
    is_cue: bool = False
    denied_by: int = -1  # the place of the cue, if it is the first content word that a cue denies


@dataclass(frozen=True, slots=True)
class _Scope:
    is_negated: bool = False
    denial: str = ""  # kind of the latest
    cue: int = -1
    is_fresh: bool = False  # no content word since the latest cue
    outer: "_Scope | None" = None  # after the noun phrase, or the verb and its objects, in which this one ends
    is_condition: bool = False
    is_possible: bool = False
    is_relative: bool = False

    def ended(self, kind: str = "") -> "_Scope":
        is_relative = kind == "relative" or (kind == "join" and self.is_relative)
        return _Scope(is_condition=self.is_condition, is_relative=is_relative)

    def extended(self, kind: str, place: int) -> "_Scope":
        """Return the scope of the words behind a cue."""
        if (
            kind in ("deny", "lack")
            or (kind == "doubt" and self.denial)
            or (kind in ("never", "object") and not self.denial)
            or (kind == "not" and self.denial not in ("never", "object"))
        ):
            denial = kind if kind in ("never", "object", "not") else self.denial or kind
            outer = self if kind == "lack" or (self.is_relative and kind in ("deny", "not")) else None
            return replace(self, is_negated=not self.is_negated, denial=denial, cue=place, is_fresh=True, outer=outer)
        if kind in ("maybe", "would", "whether", "doubt") or (kind == "can" and not (self.denial and self.is_fresh)):
            return replace(self, is_possible=True, is_fresh=True)
        return self


def read_polarity(text: str, language: str) -> list[WordPolarity]:
    """Return the words of a text with what is said of them; none is denied in a language without rules."""
    found = [WordPolarity(*match.span()) for match in WORD.finditer(text)]
    rules = _rules()
    if language not in rules.cues:
        return found
    s = normalize(text).replace("\n", " ")
    ends = [span.end for span in split_sentences(text)]
    says = [_says(s, word, language) for word in found]
    scope, clause, sentence, place, before = _Scope(), 0, 0, 0, 0
    while place < len(found):
        start = found[place].start
        gap, last = s[before:start], sentence
        sentence = bisect_right(ends, start)
        if sentence != last or _BREAK.search(gap):
            scope, clause = _Scope(), place
        elif (
            "," in gap
            and not (scope.is_fresh and scope.denial != "deny")
            and not (scope.denial and _LIST.match(s, start))
        ):
            scope, clause = scope.ended(), place
        is_whole = not start or not (s[start - 1].isalnum() or s[start - 1] == "_")
        match = rules.cues[language].match(s, start) if is_whole else None
        kind = (match.lastgroup or "") if match else ""
        behind = place + 1
        while match and behind < len(found) and found[behind].start < match.end():
            behind += 1
        if scope.outer and not scope.is_fresh:
            is_joined = place and says[place] and says[place - 1] and not gap.strip()
            if kind in _PHRASE_ENDS or (is_joined and _is_finite(s, found[place], language)):
                scope = scope.outer
        if kind == "contrast":
            scope, clause = _Scope(), behind
        elif kind in ("end", "relative", "join", "whether") or (kind == "subject" and not scope.is_fresh):
            scope, clause = scope.ended(kind), behind
        elif kind == "condition":
            if not (scope.is_condition and scope.is_fresh):
                for word in found[clause:place]:
                    word.is_uncertain |= not word.is_negated
            scope, clause = _Scope(is_condition=True), behind
        for at in range(place, behind):
            word = found[at]
            word.is_cue = kind in _DENIALS
            word.is_negated = scope.is_negated
            word.is_uncertain = scope.is_possible or scope.is_condition or kind == "would"
            if scope.is_negated and scope.is_fresh and says[at] and not word.is_cue:
                word.denied_by = scope.cue
        if kind == "object" and not scope.denial:
            for at in range(place - 1, max(clause, place - _MOST_BACK - 1) - 1, -1):
                if says[at]:
                    found[at].is_negated, found[at].denied_by = True, place
                    break
        if s[start : found[place].end] in _OR and scope.denial:
            scope = replace(scope, is_fresh=True)
        elif kind and kind != "neutral":
            scope = scope.extended(kind, place)
        elif scope.is_fresh and any(says[place:behind]):
            scope = replace(scope, is_fresh=False)
        place, before = behind, found[behind - 1].end
    return found


def _says(s: str, word: WordPolarity, language: str) -> bool:
    """Return whether it is a content word, and no adverb."""
    written = s[word.start : word.end]
    is_empty = len(written) == 1 or fold(written) in stop_words(language)
    return not is_empty and _rules().adverb[language].fullmatch(written) is None


def _is_finite(s: str, word: WordPolarity, language: str) -> bool:
    """Return whether the form may be a finite verb."""
    written = s[word.start : word.end]
    rules = _rules()
    return rules.finite[language].fullmatch(written) is not None and not rules.dependent[language].fullmatch(written)


def is_negative(word: str) -> bool:
    """A word that denies by itself: «rechazó», «sauf», "only"."""
    return _rules().negative.match(word) is not None
