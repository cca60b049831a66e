"""Passages made from a text, and the pairs of statements and passages, for the tests of verification."""

import json
from pathlib import Path
from typing import Any

from agent.verification.support import Support, SupportFinding, find_support
from graphrag.models import Passage
from tests.factories import make_document


def make_passage(content: str, *, language: str = "es", start: int = 0, title: str = "Notas") -> Passage:
    document = make_document(language=language, filename="notas.md", title=title)
    return Passage(document, 0, start, start + len(content), content, ((start, start + len(content)),), score=0.9)


def check(statement: str, content: str, *, language: str = "es") -> SupportFinding:
    return find_support(statement, make_passage(content, language=language))


def read_pairs(name: str) -> list[dict[str, Any]]:
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def is_doubted(pair: dict[str, Any]) -> bool:
    found = check(pair["statement"], pair["passage"], language=pair["passage_language"])
    return found.status is not Support.SUPPORTED
