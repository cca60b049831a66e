"""Spares a model that is down, and those who wait for it: after some failures in a row nobody asks for a while."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from graphrag.errors import ProviderError
from graphrag.observability.telemetry import log
from graphrag.resilience.deadline import seconds_left

FAIR_SECONDS = 1.0  # who says nothing for longer may be down; where less time was left, that tells nothing


@dataclass(frozen=True, slots=True)
class BreakerState:
    name: str
    state: Literal["closed", "open", "half_open"]  # half open: one call finds out
    failures: int  # in a row
    retry_after: float  # seconds; 0 where nothing keeps a call from being made


class CircuitBreaker:
    """A circuit breaker that a single call tests when its time is over. An abandoned call says nothing."""

    def __init__(
        self,
        name: str,
        *,
        failures: int,
        seconds: float,
        is_outage: Callable[[Exception], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open for `seconds` after so many `failures` in a row; `clock` gives seconds and is set by nobody."""
        self._name = name
        self._most_failures = failures
        self._seconds = seconds
        self._is_outage = is_outage
        self._failures = 0  # in a row
        self.clock = clock
        self._opened_at: float | None = None  # by a clock that nobody sets: else the circuit might stay open for hours
        self._is_tried = False
        self._siblings: dict[str, CircuitBreaker] = {}

    def sibling(self, name: str) -> "CircuitBreaker":
        """Return the breaker of that name, closed at first, which counts its own failures."""
        if name not in self._siblings:
            self._siblings[name] = CircuitBreaker(
                name,
                failures=self._most_failures,
                seconds=self._seconds,
                is_outage=self._is_outage,
                clock=self.clock,
            )
        return self._siblings[name]

    def states(self) -> list[BreakerState]:
        """Its own and its siblings'."""
        return [self._state(), *(state for sibling in self._siblings.values() for state in sibling.states())]

    def _state(self) -> BreakerState:
        if self._opened_at is None:
            return BreakerState(self._name, "closed", self._failures, 0.0)
        wait = max(0.0, self._opened_at + self._seconds - self.clock())
        return BreakerState(self._name, "open" if wait else "half_open", self._most_failures, round(wait, 1))

    @property
    def is_open(self) -> bool:
        return self._state().state == "open"

    def check(self) -> None:
        """Raises ProviderError while the circuit is open."""
        if self.is_open or self._is_tried:
            raise ProviderError(
                f"the circuit of {self._name} is open: it failed {self._most_failures} times", reason="left_alone"
            )

    @contextmanager
    def watch(self) -> Iterator[Callable[[], None]]:
        """Guard a call; yield a function to call at the first response, which proves that the provider answers.

        Raises ProviderError as `check` does.
        """
        self.check()
        is_test = self._is_tried = self._opened_at is not None
        began = self.clock()
        try:
            yield self._close if is_test else lambda: None
            self._conclude(None, is_test=is_test)
        except Exception as exc:
            self._conclude(exc, is_test=is_test)
            raise
        except asyncio.CancelledError:  # a question that was left tells nothing, unless the model had its time
            if not seconds_left() and self.clock() - began >= FAIR_SECONDS:
                self._conclude(TimeoutError(), is_test=is_test)
            raise
        finally:
            self._is_tried = self._is_tried and not is_test

    def _close(self) -> None:
        self._failures, self._opened_at, self._is_tried = 0, None, False

    def _conclude(self, error: Exception | None, *, is_test: bool) -> None:
        if self._opened_at is not None and not is_test:  # begun before the circuit opened
            return
        if error is None or not self._is_outage(error):
            self._close()
            return
        self._failures += 1
        if self._opened_at is not None or self._failures >= self._most_failures:
            self._failures, self._opened_at = 0, self.clock()
            log.warning("circuit opened", model=self._name, seconds=self._seconds, error=type(error).__name__)
