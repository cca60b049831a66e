"""LangGraph's threads in PostgreSQL: whose they are, what is in them, where a run goes on."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import ormsgpack
import psycopg
import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg.rows import dict_row
from psycopg.sql import SQL, Identifier

from agent.context import Context
from agent.conversation.threads import SERIALIZER, Thread, open_thread
from agent.graph import graph
from agent.output.events import last_of, stream_answer
from agent.state import MAX_MESSAGES
from graphrag.db.database import Database, fetch
from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.services import Services
from graphrag.testing.in_memory_store import InMemoryStore
from tests.agent.library import open_library

TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
SHAPE = """
    SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns
    WHERE table_schema = %(schema)s AND table_name LIKE 'checkpoint%%' AND column_name <> 'owner_id' ORDER BY 1, 2
"""
INDEXES = """
    SELECT indexname, replace(indexdef, %(schema)s || '.', '') AS definition FROM pg_indexes
    WHERE schemaname = %(schema)s AND tablename LIKE 'checkpoint%%' ORDER BY 1
"""


@pytest.fixture
async def library(registry: EmbeddingRegistry) -> Services:
    return await open_library(registry, store=InMemoryStore())


def thread(database: Database, owner: str, thread_id: UUID, checkpoint_id: str | None = None) -> Thread:
    return open_thread(graph, database=database, owner_id=owner, thread_id=thread_id, checkpoint_id=checkpoint_id)


async def run(opened: Thread, library: Services, question: str) -> str:
    """The checkpoint after the answer."""
    await last_of(stream_answer(opened.graph, [HumanMessage(question)], Context(services=library)))
    return await keep(opened)


async def keep(opened: Thread) -> str:
    async with opened.saver._database.transaction(opened.saver._owner_id) as connection:
        return await opened.saver.keep(connection)


async def texts(database: Database, owner: str, thread_id: UUID, checkpoint_id: str) -> list[str]:
    """What the messages of a checkpoint say."""
    place: Any = {"configurable": {"thread_id": str(thread_id), "checkpoint_id": checkpoint_id}}
    found = await thread(database, owner, thread_id).saver.aget_tuple(place)
    messages: Sequence[AnyMessage] = found.checkpoint["channel_values"]["messages"] if found else []
    return [message.text for message in messages if isinstance(message, HumanMessage)]


async def rows(database: Database, owner: str, table: str, thread_id: UUID) -> list[dict[str, Any]]:
    async with database.transaction(owner) as connection:
        return await fetch(
            connection, f"SELECT * FROM {table} WHERE thread_id = %(thread)s", {"thread": str(thread_id)}
        )


async def test_our_tables_are_the_library_s(postgres: str) -> None:
    """R6.3 Its own setup finds nothing to do; columns, keys and indexes are those that its migrations make."""
    with psycopg.connect(postgres, autocommit=True, row_factory=dict_row) as connection:
        schema = f"library_{uuid4().hex}"
        connection.execute(SQL("CREATE SCHEMA {}").format(Identifier(schema)))
        connection.execute(SQL("SET search_path = {}").format(Identifier(schema)))
        for migration in AsyncPostgresSaver.MIGRATIONS:
            connection.execute(migration.encode())
        for query in (SHAPE, INDEXES):
            theirs = connection.execute(query.encode(), {"schema": schema}).fetchall()
            assert connection.execute(query.encode(), {"schema": "causeway"}).fetchall() == theirs
        last = connection.execute("SELECT max(v) AS v FROM causeway.checkpoint_migrations").fetchone()
        assert last == {"v": len(AsyncPostgresSaver.MIGRATIONS) - 1}
        connection.execute(SQL("DROP SCHEMA {} CASCADE").format(Identifier(schema)))


async def test_a_run_goes_on_from_the_checkpoint_that_it_names(
    services: Services, library: Services, owner: str
) -> None:
    """R6.3, R9.1 Two questions after the same answer are branches: neither holds the other."""
    database, thread_id = services.database, uuid4()
    first = await run(thread(database, owner, thread_id), library, "¿Cuándo se cerró el puente de Arenal?")
    left = await run(thread(database, owner, thread_id, first), library, "¿y por qué?")
    right = await run(thread(database, owner, thread_id, first), library, "¿y cuánto costó?")
    further = await run(thread(database, owner, thread_id, left), library, "¿y quién la pagó?")
    assert await texts(database, owner, thread_id, right) == [
        "¿Cuándo se cerró el puente de Arenal?",
        "¿y cuánto costó?",
    ]
    assert await texts(database, owner, thread_id, further) == [
        "¿Cuándo se cerró el puente de Arenal?",
        "¿y por qué?",
        "¿y quién la pagó?",
    ]
    beginning = await run(thread(database, owner, thread_id), library, "How often must the boiler be serviced?")
    assert await texts(database, owner, thread_id, beginning) == ["How often must the boiler be serviced?"]


async def test_a_thread_is_its_owner_s(services: Services, library: Services, owner: str) -> None:
    """Security 4: with its ids, another owner, or nobody, goes on from nothing and changes nothing."""
    database, thread_id = services.database, uuid4()
    checkpoint = await run(thread(database, owner, thread_id), library, "¿Cuándo se cerró el puente de Arenal?")
    for stranger in (f"{owner}-other", ""):
        assert await texts(database, stranger, thread_id, checkpoint) == []
        for table in TABLES:
            assert await rows(database, stranger, table, thread_id) == []
    stranger = f"{owner}-other"
    theirs = await run(thread(database, stranger, thread_id, checkpoint), library, "¿y por qué?")
    assert await texts(database, stranger, thread_id, theirs) == ["¿y por qué?"]
    assert {row["owner_id"] for row in await rows(database, owner, "checkpoints", thread_id)} == {owner}


async def test_nobody_can_write_a_checkpoint_for_another(services: Services, library: Services, owner: str) -> None:
    """Security 4: an owner who knows the ids can't write over a checkpoint; without an identity none is written."""
    database, thread_id = services.database, uuid4()
    opened = thread(database, owner, thread_id)
    await run(opened, library, "¿Cuándo se cerró el puente de Arenal?")
    before = await rows(database, owner, "checkpoints", thread_id)
    for stranger in (f"{owner}-other", ""):
        forged = thread(database, stranger, thread_id)
        forged.saver._last = opened.saver._last
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await keep(forged)
    assert await rows(database, owner, "checkpoints", thread_id) == before


