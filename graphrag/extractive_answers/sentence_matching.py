"""Features of the sentences of the evidence that meet a question, and whether the best of them answers it."""

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import cached_property, lru_cache
from typing import Literal

from graphrag.extractive_answers.answer_kinds import denies_reason, wanted_kinds
from graphrag.linguistics.language import fold, words
from graphrag.linguistics.rules import Rules, read_rules
from graphrag.rerankers.bundled import NAME_WEIGHT, MatchedWords, find_words, rarity, read_question

FIGURES = frozenset(("number", "count", "money", "date"))  # kinds of answers
KINDS_OF_NUMBER = frozenset(("count", "money"))  # where one of them is asked for, not any number will do
NEARBY, AROUND, TITLED = 0.5, 0.3, 0.3  # what a word counts in the sentence beside, the passage, the title


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


@dataclass(frozen=True, slots=True)
class Trust:
    """Features of the best sentence that tell an answer from a text on the same subject."""

    one: float
    covered: float  # the question's words in it, and less so in its surroundings
    alike: float
    unnamed: float  # 1: a name or number of the question is neither in the passage nor in its title
    score: float  # the passage's, in [0, 1]
    read: float  # the reader's logarithm of its odds against "no answer"; 0 without a reader


# By listwise logistic regression over the sentences of 2,700 questions of three development sets in three languages;
# rounded. Fitted without a set, they find on it what they find with it, but for 2 in 100 of the French questions. With
# 35 features more (order and closeness of matches, the question word's noun, counted nouns, opposites, new names),
# neither a linear model nor boosted trees found more on documents kept aside.
WEIGHTS = Fit(own=6.5, alike=4, titled=5, before=2.5, after=1, pairs=2, passage=6.3, figure=1.9, name=2, reason=1)
# Of the question: on less even the best of all passages is no answer, unless the reader, which knows other words for
# the same, gives it such odds (their logarithm).
LEAST_MET, LEAST_READ = 0.25, -1.5
SURE_OF_DATE = 2.0  # as LEAST_READ
# Of the question, which a passage in another language must hold, unless the reader takes it for an answer: one may be
# there by chance.
WORDS_ACROSS = 2


Outcome = Literal["answered", "closest", "none"]


class AnswerabilityModel(Rules):
    weights: dict[str, float]  # of the features of `Trust`
    answered: float  # the least probability of an answer
    closest: float  # and of a passage that is worth showing
    answered_across: float  # where mostly names and numbers can meet, since the passage is in another language


class AnswerabilityRules(Rules):
    """The models of answerability, as `training/answerability.py` fits them."""

    with_reader: AnswerabilityModel
    without_reader: AnswerabilityModel


@lru_cache(maxsize=1)
def _answerability() -> AnswerabilityRules:
    return read_rules(AnswerabilityRules, "graphrag.extractive_answers", "answerability")


class SentenceMatcher:
    """A question, and how the sentences of the evidence, all of them and in their order, meet it.

    `is_read`: the reader reads the best of them, too.
    """

    def __init__(self, question: str, language: str, sentences: Sequence[Said], *, is_read: bool) -> None:
        rules = _answerability()
        self._answerability = rules.with_reader if is_read else rules.without_reader
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

    def covered(self, number: int) -> float:
        """The share of the question that a sentence holds in its surroundings."""
        own, sentence = self.met_by(number), self._sentences[number]
        titled = self._titled[sentence.title] - own
        beside = (self._met_beside(number, -1) | self._met_beside(number, +1)) - own - titled
        around = self._around[sentence.passage] - own - titled - beside
        return self._sum(own) + TITLED * self._sum(titled) + NEARBY * self._sum(beside) + AROUND * self._sum(around)

    def trust(self, number: int, read: float) -> Trust:
        return Trust(
            one=1.0,
            covered=self.covered(number),
            alike=self._sum(self._held(number).alike),
            unnamed=float(not self._question.names <= self._near(number)),
            score=self._sentences[number].score,
            read=read,
        )

    def probability(self, trust: Trust) -> float:
        """Return how probably the evidence answers the question, if what is trusted so is the best of it."""
        return 1 / (1 + math.exp(-_weigh(Trust(**self._answerability.weights), trust)))

    def judge(self, number: int, read: float, *, is_across: bool) -> Outcome:
        """Return whether a sentence answers; `is_across`: it is in another language than the question."""
        rules, trust = self._answerability, self.trust(number, read)
        probability = self.probability(trust)
        if is_across:
            if read <= 0 and len(self._near(number)) < WORDS_ACROSS:
                return "none"
            return "answered" if probability >= rules.answered_across and not self.lacks_figure(number) else "closest"
        met = trust.covered + trust.alike
        is_met = read > 0 or met >= LEAST_MET or (met > 0 and bool(read) and read > LEAST_READ)
        if not is_met or probability < rules.closest:
            return "none"
        return "answered" if probability >= rules.answered and not self.lacks_figure(number, read) else "closest"

    def met_about(self, number: int) -> float:
        """The share of the question that a sentence and its neighbours hold."""
        fit = self.fit(number)
        return fit.own + fit.alike + fit.before + fit.after

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


def _weigh(weights: Fit | Trust, values: Fit | Trust) -> float:
    return math.fsum(weight * value for weight, value in zip(astuple(weights), astuple(values), strict=True))
