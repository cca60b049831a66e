"""Gauges that are read when Prometheus scrapes them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from prometheus_client import start_http_server

from graphrag.db.database import Database
from graphrag.errors import DatabaseUnavailable, InvalidSettings
from graphrag.observability.metrics import (
    BREAKER_STATE,
    DATABASE_CONNECTIONS,
    DATABASE_WAITING,
    JOBS,
    JOBS_WAITING,
    STANDBY_LAG_SECONDS,
)
from graphrag.resilience.cancellation import end
from graphrag.services import Services

STATES = {"closed": 0, "half_open": 1, "open": 2}
LOOK_SECONDS = 15  # as often as Prometheus asks
OWN_LOOK_SECONDS = 1
PATIENCE_SECONDS = 1  # with a database that is away: the other metrics tell of it


@asynccontextmanager
async def metrics_served(services: Services, host: str, port: int) -> AsyncIterator[None]:
    """Serve metrics by a thread while the block runs, in a process without HTTP. Raises InvalidSettings."""
    try:
        server, _ = start_http_server(port, host)
    except OSError as exc:
        raise InvalidSettings.of_port(host, port, exc, f"--metrics-port {port + 1}") from exc
    looking = asyncio.create_task(_look_around_always(services))
    try:
        yield
    finally:
        await end(looking)
        await asyncio.to_thread(server.shutdown)
        server.server_close()


@asynccontextmanager
async def seen_by_others(services: Services) -> AsyncIterator[None]:
    """Keep this process's own gauges up to date while the block runs: another process may be the one that is asked."""
    looking = asyncio.create_task(_look_at_process_always(services))
    try:
        yield
    finally:
        await end(looking)


async def _look_at_process_always(services: Services) -> None:
    while True:
        _look_at_process(services)
        await asyncio.sleep(OWN_LOOK_SECONDS)


async def _look_around_always(services: Services) -> None:
    while True:
        await look_around(services)
        await asyncio.sleep(LOOK_SECONDS)


async def look_around(services: Services) -> None:
    _look_at_process(services)
    await asyncio.gather(*(_look_at_standby(standby) for standby in services.database.standbys))
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            waiting = await services.documents.queue.count_waiting()
    except (DatabaseUnavailable, TimeoutError):
        JOBS_WAITING.counts = {}  # missing, not as it was
        return
    JOBS_WAITING.counts = {job: waiting.get(job, 0) for job in JOBS}


async def _look_at_standby(standby: Database) -> None:
    name = standby.state.name
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            STANDBY_LAG_SECONDS.labels(standby=name).set(await standby.lag_seconds())
    except (DatabaseUnavailable, TimeoutError):
        STANDBY_LAG_SECONDS.labels(standby=name).set(float("inf"))


def _look_at_process(services: Services) -> None:
    for breaker in services.breakers():
        BREAKER_STATE.labels(name=breaker.name).set(STATES[breaker.state])
    stats = services.database.pool_stats()
    idle = stats.get("pool_available", 0)
    DATABASE_CONNECTIONS.labels(state="idle").set(idle)
    DATABASE_CONNECTIONS.labels(state="used").set(stats.get("pool_size", 0) - idle)
    DATABASE_WAITING.set(stats.get("requests_waiting", 0))
