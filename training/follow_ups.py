"""Learn which questions depend on the conversation: write the weights of graphrag/query_transformation/dependence.tsv.

python -m training.follow_ups

Follow-ups and questions that stand alone are those of follow_ups.tsv; the questions of the tests' practice and
development sets stand alone, too. Each is read after a question of its language drawn at random where none is given.
"""

import argparse
import json
import random
import sys
from pathlib import Path

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

from graphrag.query_transformation.dependence import BIAS, find_features
from graphrag.query_transformation.follow_ups import find_cues
from graphrag.query_transformation.phrases import read_question_grammar

ROOT = Path(__file__).parents[1]
QUESTIONS = ROOT / "tests" / "graphrag" / "query_transformation" / "questions"
WEIGHTS = ROOT / "graphrag" / "query_transformation" / "dependence.tsv"
SETS = ("practice", "development")
STRENGTH = 0.3  # of the logistic regression: the inverse of its regularisation
LEAST_SEEN = 2
FOLDS = 10
LARGEST_FALSE_RATE = 0.025  # of questions that stand alone: a question that is changed for nothing is led astray
LEAST_WEIGHT = 0.1

Row = tuple[str, str, str, bool]


def read_rows(seed: int) -> list[Row]:
    """Return language, question, what was said before it, and whether it depends on that."""
    rows = []
    for line in (Path(__file__).parent / "follow_ups.tsv").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            label, language, question, *before = line.split("\t")
            rows.append((language, question, "".join(before), label == "1"))
    for path in sorted(path for name in SETS for path in QUESTIONS.glob(f"*.{name}.jsonl")):
        language = path.name.partition(".")[0]
        for line in path.read_text("utf-8").splitlines():
            rows.append((language, json.loads(line)["question"], "", False))
    drawn = random.Random(seed)
    alone = {language: [row[1] for row in rows if row[0] == language and not row[3]] for language in ("en", "es", "fr")}
    return [
        (language, written, before or drawn.choice(alone[language]), depends)
        for language, question, before, depends in rows
        for written in {question, _in_other_case(question)}
    ]


def _in_other_case(question: str) -> str:
    """«¿Y cuándo?» of «¿y cuándo?»: people write follow-ups both ways."""
    at = 1 if question.startswith("¿") else 0
    return question[:at] + question[at].swapcase() + question[at + 1 :]


def features_of(rows: list[Row]) -> list[dict[str, int]]:
    found = []
    for language, question, before, _ in rows:
        grammar = read_question_grammar(language)
        cues = find_cues(question, grammar)
        found.append(dict.fromkeys(find_features(question, before, grammar, cues), 1))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=7)
    rows = read_rows(parser.parse_args().seed)
    vectorizer = DictVectorizer()
    table = vectorizer.fit_transform(features_of(rows))
    often = np.asarray(table.sum(axis=0)).ravel() >= LEAST_SEEN
    labels = np.array([row[3] for row in rows])
    model = LogisticRegression(C=STRENGTH, class_weight="balanced", max_iter=2_000)
    groups = [row[1].lower() for row in rows]
    scores = cross_val_predict(
        model, table[:, often], labels, groups=groups, cv=GroupKFold(FOLDS), method="decision_function"
    )
    model.fit(table[:, often], labels)
    languages = np.array([row[0] for row in rows])
    shifts = {
        language: max(0.0, float(np.quantile(scores[~labels & (languages == language)], 1 - LARGEST_FALSE_RATE)))
        for language in sorted(set(languages))
    }
    taken = scores > np.array([shifts[language] for language in languages])
    names = np.array(vectorizer.get_feature_names_out())[often]
    weights = {name: weight for name, weight in zip(names, model.coef_[0], strict=True) if abs(weight) >= LEAST_WEIGHT}
    lines = [f"{BIAS} {language}\t{model.intercept_[0] - shift:.3f}" for language, shift in shifts.items()]
    lines += [f"{name}\t{weight:.3f}" for name, weight in sorted(weights.items())]
    WEIGHTS.write_text("\n".join(lines) + "\n", "utf-8")
    sys.stdout.write(f"{len(rows)} questions, {len(weights)} weights\n")
    for language in shifts:
        own = languages == language
        found, false = np.mean(taken[labels & own]), np.mean(taken[~labels & own])
        sys.stdout.write(f"{language}: follow-ups found {found:.3f}, others taken for one {false:.3f}\n")


if __name__ == "__main__":
    main()
