"""`python -m tests.conformance.table`: runs the suites, and writes to docs/conformance.md who keeps which promise."""

import re
import sys
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from inspect import getdoc

import pytest

from tests.conformance.systems import VERSIONS
from tests.processes import ROOT

PAGE = ROOT / "docs" / "conformance.md"
SUITES = {  # by module: the protocol, and the fixture that is, or whose parameters are, its implementations
    "test_chunk_store": ("ChunkStore", "store"),
    "test_chunk_index": ("ChunkIndex", "index"),
    "test_index_behind_store": ("ChunkIndex, behind PostgreSQL", "store"),
    "test_retriever": ("Retriever", "chunkenizer"),
    "test_graph_store": ("GraphStore", "plugs"),
    "test_cache": ("Cache", "cache"),
    "test_file_storage": ("FileStorage", "storage"),
    "test_reranker": ("Reranker", "reranker"),
}
REQUIREMENT = re.compile(r"\b(?:R\d+\.\d+|P\d+|Security \d+(?:, \d+)*)")
MARKS = {"passed": "✓", "skipped": "not run", "failed": "✗"}  # from good to bad
HEAD = """\
# Conformance

Contract tests of [`graphrag/protocols.py`](../graphrag/protocols.py) and their result for each implementation, as
written by the last run of `python -m tests.conformance.table`. ✓: passed; ✗: failed; –: not applicable. The numbers are
explained in [requirements](requirements.md).
"""
COLUMNS = {"typesense": "typesense's contract"}  # where the fixture's name would say too much
SYSTEMS = "## Run against"


@dataclass(frozen=True, slots=True)
class Promise:
    protocol: str
    name: str
    requirements: str  # that ask for it


@dataclass(eq=False)  # a plugin is hashed
class Table:
    """A plugin of pytest's: which promises are asked of whom, how that ends, and what it is run against."""

    cells: dict[str, tuple[Promise, str]] = field(default_factory=dict)  # by test: the promise, the implementation
    outcomes: dict[tuple[Promise, str], str] = field(default_factory=dict)  # the worst of a cell's tests
    systems: set[str] = field(default_factory=set)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.cells = {item.nodeid: cell for item in session.items if (cell := _cell(item))}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        cell = self.cells.get(report.nodeid)
        if cell and (report.when == "call" or not report.passed):
            outcome = "skipped" if report.when == "setup" else report.outcome  # without its package there is no test
            self.outcomes[cell] = max(outcome, self.outcomes.get(cell, "passed"), key=list(MARKS).index)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
        made = yield
        if told := VERSIONS.get(fixturedef.argname):
            self.systems.add(told(made))
        return made

    def page(self) -> str:
        return HEAD + "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for protocol, _ in SUITES.values():
            cells = [cell for cell in self.cells.values() if cell[0].protocol == protocol]
            implementations = list(dict.fromkeys(implementation for _, implementation in cells))
            columns = [COLUMNS.get(name, name.replace("_", " ")) for name in implementations]
            yield from ("", f"## {protocol}", "", _row(["Contract test", "Requirement", *columns]))
            yield _row(["---", "---", *[":-:"] * len(implementations)])
            for promise in dict.fromkeys(promise for promise, _ in cells):
                marks = [self._mark(promise, implementation) for implementation in implementations]
                yield _row([promise.name, promise.requirements, *marks])
        yield from ("", SYSTEMS, "", *(f"- {system}" for system in sorted(self.systems)), "")

    def _mark(self, promise: Promise, implementation: str) -> str:
        cell = (promise, implementation)
        return MARKS[self.outcomes.get(cell, "skipped")] if cell in self.cells.values() else "–"


def _cell(item: pytest.Item) -> tuple[Promise, str] | None:
    """None for a test of one implementation alone."""
    protocol, fixture = SUITES.get(item.path.stem, ("", ""))
    if not (isinstance(item, pytest.Function) and fixture in item.fixturenames):
        return None
    chosen = item.callspec.params if hasattr(item, "callspec") else {}
    name = item.originalname.removeprefix("test_").replace("_s_", "'s ").replace("_", " ")
    requirements = dict.fromkeys(REQUIREMENT.findall(getdoc(item.function) or ""))
    return Promise(protocol, name.capitalize(), ", ".join(requirements)), str(chosen.get(fixture, fixture))


def _row(values: Sequence[str]) -> str:
    return f"| {' | '.join(values)} |"


def collected(*options: str) -> Table:
    """Of all suites, the slow ones too. With `--collect-only` none is run."""
    table = Table()
    paths = [str(ROOT / "tests" / "conformance" / f"{module}.py") for module in SUITES]
    pytest.main([*paths, "-qq", "-m", "", "-p", "no:cacheprovider", *options], [table])
    return table


def main() -> int:
    table = collected()
    PAGE.write_text(table.page(), encoding="utf-8")
    return int(set(table.outcomes.values()) != {"passed"})


if __name__ == "__main__":
    sys.exit(main())
