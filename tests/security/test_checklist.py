"""The list of README.md is whole, and leads somewhere."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
NAMED = re.compile(r"[Ss]ecurity (\d+(?:(?:, | and )\d+)*)")


def lines_of(text: str) -> set[int]:
    return {int(number) for found in NAMED.findall(text) for number in re.findall(r"\d+", found)}


def test_every_place_is_there() -> None:
    places = re.findall(r"`((?:tests|\.ci)/[^`\s]*)`", README)
    assert len(places) > 20
    assert [place for place in places if not (ROOT / place).exists()] == []


def test_every_line_of_the_checklist_is_named_by_a_test() -> None:
    """Each of the twenty: a test that is taken away takes its line with it."""
    named: set[int] = set()
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    for text in filter(NAMED.search, texts):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                named |= lines_of(ast.get_docstring(node) or "")
    assert set(range(1, 21)) - named == set()
