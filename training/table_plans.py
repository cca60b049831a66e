"""Fit the weights by which plans of table questions are scored, on WikiTableQuestions.

    python -m training.table_plans ../shared/data/wtq-train graphrag/table_queries/rules/plan_weights.json

For each question every plan is run; those that give its answer are taken to be right, whatever they are. The weights
are those of a log-linear model that gives these plans most of the probability (Pasupat and Liang 2015, without its
lexical features, so that what is learnt in English holds in the other languages). A fifth of the tables is kept aside.
It needs scipy, which the product does without.
"""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from graphrag.config.settings import ParsingLimits
from graphrag.ingestion.tables.typed_tables import TypedTable, typed_tables
from graphrag.linguistics.language import fold
from graphrag.parsers.parsing import parse
from graphrag.table_queries.plans import Aggregate
from graphrag.table_queries.scoring import Features, ScoredPlan, probability, score_plans
from tests.factories import make_document

FEWEST = 4  # questions that have a feature
REGULARISATION = 1.0
KEPT_ASIDE = 5  # every fifth table


@dataclass(frozen=True)
class Example:
    table: str
    question: str
    plans: Sequence[ScoredPlan]
    right: NDArray[np.bool_]


def read_table(path: Path) -> TypedTable | None:
    parsed = parse(path.read_bytes(), filename=path.name, limits=ParsingLimits())
    document = make_document(filename=path.name, title=path.stem, language="en")
    return max(typed_tables(parsed, document, [0]), key=len, default=None)


def is_right(scored: ScoredPlan, gold: Sequence[str]) -> bool:
    plan, values = scored.plan, scored.result.values
    if plan.aggregate in (Aggregate.LIST, Aggregate.CELL) or (
        plan.aggregate in (Aggregate.MAXIMUM, Aggregate.MINIMUM) and not plan.asks_value
    ):
        said = {_same(label) for label, _ in values}
        return said == {_same(text) for text in gold}
    if len(gold) != 1 or (number := _number(gold[0])) is None:
        return False
    value = values[0][1] - values[1][1] if plan.aggregate is Aggregate.DIFFERENCE else values[0][1]
    return abs(value - number) < 0.006


def _same(text: str) -> str | float:
    number = _number(text)
    return " ".join(fold(text).split()) if number is None else number


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", "").strip().rstrip("%"))
    except ValueError:
        return None


def read_examples(folder: Path, weights: dict[str, float]) -> list[Example]:
    tables: dict[str, TypedTable | None] = {}
    found = []
    for line in (folder / "questions.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        if case["table"] not in tables:
            tables[case["table"]] = read_table(folder / "csv" / case["table"])
        table = tables[case["table"]]
        plans = score_plans(case["question"], table, language="en", weights=weights) if table else []
        right = np.array([is_right(plan, case["answer"]) for plan in plans], np.bool_)
        found.append(Example(case["table"], case["question"], plans, right))
    return found


def fit(examples: Sequence[Example]) -> dict[str, float]:
    """Maximise the log probability of the right plans, less a ridge on the weights."""
    able = [example for example in examples if example.right.any()]
    counts = Counter(
        name
        for example in able
        for name in {
            name for plan, is_it in zip(example.plans, example.right, strict=True) for name in plan.features if is_it
        }
    )
    names = {name: place for place, name in enumerate(sorted(n for n, count in counts.items() if count >= FEWEST))}
    matrix = _matrix([plan.features for example in able for plan in example.plans], names)
    right = np.concatenate([example.right for example in able])
    starts = np.cumsum([0, *(len(example.plans) for example in able)])

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores = matrix @ weights
        shifted = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts[:-1]), np.diff(starts)))
        whole, part = np.add.reduceat(shifted, starts[:-1]), np.add.reduceat(shifted * right, starts[:-1])
        expected = shifted / np.repeat(whole, np.diff(starts))
        wanted = shifted * right / np.repeat(np.maximum(part, 1e-300), np.diff(starts))
        value = -np.log(np.maximum(part / whole, 1e-300)).sum() + REGULARISATION / 2 * weights @ weights
        return value, matrix.T @ (expected - wanted) + REGULARISATION * weights

    found = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", options={"maxiter": 200})
    return {name: round(float(found.x[place]), 3) for name, place in names.items() if abs(found.x[place]) >= 0.01}


def _matrix(rows: Sequence[Features], names: dict[str, int]) -> csr_matrix:
    data, columns, starts = [], [], [0]
    for row in rows:
        for name, value in row.items():
            if value and name in names:
                data.append(value)
                columns.append(names[name])
        starts.append(len(data))
    return csr_matrix((data, columns, starts), shape=(len(rows), len(names)))


def rescore(examples: Sequence[Example], weights: dict[str, float]) -> list[tuple[float, bool]]:
    """Return (probability, whether it is right) of each question's best plan; 0 where it has none."""
    told = []
    for example in examples:
        plans = [
            ScoredPlan(
                each.plan, each.result, each.features, sum(weights.get(n, 0) * v for n, v in each.features.items())
            )
            for each in example.plans
        ]
        order = sorted(range(len(plans)), key=lambda place: -plans[place].score)
        told.append(
            (probability([plans[place] for place in order]), bool(example.right[order[0]])) if order else (0.0, False)
        )
    return told


def main() -> None:
    folder, target = Path(sys.argv[1]), Path(sys.argv[2])
    examples = read_examples(folder, {})
    tables = sorted({example.table for example in examples})
    aside = set(tables[::KEPT_ASIDE])
    trained = [example for example in examples if example.table not in aside]
    kept = [example for example in examples if example.table in aside]
    print(f"{len(examples)} questions, right plan among them: {np.mean([each.right.any() for each in examples]):.3f}")
    told = rescore(kept, fit(trained))
    for threshold in (0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        answered = [is_it for surety, is_it in told if surety >= threshold and surety > 0]
        print(
            f"kept aside, {len(kept)}: from {threshold:.1f} answered {len(answered) / len(kept):.3f}, "
            f"right {sum(answered) / len(kept):.3f}, of those answered {np.mean(answered or [0]):.3f}"
        )
    target.write_text(json.dumps(fit(examples), indent=0, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
