"""Prometheus metrics: every metric, its labels, and the values that these may have."""

from prometheus_client import Counter, Gauge, Histogram, disable_created_metrics

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
JOBS_RUNNING = Gauge("causeway_jobs_running", "That this process does", ["task"])
JOBS_WAITING = Gauge("causeway_jobs_waiting", "In the queue that all processes share", ["task"])
RUNNING_STREAMS = Gauge("causeway_running_streams", "Answers that are being made for a stream")
DATABASE_CONNECTIONS = Gauge("causeway_database_connections", "Of this process's pool", ["state"])
LOAD_WORKING = Gauge("causeway_load_working", "Searches and answers that are being prepared")
LOAD_WAITING = Gauge("causeway_load_waiting", "Searches and answers that wait for their turn to be prepared")
LOAD_LEVEL = Gauge("causeway_load_level", "What the next one gets: 0 full effort, 1 simpler, 2 simplest, 3 none")
LOAD_BEGUN = Counter("causeway_load_begun", "Searches and answers, by effort; with none they were refused", ["effort"])
BREAKER_STATE = Gauge("causeway_breaker_state", "0: closed; 1: half open, one call finds out; 2: open", ["name"])
DATABASE_WAITING = Gauge("causeway_database_waiting", "Requests that wait for a connection")


def _begin_at_zero() -> None:
    """Initialise every label combination with 0, so that the first occurrence counts as a rise."""
    for metric, values in {
        RETRIEVALS: RETRIEVAL_OUTCOMES,
        ANSWERS: ("found", "missed"),
        DEGRADED: DEGRADABLE,
        FALLBACKS_USED: FALLBACKS,
        CITATIONS: CITATION_STATUSES,
        LOAD_BEGUN: EFFORTS,
        FILES: ("indexed", "unchanged", "error"),
    }.items():
        for value in values:
            metric.labels(value)
    for job in JOBS:
        JOBS_RUNNING.labels(job)
        for outcome in JOB_OUTCOMES:
            JOBS_ENDED.labels(job, outcome)


_begin_at_zero()
