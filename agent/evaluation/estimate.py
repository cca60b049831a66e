"""Stand-ins for a judge where there is none: estimates by words, facts and meaning, which say so in their names.

An estimate sees which words, numbers, names, dates and denials a context has; it does not understand. How far it agrees
with a person's labels: `python -m tests.benchmarks.estimate`.
"""

import asyncio
from collections.abc import Sequence
from datetime import date
from statistics import fmean
from typing import ClassVar

from agent.evaluation.evidence import (
    Sentence,
    coverage,
    embed,
    find_evidence,
    held_forms,
    rarities,
    read_context,
)
from agent.verification.reading import language_of
from agent.verification.statements import content_of
from agent.verification.support import find_support
from graphrag.models import Passage
from graphrag.sentences import plain, split_sentences

SUPPORTED_FROM = 0.54  # by the tuning half of tests/golden/faithfulness.jsonl


class Estimate:
    suffix: ClassVar[str] = "_estimate"

    async def faithfulness(self, statements: Sequence[str], passages: Sequence[Passage]) -> float:
        """The share of the statements that reach SUPPORTED_FROM."""
        scores = await asyncio.to_thread(score_statements, statements, passages)
        return fmean(score >= SUPPORTED_FROM for score in scores)

    async def relevance(self, answer: str, *, question: str, expected: str, passages: Sequence[Passage]) -> float:
        """Of what is expected the words, by their rarity, and the meaning, beside the meaning of the question; without
        an expected answer, the question's words and meaning alone.
        """
        return await asyncio.to_thread(_relevance, answer, question, expected, passages)


def score_statements(statements: Sequence[str], passages: Sequence[Passage]) -> list[float]:
    """In [0, 1] each: how far a context of one passage or more seems to support it."""
    context = read_context(passages)
    return [_score(statement, context, passages) if context else 0.0 for statement in statements]


def _score(statement: str, context: Sequence[Sentence], passages: Sequence[Passage]) -> float:
    """The mean of what verification finds in the nearest sentences and in their passage, where a fact that they do not
    share counts most, and of the meaning.
    """
    said = content_of(plain(statement))
    language = language_of(said, [passages[0].document.language])
    evidence = find_evidence(said, language, context, passages)
    nearest = find_support(statement, evidence.passage, today=date.today()).score
    whole = find_support(statement, evidence.whole, today=date.today()).score
    return fmean((nearest, whole, evidence.meaning))


def _relevance(answer: str, question: str, expected: str, passages: Sequence[Passage]) -> float:
    context = read_context(passages)
    told = plain(content_of(answer))
    wanted = expected or question
    language = language_of(wanted, [])
    weights = rarities(wanted, language, context)
    sentences = [told, *(told[span.start : span.end] for span in split_sentences(told))]
    values = [
        coverage(weights, held_forms(told, language_of(told, [language]))),
        _nearest(wanted, sentences),
        *([_nearest(question, sentences)] if expected else []),
    ]
    return fmean(values)


def _nearest(text: str, sentences: Sequence[str]) -> float:
    vector, *others = embed([text, *sentences])
    return max(0.0, min(1.0, max(float(vector @ other) for other in others)))
