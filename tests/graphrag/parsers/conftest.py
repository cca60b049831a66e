"""Parsers as the service has them: every file in a process of its own."""

from collections.abc import Iterator

import pytest

from graphrag.config.settings import ParsingLimits
from graphrag.ingestion.isolation import Sandbox
from tests.graphrag.parsers.isolated import IsolatedParser

LIMITS = ParsingLimits(seconds=10)  # no file may take longer


@pytest.fixture(scope="session")
def parser() -> Iterator[IsolatedParser]:
    isolated = IsolatedParser(LIMITS)
    yield isolated
    isolated.close()


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    started = Sandbox(LIMITS)
    yield started
    started.close()
