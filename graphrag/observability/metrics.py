"""Prometheus metrics: every metric, its labels, and the values that these may have."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, values
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

# From a look-up in a cache to an answer of a slow model; the library's own begin at 5 ms.
SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 120)
COUNTS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
RETRIEVAL_OUTCOMES = ("found", "nothing", "partial", "failed")  # partial: one leg failed, the other stands
# What an answer or a search is done without, and what is done by another.
STAGES = (
    "transform",
    "fulltext",
    "vector",
    "chunkenizer",
    "rerank",
    "graph",
    "traverse",
    "expand",
    "generate",
    "verify",
    "save",
)
DEGRADABLE = (*STAGES, "time", "load")  # and why
EFFORTS = ("full", "simpler", "simplest", "none")
FALLBACKS = ("chat_model", "reranker")
CITATION_STATUSES = ("supported", "partly", "unsupported", "unknown")
JOB_OUTCOMES = ("done", "again", "given_up")  # again: it will be tried again
JOBS = (
    "ingest",
    "tidy_files",
    "clear",
    "optimize",
    "purge",
    "forget_conversations",
    "forget_idempotency_keys",
    "evaluate",
    "order_due",
)

# Else twice as many lines, of which nothing here makes use.
disable_created_metrics()  # type: ignore[no-untyped-call]  # the library gives it no types
HTTP_REQUESTS = Counter("causeway_http_requests", "Requests that were answered", ["method", "route", "status"])
HTTP_SECONDS = Histogram(
    "causeway_http_request_seconds", "Until the last byte of the answer", ["method", "route"], buckets=SECONDS
)
STAGE_SECONDS = Histogram("causeway_stage_seconds", "Time of one stage of one request", ["stage"], buckets=SECONDS)
STAGE_FAILURES = Counter("causeway_stage_failures", "Stages that ended with an error", ["stage"])
STAGE_RESULTS = Histogram(
    "causeway_stage_results", "Hits, paths or passages that a stage handed on", ["stage"], buckets=COUNTS
)
SLOW = Counter("causeway_slow", "Stages that took longer than they should", ["stage"])
RETRIEVALS = Counter("causeway_retrievals", "Searches in a collection, by how they ended", ["outcome"])
FIRST_TOKEN_SECONDS = Histogram("causeway_first_token_seconds", "Until an answer's first word", buckets=SECONDS)
ANSWERS = Counter("causeway_answers", "Answers from documents: found or missed", ["outcome"])
DEGRADED = Counter("causeway_degraded", "Answers and searches that a stage was missing from", ["stage"])
FALLBACKS_USED = Counter("causeway_fallbacks", "What another did, for the first one failed", ["part"])
CITATIONS = Counter(
    "causeway_citations", "Marks of answers: supported, partly, unsupported, or unknown and removed", ["status"]
)
CACHE_LOOKUPS = Counter("causeway_cache_lookups", "Look-ups in a cache: hit or miss", ["cache", "outcome"])
MODEL_CALLS = Counter("causeway_model_calls", "Calls of a chat model, retries in them", ["model", "outcome"])
MODEL_SECONDS = Histogram("causeway_model_seconds", "Until a chat model's last word", ["model"], buckets=SECONDS)
MODEL_RETRIES = Counter("causeway_model_retries", "Calls of chat and embedding models that were made again")
MODEL_TOKENS = Counter("causeway_model_tokens", "As the provider counts them", ["model", "kind"])
FILES = Counter("causeway_files", "Files whose ingestion ended here", ["status"])
JOB_SECONDS = Histogram("causeway_job_seconds", "Of a job of the queue", ["task"], buckets=SECONDS)
JOBS_ENDED = Counter("causeway_jobs_ended", "Jobs of the queue, each time that one was tried", ["task", "outcome"])
STANDBY_READS = Counter("causeway_standby_reads", "Reads offered to a standby: read, behind or failed", ["outcome"])
LOAD_BEGUN = Counter("causeway_load_begun", "Searches and answers, by effort; with none they were refused", ["effort"])


def _summed(name: str, documentation: str, labels: Sequence[str] = ()) -> Gauge:
    """A gauge of which several server processes show the sum."""
    return Gauge(name, documentation, labels, multiprocess_mode="livesum")


def _worst(name: str, documentation: str, labels: Sequence[str] = ()) -> Gauge:
    """A gauge of which several server processes show the greatest value."""
    return Gauge(name, documentation, labels, multiprocess_mode="livemax")


JOBS_RUNNING = _summed("causeway_jobs_running", "That this service does", ["task"])
RUNNING_STREAMS = _summed("causeway_running_streams", "Answers that are being made for a stream")
DATABASE_CONNECTIONS = _summed("causeway_database_connections", "Of this service's pools", ["state"])
DATABASE_WAITING = _summed("causeway_database_waiting", "Requests that wait for a connection")
LOAD_WORKING = _summed("causeway_load_working", "Searches and answers that are being prepared")
LOAD_WAITING = _summed("causeway_load_waiting", "Searches and answers that wait for their turn to be prepared")
STANDBY_LAG_SECONDS = Gauge(
    "causeway_standby_lag_seconds",
    "Age of the last change that a standby has, 0 if it has all",
    ["standby"],
    multiprocess_mode="livemostrecent",  # of the process that was asked last
)
LOAD_LEVEL = _worst("causeway_load_level", "What the next one gets: 0 full effort, 1 simpler, 2 simplest, 3 none")
BREAKER_STATE = _worst("causeway_breaker_state", "0: closed; 1: half open, one call finds out; 2: open", ["name"])


class JobsWaiting(Collector):
    """The jobs that the scraped process has just counted, whichever that is: no sum."""

    def __init__(self) -> None:
        self.counts: Mapping[str, int] = {}

    def collect(self) -> Iterator[GaugeMetricFamily]:
        family = GaugeMetricFamily("causeway_jobs_waiting", "In the queue that all processes share", labels=["task"])
        for task, count in self.counts.items():
            family.add_metric([task], count)
        yield family


JOBS_WAITING = JobsWaiting()
REGISTRY.register(JOBS_WAITING)


def _begin_at_zero() -> None:
    """Initialise every label combination with 0, so that the first occurrence counts as a rise."""
    for metric, named in {
        RETRIEVALS: RETRIEVAL_OUTCOMES,
        ANSWERS: ("found", "missed"),
        DEGRADED: DEGRADABLE,
        FALLBACKS_USED: FALLBACKS,
        CITATIONS: CITATION_STATUSES,
        LOAD_BEGUN: EFFORTS,
        FILES: ("indexed", "unchanged", "error"),
    }.items():
        for value in named:
            metric.labels(value)
    for job in JOBS:
        JOBS_RUNNING.labels(job)
        for outcome in JOB_OUTCOMES:
            JOBS_ENDED.labels(job, outcome)


_begin_at_zero()


FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # of the library's own


def share(folder: Path) -> None:
    """Count in files of this folder from here on, as will the processes that this one starts."""
    metrics = [metric for metric in globals().values() if isinstance(metric, MetricWrapperBase)]
    for metric in metrics:
        metric.clear()
    os.environ[FOLDER] = str(folder)
    values.ValueClass = values.get_value_class()  # type: ignore[no-untyped-call]
    for metric in metrics:
        if metric._is_observable():  # type: ignore[no-untyped-call]
            metric._metric_init()  # type: ignore[no-untyped-call]
    _begin_at_zero()


def scraped() -> CollectorRegistry:
    """Return what a scrape shows: the metrics of this process, or the sums of all that share a folder."""
    if FOLDER not in os.environ:
        return REGISTRY
    shared = CollectorRegistry()
    MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
    shared.register(JOBS_WAITING)
    return shared
