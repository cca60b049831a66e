"""What a log tells of an error."""

import io
import json
import logging
from collections.abc import Iterator

import psycopg.errors
import pytest

from graphrag.errors import ProviderError
from graphrag.observability import telemetry
from graphrag.observability.logging import outline, outline_places

WORDS = "zarzaquimera sk-geheim"


def fail() -> None:
    try:
        try:
            raise psycopg.errors.CheckViolation(f"DETAIL: Failing row contains ({WORDS})")
        except psycopg.Error as exc:
            raise ConnectionRefusedError(111, WORDS) from exc
    except OSError as exc:
        raise ProviderError(f"It does not answer: {exc}") from exc


@pytest.fixture
def error() -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        fail()
    return caught.value


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What is logged, ours and of libraries."""
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    before = logging.getLogger().handlers[:]
    telemetry.configure_logging("DEBUG")
    yield stream
    logging.getLogger().handlers[:] = before


def test_an_error_is_told_by_its_kinds(error: ProviderError) -> None:
    """Security 20: with the codes that an operator looks for."""
    assert outline(error) == "ProviderError ← ConnectionRefusedError ECONNREFUSED ← CheckViolation 23514"


def test_its_places_are_told(error: ProviderError) -> None:
    """Security 20: what it was raised from comes first, as Python has it."""
    told = outline_places(error)
    assert "in fail" in told
    assert told.index("\nCheckViolation") < told.index("\nConnectionRefusedError") < told.index("\nProviderError")
    assert not [word for word in WORDS.split() if word in told]


def test_an_error_that_was_raised_from_itself_has_an_end() -> None:
    first, second = ValueError(WORDS), KeyError(WORDS)
    first.__context__, second.__context__ = second, first
    assert outline(first) == "ValueError ← KeyError"


def test_our_lines_hold_no_words_of_errors(written: io.StringIO, error: ProviderError) -> None:
    """Security 20"""
    telemetry.log.warning("it failed", error=error, attempt=2)
    telemetry.log.error("it failed", exc_info=error)
    short, long = [json.loads(line) for line in written.getvalue().splitlines()]
    assert (short["error"], short["attempt"]) == (outline(error), 2)
    assert long["exception"] == outline_places(error)
    assert not [word for word in WORDS.split() if word in written.getvalue()]


def test_what_is_being_handled_is_told(written: io.StringIO, error: ProviderError) -> None:
    """R11.2, security 20: by log.exception, which is handed no error."""
    try:
        raise error
    except ProviderError:
        telemetry.log.exception("it failed")
    told = json.loads(written.getvalue())
    assert told["exception"] == outline_places(error)


def test_libraries_lines_hold_no_words_of_errors(written: io.StringIO, error: ProviderError) -> None:
    """Security 20: uvicorn, asyncio and others tell the error in the message too."""
    told = logging.getLogger("some.library")
    told.error("Task exception was never retrieved: %r, %s", error, error.__cause__, exc_info=error)
    assert "ERROR:some.library:Task exception was never retrieved: ProviderError, ConnectionRefusedError" in (
        written.getvalue()
    )
    assert "in fail" in written.getvalue()
    assert not [word for word in WORDS.split() if word in written.getvalue()]


def test_keys_of_the_environment_are_in_no_library_s_line(
    written: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Security 20"""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-geheim")
    logging.getLogger("some.library").warning("posted with sk-geheim to https://me:pass@example.org")
    assert written.getvalue() == "WARNING:some.library:posted with … to https://…@example.org\n"


class Refusal(Exception):
    status_code = 401  # as openai's errors have it


def test_a_status_is_told() -> None:
    """Security 20: 401 and 404 have different ways out."""
    assert outline(Refusal(WORDS)) == "Refusal 401"
