"""Spares a model that is down, and those who wait for it: after some failures in a row nobody asks for a while."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from purgatory.domain.model import HALF_OPENED, Context

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
    """A circuit breaker with Purgatory's states but not its factory.

    The factory counts an abandoned question as a success, and sends every waiting call to a provider that may be back;
    here a single call tests it.
    """

    def __init__(self, name: str, *, failures: int, seconds: float, is_outage: Callable[[Exception], bool]) -> None:
        self._name = name
        self._failures = failures
        self._seconds = seconds
        self._is_outage = is_outage
        self._circuit = Context(name, failures, seconds)
        self._is_tried = False
        self._siblings: dict[str, CircuitBreaker] = {}

    def sibling(self, name: str) -> "CircuitBreaker":
        """Return the breaker of that name, closed at first, which counts its own failures."""
        if name not in self._siblings:
            self._siblings[name] = CircuitBreaker(
                name, failures=self._failures, seconds=self._seconds, is_outage=self._is_outage
            )
        return self._siblings[name]

    def states(self) -> list[BreakerState]:
        """Its own and its siblings'."""
        return [self._state(), *(state for sibling in self._siblings.values() for state in sibling.states())]

    def _state(self) -> BreakerState:
        if self._circuit.opened_at is None and self._circuit.state != HALF_OPENED:
            return BreakerState(self._name, "closed", self._circuit.failure_count or 0, 0.0)
        wait = max(0.0, (self._circuit.opened_at or 0.0) + self._seconds - time.time())
        return BreakerState(self._name, "open" if self.is_open else "half_open", self._failures, round(wait, 1))

    @property
    def is_open(self) -> bool:
        opened_at = self._circuit.opened_at
        return opened_at is not None and time.time() <= opened_at + self._seconds

    def check(self) -> None:
        """Raises ProviderError while the circuit is open."""
        if self.is_open or self._is_tried:
            raise ProviderError(
                f"the circuit of {self._name} is open: it failed {self._failures} times", reason="left_alone"
            )

    @contextmanager
    def watch(self) -> Iterator[Callable[[], None]]:
        """Guard a call; yield a function to call at the first response, which proves that the provider answers.

        Raises ProviderError as `check` does.
        """
        self.check()
        self._circuit.handle_new_request()
        tries = self._is_tried = self._circuit.state == HALF_OPENED
        began = time.monotonic()
        try:
            yield self._greet
            self._circuit.handle_end_request()
        except Exception as exc:
            self._judge(exc)
            raise
        except asyncio.CancelledError:  # a question that was left tells nothing, unless the model had its time
            if not seconds_left() and time.monotonic() - began >= FAIR_SECONDS:
                self._judge(TimeoutError())
            raise
        finally:
            self._is_tried = self._is_tried and not tries
            self._circuit.messages.clear()  # for listeners, of which there are none

    def _greet(self) -> None:
        if self._circuit.state == HALF_OPENED:
            self._circuit.handle_end_request()
            self._is_tried = False

    def _judge(self, error: Exception) -> None:
        if not self._is_outage(error):
            self._circuit.handle_end_request()
            return
        self._circuit.handle_exception(error)
        if self.is_open:
            log.warning("circuit opened", model=self._name, seconds=self._seconds, error=type(error).__name__)
