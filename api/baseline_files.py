"""Runs as JSON files, and what the gate reads of one."""

from pathlib import Path

from pydantic import BaseModel, ValidationError

from agent.evaluation.gate import Baseline, NotComparable, Question
from api.evaluation_schemas import CaseResultOut, EvaluationOut
from graphrag.evaluation_models import CaseResult, EvaluationRun


class EvaluationExport(EvaluationOut):
    """A run with its cases."""

    results: list[CaseResultOut]

    @classmethod
    def of_results(cls, run: EvaluationRun, results: list[CaseResult]) -> "EvaluationExport":
        return cls(**EvaluationOut.of(run).model_dump(), results=[CaseResultOut.of(result) for result in results])


class _Group(BaseModel):
    cases: int
    metrics: dict[str, float]
    defined: dict[str, int] = {}


class _Summary(_Group):
    by_category: dict[str, _Group]
    by_difficulty: dict[str, _Group]


class _Case(BaseModel):
    query: str
    metrics: dict[str, float]


class _Run(BaseModel):
    """Of what `eval export`, `eval run --json` and `eval show --json` write, all that a baseline needs."""

    summary: _Summary | None
    results: list[_Case] | None = None


def read_baseline(path: Path) -> Baseline:
    """Raises NotComparable."""
    try:
        found = _Run.model_validate_json(path.read_bytes())
    except OSError as exc:
        raise NotComparable(f"{path}: {exc.strerror}. A baseline is a run's id, or a file of `eval export`.") from exc
    except ValidationError as exc:
        error = exc.errors()[0]
        reason = ": ".join(filter(None, [".".join(map(str, error["loc"])), error["msg"]]))
        raise NotComparable(f"{path} is not what `eval export` writes: {reason}.") from exc
    if found.summary is None:
        raise NotComparable(f"{path}: this run was not done, and has no figures.")
    questions = None if found.results is None else tuple(Question(of.query, of.metrics) for of in found.results)
    return Baseline(found.summary.model_dump(), questions)
