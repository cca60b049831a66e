"""Comparisons: the things that a question sets against each other, and the question about each of them alone."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from graphrag.linguistics.normalization import without_quotes
from graphrag.query_transformation.phrases import (
    Joint,
    QuestionGrammar,
    QuestionToken,
    beginning,
    read_words,
    word_kinds,
)

Span = tuple[int, int]  # numbers of words
MOST_THINGS = 4
MOST_WORDS = 8  # of a thing
MOST_JOINTS = 8  # that are tried for each kind of joint
WORDS_BEFORE = 24  # a joint, among which the first thing is looked for

# To the kinds of `word_kinds` are added: c word of comparing, a adjective that compares, s "'s".
_MERGED = str.maketrans("okfv", "gppw")
CONTENT = "nswa"
_PHRASE = re.compile(f"[^{CONTENT}]*[{CONTENT}](?:g*(?<=g)d?[{CONTENT}]|[{CONTENT}])*")
_LISTED = re.compile(f"[{CONTENT}dg]+")
_NAMES = re.compile("n(?:g*[ns])*")
_THAT_OF = re.compile("[pg]?[dg]g(?=.)")  # «el de Estella», "in those of Lugo"


def compared_parts(text: str, flat: str, grammar: QuestionGrammar) -> tuple[str, ...]:
    """Return, for each compared thing, the question without the others; empty if it doesn't name two things."""
    words = read_words(text, flat)
    start = beginning(without_quotes(flat), grammar.asking)
    if any(word.flat in grammar.comparing.conjunctions for word in words if word.start < start):
        start = 0  # «entre A y B, ¿cuál …?»
    words = [word for word in words if word.start >= start]
    question = _ComparedWords(words, _kinds(words, grammar), text, flat, grammar)
    found = question.find_comparison()
    return tuple(question.ask_about(thing, found) for thing in found.things) if found else ()


def _kinds(words: Sequence[QuestionToken], grammar: QuestionGrammar) -> str:
    comparing, kinds = grammar.comparing, ""
    for word, kind in zip(words, word_kinds(words, grammar.clauses).lower().translate(_MERGED), strict=True):
        if word.flat in comparing.words:
            kinds += "c"
        elif word.flat in comparing.pronouns:
            kinds += "d"
        elif kind == "w" and word.flat == "s":
            kinds += "s"
        else:
            kinds += "a" if kind == "w" and comparing.grades.fullmatch(word.flat) else kind
    return kinds


@dataclass(frozen=True, slots=True)
class _Comparison:
    things: list[Span]
    joints: list[Span]
    likeness: float  # of the first two things


