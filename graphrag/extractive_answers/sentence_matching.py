"""Features of the sentences of the evidence that meet a question."""

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import cached_property

from graphrag.extractive_answers.answer_kinds import denies_reason, wanted_kinds
from graphrag.linguistics.language import fold, words
from graphrag.rerankers.bundled import NAME_WEIGHT, MatchedWords, find_words, rarity, read_question

FIGURES = frozenset(("number", "count", "money", "date"))  # kinds of answers
KINDS_OF_NUMBER = frozenset(("count", "money"))  # where one of them is asked for, not any number will do


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence and where it stands."""

    text: str
    title: str
    passage: int  # its number
    score: float  # the passage's, in [0, 1]
    language: str


@dataclass(frozen=True, slots=True)
class Fit:
    """Features of one sentence. A word of the question counts by its rarity, and once: where it scores most."""

    own: float  # in the sentence itself
    alike: float  # another word of its family is
    titled: float  # in the title
    before: float  # in the sentence before it
    after: float  # in the one after it
    pairs: float  # the share of neighbours in the question that are neighbours here
    passage: float  # its score beside the best one's
    figure: float  # 1: a number or date is asked for, and it has one that the question lacks
    name: float  # 1: so for a person or a place
    reason: float  # 1: a reason is asked for and given; -1: denied


# By listwise logistic regression over the sentences of 2,700 questions of three development sets in three languages;
# rounded. Fitted without a set, they find on it what they find with it, but for 2 in 100 of the French questions. With
# 35 features more (order and closeness of matches, the question word's noun, counted nouns, opposites, new names),
# neither a linear model nor boosted trees found more on documents kept aside.
WEIGHTS = Fit(own=6.5, alike=4, titled=5, before=2.5, after=1, pairs=2, passage=6.3, figure=1.9, name=2, reason=1)
SURE_OF_DATE = 2.0  # logarithm of the reader's odds, from which on a date may be told in other words


class SentenceMatcher:
    """A question, and how the sentences of the evidence, all of them and in their order, meet it."""

    def __init__(self, question: str, language: str, sentences: Sequence[Said]) -> None:
        self._language = language
        self._question = read_question(question, language)
        self._asked = frozenset(map(fold, words(question)))
        self._kinds = wanted_kinds(question)
        self._sentences = sentences
        self._best = max((sentence.score for sentence in sentences), default=0.0)
        titles = {sentence.title: sentence.language for sentence in sentences}
        # A file's name may join its words: Super_Bowl_50.
        texts = [*(sentence.text for sentence in sentences), *(title.replace("_", " ") for title in titles)]
        languages = [*(sentence.language for sentence in sentences), *titles.values()]
        self._matches = find_words(self._question, texts, [""] * len(texts), languages)
        in_titles = (match.passage.exact for match in self._matches[len(sentences) :])
        self._titled = dict(zip(titles, in_titles, strict=True))

    @cached_property
    def _weights(self) -> dict[str, float]:
        """The share of each word in what the question asks for; they sum to 1."""
        held = [set(self.met_by(number)) for number in range(len(self._sentences))]
        rare = rarity(set(self._question.words), held)
        weights = {word: weight * (NAME_WEIGHT if word in self._question.names else 1) for word, weight in rare.items()}
        total = math.fsum(weights.values())
        return {word: weight / total for word, weight in weights.items()}

    @cached_property
    def _around(self) -> dict[int, frozenset[str]]:
        """Return the question's words in each passage, by its number."""
        found: dict[int, frozenset[str]] = {}
        for number, sentence in enumerate(self._sentences):
            found[sentence.passage] = found.get(sentence.passage, frozenset()) | self.met_by(number)
        return found

    def met_by(self, number: int) -> frozenset[str]:
        """The question's words that a sentence holds itself."""
        return self._held(number).exact

    def score(self, number: int) -> float:
        return _weigh(WEIGHTS, self.fit(number))

    def fit(self, number: int) -> Fit:
        held, sentence = self._held(number), self._sentences[number]
        known = held.exact | held.alike
        titled = self._titled[sentence.title] - known
        pairs = self._question.pairs
        shown = {kind.name for kind in self._kinds if kind.shows(sentence.text, self._asked)}
        figures = FIGURES - {"number"} if any(kind.name in KINDS_OF_NUMBER for kind in self._kinds) else FIGURES
        return Fit(
            own=self._sum(held.exact),
            alike=self._sum(held.alike),
            titled=self._sum(titled),
            before=self._sum(self._met_beside(number, -1) - known - titled),
            after=self._sum(self._met_beside(number, +1) - known - titled),
            pairs=len(self._matches[number].pairs) / len(pairs) if pairs else 0.0,
            passage=sentence.score / self._best if self._best else 1.0,
            figure=float(bool(shown & figures)),
            name=float(bool(shown & {"person", "place"})),
            reason=self._reason(sentence.text, shown),
        )

    def is_across(self, number: int) -> bool:
        """Return whether a sentence is in another language than the question."""
        return self._sentences[number].language != self._language

    def is_met(self, number: int) -> bool:
        """Return whether a sentence's passage or title has a word of the question, or a relative of one."""
        return bool(self._near(number) or self._held(number).alike)

    def is_named(self, number: int) -> bool:
        """Return whether all names and numbers of the question stand in a sentence's passage or its title."""
        return self._question.names <= self._near(number)

    def lacks_figure(self, number: int, read: float = 0.0) -> bool:
        """Return whether a number or date is asked for and the sentence has none that the question lacks.

        When something happens, it may tell in other words, where the reader is sure: "from the eighth day on".
        """
        figures = {kind.name for kind in self._kinds} & FIGURES
        is_told = figures == {"date"} and read >= SURE_OF_DATE
        return bool(figures) and not self.fit(number).figure and not is_told

    def names(self, number: int, thing: str) -> bool:
        """Return whether a sentence or its title has a word of a part of the question."""
        held = self._held(number)
        known = held.exact | held.alike | self._titled[self._sentences[number].title]
        return bool(known & set(read_question(thing, self._language).words))

    def added_by(self, number: int, first: int) -> float:
        """Return the share of the question that a sentence holds and `first` does not."""
        here, there = self._held(number), self._held(first)
        return self._sum((here.exact | here.alike) - there.exact - there.alike)

    def _near(self, number: int) -> frozenset[str]:
        """The question's words in the sentence's passage or its title."""
        sentence = self._sentences[number]
        return self._around[sentence.passage] | self._titled[sentence.title]

    def _held(self, number: int) -> MatchedWords:
        return self._matches[number].passage

    def _met_beside(self, number: int, step: int) -> frozenset[str]:
        other = number + step
        here = self._sentences[number].passage
        is_there = 0 <= other < len(self._sentences) and self._sentences[other].passage == here
        return self.met_by(other) if is_there else frozenset()

    def _sum(self, found: frozenset[str]) -> float:
        return math.fsum(self._weights[word] for word in found)  # a set has no order: equal texts, equal scores

    def _reason(self, text: str, shown: set[str]) -> float:
        if "reason" in shown:
            return 1.0
        return -1.0 if denies_reason(text) and any(kind.name == "reason" for kind in self._kinds) else 0.0


def _weigh(weights: Fit, values: Fit) -> float:
    return math.fsum(weight * value for weight, value in zip(astuple(weights), astuple(values), strict=True))
