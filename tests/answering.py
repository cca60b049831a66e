"""Answers that are told however unsure they are: how they are worded is one thing, whether they are given another."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from graphrag.extractive_answers import answerability


@contextmanager
def told_when_unsure(least: float = 0.2) -> Iterator[None]:
    """Answers are told from this probability on; their short form from .2 on."""
    rules = answerability._rules().model_copy(update={"answered": least, "short": 0.2})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answerability, "_rules", lambda: rules)
        yield


@pytest.fixture(scope="module")
def unsure_answers() -> Iterator[None]:
    with told_when_unsure():
        yield