@dataclass(frozen=True, slots=True)
class _ComparedWords:
    words: list[QuestionToken]
    kinds: str
    text: str
    flat: str
    grammar: QuestionGrammar

    def find_comparison(self) -> _Comparison | None:
        for joint in self.grammar.comparing.joints:
            found = [one for one in map(self._things_around, self._joints(joint)) if one and self._holds(one, joint)]
            if found:
                return max(found, key=lambda comparison: comparison.likeness)
        return None

    def _joints(self, joint: Joint) -> Iterator[list[Span]]:
        """Yield the places of the joint, each with the further joints of its list: «A, B o C», «A vs B vs C»."""
        cue = joint.after.search(self.flat) if joint.after else None
        if joint.after and not cue:
            return
        start = cue.end() if cue else 0
        spans = [(self._numbers(*match.span()), match[0]) for match in joint.between.finditer(self.flat, start)]
        found = [(span, said) for span, said in spans if 0 < span[0] < span[1] < len(self.words)]
        for number, (span, said) in enumerate(found[:MOST_JOINTS]):
            joints = [*self._commas(self._numbers(start, start)[0], span[0]), span]
            for further, said_again in found[number + 1 : number + MOST_THINGS]:
                is_list = said_again == said and self.kinds[span[0]] not in "pg"
                if is_list and self._is_listed(joints[-1][1], further[0]):
                    joints.append(further)
            yield joints

    def _numbers(self, start: int, end: int) -> Span:
        first, last = (bisect_left(self.words, offset, key=lambda word: word.start) for offset in (start, end))
        return first, last

    def _commas(self, first: int, last: int) -> list[Span]:
        """Return the commas between the things of a list, without the one that opens it."""
        stops = [first, *(number for number in range(first + 1, last) if self.words[number].is_apart), last]
        found: list[Span] = []
        for before, stop, after in reversed([*zip(stops, stops[1:], stops[2:], strict=False)]):
            gap = self.text[self.words[stop - 1].end : self.words[stop].start]
            if re.search("[:?¿]", gap) or not (self._is_listed(before, stop) and self._is_listed(stop, after)):
                break
            found.insert(0, (stop, stop))
        return found

    def _is_listed(self, first: int, last: int) -> bool:
        return last - first <= MOST_WORDS and _LISTED.fullmatch(self.kinds, first, last) is not None

    def _things_around(self, joints: list[Span]) -> _Comparison | None:
        ends = [*(first for first, _ in joints[1:]), len(self.words)]
        others = [self._phrase(joint[1], end) for joint, end in zip(joints, ends, strict=True)]
        if not all(first < last for first, last in others):
            return None
        end = joints[0][0]
        scored = [(self._likeness(span, others[0], end), span) for span in self._phrases_before(end)]
        if not scored:
            return None
        likeness, left = max(scored, key=lambda pair: pair[0])
        if _NAMES.fullmatch(self.kinds, *left):  # «Copperline vs Hexagon insurance cover»
            others = [names.span() if (names := _NAMES.match(self.kinds, *other)) else other for other in others]
        return _Comparison(self._without_common_noun([left, *others]), joints, likeness)

    def _phrase(self, first: int, end: int) -> Span:
        """Return the noun phrase that begins there, with its preposition; up to a verb or another preposition."""
        stop = next((number for number in range(first + 1, end) if self.words[number].is_apart), end)
        found = _PHRASE.match(self.kinds, first, stop)
        return found.span() if found else (first, first)

    def _phrases_before(self, end: int) -> Iterator[Span]:
        for first in range(max(0, end - WORDS_BEFORE), end):
            if first > 1 and self._goes_on(first):
                continue
            for last in range(first + 1, min(end, first + MOST_WORDS) + 1):
                if self.kinds[last - 1] in "bci" or (last - 1 > first and self.words[last - 1].is_apart):
                    break
                if self.kinds[last - 1] in "nsw" and not (last < end and self._goes_on(last)):
                    yield first, last

    def _goes_on(self, number: int) -> bool:
        """Return whether a word is a further one of a name."""
        one, other = self.kinds[number - 1], self.kinds[number]
        return other == "s" or (one in "ns" and other == "n" and not self.words[number].is_apart)

    def _likeness(self, left: Span, right: Span, end: int) -> float:
        """Return how well a phrase before a joint matches the one behind it."""
        ours, theirs = (self.kinds[slice(*span)] for span in (left, right))
        fills_clause = self.words[left[0]].is_apart and left[1] == end
        forms = [kinds[: next(n for n, kind in enumerate(kinds, 1) if kind in CONTENT)] for kinds in (ours, theirs)]
        return (
            4 * (not set(self._content(left)).isdisjoint(self._content(right)))
            + 3 * (_THAT_OF.match(theirs) is not None and "g" in ours)
            + 3 * fills_clause
            + 2 * ("n" in ours and "n" in theirs)
            + 2 * (ours[0] == theirs[0])
            + (forms[0] == forms[1])
            + (left[1] == end)
            - 0.4 * abs(len(ours) - len(theirs))
        )

    def _without_common_noun(self, things: list[Span]) -> list[Span]:
        """«el clima de Ibraz y el de Monteluz»: the noun is that of both."""
        (first, last), *others = things
        after = [found.end() if (found := _THAT_OF.match(self.kinds, *other)) else other[0] for other in others]
        if after == [other[0] for other in others]:
            return things
        noun = self.kinds.rfind("g", first, last)
        if noun < 0:
            noun = next(number for number in range(first, last) if self.kinds[number] in CONTENT)
        return [(noun + 1, last), *((start, end) for start, (_, end) in zip(after, others, strict=True))]

    def _holds(self, comparison: _Comparison, joint: Joint) -> bool:
        things, rest = sorted(comparison.things), self.grammar.comparing.rest
        if not 2 <= len(things) <= MOST_THINGS or any(end > first for (_, end), (first, _) in pairwise(things)):
            return False
        if joint.between_names and not all("n" in self.kinds[slice(*span)] for span in things):
            return False
        said = [self._content(span) for span in things]
        if not all(said) or len({*map(frozenset, said)}) < len(said):
            return False
        opening = {self.words[first].flat for first, _ in things} | {words[0] for words in said}
        return opening.isdisjoint(rest)  # "than it was"

    def _content(self, span: Span) -> list[str]:
        return [self.words[number].flat for number in range(*span) if self.kinds[number] in CONTENT]

    def ask_about(self, thing: Span, comparison: _Comparison) -> str:
        """Return the shared words in their order, one thing in the place of the first, no words of comparing."""
        left_out = {number for span in [*comparison.things, *comparison.joints] for number in range(*span)}
        first = min(comparison.things)[0]
        numbers: list[int] = []
        for number in range(len(self.words)):
            if number == first:
                numbers += range(*thing)
            if number not in left_out and self.kinds[number] != "c":
                numbers.append(number)
        while numbers and self.kinds[numbers[-1]] not in f"{CONTENT}i":
            numbers.pop()
        while numbers and self.kinds[numbers[0]] not in f"{CONTENT}d" and not self.words[numbers[0]].is_name:
            numbers.pop(0)
        spelled = (f"{word.text}{self._apostrophe_after(word)}" for word in (self.words[number] for number in numbers))
        return re.sub("(?<=['’]) ", "", " ".join(spelled))

    def _apostrophe_after(self, word: QuestionToken) -> str:
        mark = self.text[word.end : word.end + 1]
        return mark if mark in ("'", "’") and word.end + 1 < len(self.text) else ""
