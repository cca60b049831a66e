"""How far the estimate of faithfulness agrees with a person's labels.

python -m tests.benchmarks.estimate

The set: answers over the demo documents, faithful ones (quoted, or in other words) and ones with one thing corrupted.
All answers of one family, over the same documents, are in one half: a threshold is chosen by the tuning half alone.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean

from rich.console import Console
from rich.table import Table

from agent.evaluation.answer_metrics import stated_in
from agent.evaluation.judges import SUPPORTED_FROM, score_statements
from graphrag.linguistics.language import detect
from graphrag.models import Passage
from tests.conftest import DEMO
from tests.factories import make_document

ANSWERS = Path(__file__).parents[1] / "golden" / "faithfulness.jsonl"
FAITHFUL = ("extractive", "paraphrase")
CORRUPTED = ("number", "entity", "negation", "causality", "invention", "other_document")


@dataclass(frozen=True, slots=True)
class Scored:
    score: float  # of the answer's weakest statement
    is_faithful: bool
    kind: str
    language: str

    @property
    def is_right(self) -> bool:
        return (self.score >= SUPPORTED_FROM) == self.is_faithful


def score_half(half: str) -> list[Scored]:
    lines = map(json.loads, ANSWERS.read_text(encoding="utf-8").splitlines())
    return [
        Scored(_score(line["answer"], line["documents"]), line["label"] == "faithful", line["kind"], line["language"])
        for line in lines
        if line["half"] == half
    ]


def _score(answer: str, documents: Sequence[str]) -> float:
    return min(score_statements(stated_in(answer), [_passage(name) for name in documents]))


@cache
def _passage(name: str) -> Passage:
    text = (DEMO / name).read_text(encoding="utf-8")
    document = make_document(filename=name, title=text.splitlines()[0].lstrip("# "), language=detect(text))
    return Passage(document, 0, 0, len(text), text, ((0, len(text)),), score=1.0)


def auc(answers: Sequence[Scored]) -> float:
    """How often a faithful answer scores above a corrupted one; a tie is half a win."""
    faithful = [each.score for each in answers if each.is_faithful]
    corrupted = [each.score for each in answers if not each.is_faithful]
    return fmean((one > other) + (one == other) / 2 for one in faithful for other in corrupted)


def accuracy(answers: Sequence[Scored]) -> float:
    return fmean(each.is_right for each in answers)


def kappa(answers: Sequence[Scored]) -> float:
    """Cohen 1960: agreement beyond that of chance."""
    told, labelled = fmean(each.score >= SUPPORTED_FROM for each in answers), fmean(e.is_faithful for e in answers)
    by_chance = told * labelled + (1 - told) * (1 - labelled)
    return (accuracy(answers) - by_chance) / (1 - by_chance)


def best_threshold(answers: Sequence[Scored]) -> float:
    """To two decimals, the one with the most right."""
    return max(
        (number / 100 for number in range(1, 100)),
        key=lambda least: fmean((each.score >= least) == each.is_faithful for each in answers),
    )


def by_group(answers: Sequence[Scored]) -> Iterator[tuple[str, list[Scored]]]:
    yield "all", list(answers)
    for language in ("es", "fr", "en"):
        yield language, [each for each in answers if each.language == language]
    for kind in (*FAITHFUL, *CORRUPTED):
        yield kind, [each for each in answers if each.kind == kind]


def main() -> None:
    halves = {half: score_half(half) for half in ("tuning", "held_out")}
    table = Table("", "half", "answers", "right", "AUC", "kappa")
    for half, answers in halves.items():
        for group, of in by_group(answers):
            is_mixed = len({each.is_faithful for each in of}) == 2
            figures = (f"{auc(of):.2f}", f"{kappa(of):.2f}") if is_mixed else ("", "")
            table.add_row(group, half, str(len(of)), f"{accuracy(of):.2f}", *figures)
    Console().print(table)
    print(f"Threshold: {SUPPORTED_FROM}; by the tuning half: {best_threshold(halves['tuning'])}")


if __name__ == "__main__":
    main()
