"""What is called again, how often, and when."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import ProviderError
from graphrag.resilience.retry import FOR_DOCUMENTS, Patience, asked_to_wait, is_transient, wait_seconds
from tests.graphrag.embeddings.stubborn import IMPATIENT, ScriptedEmbeddings, make_model


class Refused(Exception):
    """As vendors' errors are: with the answer that it came in."""

    def __init__(self, status: int, **headers: str) -> None:
        super().__init__(f"status {status}")
        self.status_code = status
        self.response = SimpleNamespace(status_code=status, headers=httpx.Headers(headers))


def wrapped(error: Exception) -> Exception:
    """As some packages raise their vendor's errors."""
    outer = RuntimeError("Error embedding content")
    outer.__cause__ = error
    return outer


def broken_off() -> Exception:
    """As aiohttp tells it, with a code that nobody answered."""
    unreadable = type("HttpProcessingError", (Exception,), {"code": 400})()
    broken: Exception = type("ClientPayloadError", (Exception,), {})("Response payload is not completed")
    broken.__cause__ = unreadable
    return broken


async def count_calls(*answers: Any) -> int:
    model = make_model(*answers)
    with suppress(ProviderError):
        await model.embed(["a"])
    assert isinstance(model.embeddings, ScriptedEmbeddings)
    return len(model.embeddings.calls)


PASSING = [
    Refused(429), Refused(408), Refused(500), Refused(503), ConnectionResetError(), TimeoutError(),
    httpx.ConnectError("down"), httpx.ReadTimeout("late"), wrapped(Refused(503)), wrapped(httpx.ReadError("cut")),
    broken_off(),
]  # fmt: skip
LASTING = [Refused(400), Refused(401), Refused(403), Refused(404), Refused(422), Refused(501), ValueError("garbage"),
           wrapped(Refused(401)), FileNotFoundError()]  # fmt: skip


@pytest.mark.parametrize("error", PASSING, ids=repr)
async def test_what_passes_is_called_again(error: Exception) -> None:
    """R3.5 429 and transient failures: three times more, whatever they are wrapped in."""
    assert is_transient(error)
    assert await count_calls(error) == 2
    assert await count_calls(*[error] * 3) == 4
    assert await count_calls(*[error] * 9) == 4


@pytest.mark.parametrize("error", LASTING, ids=repr)
async def test_what_lasts_is_not_called_again(error: Exception) -> None:
    """R3.5 a wrong key or a bad request stays one."""
    assert not is_transient(error)
    assert await count_calls(*[error] * 9) == 1


async def test_the_same_answer_comes_after_failures() -> None:
    """R3.5 order kept."""
    model = make_model(Refused(500), Refused(429))
    assert await model.embed(["a", "bbb", "cc"]) == [[1.0, 1.0], [1.0, 3.0], [1.0, 2.0]]


def test_how_long_one_is_asked_to_wait() -> None:
    """R3.5 Retry-After: seconds or a date; or what Gemini writes in its place."""
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert asked_to_wait(Refused(429, **{"Retry-After": "7"})) == 7
    assert asked_to_wait(wrapped(Refused(429, **{"retry-after": "1.5"}))) == 1.5
    assert 25 < asked_to_wait(Refused(429, **{"Retry-After": soon})) <= 30
    in_words = {"error": {"details": [{"@type": "google.rpc.RetryInfo", "retryDelay": "36.5s"}]}}
    assert asked_to_wait(wrapped(type("ClientError", (Exception,), {"details": in_words})())) == 36.5
    for nothing in (
        Refused(429),
        Refused(429, **{"Retry-After": "soon"}),
        ValueError(),
        Refused(429, **{"Retry-After": "-5"}),
    ):
        assert asked_to_wait(nothing) == 0


async def test_who_asks_for_too_long_is_not_called_again() -> None:
    """R3.5 a wait of an hour is a failure now; a short one is kept to."""
    assert await count_calls(Refused(429, **{"Retry-After": "3600"})) == 1
    assert await count_calls(Refused(429, **{"Retry-After": "0.005"})) == 2


def test_waits_grow() -> None:
    """R3.5 exponentially, from a second up to a limit, and not all at the same instant."""
    assert FOR_DOCUMENTS.first_wait_seconds == 1
    patience = Patience(retries=5, first_wait_seconds=1, longest_wait_seconds=10)
    for attempt, expected in enumerate([1, 2, 4, 8, 10, 10], start=1):
        waits = {wait_seconds(Refused(503), attempt=attempt, patience=patience) for _ in range(20)}
        assert len(waits) > 1
        assert all(0.75 * expected <= wait <= 1.25 * expected for wait in waits)
        asked = Refused(429, **{"Retry-After": "60"})
        assert wait_seconds(asked, attempt=attempt, patience=patience) == 60


class Sleeping(ScriptedEmbeddings):
    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        self.calls.append(texts)
        await asyncio.sleep(60)
        raise AssertionError("nobody waited")


def sleeping(**fields: Any) -> EmbeddingModel:
    return replace(make_model(), embeddings=Sleeping(), **fields)


async def test_a_call_has_a_time_limit() -> None:
    """R3.5 each of them; R11.1"""
    model = sleeping(timeout_seconds=0.01)
    with pytest.raises(ProviderError, match=r"no answer within 0\.01 s"):
        await model.embed(["a"])
    assert isinstance(model.embeddings, Sleeping)
    assert len(model.embeddings.calls) == 4


async def test_all_calls_for_a_question_have_one_time_limit() -> None:
    """R11.1 a person waits: then full text alone answers."""
    model = sleeping(query_patience=replace(IMPATIENT, deadline_seconds=0.02))
    with pytest.raises(ProviderError, match=r"no answer within 0\.02 s"):
        await model.embed_queries(["a"])


GARBAGE = {
    "too few": [[1.0, 2.0]],
    "too many": [[1.0, 2.0]] * 3,
    "other dimensions": [[1.0, 2.0], [1.0]],
    "not a number": [[1.0, 2.0], [float("nan"), 1.0]],
    "infinite": [[1.0, 2.0], [1.0, float("inf")]],
    "too large to be kept": [[1.0, 2.0], [1.0, 70_000.0]],
    "none": [],
}


@pytest.mark.parametrize("vectors", GARBAGE.values(), ids=GARBAGE)
async def test_garbage_is_a_provider_error(vectors: list[list[float]]) -> None:
    """R11.1 what is no vector of this model's for each of the texts is never stored."""
    for embed in ("embed", "embed_queries"):
        model = make_model(vectors)
        with pytest.raises(ProviderError, match="small"):
            await getattr(model, embed)(["a", "b"])


async def test_no_texts_are_no_call() -> None:
    model = make_model(Refused(400))
    assert (await model.embed([]), await model.embed_queries([])) == ([], [])


async def test_errors_hold_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """R11.3, security 20: neither keys of the environment nor passwords of addresses."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-geheimnis")
    monkeypatch.setenv("SHORT_API_KEY", "abc")
    model = make_model(ValueError("key sk-geheimnis refused by https://user:passwort@models.test/v1?abc"))
    with pytest.raises(ProviderError) as caught:
        await model.embed(["a"])
    assert "geheimnis" not in str(caught.value)
    assert "passwort" not in str(caught.value)
    assert "https://…@models.test/v1?abc" in str(caught.value)
