"""The context of a request: its record, whether it is part of an evaluation, whether somebody waits for it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, ParamSpec


@dataclass(slots=True)
class Record:
    """One object for all tasks and threads that work for it. Never a word of a question, a document or a name."""

    identity: dict[str, str]  # in every line: request_id, trace_id, owner, collection, config
    facts: dict[str, Any] = field(default_factory=dict)  # in the last one
    results: dict[str, int] = field(default_factory=dict)  # by stage
    timings: dict[str, float] = field(default_factory=dict)  # by stage, in milliseconds; of all that was collected
    lookups: dict[str, dict[str, int]] = field(default_factory=dict)  # by cache: hits and misses
    slow: list[str] = field(default_factory=list)  # stages
    degraded: list[str] = field(default_factory=list)  # stages that failed and were done without

    def describe(self) -> dict[str, Any]:
        """Return the fields of the request's last log line; empty ones are left out."""
        told = {"stages": self.timings, "results": self.results, "caches": self.lookups}
        told |= {"slow": self.slow, "degraded": self.degraded}
        return self.facts | {name: value for name, value in told.items() if value}


_record: ContextVar[Record | None] = ContextVar("record", default=None)
_timings: ContextVar[dict[str, float] | None] = ContextVar("timings", default=None)
_lookups: ContextVar[dict[str, dict[str, int]] | None] = ContextVar("lookups", default=None)


def begin_record(**identity: str) -> Record:
    """Begin the record for everything awaited from here on."""
    record = Record(identity)
    _record.set(record)
    _timings.set(None)
    _lookups.set(None)
    return record


def current_record() -> Record | None:
    return _record.get()


def identify(**identity: str) -> None:
    """Add identity fields to every later log line of the request."""
    if record := _record.get():
        record.identity |= identity


def note(**facts: Any) -> None:
    """Add facts to the last log line of the request or job: kinds, numbers and names of ours."""
    if record := _record.get():
        record.facts |= facts


def collect_timings() -> dict[str, float]:
    """The stages of everything awaited from here on, in milliseconds; a stage that runs twice is added up."""
    timings: dict[str, float] = {}
    _timings.set(timings)
    return timings


def collect_lookups() -> dict[str, dict[str, int]]:
    """Collect the caches' hits and misses, by everything awaited from here on."""
    lookups: dict[str, dict[str, int]] = {}
    _lookups.set(lookups)
    return lookups


def add_time(stage: str, milliseconds: float) -> None:
    record = _record.get()
    for timings in (_timings.get(), record.timings if record else None):
        if timings is not None:
            timings[stage] = round(timings.get(stage, 0.0) + milliseconds, 2)


def add_lookups(cache: str, *, hits: int, misses: int) -> None:
    record = _record.get()
    for lookups in (_lookups.get(), record.lookups if record else None):
        if lookups is not None:
            known = lookups.setdefault(cache, {"hits": 0, "misses": 0})
            known["hits"] += hits
            known["misses"] += misses


P = ParamSpec("P")
_is_rehearsal: ContextVar[bool] = ContextVar("is_rehearsal", default=False)


def is_rehearsal() -> bool:
    return _is_rehearsal.get()


@contextmanager
def rehearsal() -> Iterator[None]:
    """Everything awaited or begun inside."""
    token = _is_rehearsal.set(True)
    try:
        yield
    finally:
        _is_rehearsal.reset(token)


def of_people(tell: Callable[P, None]) -> Callable[P, None]:
    """Decorate a function so that it counts people's questions alone, not evaluations."""

    @wraps(tell)
    def told(*args: P.args, **kwargs: P.kwargs) -> None:
        if not is_rehearsal():
            tell(*args, **kwargs)

    return told


_is_hurried: ContextVar[bool] = ContextVar("is_hurried", default=False)


def is_hurried() -> bool:
    return _is_hurried.get()


@contextmanager
def hurried(waits: bool = True) -> Iterator[None]:
    """Everything awaited or begun inside; with False, what takes its time though a request waits: deleting much."""
    token = _is_hurried.set(waits)
    try:
        yield
    finally:
        _is_hurried.reset(token)
