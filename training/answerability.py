"""Fit the model that tells whether the evidence answers a question, and measure it on documents kept aside.

    python -m training.answerability PROMPTS [--without-reader] [--write]

PROMPTS is a folder as `training.prompts` writes it. Documents that the reader was trained on are left out: it is surer
of them than it will be. Of the others half are kept aside: nothing is fitted or chosen on them. The model is fitted
once with the reader, and once without, for where it is not installed.
"""

import argparse
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from langchain_core.messages import SystemMessage
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from graphrag.extractive_answers import extraction
from graphrag.extractive_answers.extraction import find_best
from graphrag.extractive_answers.prompt_format import parse_date_line, parse_prompt
from graphrag.extractive_answers.sentence_matching import Trust

FITTED = ("xquad-es", "xquad-en", "piaf-fr-dev", "squad-es-v2", "asked-brewery", "asked-clinic")
UNANSWERABLE = ("-lacking", "-unanswerable")  # how the names of the files end that have questions without an answer
MISSED = 0.1  # share of the answerable questions that may go without an answer
SHOWN = 0.15  # the least probability of what is worth showing as close
ACROSS = 0.2  # no set has unanswerable questions in another language: half of the other threshold, about
RULES = Path(extraction.__file__).parent / "rules" / "answerability.yml"
WORLDS_KEPT = ("brw", "eco", "vet")  # of the documents of `training/asked`, which each tell of one world
_OF_WORLD = re.compile(r"^([a-z]{3})-\d+$")
_ARTICLE = re.compile(r"^xq-..-(\d+)-\d+$|-\d+$")  # the same articles in two languages, and paragraphs of one


@dataclass(frozen=True, slots=True)
class Example:
    collection: str
    is_answerable: bool
    is_kept: bool
    trust: Trust | None  # None where nothing is a candidate


def read_examples(data: Path, collection: str) -> Iterator[Example]:
    for name in (collection, *(f"{collection}{end}" for end in UNANSWERABLE)):
        path = data / f"{name}.jsonl"
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            row: dict[str, Any] = json.loads(line)
            part = _part(row["relevant"][0])
            if part % 2 == 1:
                yield Example(collection, row["answerable"], part == 3, _describe(row["prompt"]))


def is_kept(document: str) -> bool:
    """Return whether a document is of the half that the reader is not trained on."""
    return _part(document) % 2 == 1


def _part(document: str) -> int:
    """Return the quarter that a document is of, with all paragraphs of its article in all languages."""
    if world := _OF_WORLD.match(document):
        return zlib.crc32(document.encode()) % 2 * 2 + 1 if world[1] in WORLDS_KEPT else 0
    return zlib.crc32(_ARTICLE.sub(r"\1", document).encode()) % 4


def _describe(prompt: dict[str, str] | None) -> Trust | None:
    told = parse_date_line([SystemMessage(prompt["system"])]) if prompt else None
    parsed = parse_prompt(prompt["human"]) if prompt else None
    if told is None or parsed is None:
        return None
    question = parsed.analysis.standalone or parsed.question
    best = find_best(question, parsed.excerpts, language=told[0])
    return best.matcher.trust(best.ranked[0], best.read.get(best.ranked[0], 0.0)) if best else None


def choose_threshold(examples: Sequence[Example], probabilities: np.ndarray) -> float:
    """Return the greatest probability below which at most MISSED of the answerable are, in the mean of the sets."""
    for threshold in np.arange(0.9, 0.05, -0.01):
        missed = [
            np.mean([p < threshold for e, p in zip(examples, probabilities, strict=True) if _is_of(e, name, True)])
            for name in FITTED
        ]
        if np.mean(missed) <= MISSED:
            return round(float(threshold), 2)
    return SHOWN


def _is_of(example: Example, collection: str, is_answerable: bool) -> bool:
    return example.collection == collection and example.is_answerable is is_answerable


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--without-reader", action="store_true")
    parser.add_argument("--write", action="store_true", help=f"write {RULES.name}")
    arguments = parser.parse_args()
    if arguments.without_reader:
        extraction.open_reader = lambda: None  # type: ignore[assignment]
    examples = [example for name in FITTED for example in read_examples(arguments.data, name)]
    tuned = [each for each in examples if not each.is_kept]
    fitted = [(astuple(each.trust)[1:], each.is_answerable) for each in tuned if each.trust]
    model = LogisticRegression(C=10, max_iter=1_000).fit(*map(np.array, zip(*fitted, strict=True)))
    weights = [round(float(weight), 2) for weight in (model.intercept_[0], *model.coef_[0])]

    def probabilities(of: Sequence[Example]) -> np.ndarray:
        scores = [np.dot(weights, astuple(each.trust)) if each.trust else -np.inf for each in of]
        return 1 / (1 + np.exp(-np.array(scores)))

    threshold = choose_threshold(tuned, probabilities(tuned))
    for name in FITTED:
        kept = [each for each in examples if each.is_kept and each.collection == name]
        found, wanted = probabilities(kept), np.array([each.is_answerable for each in kept])
        print(
            f"{name}: {len(kept)} questions kept aside, area under the curve {roc_auc_score(wanted, found):.3f}, "
            f"answerable not answered {np.mean(found[wanted] < threshold):.3f}, "
            f"unanswerable not answered {np.mean(found[~wanted] < threshold):.3f}"
        )
    rules = yaml.safe_load(RULES.read_text(encoding="utf-8"))
    rules["without_reader" if arguments.without_reader else "with_reader"] = {
        "weights": dict(zip((field.name for field in fields(Trust)), weights, strict=True)),
        "answered": threshold,
        "closest": SHOWN,
        "answered_across": ACROSS,
    }
    head = RULES.read_text(encoding="utf-8").partition("with_reader:")[0]
    text = head + yaml.safe_dump(rules, sort_keys=False)
    print(text)
    if arguments.write:
        RULES.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
