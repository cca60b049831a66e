"""Fit the models that tell how probably a sentence answers and its short answer is right; measure them on what is kept.

    python -m training.answerability PROMPTS [--write]

PROMPTS is a folder as `training.prompts` writes it. Kept aside are the worlds of `tests.benchmarks.worlds.KEPT` and, of
the other sets, half of the documents that the reader was not trained on. What the reader or the encoder was trained on
is left out: they are surer of it than they will be. What is told counts as right where it holds the evidence, or an
answer of the relevant document.
"""

import argparse
import json
import math
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from langchain_core.messages import SystemMessage
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from graphrag.extractive_answers import extraction
from graphrag.extractive_answers.answerability import SentenceFeatures, ShortAnswerFeatures, describe_short_answer
from graphrag.extractive_answers.chat_model import read_excerpts, read_request
from graphrag.extractive_answers.direct_answers import find_direct
from graphrag.extractive_answers.extraction import describe_best, find_best, tell_best
from graphrag.extractive_answers.prompt_format import parse_date_line, parse_prompt
from graphrag.extractive_answers.short_answers import ShortAnswer
from tests.benchmarks.answering import holds
from tests.benchmarks.worlds import AGREES, FITTED, KEPT, f1, is_short_right, read_question, share_of_items

ENCYCLOPAEDIC = ("xquad-es", "xquad-en", "piaf-fr-dev", "squad-es-v2", "causal-es", "causal-fr", "causal-en")
ACROSS = ("xquad-es-as-xquad-en", "xquad-en-as-xquad-es")
UNANSWERABLE = ("-lacking", "-unanswerable")  # how the names of the files end that have questions without an answer
ANSWERED, SHORT, CLOSEST = 0.65, 0.8, 0.1  # the least probabilities of what is shown
ENCYCLOPAEDIC_SHARE = 0.25
STRENGTH = 0.3  # inverse of the regularisation, on features of unit variance
FOLDS = 8
RULES = Path(extraction.__file__).parent / "rules" / "answerability.yml"
WORLDS_KEPT = ("brw", "eco", "vet")  # of the documents of `training/asked`, which each tell of one world
HEAD = """\
# How probably a sentence answers, and its short answer is right: logistic regressions, written by
# `training/answerability.py`, and the probabilities from which an answer, its short form and passages are shown.

"""
_OF_WORLD = re.compile(r"^([a-z]{3})-\d+$")
_ARTICLE = re.compile(r"^xq-..-(\d+)-\d+$|-\d+$")  # the same articles in two languages, and paragraphs of one


Weights = Mapping[str, np.ndarray]  # of examples, as a pipeline takes them


@dataclass(frozen=True, slots=True)
class Found:
    """A short answer, and whether it is right."""

    short: ShortAnswer
    is_across: bool
    is_row: bool
    is_right: bool


@dataclass(frozen=True, slots=True)
class Example:
    collection: str
    group: str  # that is wholly fitted on, or not at all
    is_answerable: bool
    is_kept: bool
    features: SentenceFeatures
    is_right: bool
    found: Found | None


def read_examples(data: Path) -> Iterator[Example]:
    for name in (*FITTED, *KEPT):
        path = data / f"world-{name}.jsonl"
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            if example := _read_world(name, row):
                yield example
    for name in (*ENCYCLOPAEDIC, *ACROSS):
        for path in (data / f"{name}{end}.jsonl" for end in ("", *UNANSWERABLE)):
            for row in map(json.loads, path.read_text(encoding="utf-8").splitlines() if path.exists() else ()):
                if is_kept(row["relevant"][0]) and (example := _read_encyclopaedic(name, row)):
                    yield example


def _read_world(world: str, row: Mapping[str, Any]) -> Example | None:
    question = read_question(row["record"])

    def is_right(told: str) -> bool:
        if question.items and question.kind in ("list", "howto"):
            return share_of_items(question, told) >= 0.5 or question.is_held_by(told)
        return question.is_answerable and question.is_held_by(told)

    def is_short(text: str) -> bool:
        return question.is_answerable and is_short_right(text, question)

    return _describe("worlds", world, row, world in KEPT, is_right, is_short)


def _read_encyclopaedic(name: str, row: Mapping[str, Any]) -> Example | None:
    document, answers = row["relevant"][0], row["answer"]

    def is_right(told: str) -> bool:
        return row["answerable"] and holds(told, answers)

    def is_short(text: str) -> bool:
        return row["answerable"] and any(f1(text, each) >= AGREES for each in answers)

    return _describe(name, _ARTICLE.sub(r"\1", document), row, part(document) == 3, is_right, is_short)


def is_kept(document: str) -> bool:
    """Return whether a document is of the half that the reader is not trained on."""
    return part(document) % 2 == 1


def part(document: str) -> int:
    """Return the quarter that a document is of, with all paragraphs of its article in all languages."""
    if world := _OF_WORLD.match(document):
        return zlib.crc32(document.encode()) % 2 * 2 + 1 if world[1] in WORLDS_KEPT else 0
    return zlib.crc32(_ARTICLE.sub(r"\1", document).encode()) % 4


