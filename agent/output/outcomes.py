"""Outcome of an answer: whether it answers, its short answer, and the same for each part of the question.

They are read from the answer's text, which every model writes by one convention: the extractive one exactly, others as
their prompt asks. An answer opens with the short answer in bold; one that answers nothing is, or opens with, a fixed
sentence of ours.
"""

import re
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from agent.messages import is_no_part, is_not_found, opens_closest
from graphrag.extractive_answers.short_answers import read_answer_kind
from graphrag.models import TransformedQuery

_SHORT = re.compile(r"\*\*(?P<short>[^*\n]{1,300})\*\*(?=\s*(?:[—–:.\n]|\[|$))")
_PART = re.compile(r"- (?P<label>[^\n]*?)\s?: (?P<said>[^\n]+)")
_MARK = re.compile(r"\s?\[\d{1,3}\]")


class Outcome(StrEnum):
    ANSWERED = "answered"
    CLOSEST = "closest"  # no answer, but passages on the subject, said as such
    NONE = "none"


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """The answer to one part of a question; `short_answer` is the bare value or span, "" where there is none."""

    question: str
    outcome: Outcome
    short_answer: str
    answer_kind: str


def read_outcome(answer: str, language: str) -> Outcome:
    if is_not_found(answer, language):
        return Outcome.NONE
    return Outcome.CLOSEST if opens_closest(answer, language) else Outcome.ANSWERED


def read_short_answer(text: str) -> str:
    """Return the bold text that opens an answer, without marks; "" where none does."""
    match = _SHORT.match(text.strip())
    return _MARK.sub("", match["short"]).strip(" .:") if match else ""


def describe_outcome(answer: str, query: TransformedQuery, *, is_summary: bool = False) -> dict[str, Any]:
    """Return what of an answer's outcome the API tells; the bold text that opens a summary is a heading."""
    outcome = read_outcome(answer, query.language)
    parts = _parts(answer, query, outcome) if query.is_complex else []
    return {
        "outcome": outcome.value,
        "short_answer": read_short_answer(answer) if outcome is Outcome.ANSWERED and not is_summary else "",
        "answer_kind": read_answer_kind(query.standalone, query.language).value,
        "parts": [asdict(part) for part in parts],
    }


def _parts(answer: str, query: TransformedQuery, outcome: Outcome) -> list[AnswerPart]:
    """Read a line for each part; where there are not as many, as of a model's prose, all share the whole's outcome."""
    lines = [line for line in answer.splitlines() if line.startswith("- ")]
    if len(lines) < len(query.sub_queries):
        lines = [""] * len(query.sub_queries)
    parts = []
    for question, line in zip(query.sub_queries, lines, strict=False):
        said = match["said"] if (match := _PART.match(line)) else line
        found = Outcome.NONE if is_no_part(line) else outcome
        parts.append(
            AnswerPart(question, found, read_short_answer(said), read_answer_kind(question, query.language).value)
        )
    return parts
