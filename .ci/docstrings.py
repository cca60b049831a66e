"""Check that no docstring of the product begins with a preposition or a question word.

python .ci/docstrings.py: exit code 1 if one does, as "Of the default model." or "What the user sees.": such a docstring
can't be understood without the name that it documents.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("graphrag", "agent", "api")
PREPOSITIONS = (
    "about above across after against along among around as at before behind below beside besides between beyond by "
    "down during except for from in inside into like near of off on onto out outside over per since through to toward "
    "towards under until up upon via with within without"
)
QUESTION_WORDS = "how what whatever when whenever where wherever whether which whichever who whoever whom whose why"
CONTINUATIONS = "also and but meanwhile not once or so than that they those"  # of the name above them
WRONG = frozenset(f"{PREPOSITIONS} {QUESTION_WORDS} {CONTINUATIONS}".split())
FIRST_WORD = re.compile(r"\w+")


def wrong_openings(source: str) -> Iterator[tuple[int, str]]:
    """Yield (line, first word) of each docstring that begins with one of the words."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = FIRST_WORD.search(ast.get_docstring(node) or "")
            if first and first[0].lower() in WRONG:
                yield node.body[0].lineno, first[0]


def main() -> int:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: the docstring begins with {word!r}: write a sentence"
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        for line, word in wrong_openings(path.read_text(encoding="utf-8"))
    ]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
