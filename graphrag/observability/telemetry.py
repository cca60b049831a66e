"""Timings, counts and warnings of stages, and the configuration of logging."""

import logging
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import structlog

from graphrag.observability import metrics
from graphrag.observability.logging import outline, outline_places, without_secrets, without_words
from graphrag.observability.request_context import add_lookups, add_time, current_record, note, unless_evaluating
from graphrag.observability.tracing import span

QUIET_SECONDS = 60  # between two warnings of one stage: a slow hour is no flood


@dataclass
class Thresholds:
    limits: Mapping[str, float]  # seconds, by stage
    clock: Callable[[], float] = time.monotonic
    _quiet_until: dict[str, float] = field(default_factory=dict)
    _untold: dict[str, int] = field(default_factory=dict)

    def exceeds(self, stage: str, seconds: float) -> bool:
        return seconds > self.limits.get(stage, float("inf"))

    def news(self, stage: str) -> int:
        """Return how often the stage was slow since the last warning, this time included; 0 while none is due."""
        self._untold[stage] = self._untold.get(stage, 0) + 1
        if self.clock() < self._quiet_until.get(stage, 0):
            return 0
        self._quiet_until[stage] = self.clock() + QUIET_SECONDS
        return self._untold.pop(stage, 0)  # another thread may just have told it


log = structlog.get_logger("causeway")
_thresholds = Thresholds({})


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Times a stage; its milliseconds go to `collect_timings` too, and so into the request's last line."""
    started = time.perf_counter()
    with span(name):
        try:
            yield
        except Exception:
            _count_failure(name)
            raise
        finally:
            seconds = time.perf_counter() - started
            add_time(name, seconds * 1000)
            log.debug("stage", stage=name, milliseconds=round(seconds * 1000, 2))
            _measure(name, seconds)


@unless_evaluating
def _count_failure(name: str) -> None:
    metrics.STAGE_FAILURES.labels(stage=name).inc()


@unless_evaluating
def _measure(name: str, seconds: float) -> None:
    metrics.STAGE_SECONDS.labels(stage=name).observe(seconds)
    _warn_if_slow(name, seconds)


def measure_first_token(started: float) -> None:
    """RequestRecord the time to the first token of an answer that began at `started` of time.perf_counter."""
    seconds = time.perf_counter() - started
    metrics.FIRST_TOKEN_SECONDS.observe(seconds)
    note(first_token_ms=round(seconds * 1000, 2))
    _warn_if_slow("first_token", seconds)


def configure_thresholds(limits: Mapping[str, float]) -> None:
    """Seconds, by stage. A service or a worker warns of them; another command, which begins cold, does not."""
    _thresholds.limits = limits


def _warn_if_slow(name: str, seconds: float) -> None:
    if not _thresholds.exceeds(name, seconds):
        return
    metrics.SLOW.labels(stage=name).inc()
    if record := current_record():
        record.slow.append(name)
    if times := _thresholds.news(name):
        limit = round(_thresholds.limits[name] * 1000)
        log.warning("slow stage", stage=name, milliseconds=round(seconds * 1000, 2), limit_ms=limit, times=times)


@unless_evaluating
def count_results(name: str, count: int) -> None:
    """Count the results of a stage: hits, paths, passages."""
    metrics.STAGE_RESULTS.labels(stage=name).observe(count)
    if record := current_record():
        record.results[name] = record.results.get(name, 0) + count


@unless_evaluating
def count_retrieval(outcome: str) -> None:
    """One of `metrics.RETRIEVAL_OUTCOMES`."""
    metrics.RETRIEVALS.labels(outcome=outcome).inc()


@unless_evaluating
def count_fallback(part: str) -> None:
    """One of `metrics.FALLBACKS`: another one did its work."""
    metrics.FALLBACKS_USED.labels(part=part).inc()


@unless_evaluating
def count_degraded(stages: Iterable[str]) -> None:
    """Count the degraded stages of one answer or search."""
    for name in dict.fromkeys(stages):
        metrics.DEGRADED.labels(stage=name).inc()
        if record := current_record():
            record.degraded.append(name)


@unless_evaluating
def count_lookups(cache: str, *, hits: int, misses: int) -> None:
    """A cache's hit rate is hits over both. They go to `collect_lookups` too."""
    metrics.CACHE_LOOKUPS.labels(cache=cache, outcome="hit").inc(hits)
    metrics.CACHE_LOOKUPS.labels(cache=cache, outcome="miss").inc(misses)
    add_lookups(cache, hits=hits, misses=misses)


@unless_evaluating
def count_answer(*, found: bool) -> None:
    """The rate of misses is missed over both."""
    metrics.ANSWERS.labels(outcome="found" if found else "missed").inc()


@unless_evaluating
def count_citations(counts: Mapping[str, int]) -> None:
    """Count citations by status; "unknown" are those that were removed."""
    for status, count in counts.items():
        metrics.CITATIONS.labels(status=status).inc(count)


class DiscreetFormatter(logging.Formatter):
    """Formatter for log lines of libraries."""

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        told = super().format(record)
        return without_secrets(without_words(told, error) if error else told)

    def formatException(self, ei: Any) -> str:
        return outline_places(ei[1]) if ei[1] else ""


def _with_identity(_: object, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Add the identity of the request or job to a log line."""
    record = current_record()
    return {**record.identity, **event} if record else event


def _without_words(_: object, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Errors are given as they are, and told by their kinds."""
    error = event.pop("exc_info", None)
    error = sys.exception() if error is True else error  # log.exception
    if isinstance(error, BaseException):
        event["exception"] = outline_places(error)
    return {name: outline(value) if isinstance(value, BaseException) else value for name, value in event.items()}


def configure_logging(level: str) -> None:
    """Log to standard error: readable lines on a terminal, else JSON lines.

    Call it after imports: some libraries configure logging when imported.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(DiscreetFormatter("%(levelname)s:%(name)s:%(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    # Its warnings are of connections that we cancel, or that a database is away, which is logged here.
    logging.getLogger("psycopg").setLevel(logging.ERROR)
    configure_log_lines(level)


def configure_log_lines(level: str) -> None:
    """Configure our own lines alone: where Causeway is a library, the program's logging stays as it is."""
    is_terminal = sys.stderr.isatty()
    structlog.configure(
        processors=[
            _with_identity,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%H:%M:%S" if is_terminal else "iso", utc=not is_terminal),
            _without_words,
            structlog.dev.ConsoleRenderer(colors="NO_COLOR" not in os.environ)
            if is_terminal
            else structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
