"""The list of README.md is whole, and leads somewhere."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
PLACE = re.compile(r"`(tests/[^`\s]*)`")
NAMED = re.compile(r"[Ss]ecurity (\d+(?:(?:, | and )\d+)*)")


def lines_of(place: Path) -> set[int]:
    """Of the checklist: those that its tests name."""
    named: set[int] = set()
    texts = (path.read_text(encoding="utf-8") for path in (place.rglob("test_*.py") if place.is_dir() else [place]))
    for text in filter(NAMED.search, texts):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                named = named.union(*map(numbers, NAMED.findall(ast.get_docstring(node) or "")))
    return named


def numbers(text: str) -> set[int]:
    return {int(number) for number in re.findall(r"\d+", text)}


def test_every_place_proves_its_line() -> None:
    """What a row names is there, and has a test of a line of the row."""
    rows = re.findall(r"^\| ([\d, ]+) \| .* \| (.*) \|$", README, re.MULTILINE)
    places = [(ROOT / place, numbers(lines)) for lines, told in rows for place in PLACE.findall(told)]
    assert len(places) > 20
    assert [place for place, lines in places if not lines & lines_of(place)] == []


def test_every_line_of_the_checklist_is_named_by_a_test() -> None:
    """Each of the twenty: a test that is taken away takes its line with it."""
    assert set(range(1, 21)) - lines_of(ROOT / "tests") == set()
