"""What every stage leaves behind: one span, one histogram value, one log line."""

import logging
import sys
import time
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import structlog
from opentelemetry import trace
from prometheus_client import Counter, Gauge, Histogram

from graphrag.error_outlines import outline, outline_places, without_words
from graphrag.secrets import without_secrets

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
    tracer = trace.get_tracer("causeway")
    with tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False) as span:
        try:
            yield
        except Exception as exc:
            span.set_status(trace.StatusCode.ERROR, outline(exc))
            raise
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


class DiscreetFormatter(logging.Formatter):
    """Of what libraries log."""

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        told = super().format(record)
        return without_secrets(without_words(told, error) if error else told)

    def formatException(self, ei: Any) -> str:
        return outline_places(ei[1]) if ei[1] else ""


def _without_words(_: object, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Errors are given as they are, and told by their kinds."""
    error = event.pop("exc_info", None)
    error = sys.exception() if error is True else error  # log.exception
    if isinstance(error, BaseException):
        event["exception"] = outline_places(error)
    return {name: outline(value) if isinstance(value, BaseException) else value for name, value in event.items()}


def configure_logging(level: str) -> None:
    """JSON lines on standard error. Call it after imports: some libraries configure logging when imported."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(DiscreetFormatter("%(levelname)s:%(name)s:%(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _without_words,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