def _describe(
    collection: str,
    group: str,
    row: Mapping[str, Any],
    is_kept: bool,
    is_right: Callable[[str], bool],
    is_short: Callable[[str], bool],
) -> Example | None:
    """Return None for a question that no sentence is a candidate for, or that is answered from several parts."""
    told = parse_date_line([SystemMessage(row["prompt"]["system"])]) if row["prompt"] else None
    prompt = parse_prompt(row["prompt"]["human"]) if row["prompt"] else None
    if told is None or prompt is None:
        return None
    asked = read_request(prompt, *told)
    excerpts = read_excerpts(prompt, asked)
    best = find_best(asked.question, excerpts, language=asked.language)
    if best is None:
        return None
    statements, listed = tell_best(asked.question, best, asked.language, asked.direction)
    first, excerpt = statements[0], best.sentences[best.ranked[0]].excerpt
    short = find_direct(
        asked.question, [(each, excerpt) for each in statements], language=asked.language, direction=asked.direction
    )
    found = (
        Found(short, first.language != asked.language, first.is_row, is_short(short.text))
        if short and not listed
        else None
    )
    text = " ".join(unit.text for unit in listed) or first.text
    features = describe_best(asked.question, best, asked.direction)
    return Example(collection, group, row["answerable"], is_kept, features, is_right(text), found)


@dataclass(frozen=True, slots=True)
class Fitted:
    intercept: float
    weights: dict[str, float]  # of the features as they are

    def probabilities(self, features: Sequence[tuple[float, ...]]) -> np.ndarray:
        scores = np.array(features) @ np.array([*self.weights.values()]) + self.intercept
        return 1 / (1 + np.exp(-scores))


def fit(names: Sequence[str], features: Sequence[tuple[float, ...]], right: Sequence[bool], weights: Weights) -> Fitted:
    model = _model().fit(np.array(features), right, **weights)
    scaler, regression = model[0], model[1]
    weights = regression.coef_[0] / scaler.scale_
    intercept = float(regression.intercept_[0] - weights @ scaler.mean_)
    rounded = {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True)}
    return Fitted(round(intercept, 3), rounded)


def weigh(examples: Sequence[Example]) -> Weights:
    """Return what examples count in a fit: those of encyclopaedias a quarter of all."""
    is_of_world = np.array([each.collection == "worlds" for each in examples])
    share = np.where(is_of_world, (1 - ENCYCLOPAEDIC_SHARE) / is_of_world.mean(), 0.0)
    share[~is_of_world] = ENCYCLOPAEDIC_SHARE / (1 - is_of_world.mean())
    return {"logisticregression__sample_weight": share}


def _model() -> Pipeline:
    return make_pipeline(StandardScaler(), LogisticRegression(C=STRENGTH, max_iter=2_000))


def describe_found(example: Example, probability: float) -> ShortAnswerFeatures:
    found = example.found
    assert found
    return describe_short_answer(
        found.short.kind,
        found.short.confidence,
        sentence=probability,
        is_across=found.is_across,
        is_row=found.is_row,
    )


def report(name: str, right: Sequence[bool], probabilities: np.ndarray, least: float) -> None:
    wanted = np.array(right)
    shown = probabilities >= least
    bins = [
        f"{wanted[within].mean():.2f} of {within.sum()} at {low:.1f}"
        for low in np.arange(0, 1, 0.2)
        if (within := (probabilities >= low) & (probabilities < low + 0.2)).any()
    ]
    area = roc_auc_score(wanted, probabilities) if 0 < wanted.mean() < 1 else math.nan
    print(
        f"{name}: {len(wanted)}, right {wanted.mean():.2f}, area under the curve {area:.3f}, shown {shown.mean():.2f}, "
        f"of these right {wanted[shown].mean() if shown.any() else 0:.2f}; " + ", ".join(bins)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--write", action="store_true", help=f"write {RULES.name}")
    arguments = parser.parse_args()
    examples = list(read_examples(arguments.data))
    tuned, kept = ([each for each in examples if each.is_kept is is_kept] for is_kept in (False, True))
    features, groups = [astuple(each.features) for each in tuned], [each.group for each in tuned]
    right = [each.is_right for each in tuned]
    weights = weigh(tuned)
    sentence = fit([each.name for each in fields(SentenceFeatures)], features, right, weights)
    # As on questions that it was not fitted on.
    expected = cross_val_predict(
        _model(),
        np.array(features),
        right,
        groups=groups,
        cv=GroupKFold(FOLDS),
        params=weights,
        method="predict_proba",
    )[:, 1]
    with_short = [(each, p) for each, p in zip(tuned, expected, strict=True) if each.found]
    short = fit(
        [each.name for each in fields(ShortAnswerFeatures)],
        [astuple(describe_found(each, p)) for each, p in with_short],
        [each.found is not None and each.found.is_right for each, _ in with_short],
        weigh([each for each, _ in with_short]),
    )
    report("tuned on, in folds", right, expected, ANSWERED)
    of_worlds = [number for number, each in enumerate(tuned) if each.collection == "worlds"]
    report("  worlds", [right[number] for number in of_worlds], expected[of_worlds], ANSWERED)
    sure = short.probabilities([astuple(describe_found(each, p)) for each, p in with_short])
    told = [number for number, (_, p) in enumerate(with_short) if p >= ANSWERED]
    report(
        "  short", [bool(with_short[n][0].found and with_short[n][0].found.is_right) for n in told], sure[told], SHORT
    )
    for name in sorted({each.collection for each in kept}):
        own = [each for each in kept if each.collection == name]
        found = sentence.probabilities([astuple(each.features) for each in own])
        report(f"{name}, kept", [each.is_right for each in own], found, ANSWERED)
        bold = [(each, p) for each, p in zip(own, found, strict=True) if each.found and p >= ANSWERED]
        if bold:
            sure = short.probabilities([astuple(describe_found(each, p)) for each, p in bold])
            report(f"  short, of {len(own)}", [each.found.is_right for each, _ in bold if each.found], sure, SHORT)
    rules = {
        "sentence": asdict(sentence),
        "short_answer": asdict(short),
        "answered": ANSWERED,
        "short": SHORT,
        "closest": CLOSEST,
    }
    text = HEAD + yaml.safe_dump(rules, sort_keys=False)
    print(text)
    if arguments.write:
        RULES.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
