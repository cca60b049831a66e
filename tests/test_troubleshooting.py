"""docs/troubleshooting.md quotes messages as the program says them."""

import ast
import json
import re
from collections.abc import Iterator

import yaml

from tests.processes import ROOT

PAGE = ROOT / "docs" / "troubleshooting.md"
QUOTED = re.compile(r"^> (.+)$", re.MULTILINE)
PLACEHOLDER = re.compile(r"\{[^{}]*\}")
CATALOGUES = ("api/errors.yml", "api/cli/doctor.yml", "api/cli/terminal.yml", "agent/messages.yml")


def messages() -> Iterator[str]:
    """English messages of the catalogues and texts of the code, with … for what is filled in."""
    for name in CATALOGUES:
        for texts in yaml.safe_load((ROOT / name).read_text(encoding="utf-8")).values():
            yield PLACEHOLDER.sub("…", texts["en"])
    for text in json.loads((ROOT / "api" / "static" / "words" / "en.json").read_text(encoding="utf-8")).values():
        yield str(text)
    for package in ("agent", "api", "graphrag"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                yield from written(node)


def written(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def test_each_message_is_quoted_as_the_program_says_it() -> None:
    """R11.2 Who searches the page for what stands on the screen finds it."""
    quoted, said = QUOTED.findall(PAGE.read_text(encoding="utf-8")), set(messages())
    assert len(quoted) > 20
    assert [message for message in quoted if message not in said] == []
