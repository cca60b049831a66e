"""Deadline of a request: interfaces set it, stages read it. Jobs and the command line have none.

Carried by the context: everything awaited from there on has it, tasks that are begun there too.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import replace

from graphrag.errors import OutOfTime
from graphrag.observability.request_context import Deadline, changed_context, current_context
from graphrag.observability.telemetry import log

SHARE = 0.75  # of the time that is left, which a stage may take: those after it have the rest
NO_TIME = "time"  # among the names of degraded stages: the reason


def deadline(seconds: float) -> AbstractContextManager[None]:
    """Limit the block to so many seconds from now; a deadline within another only shortens it."""
    now = time.monotonic()
    return _shortened(current_context().deadline or Deadline(now, math.inf), now + seconds)


@contextmanager
def opening(seconds: float) -> Iterator[None]:
    """Limit the block to that long from the deadline's beginning; without a deadline there is no limit."""
    around = current_context().deadline
    if around is None:
        yield
        return
    with _shortened(around, around.began + seconds):
        yield


def _shortened(around: Deadline, until: float) -> AbstractContextManager[None]:
    return changed_context(deadline=replace(around, until=min(around.until, until)))


def seconds_left() -> float:
    """Return the seconds until the deadline, 0 at least; infinitely many without one."""
    limit = current_context().deadline
    return math.inf if limit is None else max(0.0, limit.until - time.monotonic())


def lacks_time() -> tuple[str, ...]:
    """Return the reason to report beside the degraded stages, where a stage ran out of time."""
    limit = current_context().deadline
    return (NO_TIME,) if limit and limit.shortage.occurred else ()


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
    if limit := current_context().deadline:
        limit.shortage.occurred = True
    log.warning("no time left for a stage", stage=stage)
    return OutOfTime(f"No time is left for {stage}.", stage=stage)
