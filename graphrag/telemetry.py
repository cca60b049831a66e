"""What every stage leaves behind: one span, one histogram value, one log line."""

import logging
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

import structlog
from opentelemetry import trace
from prometheus_client import Counter, Gauge, Histogram

log = structlog.get_logger("causeway")
STAGE_SECONDS = Histogram("causeway_stage_seconds", "Time of one stage of one request", ["stage"])
CACHE_LOOKUPS = Counter("causeway_cache_lookups", "Look-ups in a cache: hit or miss", ["cache", "outcome"])
ANSWERS = Counter("causeway_answers", "Answers from documents: found or missed", ["outcome"])
CITATIONS = Counter(
    "causeway_citations", "Marks of answers: supported, partly, unsupported, or unknown and removed", ["status"]
)
RUNNING_STREAMS = Gauge("causeway_running_streams", "Answers that are being made for a stream")
_timings: ContextVar[dict[str, float] | None] = ContextVar("timings", default=None)
_lookups: ContextVar[dict[str, dict[str, int]] | None] = ContextVar("lookups", default=None)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Times a stage; its milliseconds go to `collect_timings` too."""
    started = time.perf_counter()
    with trace.get_tracer("causeway").start_as_current_span(name):
        try:
            yield
        finally:
            seconds = time.perf_counter() - started
            STAGE_SECONDS.labels(stage=name).observe(seconds)
            timings = _timings.get()
            if timings is not None:
                timings[name] = round(timings.get(name, 0.0) + seconds * 1000, 2)
            log.info("stage", stage=name, milliseconds=round(seconds * 1000, 2))


def count_lookups(cache: str, *, hits: int, misses: int) -> None:
    """A cache's hit rate is hits over both. They go to `collect_lookups` too."""
    CACHE_LOOKUPS.labels(cache=cache, outcome="hit").inc(hits)
    CACHE_LOOKUPS.labels(cache=cache, outcome="miss").inc(misses)
    lookups = _lookups.get()
    if lookups is not None:
        known = lookups.setdefault(cache, {"hits": 0, "misses": 0})
        known["hits"] += hits
        known["misses"] += misses


def count_answer(*, found: bool) -> None:
    """The rate of misses is missed over both."""
    ANSWERS.labels(outcome="found" if found else "missed").inc()


def count_citations(counts: Mapping[str, int]) -> None:
    """By status; "unknown" are those that were removed."""
    for status, count in counts.items():
        CITATIONS.labels(status=status).inc(count)


def collect_timings() -> dict[str, float]:
    """The stages of everything awaited from here on, in milliseconds; a stage that runs twice is added up."""
    timings: dict[str, float] = {}
    _timings.set(timings)
    return timings


def collect_lookups() -> dict[str, dict[str, int]]:
    """Of the caches, by everything awaited from here on: hits and misses."""
    lookups: dict[str, dict[str, int]] = {}
    _lookups.set(lookups)
    return lookups


def configure_logging(level: str) -> None:
    """JSON lines on standard error. Call it after imports: some libraries configure logging when imported."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, force=True)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
