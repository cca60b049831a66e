"""What of a context comes nearest to a statement: the few sentences that have most of its rare words, its meaning."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import fsum, log

import numpy as np
import numpy.typing as npt

from agent.verification.support import sentence_spans
from graphrag.embeddings.bundled import BundledEmbeddings
from graphrag.language import content_words, fold, stem, words
from graphrag.models import Passage
from graphrag.sentences import is_heading

MOST_SENTENCES = 3  # that one statement joins
LEAST_GAIN = 0.15  # of a statement's weight, that a further sentence must add
ELSEWHERE, FAR = 0.5, 0.7  # of its gain counts where it is of another passage, or not near
NEAR = 2  # sentences
COGNATE_CHARS = 5  # words that begin alike are one, in one language or two
# 9.240, 9,240 and 9 240 are one number; so are 2,5 and 2.5.
_GROUPED = re.compile(r"(?<=\d)[.,\u00a0\u202f ](?=\d{3}(?!\d))")
_DECIMAL = re.compile(r"(?<=\d),(?=\d)")
Form = tuple[str, str]  # a word's stem, and the word without accents
Vector = npt.NDArray[np.float64]  # of unit length, or zero


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    forms: frozenset[str]
    vector: Vector
    passage: int
    place: int  # in its passage


@dataclass(frozen=True, slots=True)
class Evidence:
    passage: Passage  # of the sentences alone
    whole: Passage  # that the first of them is of
    meaning: float  # cosine of the statement and the sentences, or the nearest one of the context


def read_context(passages: Sequence[Passage]) -> list[Sentence]:
    """Its sentences and rows, without headings."""
    found = [
        (passage.content[span.start : span.end], passage.document.language, number, place)
        for number, passage in enumerate(passages)
        for place, span in enumerate(sentence_spans(passage))
    ]
    told = [each for each in found if each[0] and not is_heading(each[0])]
    vectors = embed([text for text, *_ in told])
    return [
        Sentence(text, held_forms(text, language), vector, number, place)
        for (text, language, number, place), vector in zip(told, vectors, strict=True)
    ]


def find_evidence(statement: str, language: str, context: Sequence[Sentence], passages: Sequence[Passage]) -> Evidence:
    """Of a context of one sentence or more."""
    (meant,) = embed([statement])
    near = [float(sentence.vector @ meant) for sentence in context]
    weights = rarities(statement, language, context)
    chosen = [context[at] for at in sorted(_choose(weights, near, context))]
    text = " ".join(sentence.text for sentence in chosen)
    whole = passages[chosen[0].passage]
    meaning = max(*near, float(embed([text])[0] @ meant))
    return Evidence(replace(whole, content=text, places=()), whole, max(0.0, min(1.0, meaning)))


def _choose(weights: Mapping[Form, float], near: Sequence[float], context: Sequence[Sentence]) -> list[int]:
    """Greedily: the sentence that says most of it, then those that add most."""
    met = [{form for form in weights if _is_met(form, sentence.forms)} for sentence in context]
    chosen = [max(range(len(context)), key=lambda at: _share(met[at], weights) + near[at] / 2)]
    while len(chosen) < MOST_SENTENCES:
        known = set[Form]().union(*(met[at] for at in chosen))
        gains = {
            at: _share(met[at] - known, weights) * _nearness(context[at], [context[each] for each in chosen])
            for at in range(len(context))
            if at not in chosen
        }
        best = max(gains, key=lambda at: gains[at], default=None)
        if best is None or gains[best] < LEAST_GAIN:
            break
        chosen.append(best)
    return chosen


def rarities(text: str, language: str, context: Sequence[Sentence]) -> dict[Form, float]:
    """Of its words: the fewer of the context's sentences have one, the more it says; one that none has says most."""
    forms = {(stem(word, language), fold(word)) for word in content_words(_normal(text), language)}
    counts = {form: sum(_is_met(form, sentence.forms) for sentence in context) for form in sorted(forms)}
    return {form: log(1 + (1 + len(context)) / (0.5 + count)) for form, count in counts.items()}


def coverage(weights: Mapping[Form, float], forms: frozenset[str]) -> float:
    """The share of the words that a text has, by their weights."""
    return _share({form for form in weights if _is_met(form, forms)}, weights)


def held_forms(text: str, language: str) -> frozenset[str]:
    return frozenset(form for word in words(_normal(text)) for form in (stem(word, language), fold(word)))


def embed(texts: Sequence[str]) -> list[Vector]:
    """By the bundled embeddings; the product of two is their cosine."""
    return [np.asarray(vector) for vector in _embeddings().embed_documents(list(texts))]


def _normal(text: str) -> str:
    return _DECIMAL.sub(".", _GROUPED.sub("", text))


def _share(met: set[Form], weights: Mapping[Form, float]) -> float:
    return fsum(weights[form] for form in met) / (fsum(weights.values()) or 1)  # a set has no order to rely on


def _is_met(form: Form, forms: frozenset[str]) -> bool:
    if forms.intersection(form):
        return True
    beginning = form[1][:COGNATE_CHARS]
    return len(beginning) == COGNATE_CHARS and beginning.isalpha() and beginning in _beginnings(forms)


@lru_cache(maxsize=4_096)
def _beginnings(forms: frozenset[str]) -> frozenset[str]:
    return frozenset(form[:COGNATE_CHARS] for form in forms if len(form) >= COGNATE_CHARS)


def _nearness(sentence: Sentence, chosen: Sequence[Sentence]) -> float:
    beside = [each for each in chosen if each.passage == sentence.passage]
    if not beside:
        return ELSEWHERE
    return 1.0 if any(abs(each.place - sentence.place) <= NEAR for each in beside) else FAR


@lru_cache(maxsize=1)
def _embeddings() -> BundledEmbeddings:
    return BundledEmbeddings()
