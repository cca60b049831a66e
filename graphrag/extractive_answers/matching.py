"""How well each sentence of the evidence meets a question, in a few figures, and how these are weighed."""

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import cached_property

from graphrag.extractive_answers.kinds import denies_reason, wanted_kinds
from graphrag.language import fold, words
from graphrag.rerankers.bundled import NAME_WEIGHT, rarity
from graphrag.rerankers.word_matches import Held, find_words, read_question

NEARBY, AROUND, TITLED = 0.5, 0.3, 0.3  # what a word counts in the sentence beside, the passage, the title


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence and where it stands."""

    text: str
    title: str
    passage: int  # its number
    score: float  # the passage's, in [0, 1]


@dataclass(frozen=True, slots=True)
class Fit:
    """Of one sentence. A word of the question counts by its rarity, and once: where it says most."""

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


@dataclass(frozen=True, slots=True)
class Trust:
    """In the best sentence: what tells an answer from a text on the same subject."""

    one: float
    covered: float  # the question's words in it, and less so in its surroundings
    alike: float
    unnamed: float  # 1: a name or number of the question is neither in the passage nor in its title
    score: float  # the passage's, in [0, 1]


# By listwise logistic regression over the sentences of 2,700 questions of three development sets in three languages; by
# logistic regression over their best sentences and those of 1,340 questions whose document was taken away; rounded.
# Fitted without a set, they find on it what they find with it, but for 2 in 100 of the French questions.
WEIGHTS = Fit(own=6.5, alike=4, titled=5, before=2.5, after=1, pairs=2, passage=6.3, figure=1.9, name=1.1, reason=1)
TRUST = Trust(one=-3.95, covered=4.1, alike=2.5, unnamed=-0.8, score=6.7)
LEAST_MET = 0.25  # of the question; on less even the best of all passages is no answer
# In another language mostly names and numbers can meet: less will do, if it is more than one word.
TRUST_ACROSS, WORDS_ACROSS = -1.0, 2


class Wanted:
    """A question, and how the sentences of the evidence, all of them and in their order, meet it."""

    def __init__(self, question: str, language: str, sentences: Sequence[Said]) -> None:
        self._question = read_question(question, language)
        self._asked = frozenset(map(fold, words(question)))
        self._kinds = wanted_kinds(question)
        self._sentences = sentences
        self._best = max((sentence.score for sentence in sentences), default=0.0)
        titles = list(dict.fromkeys(sentence.title for sentence in sentences))
        # A file's name may join its words: Super_Bowl_50.
        texts = [*(sentence.text for sentence in sentences), *(title.replace("_", " ") for title in titles)]
        self._matches = find_words(self._question, texts, [""] * len(texts))
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
        """By passage: the question's words in it."""
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
        return Fit(
            own=self._sum(held.exact),
            alike=self._sum(held.alike),
            titled=self._sum(titled),
            before=self._sum(self._met_beside(number, -1) - known - titled),
            after=self._sum(self._met_beside(number, +1) - known - titled),
            pairs=len(self._matches[number].pairs) / len(pairs) if pairs else 0.0,
            passage=sentence.score / self._best if self._best else 1.0,
            figure=float(bool(shown & {"number", "money", "date"})),
            name=float(bool(shown & {"person", "place"})),
            reason=self._reason(sentence.text, shown),
        )

    def covered(self, number: int) -> float:
        """The share of the question that a sentence holds in its surroundings."""
        own, sentence = self.met_by(number), self._sentences[number]
        titled = self._titled[sentence.title] - own
        beside = (self._met_beside(number, -1) | self._met_beside(number, +1)) - own - titled
        around = self._around[sentence.passage] - own - titled - beside
        return self._sum(own) + TITLED * self._sum(titled) + NEARBY * self._sum(beside) + AROUND * self._sum(around)

    def trust(self, number: int) -> Trust:
        return Trust(
            one=1.0,
            covered=self.covered(number),
            alike=self._sum(self._held(number).alike),
            unnamed=float(not self._question.names <= self._near(number)),
            score=self._sentences[number].score,
        )

    def is_answered_by(self, number: int, *, is_across: bool) -> bool:
        """`is_across`: the sentence is in another language than the question."""
        trust = self.trust(number)
        if is_across:
            return len(self._near(number)) >= WORDS_ACROSS and _weigh(TRUST, trust) > TRUST_ACROSS
        return trust.covered + trust.alike >= LEAST_MET and _weigh(TRUST, trust) > 0

    def _near(self, number: int) -> frozenset[str]:
        """The question's words in the sentence's passage or its title."""
        sentence = self._sentences[number]
        return self._around[sentence.passage] | self._titled[sentence.title]

    def _held(self, number: int) -> Held:
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


def _weigh(weights: Fit | Trust, values: Fit | Trust) -> float:
    return math.fsum(weight * value for weight, value in zip(astuple(weights), astuple(values), strict=True))
