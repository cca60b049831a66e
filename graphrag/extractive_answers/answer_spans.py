"""Ranking of the spans of a sentence that may answer a question, by a small network trained on question answering.

A candidate is a stretch of at most `MAX_SPAN_WORDS` words. Its features are those of its first and last word, of the
words before and behind it and of those within, how it agrees with what the sentence holds (a quantity, a date, a name,
a quoted text, a clause), how near the question's words are, and what the question asks for. The script
`training/short_answers.py` trains the network, whose weights are `rules/answer_spans.tsv`: a matrix a paragraph, a row
a line.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from graphrag.embeddings.reader import AnswerEdges
from graphrag.extractive_answers.question_reading import (
    WORD,
    AnswerKind,
    ReadQuestion,
    classify_function_words,
    short_answer_rules,
)
from graphrag.linguistics.dates import read_dates
from graphrag.linguistics.language import ANSWER_LANGUAGES, fold, stem, stop_words
from graphrag.linguistics.lexicon import AMBIGUOUS, Meanings, find_meanings, is_agent, read_concepts, share_meaning
from graphrag.linguistics.names import name_places, same_name
from graphrag.linguistics.numbers import read_quantities

MAX_SPAN_WORDS = 20
MAX_SENTENCE_WORDS = 400
RANKED = 60  # spans whose overlap is compared
NETWORK_WEIGHT, EDGES_WEIGHT, EDGES_BIAS = 0.5, 0.5, 2.0  # of the network beside the reader, in logarithms of odds
Floats = NDArray[np.float32]
Ints = NDArray[np.intp]


_QUOTED = re.compile(r"«[^«»]{1,200}»|“[^“”]{1,200}”|\"[^\"]{1,200}\"|‘[^‘’]{1,200}’")
_BRACKETED = re.compile(r"\([^()]{1,200}\)")
_CODE = re.compile(r"(?=[\w/.-]*\d)(?=[\w/.-]*[A-Z])[\w/.-]{3,}")
_BREAK = re.compile(r"[;:.!?()…]|\s[–—-]\s|—")


@lru_cache(maxsize=1)
def _hypernyms() -> Mapping[str, str]:
    """Return the family above each word family."""
    concepts = {concept.name: concept for concept in read_concepts()}
    return {
        concept.family: concepts[concept.hypernym].family
        for concept in concepts.values()
        if concept.hypernym in concepts
    }


_MOST_ABOVE = 3  # hypernyms of hypernyms


def _is_kind_of(meanings: Meanings, wanted: Meanings) -> bool:
    for name, weight in meanings.items():
        above = _hypernyms().get(name, "")
        for _ in range(_MOST_ABOVE):
            if above in wanted:
                return weight >= AMBIGUOUS
            above = _hypernyms().get(above, "")
    return False


_CLASSES = (
    "article", "of", "in", "by", "to", "with", "and", "be", "relative", "from", "about", "pronoun", "denial",
)  # fmt: skip
_SHAPES = (
    "content", "capital", "first capital", "code", "digits", "year", "symbol", "numeral", "agent", "noun", "participle",
    "infinitive", "finite", "adverb", "plural", "matched", "matched in meaning", "focus", "of the focus", "first",
    "last", "comma before", "break before", "quote before", "comma behind", "break behind", "quote behind",
    "cause cue before", "effect cue before", "effect cue", "name",
    "money", "time", "measure", "count", "edge",
)  # fmt: skip
_HELD = (
    "money",
    "time",
    "measure",
    "count",
    "name",
    "capital",
    "agent",
    "code",
    "cause cue before",
    "effect cue before",
    "of the focus",
)
_COLUMN = {name: column for column, name in enumerate((*_CLASSES, *_SHAPES))}
WORD_FEATURES = len(_COLUMN)
_AGREEMENTS = 5  # features of a layer
_LAYER_OF = {
    AnswerKind.AMOUNT: "quantity", AnswerKind.NUMBER: "quantity", AnswerKind.DURATION: "quantity",
    AnswerKind.DATE: "date", AnswerKind.PERSON: "name", AnswerKind.ORGANISATION: "name", AnswerKind.PLACE: "name",
    AnswerKind.REASON: "cause", AnswerKind.CONSEQUENCE: "effect",
}  # fmt: skip
_COLUMN_OF = {AnswerKind.AMOUNT: "money", AnswerKind.DURATION: "time"}
_HELD_OF = {
    **_COLUMN_OF, AnswerKind.NUMBER: "numeral", AnswerKind.PERSON: "name", AnswerKind.ORGANISATION: "name",
    AnswerKind.PLACE: "name", AnswerKind.CODE: "code", AnswerKind.LIST: "and", AnswerKind.PROCEDURE: "infinitive",
}  # fmt: skip
_LAYERS = ("quantity", "date", "name", "quoted", "bracketed", "clause", "cause", "effect")


@dataclass(frozen=True, slots=True)
class CandidateSpans:
    """The spans of a sentence, by their first and last words.

    `features` has a row for each, and as its last one that of no answer.
    """

    text: str
    bounds: Sequence[tuple[int, int]]  # of its words, in characters
    first: Ints
    last: Ints
    features: Floats

    def bounds_of(self, number: int) -> tuple[int, int]:
        return self.bounds[self.first[number]][0], self.bounds[self.last[number]][1]


def find_candidates(question: ReadQuestion, sentence: str, language: str) -> CandidateSpans | None:
    """Return the spans that may answer; None where a sentence has none, or too many words."""
    bounds = [match.span() for match in WORD.finditer(sentence)]
    if not bounds or len(bounds) > MAX_SENTENCE_WORDS:
        return None
    words = _Words(question, sentence, language, bounds)
    first, last = words.spans()
    if not len(first):
        return None
    return CandidateSpans(sentence, bounds, first, last, words.features(first, last))


@dataclass(frozen=True, slots=True)
class _Named:
    """A word as the reader of names takes it."""

    written: str
    start: int


class _Words:
    """The words of a sentence, a row of features each, and the stretches that they are of."""

    def __init__(self, question: ReadQuestion, text: str, language: str, bounds: Sequence[tuple[int, int]]) -> None:
        self.question, self.text, self.language, self.bounds = question, text, language, bounds
        self.written = [text[start:end] for start, end in bounds]
        self.folded = [fold(word) for word in self.written]
        self.gaps = [
            text[one[1] : other[0]] for one, other in zip([(0, 0), *bounds], [*bounds, (len(text),) * 2], strict=True)
        ]
        self.rows = np.zeros((len(bounds), WORD_FEATURES), np.float32)
        self.layers = np.full((len(_LAYERS), len(bounds)), -1, np.intp)
        self.is_cue = np.zeros(len(bounds), bool)  # of a cause: no answer begins with it
        self._fill_words()
        self._fill_stretches()

    def _fill_words(self) -> None:
        rows, column, question = self.rows, _COLUMN, self.question
        classes, stops = classify_function_words(self.language), stop_words(self.language)
        senses = find_meanings(self.written, self.language)
        placed = [_Named(word, start) for word, (start, _) in zip(self.written, self.bounds, strict=True)]
        names = frozenset(name_places(self.text, self.language, placed))
        is_same_language = self.language == question.language
        for at, (word, folded) in enumerate(zip(self.written, self.folded, strict=True)):
            own = [column[name] for name in classes.get(folded, ()) if name in column]
            is_content = folded not in stops and not (len(folded) == 1 and folded.isalpha())
            if is_content:
                own += [column[name] for name in self._shapes(at, word, folded)]
                is_matched = folded in question.folded or (
                    stem(word, self.language) in question.stems
                    if is_same_language
                    else at in names and any(same_name(folded, other) for other in question.folded)
                )
                if is_matched:
                    own.append(column["matched"])
                elif share_meaning(senses[at], question.meanings) >= AMBIGUOUS:
                    own.append(column["matched in meaning"])
                if (is_same_language and stem(word, self.language) in question.focus_stems) or (
                    share_meaning(senses[at], question.focus_meanings) >= AMBIGUOUS
                ):
                    own.append(column["focus"])
                elif question.focus_meanings and _is_kind_of(senses[at], question.focus_meanings):
                    own.append(column["of the focus"])
                if is_same_language:
                    own += [
                        column[name]
                        for name, wanted in (("first", question.first_stem), ("last", question.last_stem))
                        if stem(word, self.language) == wanted
                    ]
                if at in names:
                    own.append(column["name"])
            before, behind = self.gaps[at], self.gaps[at + 1]
            own += [column[name] for name in _marks(before, "before")] + [
                column[name] for name in _marks(behind, "behind")
            ]
            if at == 0 or at == len(self.bounds) - 1:
                own.append(column["edge"])
            rows[at, own] = 1.0

    def _shapes(self, at: int, word: str, folded: str) -> Iterator[str]:
        yield "content"
        if word[0].isupper():
            yield "capital" if at and not _BREAK.search(self.gaps[at]) else "first capital"
        if _CODE.fullmatch(word) or (word.isupper() and len(word) > 1):
            yield "code"
        if word[0].isdigit():
            yield "year" if len(word) == 4 and word.isdigit() and word[0] in "12" else "digits"
            return
        if not word[0].isalpha():
            yield "symbol"
            return
        if is_agent(folded, self.language):
            yield "agent"
        for name, pattern in short_answer_rules().endings.items():
            if pattern.fullmatch(word):
                yield name
        if folded.endswith(("s", "x")):
            yield "plural"

    def _fill_stretches(self) -> None:
        rules, text = short_answer_rules(), self.text
        owners = np.full(len(text) + 1, -1, np.intp)
        for at, (start, end) in enumerate(self.bounds):
            owners[start:end] = at

        def words_of(start: int, end: int) -> Ints:
            return np.unique(owners[start:end][owners[start:end] >= 0])

        for number, quantity in enumerate(read_quantities(text, self.language)):
            places = words_of(quantity.start, quantity.end)
            if not quantity.is_article:
                self.layers[0, places] = number
                measure = "money" if quantity.is_money else quantity.measure
                name = measure if measure in ("money", "time") else "measure" if measure else "count"
                self.rows[places, _COLUMN[name]] = 1.0
                self.rows[places, _COLUMN["numeral"]] = 1.0
        for number, each in enumerate(read_dates(text, self.language)):
            self.layers[1, words_of(each.start, each.end)] = number
        self._fill_names()
        for layer, pattern in ((3, _QUOTED), (4, _BRACKETED)):
            for number, match in enumerate(pattern.finditer(text)):
                self.layers[layer, words_of(*match.span())] = number
        clause = 0
        for at, gap in enumerate(self.gaps[:-1]):
            clause += bool(_BREAK.search(gap) or "," in gap)
            self.layers[5, at] = clause
        for layer, pattern, before in ((6, rules.causes, "cause cue before"), (7, rules.effects, "effect cue before")):
            for number, match in enumerate(pattern.finditer(text)):
                cue = words_of(*match.span())
                if not len(cue) or cue[-1] + 1 >= len(self.bounds):
                    continue
                if before == "cause cue before":
                    self.is_cue[cue] = True
                else:
                    self.rows[cue, _COLUMN["effect cue"]] = 1.0
                begin = cue[-1] + 1
                self.rows[begin, _COLUMN[before]] = 1.0
                stop = next(
                    (at for at in range(begin + 1, len(self.bounds)) if self.gaps[at].strip()), len(self.bounds)
                )
                self.layers[layer, begin:stop] = number

    def _fill_names(self) -> None:
        """Number the chains of names: «Banco de España», "Marie Curie"."""
        is_name = (self.rows[:, _COLUMN["capital"]] + self.rows[:, _COLUMN["name"]]) > 0
        joins = self.rows[:, _COLUMN["of"]] + self.rows[:, _COLUMN["article"]] > 0
        chain, last = -1, -9
        for at in np.flatnonzero(is_name):
            between = self.gaps[last + 1 : at + 1] if last >= 0 else []
            is_joined = (
                at - last <= 3 and not any(gap.strip(" ’'") for gap in between) and bool(joins[last + 1 : at].all())
            )
            chain += not is_joined
            self.layers[2, last + 1 if is_joined else at : at + 1] = chain
            last = int(at)

    def spans(self) -> tuple[Ints, Ints]:
        """Return the first and last words of the spans, which begin with no article and end with a content word."""
        rows, column = self.rows, _COLUMN
        content = rows[:, column["content"]] + rows[:, column["numeral"]] > 0
        is_joint = rows[:, [column["and"], column["article"], column["pronoun"], column["relative"]]].sum(1) > 0
        opens = np.flatnonzero((content | ~is_joint) & ~self.is_cue)
        closes = np.flatnonzero(content)
        first, last = (each.ravel() for each in np.meshgrid(opens, closes, indexing="ij"))
        near = (last >= first) & (last - first < MAX_SPAN_WORDS)
        first, last = first[near], last[near]
        breaks = np.cumsum([bool(_STOP.search(gap)) for gap in self.gaps[:-1]])
        brackets = np.cumsum([gap.count("(") - gap.count(")") for gap in self.gaps[:-1]])
        whole = (breaks[first] == breaks[last]) & (brackets[first] == brackets[last])
        return first[whole], last[whole]

    def features(self, first: Ints, last: Ints) -> Floats:
        rows = self.rows
        padded = np.vstack([np.zeros((1, WORD_FEATURES), np.float32), rows, np.zeros((1, WORD_FEATURES), np.float32)])
        padded[[0, -1], _COLUMN["edge"]] = 1.0
        sums = np.vstack([np.zeros((1, WORD_FEATURES), np.float32), np.cumsum(rows, axis=0)])
        length = (last - first + 1).astype(np.float32)[:, None]
        within = sums[last + 1] - sums[first]
        parts = [padded[first + 1], padded[last + 1], padded[first], padded[last + 2], np.minimum(within, 1.0)]
        agreements = self._agreements(first, last)
        fits = self._fits(agreements, within)
        own = np.hstack([*parts, within / length, agreements, fits, self._places(first, last, length)])
        own = np.vstack([own, np.zeros((1, own.shape[1]), np.float32)])
        return np.hstack([own, np.tile(self._shared(), (len(own), 1))])

    def _shared(self) -> Floats:
        """Return what is asked for, and what the sentence holds that the question does not."""
        question, rows = self.question, self.rows
        matched = rows[:, _COLUMN["matched"]] + rows[:, _COLUMN["matched in meaning"]] > 0
        holds = [float((rows[~matched, _COLUMN[name]] > 0).any()) for name in _HELD]
        return np.array(
            [
                *question.asking,
                *(float(question.kind is kind) for kind in AnswerKind),
                *(float(self.language == each) for each in ANSWER_LANGUAGES),
                float(self.language != question.language),
                *holds,
                float((self.layers[1][~matched] >= 0).any()),
                float((self.layers[3] >= 0).any()),
                min(1.5, float(matched.sum()) / max(1, len(question.folded))),
                min(float(matched.sum()), 8.0) / 8,
                min(len(self.bounds), 60) / 60,
            ],
            np.float32,
        )

    def _fits(self, agreements: Floats, within: Floats) -> Floats:
        """Return whether a span is of the kind that is asked for, and whether it holds one."""
        kind = self.question.kind
        layer = _LAYERS.index(_LAYER_OF[kind]) * _AGREEMENTS if kind in _LAYER_OF else -1
        is_one = agreements[:, layer] if layer >= 0 else np.zeros(len(within), np.float32)
        if kind in _COLUMN_OF:
            is_one = is_one * (within[:, _COLUMN[_COLUMN_OF[kind]]] > 0)
        held = within[:, _COLUMN[_HELD_OF[kind]]] > 0 if kind in _HELD_OF else np.zeros(len(within), np.float32)
        return np.stack([is_one, held], axis=1).astype(np.float32)

    def _agreements(self, first: Ints, last: Ints) -> Floats:
        """Return for each layer whether a span is one of its stretches, begins or ends one, or cuts one."""
        found = []
        for layer in self.layers:
            padded = np.concatenate([[-1], layer, [-1]])
            head, tail, before, behind = padded[first + 1], padded[last + 1], padded[first], padded[last + 2]
            begins, ends = (head >= 0) & (before != head), (tail >= 0) & (behind != tail)
            found += [
                begins & ends & (head == tail),
                begins,
                ends,
                (head >= 0) & (before == head),
                (tail >= 0) & (behind == tail),
            ]
        return np.stack(found, axis=1).astype(np.float32)

    def _near(self, name: str, first: Ints, last: Ints) -> tuple[Floats, Floats]:
        """Return how near the words with a feature stand before and behind a span."""
        weights = self.rows[:, _COLUMN[name]]
        return _decayed(weights)[first], _decayed(weights[::-1])[::-1][last]

    def _places(self, first: Ints, last: Ints, length: Floats) -> Floats:
        """Return how long a span is, where it stands, and how near the question's words are."""
        count = len(self.bounds)
        matched = self.rows[:, _COLUMN["matched"]] + 0.7 * self.rows[:, _COLUMN["matched in meaning"]]
        total = max(float(matched.sum()), 1e-6)
        left = np.concatenate([[0.0], np.cumsum(matched)]).astype(np.float32)
        decayed_left, decayed_right = _decayed(matched), _decayed(matched[::-1])[::-1]
        clauses = self.layers[5]
        per_clause = np.bincount(clauses, weights=matched)
        columns = [
            np.log(length[:, 0]) / 3,
            *((length[:, 0] == size) for size in (1, 2, 3)),
            length[:, 0] > 8,
            first / count,
            (count - 1 - last) / count,
            left[first] / total,
            (left[-1] - left[last + 1]) / total,
            decayed_left[first],
            decayed_right[last],
            *self._near("focus", first, last),
            *self._near("first", first, last),
            *self._near("last", first, last),
            per_clause[clauses[first]] / total,
            np.minimum(clauses[last] - clauses[first], 3) / 3,
        ]
        return np.stack([np.asarray(column, np.float32) for column in columns], axis=1)


