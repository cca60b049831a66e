"""docs/conformance.md is what the suites say."""

from pathlib import Path

from tests.conformance.systems import VERSIONS
from tests.conformance.table import PAGE, SUITES, SYSTEMS, collected


def test_the_page_is_not_behind_the_suites() -> None:
    """R13.2 every promise that is asked of an implementation stands there, and is kept; else write it anew by
    `python -m tests.conformance.table`.
    """
    table = collected("--collect-only")
    table.outcomes = dict.fromkeys(table.cells.values(), "passed")
    kept, _, systems = PAGE.read_text(encoding="utf-8").partition(SYSTEMS)
    assert kept == table.page().partition(SYSTEMS)[0]
    assert systems.count("\n- ") == len(VERSIONS)


def test_no_suite_is_left_out() -> None:
    """R13.2 whose promises would be on no page."""
    modules = {path.stem for path in Path(__file__).parent.glob("test_*.py")}
    assert modules - {Path(__file__).stem} == set(SUITES)
