"""Context of a request: its record, its timings, its deadline, whether it evaluates, whether somebody waits for it.

One object in one context variable: everything awaited from where it is set has it, and tasks and threads begun there.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, ParamSpec


@dataclass(slots=True)
class RequestRecord:
    """Log record of a request or job, shared by its tasks and threads. Never a word of a question, document or name."""

    identity: dict[str, str]  # in every line: request_id, trace_id, owner, collection, config
    facts: dict[str, Any] = field(default_factory=dict)  # in the last one
    results: dict[str, int] = field(default_factory=dict)  # by stage
    timings: dict[str, float] = field(default_factory=dict)  # by stage, in milliseconds; of all that was collected
    lookups: dict[str, dict[str, int]] = field(default_factory=dict)  # by cache: hits and misses
    slow: list[str] = field(default_factory=list)  # stages
    degraded: list[str] = field(default_factory=list)  # stages that failed, and without which the request went on

    def describe(self) -> dict[str, Any]:
        """Return the fields of the last log line, without the empty ones."""
        fields = {"stages": self.timings, "results": self.results, "caches": self.lookups}
        fields |= {"slow": self.slow, "degraded": self.degraded}
        return self.facts | {name: value for name, value in fields.items() if value}


@dataclass(slots=True)
class Shortage:
    """Flag of a deadline that some stage ran into, shared by the deadlines within it."""

    occurred: bool = False


@dataclass(frozen=True, slots=True)
class Deadline:
    """Times of time.monotonic, in seconds."""

    began: float
    until: float
    shortage: Shortage = field(default_factory=Shortage)


@dataclass(frozen=True, slots=True)
class RequestContext:
    """State that a request, a job or a command carries through its tasks."""

    record: RequestRecord | None = None
    timings: dict[str, float] | None = None  # by stage, in milliseconds
    lookups: dict[str, dict[str, int]] | None = None  # by cache: hits and misses
    deadline: Deadline | None = None  # of requests alone
    is_evaluation: bool = False
    is_interactive: bool = False  # a request waits: statements have a time limit


NO_REQUEST = RequestContext()
_current: ContextVar[RequestContext] = ContextVar("request_context", default=NO_REQUEST)


def current_context() -> RequestContext:
    return _current.get()


@contextmanager
def changed_context(**changes: Any) -> Iterator[None]:
    """Change fields of the context for the block, and for the tasks begun in it."""
    token = _current.set(replace(_current.get(), **changes))
    try:
        yield
    finally:
        _current.reset(token)


def begin_record(**identity: str) -> RequestRecord:
    """Begin the record for everything awaited from here on."""
    record = RequestRecord(identity)
    _current.set(replace(_current.get(), record=record, timings=None, lookups=None))
    return record


def current_record() -> RequestRecord | None:
    return _current.get().record


def identify(**identity: str) -> None:
    """Add fields to every later log line of the request."""
    if record := current_record():
        record.identity |= identity


def note(**facts: Any) -> None:
    """Add fields to the last log line of the request or job: kinds, numbers and names of ours."""
    if record := current_record():
        record.facts |= facts


def collect_timings() -> dict[str, float]:
    """Collect the stages of everything awaited from here on, in milliseconds; a stage that runs twice is added up."""
    timings: dict[str, float] = {}
    _current.set(replace(_current.get(), timings=timings))
    return timings


def collect_lookups() -> dict[str, dict[str, int]]:
    """Collect the caches' hits and misses, by everything awaited from here on."""
    lookups: dict[str, dict[str, int]] = {}
    _current.set(replace(_current.get(), lookups=lookups))
    return lookups


def add_time(stage: str, milliseconds: float) -> None:
    context = _current.get()
    for timings in (context.timings, context.record.timings if context.record else None):
        if timings is not None:
            timings[stage] = round(timings.get(stage, 0.0) + milliseconds, 2)


def add_lookups(cache: str, *, hits: int, misses: int) -> None:
    context = _current.get()
    for lookups in (context.lookups, context.record.lookups if context.record else None):
        if lookups is not None:
            known = lookups.setdefault(cache, {"hits": 0, "misses": 0})
            known["hits"] += hits
            known["misses"] += misses


P = ParamSpec("P")


def unless_evaluating(count: Callable[P, None]) -> Callable[P, None]:
    """Decorate a function so that it counts people's questions alone, not those of evaluations."""

    @wraps(count)
    def counted(*args: P.args, **kwargs: P.kwargs) -> None:
        if not _current.get().is_evaluation:
            count(*args, **kwargs)

    return counted
