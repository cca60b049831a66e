"""Train the model that tells answers from what is planted under a question that a document poses.

    python -m training.posed_questions [--write]

It is fitted on `posed_questions.txt` (language|question|answer; without a question: what attackers plant), on the
documents of tests/golden/planted_answers/tune.yml, and on questions whose answer is an ordinary sentence:
tests/golden/short_answers.jsonl and `asked`. What is planted is put under questions that others have an answer to, so
that the question alone tells nothing. Printed are the errors on each sixth of the subjects when fitted without it.
Needs scikit-learn.
"""

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from graphrag.embeddings.reader import open_reader
from graphrag.extractive_answers.posed_questions import DOUBTFUL, PLANTED, WEIGHTS, read_features
from graphrag.linguistics.sentences import plain, split_sentences
from tests.benchmarks.injection import read_answers

HERE = Path(__file__).parent
SHORT_ANSWERS = HERE.parent / "tests/golden/short_answers.jsonl"
FOLDS = 6
UNDER = 6  # questions under which each planted text is put
ORDINARY = 200  # at most, of the questions of `asked`
FORM_SCALE = 4.0  # of the features of its form, which are few beside the reader's
STRENGTH = 3e-3  # inverse of the regularisation


@dataclass(frozen=True, slots=True)
class Example:
    language: str
    question: str  # of a planted text without one: empty
    title: str
    text: str
    is_planted: bool
    fold: int = -1  # in which it is kept aside; -1: in none


def read_examples() -> Iterator[Example]:
    for line in (HERE / "posed_questions.txt").read_text(encoding="utf-8").splitlines():
        language, question, text = line.split("|", 2)
        yield Example(language, question, "", text, not question)
    for number, (subject, cases) in enumerate(read_answers("tune")):
        for case in cases:
            fold, is_planted = number % FOLDS, case.kind == "planted"
            yield Example(case.language, case.question, subject["title"], case.answer, is_planted, fold)
    for line in SHORT_ANSWERS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["split"] == "tune":
            yield Example(row["language"], row["question"], "", row["sentence"], is_planted=False)
    yield from random.Random(0).sample(list(_ordinary()), ORDINARY)


def _ordinary() -> Iterator[Example]:
    for folder in sorted((HERE / "asked").iterdir()):
        lines = (folder / "paragraphs.jsonl").read_text(encoding="utf-8").splitlines()
        documents = {row["id"]: row for row in map(json.loads, lines)}
        for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            document = documents[row["paragraph"]]
            sentences = [plain(document["text"][each.start : each.end]) for each in split_sentences(document["text"])]
            found = next((each for each in sentences for answer in row["answer"] if answer in each), "")
            if row["answerable"] and found:
                yield Example(row["language"], row["text"], document["title"], found, is_planted=False)


def spread(examples: Sequence[Example]) -> Iterator[Example]:
    """Yield answers with and without a title, and planted texts under questions of others of their language."""
    draw, titles, posed = random.Random(1), defaultdict(list), defaultdict(list)
    for each in examples:
        titles[each.language].append(each.title)
        if each.question:
            posed[each.language].append(each)
    for each in examples:
        if not each.is_planted:
            for title in dict.fromkeys((each.title, "", draw.choice(titles[each.language]))):
                yield Example(each.language, each.question, title, each.text, is_planted=False, fold=each.fold)
            continue
        if each.question:
            yield each
        others = [other for other in posed[each.language] if each.fold < 0 or other.fold != each.fold]
        for other in draw.sample(others, UNDER):
            title = draw.choice((other.title, "", draw.choice(titles[each.language])))
            yield Example(each.language, other.question, title, each.text, is_planted=True, fold=each.fold)


def fit(features: np.ndarray, planted: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return a weight for each feature, and the constant."""
    mean, spread = features.mean(axis=0), (features.std(axis=0) + 1e-6) / scale
    model = LogisticRegression(C=STRENGTH, max_iter=2_000, class_weight="balanced")
    model.fit((features - mean) / spread, planted)
    weights = model.coef_[0] / spread
    return np.append(weights, model.intercept_[0] - weights @ mean)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help=f"write {WEIGHTS.name}")
    arguments = parser.parse_args()
    reader = open_reader()
    assert reader is not None, "the reader is not installed"
    examples = list(spread(list(read_examples())))
    features = np.array([read_features(reader, each.question, each.title, each.text) for each in examples])
    planted = np.array([each.is_planted for each in examples])
    folds = np.array([each.fold for each in examples])
    read = 2 * reader.width
    scale = np.where(np.arange(features.shape[1]) < read, 1.0, FORM_SCALE)
    odds = np.full(len(examples), np.nan)
    for fold in range(FOLDS):
        weights = fit(features[folds != fold], planted[folds != fold], scale)
        odds[folds == fold] = features[folds == fold] @ weights[:-1] + weights[-1]
    for least in (DOUBTFUL, PLANTED, 2.0):
        found = [np.mean(odds[(folds >= 0) & (planted == each)] > least) for each in (True, False)]
        print(f"odds above {least}: {found[0]:.3f} of the planted texts, {found[1]:.3f} of the answers")
    if arguments.write:
        np.savez(WEIGHTS, weights=fit(features, planted, scale).astype(np.float32))


if __name__ == "__main__":
    main()
