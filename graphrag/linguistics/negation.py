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
_ENDS = frozenset({"end", "relative", "join", "whether"})
_PHRASE_ENDS = frozenset({"verb", "not", "can", "would"})
_MOST_BACK = 2  # function words between a verb and the object that denies it


@dataclass(slots=True)
class WordPolarity:
    start: int
    end: int
    is_negated: bool = False  # an even number of denials cancels
    modality: str = ""  # kind of the cue that makes it uncertain
    is_cue: bool = False  # of a denial
    denied_by: int | None = None  # place of a cue whose first content word this is


@dataclass(frozen=True, slots=True)
class _Scope:
    is_negated: bool = False
    modality: str = ""
    denial: str = ""  # kind of the latest one that counts
    cue: int | None = None  # its place
    is_fresh: bool = False  # no content word stood since the latest cue
    outer: "_Scope | None" = None  # goes on behind the phrase with which this one ends
    is_condition: bool = False
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
            return replace(self, modality=kind, is_fresh=True)
        return self


def read_polarity(text: str, language: str) -> list[WordPolarity]:
    """Return the words of a text with what is said of them; in a language without rules nothing is denied."""
    found = [WordPolarity(*match.span()) for match in WORD.finditer(text)]
    rules = _rules()
    if language not in rules.cues:
        return found
    s = normalize(text).replace("\n", " ")
    ends = [span.end for span in split_sentences(text)]
    written = [s[word.start : word.end] for word in found]
    says = [
        len(word) > 1 and fold(word) not in stop_words(language) and not rules.adverb[language].fullmatch(word)
        for word in written
    ]
    scope, clause, sentence, place, before = _Scope(), 0, 0, 0, 0
    while place < len(found):
        start = found[place].start
        gap, last = s[before:start], sentence
        sentence = bisect_right(ends, start)
        if sentence != last or _BREAK.search(gap):
            scope, clause = _Scope(), place
        elif "," in gap and not (
            (scope.is_fresh and scope.denial != "deny") or (scope.denial and _LIST.match(s, start))
        ):
            scope, clause = scope.ended(), place
        is_whole = not start or not (s[start - 1].isalnum() or s[start - 1] == "_")
        match = rules.cues[language].match(s, start) if is_whole else None
        kind = (match.lastgroup or "") if match else ""
        behind = bisect_right(found, match.end() - 1, place + 1, key=lambda word: word.start) if match else place + 1
        is_joined = place and says[place] and says[place - 1] and not gap.strip()
        is_verb = kind in _PHRASE_ENDS or (is_joined and rules.finite[language].fullmatch(written[place]))
        if scope.outer and not scope.is_fresh and is_verb:
            scope = scope.outer
        if kind == "contrast":
            scope, clause = _Scope(), behind
        elif kind in _ENDS or (kind == "subject" and not scope.is_fresh):
            scope, clause = scope.ended(kind), behind
        elif kind == "condition":
            for word in found[clause:place]:
                word.modality = word.modality or ("" if word.is_negated else kind)
            scope, clause = _Scope(is_condition=True), behind
        for at in range(place, behind):
            word = found[at]
            word.is_negated, word.is_cue = scope.is_negated, kind in _DENIALS
            word.modality = scope.modality or (
                "condition" if scope.is_condition else "would" if kind == "would" else ""
            )
            if scope.is_negated and scope.is_fresh and says[at] and not word.is_cue:
                word.denied_by = scope.cue
        if kind == "object" and not scope.denial:
            verbs = (at for at in range(place - 1, max(clause, place - _MOST_BACK - 1) - 1, -1) if says[at])
            for at in list(verbs)[:1]:
                found[at].is_negated, found[at].denied_by = True, place
        if written[place] in _OR and scope.denial:
            scope = replace(scope, is_fresh=True)
        elif kind and kind != "neutral":
            scope = scope.extended(kind, place)
        elif scope.is_fresh and any(says[place:behind]):
            scope = replace(scope, is_fresh=False)
        place, before = behind, found[behind - 1].end
    return found


def is_negative(word: str) -> bool:
    """A word that denies by itself: «rechazó», «sauf», "only"."""
    return _rules().negative.match(word) is not None