_STOP = re.compile(r"[;!?…]|[.:](?=\s)|\s[–—]\s")
_DECAY = 0.75  # of what a word of the question says, a word further away


def _decayed(weights: NDArray[np.float32]) -> Floats:
    """Return for each word the sum of the weights before it, less the further away they are."""
    found, carried = [], 0.0
    for weight in weights:
        found.append(min(carried, 2.0))
        carried = (carried + float(weight)) * _DECAY
    return np.array(found, np.float32)


def _marks(gap: str, side: str) -> Iterator[str]:
    if "," in gap:
        yield f"comma {side}"
    if _BREAK.search(gap):
        yield f"break {side}"
    if any(mark in gap for mark in '«»“”"‘'):
        yield f"quote {side}"


@lru_cache(maxsize=1)
def _weights() -> tuple[Floats, ...]:
    text = files("graphrag.extractive_answers").joinpath("rules", "answer_spans.tsv").read_text(encoding="ascii")
    return tuple(
        np.array([[float(value) for value in line.split("\t")] for line in matrix.split("\n")], np.float32)
        for matrix in text.strip().split("\n\n")
    )


def load_network() -> None:
    _weights()
    _hypernyms()


@dataclass(frozen=True, slots=True)
class RankedSpan:
    start: int
    end: int
    expected_f1: float  # the share of its words that the answer is expected to have, and of the answer's that it has
    no_answer: float  # how probably the sentence holds no answer


