"""What was measured: kept in a JSON file after every result, shown as a table."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

OVER_LIMIT = "> "


@dataclass(frozen=True, slots=True)
class Result:
    """Of one system over one dataset at one size. `searches`: name → its figures, or its error."""

    dataset: str
    system: str
    size: int
    questions: int
    clients: tuple[int, ...]
    limit_seconds: float  # for the ingestion, and for each search's questions
    ingestion_seconds: float = 0.0
    chunks_per_second: float = 0.0
    megabytes: float = 0.0
    seconds: float = 0.0  # of everything
    searches: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    error: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        return self.dataset, self.system, self.size, self.questions, self.clients

    @property
    def errors(self) -> list[str]:
        found = [self.error, *(figures.get("error", "") for figures in self.searches.values())]
        return [error for error in found if error]

    @property
    def has_failed(self) -> bool:
        return any(not error.startswith(OVER_LIMIT) for error in self.errors)

    def answers(self, wanted: "Result") -> bool:
        """Whether measuring again would be in vain: it has no error, or had as much time and needed more."""
        had_time = not self.errors or self.limit_seconds >= wanted.limit_seconds
        return self.key == wanted.key and had_time and not self.has_failed


class Results:
    """All that the file holds, which is whole at any moment, and those that are `shown`: this run's."""

    def __init__(self, path: Path, environment: Mapping[str, Any], *, resume: bool) -> None:
        self._path = path
        self._environment = environment
        self._kept = _read(path) if resume and path.exists() else []
        self.shown: list[Result] = []

    def find(self, wanted: Result) -> Result | None:
        return next((result for result in self._kept if result.answers(wanted)), None)

    def keep(self, result: Result) -> None:
        self.shown.append(result)
        self._kept = [known for known in self._kept if known.key != result.key] + [result]
        unfinished = self._path.with_suffix(".part")
        content = {"environment": self._environment, "results": [asdict(result) for result in self._kept]}
        unfinished.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
        unfinished.replace(self._path)


def _read(path: Path) -> list[Result]:
    rows = json.loads(path.read_text(encoding="utf-8"))["results"]
    return [Result(**{**row, "clients": tuple(row["clients"])}) for row in rows]


def lines(results: Sequence[Result]) -> Iterator[tuple[str, Result, Mapping[str, Any]]]:
    """A name, a result and the figures of one of its searches; a result without any has one line."""
    for result in results:
        for search, figures in (result.searches or {"": {"error": result.error}}).items():
            yield f"{result.system} {search}".strip(), result, figures


def print_table(results: Sequence[Result], console: Console) -> None:
    """One a dataset and size. The latency is that of the fewest clients."""
    for dataset, size in dict.fromkeys((result.dataset, result.size) for result in results):
        chosen = [result for result in results if (result.dataset, result.size) == (dataset, size)]
        clients = chosen[0].clients
        table = Table(title=f"{dataset}, {chosen[0].questions} questions, {size:,} chunks", title_justify="left")
        table.add_column("", no_wrap=True)
        rates = [f"q/s ×{number}" for number in clients]
        for header in ("hit@1", "hit@10", "MRR@10", "p50 ms", "p95 ms", *rates, "overlap", "chunks/s", "MB"):
            table.add_column(header, justify="right", no_wrap=True)
        for name, result, figures in lines(chosen):
            table.add_row(name, *_cells(result, figures))
        console.print(table)
        for name, _, figures in lines(chosen):
            if error := figures.get("error"):
                console.print(f"{name}: {error}", style="red", markup=False)


def _cells(result: Result, figures: Mapping[str, Any]) -> list[str]:
    speeds = [figures.get("clients", {}).get(str(number), {}) for number in result.clients]
    values = [(figures.get(name), 3) for name in ("hit@1", "hit@10", "mrr@10")]
    values += [(speeds[0].get(name), 1) for name in ("p50_ms", "p95_ms")]
    values += [(speed.get("per_second"), 1) for speed in speeds]
    values += [(figures.get("overlap"), 3), (result.chunks_per_second or None, 0), (result.megabytes or None, 1)]
    cells = [_number(value, digits) for value, digits in values]
    if figures.get("error"):
        cells[3] = cells[3] or "see below"
    return cells


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"
