"""Train the classifier of front matter: python training/front_matter.py.

Small documents in `front_matter.txt`, separated by lines of ===; a line that begins with + is front matter.
Every fifth document is kept aside: its precision and recall are printed; the weights are then trained on all.
Needs scikit-learn.
"""

import json
from pathlib import Path

from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from graphrag.extractive_answers.front_matter import read_features

HERE = Path(__file__).parent
WEIGHTS = HERE.parent / "graphrag/extractive_answers/rules/front_matter.json"
Case = tuple[dict[str, float], bool, str]


def read_documents() -> list[list[Case]]:
    documents = []
    for text in (HERE / "front_matter.txt").read_text(encoding="utf-8").split("\n===\n"):
        lines = [line for line in text.splitlines() if line.strip()]
        documents.append(
            [
                (
                    read_features(line.lstrip("+"), place=place, is_last=place >= len(lines) - 2),
                    line.startswith("+"),
                    line.lstrip("+"),
                )
                for place, line in enumerate(lines)
            ]
        )
    return documents


def train(cases: list[Case]) -> dict[str, float]:
    vectorizer = DictVectorizer()
    rows = vectorizer.fit_transform([features for features, _, _ in cases])
    model = LogisticRegression(C=1.0, fit_intercept=False, max_iter=2_000).fit(rows, [label for _, label, _ in cases])
    pairs = zip(vectorizer.get_feature_names_out(), model.coef_[0], strict=True)
    return {name: round(float(weight), 3) for name, weight in pairs if abs(weight) > 0.005}


def judge(weights: dict[str, float], cases: list[Case]) -> str:
    found = [sum(weights.get(name, 0.0) * value for name, value in features.items()) > 0 for features, _, _ in cases]
    right = sum(one and label for one, (_, label, _) in zip(found, cases, strict=True))
    for one, (_, label, line) in zip(found, cases, strict=True):
        if one != label:
            print("wrong:", "front" if one else "body", line)
    return f"precision {right}/{sum(found)}, recall {right}/{sum(label for _, label, _ in cases)}, lines {len(cases)}"


def main() -> None:
    documents = read_documents()
    tune = [case for number, document in enumerate(documents) if number % 5 for case in document]
    kept = [case for number, document in enumerate(documents) if number % 5 == 0 for case in document]
    print("kept:", judge(train(tune), kept))
    weights = train(tune + kept)
    WEIGHTS.write_text(json.dumps(weights, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
