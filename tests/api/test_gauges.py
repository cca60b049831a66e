"""What is looked up when somebody asks for the metrics."""

import asyncio
import socket
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from prometheus_client import REGISTRY
from pydantic import SecretStr

from api.gauges import look_around, metrics_served
from graphrag.config.settings import Settings
from graphrag.errors import InvalidSettings
from graphrag.observability.metrics import JOBS_WAITING
from graphrag.services import Services, open_services

NOWHERE = "postgresql://nobody@127.0.0.1:1/nothing"


def waiting(task: str) -> float | None:
    return REGISTRY.get_sample_value("causeway_jobs_waiting", {"task": task})


async def test_jobs_that_wait_are_counted(services: Services, owner: str) -> None:
    """R11.2 Of all owners and processes; one that is planned for later does not wait."""
    await look_around(services)
    before = waiting("forget_conversations"), waiting("forget_idempotency_keys")
    now = datetime.now(UTC)
    await services.documents.queue.defer_forgetting(owner, now - timedelta(seconds=1))
    await services.documents.queue.defer_forgetting_keys(owner, now + timedelta(hours=1))
    await look_around(services)
    assert before[0] is not None
    assert (waiting("forget_conversations"), waiting("forget_idempotency_keys")) == (before[0] + 1, before[1])


async def test_the_pool_is_told(services: Services) -> None:
    """R11.2 Connections that are used and idle, and who waits for one."""
    async with services.database.transaction(""):
        await look_around(services)
        used = REGISTRY.get_sample_value("causeway_database_connections", {"state": "used"})
    assert used == 1
    assert REGISTRY.get_sample_value("causeway_database_waiting") == 0


async def test_a_database_that_is_away_keeps_no_metric_back(services: Services) -> None:
    """R11.2 What is not known is missing, not as it was."""
    await look_around(services)
    assert waiting("ingest") is not None
    await look_around(open_services(Settings.from_environment(database_url=SecretStr(NOWHERE))))
    assert waiting("ingest") is None


async def test_metrics_are_served_where_nothing_else_is(services: Services) -> None:
    """R11.2 Of a worker, with what is looked up; a port that is taken is told at once, with the way out."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        taken.listen()
        with pytest.raises(InvalidSettings, match=f"--metrics-port {port + 1}"):
            async with metrics_served(services, "127.0.0.1", port):
                pass
    JOBS_WAITING.counts = {}
    async with metrics_served(services, "127.0.0.1", port), httpx.AsyncClient() as client:
        while waiting("ingest") is None:
            await asyncio.sleep(0.01)
        told = (await client.get(f"http://127.0.0.1:{port}/metrics")).text
        assert 'causeway_jobs_waiting{task="ingest"}' in told
        assert 'causeway_jobs_ended_total{outcome="given_up",task="ingest"}' in told
    async with httpx.AsyncClient() as client:
        with pytest.raises(httpx.ConnectError):
            await client.get(f"http://127.0.0.1:{port}/metrics")
