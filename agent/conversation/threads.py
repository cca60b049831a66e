"""LangGraph's threads in PostgreSQL: a conversation's is its owner's alone, and has a branch for every version."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import UUID

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
)
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver, Conn
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph.state import CompiledStateGraph
from psycopg import AsyncCursor
from psycopg.rows import DictRow, dict_row

from agent.context import Context
from graphrag.db.database import Connection, Database

# Messages and plain values: whatever else a row says that it holds is not made, and nothing is ever unpickled.
SERIALIZER = JsonPlusSerializer(pickle_fallback=False, allowed_msgpack_modules=None)


class OwnedSaver(AsyncPostgresSaver):
    """One owner's checkpoints, each read and written in a transaction of that owner's.

    A run goes on from the checkpoint that it names, never from the thread's latest: of two questions at once neither
    knows of the other. What it ends with is written by `keep`, so that of one that failed nothing is left.
    """

    def __init__(self, database: Database, owner_id: str) -> None:
        super().__init__(cast(Conn, None), serde=SERIALIZER)  # connections come from the database, in _cursor
        self._database = database
        self._owner_id = owner_id
        self._connection: Connection | None = None  # of the transaction that all is done in, where there is one
        self._last: tuple[RunnableConfig, Checkpoint, CheckpointMetadata, ChannelVersions] | None = None

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await super().aget_tuple(config) if get_checkpoint_id(config) else None

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        self._last = (config, checkpoint, metadata, new_versions)
        return {"configurable": {**config["configurable"], "checkpoint_id": checkpoint["id"]}}

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Ignore the writes of an unfinished step: nothing is resumed from them."""

    async def keep(self, connection: Connection) -> str:
        """Writes the last checkpoint, in the connection's transaction; its id."""
        assert self._last is not None
        self._connection = connection
        try:
            await super().aput(*self._last)
        finally:
            self._connection = None
        return self._last[1]["id"]

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[AsyncCursor[DictRow]]:
        given = nullcontext(self._connection) if self._connection else self._database.transaction(self._owner_id)
        async with given as connection, connection.cursor(binary=True, row_factory=dict_row) as cursor:
            yield cursor


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation's, for one run."""

    graph: CompiledStateGraph[Any, Context, Any, Any]
    saver: OwnedSaver = field(repr=False)


def open_thread(
    graph: CompiledStateGraph[Any, Context, Any, Any],
    *,
    database: Database,
    owner_id: str,
    thread_id: UUID,
    checkpoint_id: str | None,
) -> Thread:
    """The graph as it goes on from there; without a checkpoint, from nothing."""
    saver = OwnedSaver(database, owner_id)
    place = {"thread_id": str(thread_id), **({"checkpoint_id": checkpoint_id} if checkpoint_id else {})}
    going_on = graph.copy(update={"checkpointer": saver})
    return Thread(going_on.with_config({"configurable": place}), saver)
