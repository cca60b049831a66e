"""What the suites are run against, asked of the running things: by the fixture that starts each."""

from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

import httpx
import psycopg
from redis import Redis


def _postgres(url: str) -> str:
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT current_setting('server_version'), extversion FROM pg_extension WHERE extname = 'vector'"
        ).fetchone()
    assert row
    return f"PostgreSQL {row[0]} with pgvector {row[1]}, a server of the tests' own"


def _redis(url: str) -> str:
    with Redis.from_url(url) as client:
        return f"redis-server {client.info('server')['redis_version']}, in a process of its own"


def _s3(address: str) -> str:
    httpx.get(f"{address}/moto-api/data.json").raise_for_status()  # no other server has it
    return f"S3: moto's server {version('moto')}, in a process of its own"


VERSIONS: Mapping[str, Callable[[Any], str]] = {"postgres": _postgres, "redis_server": _redis, "s3_server": _s3}
