"""What the suites are run against, asked of the running things: by the fixture that starts each."""

import re
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

import httpx
import psycopg
from redis import Redis

from tests import typesense_server


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


def _chroma_folder(_: object) -> str:
    return f"Chroma {version('chromadb')} in a folder"


def _chroma_server(address: str) -> str:
    told = httpx.get(f"{address}/api/v2/version").json()
    return f"Chroma {version('chromadb')} as `chroma run`, which calls itself {told}, in a process of its own"


def _milvus_folder(_: object) -> str:
    return f"Milvus Lite {version('milvus-lite')} in a folder"


def _milvus_server(_: str) -> str:
    return f"Milvus Lite {version('milvus-lite')} as `milvus-lite server`, in a process of its own"


def _typesense(_: object) -> str:
    told = re.search(r"version ([\d.]+)", typesense_server.__doc__ or "")
    assert told
    return f"Typesense: no Typesense, but a server of the tests that follows its published API {told[1]} strictly"


def _chunkenizer(_: object) -> str:
    return "Chunkenizer: no Chunkenizer, but a server of the tests with its `POST /search`"


VERSIONS: Mapping[str, Callable[[Any], str]] = {
    "postgres": _postgres,
    "redis_server": _redis,
    "s3_server": _s3,
    "chroma_folder": _chroma_folder,
    "chroma_address": _chroma_server,
    "milvus_folder": _milvus_folder,
    "milvus_address": _milvus_server,
    "typesense_server": _typesense,
    "service": _chunkenizer,
}
