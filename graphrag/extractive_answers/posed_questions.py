"""Questions that a document poses itself, and what follows them: an answer, or what an attacker planted there.

Manuals and lists of frequent questions pose a question and answer it. An attacker does the same with a person's
question and has an order, an advertisement or a link follow, which the question's own words carry to the top. A
logistic regression tells both apart by what the reader makes of the question with what follows, and of what follows
alone, and by a few features of its form; `training/posed_questions.py` fits it.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from graphrag.embeddings.reader import Reader, SentenceInContext, open_reader
from graphrag.extractive_answers.answer_kinds import wanted_kinds
from graphrag.extractive_answers.statements import Excerpt
from graphrag.extractive_answers.units import AnswerUnit, read_units
from graphrag.linguistics.language import content_stems, fold, words
from graphrag.models import Span

WEIGHTS: Final = Path(__file__).with_name("posed_questions.npz")
LEAST_POSED = 0.6  # share of the stems of a question which a document's words have that pose it
# Logarithms of the odds that it is planted rather than an answer: above the first it is, above the other it may be.
PLANTED, DOUBTFUL = 1.25, 0.0
LEAST_WORDS = 2  # of a question that a document is searched for: one alone may be any heading
MOST_READ = 12  # units of an excerpt that stand under the question
REMEMBERED = 1_000  # readings
_OPENING = re.compile(r"(?P<posed>[^:?]{3,300}[:?])\s+(?P<answer>\S.*)", re.DOTALL)
_ADDRESS = re.compile(r"https?://|www\.|(?<![\w@.-])[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?:/|\b)(?!@)", re.IGNORECASE)
_PHONE = re.compile(r"\+?\d(?:[ .()-]?\d){6,}")


@dataclass(frozen=True, slots=True)
class PosedAnswer:
    """A unit under a question that the document poses as the person does."""

    spans: tuple[Span, ...]
    text: str  # without the question
    planted: float  # logarithm of the odds that it is planted

    @property
    def is_planted(self) -> bool:
        return self.planted > PLANTED

    @property
    def is_doubtful(self) -> bool:
        return DOUBTFUL < self.planted <= PLANTED


def mark_posed(questions: Sequence[str], language: str, excerpt: Excerpt) -> Excerpt:
    """Return the excerpt with what stands under any of the questions marked: as posed, or if planted as suspicious."""
    found = [each for question in questions for each in find_posed_answers(question, language, excerpt)]
    planted = tuple(span for each in found if each.is_planted for span in each.spans)
    posed = tuple(span for each in found for span in each.spans if span not in planted)
    return replace(excerpt, suspicious=(*excerpt.suspicious, *planted), posed=posed) if found else excerpt


def poses_question(question: str, language: str, excerpt: Excerpt) -> bool:
    """Return whether an excerpt poses the question and has anything stand under it."""
    asked = content_stems(question, language)
    return len(asked) >= LEAST_WORDS and any(_follow(asked, language, excerpt))


def find_posed_answers(question: str, language: str, excerpt: Excerpt) -> list[PosedAnswer]:
    """Return what stands under the question in an excerpt; nothing where the reader is not installed."""
    asked, reader = content_stems(question, language), open_reader()
    if not asked or reader is None:
        return []
    found = list(_follow(asked, language, excerpt))[:MOST_READ]
    return [PosedAnswer(unit.spans, text, _judge(question, excerpt.title, text)) for unit, text in found]


def _follow(asked: set[str], language: str, excerpt: Excerpt) -> Iterator[tuple[AnswerUnit, str]]:
    """Yield the units that stand under the question, each with its text after it."""

    def poses(text: str) -> bool:
        return len(asked & content_stems(text, language)) >= LEAST_POSED * len(asked)

    paragraph = -1  # in which the question stands, by the end of what is posed
    for unit in read_units(excerpt):
        start = unit.spans[0].start
        if paragraph >= 0 and "\n\n" in excerpt.text[paragraph:start]:
            paragraph = -1
        if unit.kind in ("list", "body", "heading", "row"):
            continue
        if unit.kind == "question":
            paragraph = unit.spans[-1].end - 1 if poses(unit.text) else paragraph
            continue
        opening = _OPENING.fullmatch(unit.text)
        if opening and poses(opening["posed"]):
            paragraph = unit.spans[-1].end - 1
            yield unit, opening["answer"]
        elif paragraph >= 0 or any(poses(heading) for heading in unit.headings if heading != excerpt.title):
            yield unit, unit.text


@lru_cache(maxsize=REMEMBERED)
def _judge(question: str, title: str, text: str) -> float:
    reader = open_reader()
    if reader is None:
        return -math.inf
    weights = _weights()
    return float(weights[:-1] @ read_features(reader, question, title, text) + weights[-1])


def read_features(reader: Reader, question: str, title: str, text: str) -> NDArray[np.float32]:
    """Return the features of a text that stands under a question in a document of this title."""
    asked = frozenset(map(fold, words(question)))
    kinds, own = wanted_kinds(question), [fold(word) for word in words(text)]
    shown = any(kind.shows(text, asked) for kind in kinds)
    form = [
        float(_ADDRESS.search(text) is not None),
        float("@" in text),
        float(_PHONE.search(text) is not None),
        float("!" in text),
        float("?" in text),
        float(bool(kinds) and not shown),
        float(shown),
        sum(word in asked for word in own) / (len(own) or 1),
        math.log1p(len(own)),
    ]
    read = reader.describe(question, SentenceInContext(title, text))
    return np.concatenate([read, np.array(form, np.float32)])


@lru_cache(maxsize=1)
def _weights() -> NDArray[np.float32]:
    with np.load(WEIGHTS) as arrays:
        weights: NDArray[np.float32] = arrays["weights"]
        return weights