def rank_spans(candidates: CandidateSpans, edges: AnswerEdges | None = None) -> RankedSpan:
    """Return the span of which most is expected to be the answer; `edges`: as the reader finds them."""
    hidden, hidden_bias, output = _weights()
    scores = np.maximum(candidates.features @ hidden + hidden_bias, 0.0) @ output[:, 0]
    if edges:
        first, last = edges.of_words(candidates.bounds)
        scores *= NETWORK_WEIGHT
        scores[:-1] += EDGES_WEIGHT * (first[candidates.first] + last[candidates.last]) + EDGES_BIAS
    return best_span(candidates, scores)


def best_span(candidates: CandidateSpans, scores: Floats) -> RankedSpan:
    """Return the span of the highest expected F1; `scores` are logarithms of odds, the last one of no answer."""
    likely = np.exp(scores - scores.max())
    likely /= likely.sum()
    ranked = np.argsort(-likely[:-1])[:RANKED]
    first, last, weights = candidates.first[ranked], candidates.last[ranked], likely[ranked]
    length = last - first + 1
    shared = np.minimum(last[:, None], last) - np.maximum(first[:, None], first) + 1
    expected = (2 * np.maximum(shared, 0) / (length[:, None] + length)) @ weights
    best = int(expected.argmax())
    return RankedSpan(*candidates.bounds_of(int(ranked[best])), float(expected[best]), float(likely[-1]))
