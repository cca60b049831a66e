"""The whole examination, and the index beside PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from uuid import UUID

import psycopg

from graphrag.config.settings import Settings
from graphrag.diagnosis.database import QUERIES, Reader, address_of, examine_database, reader, reading
from graphrag.diagnosis.findings import Finding, error, ok, warning
from graphrag.diagnosis.installation import (
    examine_home,
    examine_installation,
    examine_models,
    examine_redis,
    examine_storage,
)
from graphrag.diagnosis.network import examine_chunkenizer, examine_doors, examine_tracing
from graphrag.errors import CausewayError, IndexUnavailable, InvalidSettings
from graphrag.models import Collection
from graphrag.observability.logging import without_secrets
from graphrag.protocols import ChunkIndex
from graphrag.services import open_index
from graphrag.stores.indexes.reconciliation import QUERIES as INDEX_QUERIES
from graphrag.stores.indexes.reconciliation import stored_entry_ids
from graphrag.stores.postgres.rows import QUERIES as STORE_QUERIES


@dataclass(frozen=True, slots=True)
class ExpectedEntries:
    """The entries that there are to be of a collection, and those that there may be."""

    collection: Collection
    needed: set[UUID]
    allowed: set[UUID]


async def examine_index(settings: Settings) -> AsyncIterator[Finding]:
    try:
        index = open_index(settings)
        if index is None:
            return
        if settings.storage.index_url is None:  # a folder, which is the service's alone while it runs
            yield ok("index_folder", index=index.name, place=str(settings.storage.home / index.name))
            return
        try:
            await index.open()
            yield ok("index", index=index.name, place=without_secrets(settings.storage.index_url))
            if address := address_of(settings):
                wanted = await asyncio.to_thread(_read_wanted, settings, address)
                yield await _compare(index, wanted, owner_id=settings.authentication.owner)
        finally:
            await index.close()
    except IndexUnavailable as exc:
        yield warning("index_away", cause=str(exc))
    except CausewayError as exc:
        yield error("cannot_be_used", what="RAG_INDEX", cause=str(exc))
    except psycopg.Error:
        return  # the examination of the database tells


async def _compare(index: ChunkIndex, wanted: list[ExpectedEntries], *, owner_id: str) -> Finding:
    missing = strange = held = 0
    for of in wanted:
        entries = await index.list_entries(of.collection)
        missing += len(of.needed - entries)
        strange += len(entries - of.allowed)
        held += len(entries)
    if missing or strange:
        return warning("index_behind", index=index.name, missing=missing, strange=strange, owner=owner_id)
    return ok("index_in_step", index=index.name, entries=held, owner=owner_id)


def _read_wanted(settings: Settings, address: str) -> list[ExpectedEntries]:
    with reader(address) as connection, reading(settings, connection):
        rows = connection.execute(STORE_QUERIES["list_collections"].encode()).fetchall()
        return [_wanted(connection, Collection(*row.values())) for row in rows]


def _wanted(connection: Reader, collection: Collection) -> ExpectedEntries:
    values = {"collection_id": collection.id, "model": collection.embedding_model, "documents": None}
    directionless = connection.execute(QUERIES["directionless_chunks"].encode(), values)
    may_be_left_out = {row["chunk_id"] for row in directionless}
    rows = connection.execute(INDEX_QUERIES["list_chunk_versions"].encode(), values).fetchall()
    allowed = {entry: row["chunk_id"] for row in rows for entry in stored_entry_ids(collection, row)}
    needed = {entry for entry, chunk in allowed.items() if chunk not in may_be_left_out}
    return ExpectedEntries(collection, needed, {*allowed})


async def examine(environment: Mapping[str, str], *, host: str, port: int, calls: bool) -> AsyncIterator[Finding]:
    """Each finding as soon as it is known. `calls`: chat models are asked something, too."""
    for finding in examine_installation(environment):
        yield finding
    try:
        settings = Settings.from_environment()
    except InvalidSettings as exc:
        yield error("settings_invalid", cause=str(exc))
        return
    yield ok("settings")
    parts = (
        _in_thread(lambda: list(examine_home(settings.storage.home))),
        _in_thread(lambda: list(examine_database(settings))),
        examine_index(settings),
        examine_storage(settings),
        examine_redis(settings),
        examine_models(settings, calls=calls),
        examine_doors(settings, host=host, port=port),
        examine_chunkenizer(settings),
        examine_tracing(),
    )
    for part in parts:
        async for finding in _despite_failures(part):
            yield finding


async def _in_thread(look: Callable[[], list[Finding]]) -> AsyncIterator[Finding]:
    for finding in await asyncio.to_thread(look):
        yield finding


async def _despite_failures(part: AsyncIterator[Finding]) -> AsyncIterator[Finding]:
    """Run a part; an unexpected error ends this part alone, as the others may report its cause."""
    try:
        async for finding in part:
            yield finding
    except Exception as exc:
        yield error("unforeseen", cause=repr(exc))
