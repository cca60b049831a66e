"""Calibrated probabilities that a sentence answers a question, and that its short answer is right.

Two logistic regressions, fitted on questions that people ask at work, with sentences that hold the answer and others
that only look like it (`training/answerability.py`). An answer is given, or its short form put first, only where it is
probably right: a wrong answer costs more than three that are missing.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Literal

from graphrag.extractive_answers.question_reading import AnswerKind
from graphrag.linguistics.rules import Rules, read_rules

Outcome = Literal["answered", "closest", "none"]

LEAST_READ, MOST_GAP = -8.0, 5.0  # beyond which the reader's odds and the scores say no more
LEAST = 1e-4  # probability of which odds are taken
_FIGURES = frozenset((AnswerKind.AMOUNT, AnswerKind.NUMBER, AnswerKind.DURATION))
_NAMES = frozenset((AnswerKind.PERSON, AnswerKind.ORGANISATION, AnswerKind.PLACE))
_CAUSAL = frozenset((AnswerKind.REASON, AnswerKind.CONSEQUENCE))


@dataclass(frozen=True, slots=True)
class SentenceFeatures:
    """Features of the sentence that answers best. Odds are natural logarithms; flags are 0 or 1."""

    read: float  # the reader's odds that it answers
    rivals: float  # the odds of all others together, of those that the reader read
    alike: float  # share of the question's words, by their rarity, that have a relative in it; in [0, 1]
    titled: float  # share that its title has and it has not
    before: float  # share that the sentence before it has besides
    score: float  # of its passage by retrieval and reranking, in [0, 1]
    gap: float  # how far its score is above the next sentence's
    unnamed: float  # flag: a name or number of the question stands neither in its passage nor in the title
    lacks_figure: float  # flag: a number or date is asked for and it has none that the question lacks
    across: float  # flag: it is in another language than the question
    length: float  # logarithm of its number of words
    posed: float  # flag: it stands under the same question in its document
    cause: float  # flag: a cause is asked for and it states one
    several: float  # flag: a list or a procedure is asked for


@dataclass(frozen=True, slots=True)
class ShortAnswerFeatures:
    sentence: float  # natural logarithm of the odds that its sentence answers
    confidence: float  # expected agreement of its words with the right ones (F1), in [0, 1]
    figure: float  # flags of what is asked for
    date: float
    name: float
    causal: float
    polar: float  # yes or no
    across: float  # flag: its sentence is in another language
    row: float  # flag: it is a table's cell


class LogisticModel(Rules):
    intercept: float
    weights: dict[str, float]

    def probability(self, features: Mapping[str, float]) -> float:
        score = self.intercept + math.fsum(weight * features[name] for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-score))


class AnswerabilityRules(Rules):
    """The models, as `training/answerability.py` writes them, and the least probabilities of what is shown."""

    sentence: LogisticModel
    short_answer: LogisticModel
    answered: float
    short: float
    closest: float  # below it nothing is shown: no passage is about the question


@lru_cache(maxsize=1)
def _rules() -> AnswerabilityRules:
    return read_rules(AnswerabilityRules, "graphrag.extractive_answers", "answerability")


def sentence_probability(features: SentenceFeatures) -> float:
    return _rules().sentence.probability(asdict(features))


def judge(probability: float) -> Outcome:
    """Return whether what answers with this probability is told as an answer, or as what comes closest to one."""
    rules = _rules()
    return "answered" if probability >= rules.answered else "closest" if probability >= rules.closest else "none"


def is_short_answer_sure(
    kind: AnswerKind, confidence: float, *, sentence: float, is_across: bool, is_row: bool
) -> bool:
    """`sentence`: the probability that its sentence answers."""
    features = describe_short_answer(kind, confidence, sentence=sentence, is_across=is_across, is_row=is_row)
    return _rules().short_answer.probability(asdict(features)) >= _rules().short


def describe_short_answer(
    kind: AnswerKind, confidence: float, *, sentence: float, is_across: bool, is_row: bool
) -> ShortAnswerFeatures:
    return ShortAnswerFeatures(
        sentence=math.log(max(sentence, LEAST) / max(1 - sentence, LEAST)),
        confidence=confidence,
        figure=float(kind in _FIGURES),
        date=float(kind is AnswerKind.DATE),
        name=float(kind in _NAMES),
        causal=float(kind in _CAUSAL),
        polar=float(kind is AnswerKind.YES_NO),
        across=float(is_across),
        row=float(is_row),
    )
