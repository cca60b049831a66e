"""Deadline of a request: interfaces set it, stages read it. Jobs and the command line have none.

Carried by the context: everything awaited from there on has it, tasks that are begun there too.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from graphrag.errors import OutOfTime
from graphrag.observability.telemetry import log

SHARE = 0.75  # of the time that is left, which a stage may take: those after it have the rest
NO_TIME = "time"  # among the names of what was done without: why


@dataclass(slots=True)
class _Lack:
    """Flag of a deadline that some stage ran into."""

    is_felt: bool = False


@dataclass(frozen=True, slots=True)
class _Span:
    began: float  # seconds of time.monotonic
    until: float
    lack: _Lack = field(default_factory=_Lack)


_span: ContextVar[_Span | None] = ContextVar("deadline", default=None)


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Set a deadline from now on; an inner one can only shorten the outer one."""
    now = time.monotonic()
    around = _span.get() or _Span(now, math.inf)
    with _shortened(around, now + seconds):
        yield


@contextmanager
def opening(seconds: float) -> Iterator[None]:
    """Limit the block to that long from the deadline's beginning; without a deadline there is no limit."""
    around = _span.get()
    if around is None:
        yield
        return
    with _shortened(around, around.began + seconds):
        yield


@contextmanager
def _shortened(around: _Span, until: float) -> Iterator[None]:
    token = _span.set(replace(around, until=min(around.until, until)))
    try:
        yield
    finally:
        _span.reset(token)


def seconds_left() -> float:
    """Infinitely many without a deadline; never below 0."""
    span = _span.get()
    return math.inf if span is None else max(0.0, span.until - time.monotonic())


def lacks_time() -> tuple[str, ...]:
    """Return the reason to report beside the degraded stages, where a stage ran out of time."""
    span = _span.get()
    return (NO_TIME,) if span and span.lack.is_felt else ()


def demand(seconds: float, *, stage: str) -> None:
    """Raises OutOfTime where so many are not left."""
    if seconds_left() < seconds:
        raise _out_of_time(stage)


@asynccontextmanager
async def within(stage: str, *, share: float = SHARE) -> AsyncIterator[None]:
    """Limit a stage to a share of the time that is left. Raises OutOfTime."""
    left = seconds_left()
    if left == math.inf:
        yield
        return
    if not left:
        raise _out_of_time(stage)
    try:
        with deadline(left * share):
            async with asyncio.timeout(left * share) as limit:
                yield
    except TimeoutError as exc:
        if limit.expired():
            raise _out_of_time(stage) from exc
        raise


def _out_of_time(stage: str) -> OutOfTime:
    if span := _span.get():
        span.lack.is_felt = True
    log.warning("no time left, done without", stage=stage)
    return OutOfTime(f"No time is left for {stage}.", stage=stage)
