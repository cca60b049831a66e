"""Retries of calls to models: after 429 and transient failures, nothing else."""

import asyncio
import random
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from tenacity import AsyncRetrying, RetryCallState, Retrying, retry_if_exception, stop_after_attempt

from graphrag.observability.logging import chain
from graphrag.observability.metrics import MODEL_RETRIES
from graphrag.observability.telemetry import log
from graphrag.resilience.deadline import seconds_left

T = TypeVar("T")
RETRY_DELAY = re.compile(r"'retryDelay': '(\d+(?:\.\d+)?)s'")
TRANSIENT_STATUS = {408, 425, 429}
# Of httpx and its forks, aiohttp, openai: by name, for which of them are installed differs.
TRANSIENT_NAMES = {"TransportError", "ClientConnectionError", "ClientPayloadError", "APIConnectionError"}
UNREADABLE = "HttpProcessingError"  # aiohttp's, for an answer that breaks off; its code is no status of the answer


@dataclass(frozen=True, slots=True)
class Patience:
    retries: int
    first_wait_seconds: float  # doubled from wait to wait
    longest_wait_seconds: float  # who asks for more than that is not asked again
    deadline_seconds: float | None = None  # for all the calls together


FOR_DOCUMENTS = Patience(retries=3, first_wait_seconds=1.0, longest_wait_seconds=60.0)
FOR_QUERIES = Patience(  # a person waits
    retries=3, first_wait_seconds=0.1, longest_wait_seconds=1.0, deadline_seconds=10.0
)


async def persevere(call: Callable[[], Awaitable[T]], patience: Patience) -> T:
    """Retry the call and return its result. Raises its last error."""

    async def attempt() -> T:  # tenacity awaits what is defined as a coroutine, nothing else
        return await call()

    return await in_time(AsyncRetrying(**_policy(patience))(attempt), patience.deadline_seconds)


async def in_time(answer: Awaitable[T], seconds: float | None) -> T:
    """Raises TimeoutError that says so."""
    try:
        async with asyncio.timeout(seconds) as limit:
            return await answer
    except TimeoutError as exc:
        if limit.expired():
            raise TimeoutError(f"no answer within {seconds:g} s") from exc
        raise


def persevere_blocking(call: Callable[[], T], patience: Patience) -> T:
    return Retrying(**_policy(patience), sleep=time.sleep)(call)


def is_transient(error: BaseException) -> bool:
    status = http_status(error)
    if status is not None:
        return status in TRANSIENT_STATUS or (status >= 500 and status != 501)
    return any(
        isinstance(cause, ConnectionError | TimeoutError)
        or any(kind.__name__ in TRANSIENT_NAMES for kind in type(cause).__mro__)
        for cause in chain(error)
    )


def http_status(error: BaseException) -> int | None:
    """Return the status, from 400 on, of the response that caused the error."""
    return next(filter(None, map(_status, chain(error))), None)


def asked_to_wait(error: BaseException) -> float:
    """Seconds, by the answer's Retry-After, or what Gemini has in its place; 0 where it has none."""
    for cause in chain(error):
        headers = getattr(getattr(cause, "response", None), "headers", None) or {}
        if told := headers.get("retry-after"):
            return _seconds(str(told))
        if delay := RETRY_DELAY.search(str(getattr(cause, "details", ""))):
            return float(delay[1])
    return 0.0


def wait_seconds(error: BaseException, *, attempt: int, patience: Patience) -> float:
    """Return the seconds to wait after the attempt number `attempt`, which failed with `error`."""
    backoff = min(patience.first_wait_seconds * 2.0 ** (attempt - 1), patience.longest_wait_seconds)
    spread = random.uniform(0.75, 1.25)  # not all at the same time, who failed at the same time
    return max(backoff * spread, asked_to_wait(error))


def _policy(patience: Patience) -> dict[str, Any]:
    def is_worth_it(error: BaseException) -> bool:
        return is_transient(error) and asked_to_wait(error) <= patience.longest_wait_seconds

    all_calls = stop_after_attempt(1 + patience.retries)

    def is_over(state: RetryCallState) -> bool:
        """Return whether to stop: after the last attempt, or if the deadline passes before the next."""
        return all_calls(state) or state.upcoming_sleep >= seconds_left()

    def wait(state: RetryCallState) -> float:
        return wait_seconds(_error(state), attempt=state.attempt_number, patience=patience)

    return {
        "retry": retry_if_exception(is_worth_it),
        "stop": is_over,
        "wait": wait,
        "before_sleep": _tell,
        "reraise": True,
    }


def _error(state: RetryCallState) -> BaseException:
    error = state.outcome and state.outcome.exception()
    assert error
    return error


def _tell(state: RetryCallState) -> None:
    MODEL_RETRIES.inc()
    log.warning(
        "call of a model failed, trying again", attempt=state.attempt_number, error=type(_error(state)).__name__
    )


def _status(error: BaseException) -> int | None:
    if UNREADABLE in (kind.__name__ for kind in type(error).__mro__):
        return None
    response = getattr(error, "response", None)
    for holder, name in ((error, "status_code"), (error, "code"), (response, "status_code")):
        value = getattr(holder, name, None)
        if isinstance(value, int) and value >= 400:
            return value
    return None


def _seconds(told: str) -> float:
    try:
        return max(0.0, float(told))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(told) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):  # TypeError: a date without its zone
        return 0.0
