"""Passages made from a text, for the tests of verification."""

from agent.verification.support import Finding, find_support
from graphrag.models import Passage
from tests.factories import make_document


def make_passage(content: str, *, language: str = "es", start: int = 0, title: str = "Notas") -> Passage:
    document = make_document(language=language, filename="notas.md", title=title)
    return Passage(document, 0, start, start + len(content), content, ((start, start + len(content)),), score=0.9)


def check(statement: str, content: str, *, language: str = "es") -> Finding:
    return find_support(statement, make_passage(content, language=language))