async def test_only_messages_and_plain_values_are_kept(services: Services, library: Services, owner: str) -> None:
    """R8.9, security 13 and 20: one checkpoint a run; no stage output, no key, no pickle."""
    database, thread_id = services.database, uuid4()
    opened = thread(database, owner, thread_id)
    await run(opened, library, "¿Cuándo se cerró el puente de Arenal?")
    (checkpoint,) = await rows(database, owner, "checkpoints", thread_id)
    blobs = await rows(database, owner, "checkpoint_blobs", thread_id)
    inline = checkpoint["checkpoint"]["channel_values"]
    assert {blob["channel"] for blob in blobs} | set(inline) <= {"messages", "question", "degraded"}
    assert inline["question"] == "¿Cuándo se cerró el puente de Arenal?"
    assert {blob["type"] for blob in blobs} == {"msgpack"}
    assert set(checkpoint["metadata"]) == {"source", "step", "parents"}
    assert await rows(database, owner, "checkpoint_writes", thread_id) == []


async def test_a_long_conversation_is_not_held_whole(services: Services, library: Services, owner: str) -> None:
    """R8.9 A checkpoint holds the latest messages alone: what a thread takes grows with its turns, not with their
    square.
    """
    thread_id = uuid4()
    opened = thread(services.database, owner, thread_id)
    said: list[AnyMessage] = [HumanMessage(f"¿{number}?") for number in range(MAX_MESSAGES)]
    question = HumanMessage("¿Cuándo se cerró el puente de Arenal?")
    await last_of(stream_answer(opened.graph, [*said, question], Context(services=library)))
    heard = await texts(services.database, owner, thread_id, await keep(opened))
    assert heard == [*(f"¿{number}?" for number in range(2, MAX_MESSAGES)), question.text]


async def test_a_run_that_fails_leaves_nothing(services: Services, library: Services, owner: str) -> None:
    """R11.1 What is not kept on purpose is not written: no half state to go on from."""
    thread_id = uuid4()
    opened = thread(services.database, owner, thread_id)
    with pytest.raises(Exception, match="empty"):
        await last_of(stream_answer(opened.graph, [HumanMessage(" ")], Context(services=library)))
    for table in TABLES:
        assert await rows(services.database, owner, table, thread_id) == []


def test_the_serializer_makes_messages_and_no_other_objects() -> None:
    """Security 13: a row that names another class or a pickle gives data at most."""
    said = [HumanMessage("hola"), AIMessage("adiós", additional_kwargs={"cited_titles": ["Acta"]})]
    assert SERIALIZER.loads_typed(SERIALIZER.dumps_typed(said)) == said
    call = ormsgpack.packb(("os", "system", "true"))
    for code in range(8):
        hostile = ormsgpack.packb(ormsgpack.Ext(code, call))
        assert SERIALIZER.loads_typed(("msgpack", hostile)) != 0
    with pytest.raises(NotImplementedError):
        SERIALIZER.loads_typed(("pickle", b"cos\nsystem\n(S'true'\ntR."))
