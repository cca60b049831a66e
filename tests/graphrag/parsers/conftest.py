"""The parser as the service has it: every file in a process of its own."""

from collections.abc import Iterator

import pytest

from graphrag.config.settings import ParsingLimits
from graphrag.parsers.isolation import IsolatedParser


@pytest.fixture(scope="session")
def parser() -> Iterator[IsolatedParser]:
    """No file may take it longer than ten seconds."""
    isolated = IsolatedParser(ParsingLimits(seconds=10))
    yield isolated
    isolated.close()
