"""A document that is gone, beside a twin collection that never had it: no answer, no endpoint and no table tells them
apart.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from fastapi import FastAPI
from psycopg import sql
from pydantic import SecretStr

from api.app import create_app
from graphrag.config.settings import Settings
from graphrag.db.database import fetch
from graphrag.errors import CollectionNotFound
from graphrag.services import Services, open_services
from tests.model_server import Body, ModelServer, Reply

SECRET = re.compile(r"xqzw\w*", re.IGNORECASE)  # the beginning of every word that only the document has
STEM = "xqzwaporte"
NAME = f"{STEM}.md"
DOOMED = """# Informe xqzwarambo

El horno H2 se averió porque el operario Xqzwilmar Xqzwotes olvidó el xqzwengrase del rodamiento. La avería del horno H2
provocó que la galleta xqzwendada quedara húmeda. El xqzwengrase cuesta 4.321 euros.

| Fecha | Pieza | Estado |
|---|---|---|
| 2025-03-02 | rodamiento xqzwural | roto |
"""
REPLACEMENT = "# Informe\n\nEl horno H2 no tiene más historia que la de su reparación.\n"
OTHERS = {
    "horno.md": "# Horno H2\n\nEl horno H2 se reparó en marzo de 2025. La reparación del horno H2 costó 9.240 euros.\n",
    "lote.md": "# Lote A-2517\n\nLa galleta húmeda provocó la retirada del lote A-2517. La retirada duró tres días.\n",
    "almacen.md": "# Almacén\n\nEl almacén de Toulouse guarda la galleta a 18 grados. Lo dirige Ana Ferrer.\n",
}
QUESTIONS = (
    "¿Por qué se averió el horno H2?",
    "¿Qué provocó la retirada del lote A-2517?",
    "¿Cuánto costó la reparación del horno H2?",
    "¿Qué le pasó al rodamiento?",
)
FOLLOW_UP = "¿y cuánto costó?"
ITS_OWN = {"created_at", "updated_at", "timings_ms", "id", "request_id"}  # of each twin
JOBS = "SELECT FROM procrastinate_jobs WHERE task_name <> 'optimize' AND (scheduled_at IS NULL OR scheduled_at < now())"
A_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
WAIT_SECONDS = 60
TABLES = """
    SELECT c.oid::regclass::text AS name, n.nspname AS space, relname AS table FROM pg_class c
    JOIN pg_namespace n ON n.oid = relnamespace
    WHERE relkind IN ('r', 'p', 'm') AND nspname NOT IN ('pg_catalog', 'information_schema')
"""
EXPIRED = """
    SELECT table_name FROM information_schema.columns
    WHERE table_schema = 'causeway' AND column_name = 'expires_at' AND table_name <> 'cache_entries'
    INTERSECT
    SELECT table_name FROM information_schema.columns WHERE table_schema = 'causeway' AND column_name = 'collection_id'
    INTERSECT
    SELECT table_name FROM information_schema.tables WHERE table_schema = 'causeway' AND table_type = 'BASE TABLE'
    EXCEPT
    SELECT relname FROM pg_class WHERE relispartition  -- updated through its table
"""


def speak(body: Body) -> str:
    """A model that repeats what it reads, with a mark and without; and whatever it is asked to name."""
    told = "\n".join(str(message["content"]) for message in body["messages"])
    words = sorted(set(SECRET.findall(told)))
    if "title" in str(body["messages"][0]["content"]) and "<answer>" in told:
        return f"Historia de {words[0]}" if words else "Historia del horno"
    if words:
        return f"La causa fue {words[0]} [1]. Nadie más habla de {words[-1]}."
    return "El horno H2 se reparó en marzo de 2025 [1]."


@dataclass
class Twin:
    """An owner with the service, over HTTP; its collection is the default one."""

    services: Services
    client: httpx.AsyncClient
    said: list[dict[str, Any]] = field(default_factory=list)

    @property
    def owner(self) -> str:
        return self.services.owner

    async def get(self, path: str, **query: Any) -> Any:
        response = await self.client.get(f"/api/v1{path}", params=query)
        assert response.status_code == 200, response.text
        return response.json()

    async def upload(self, files: dict[str, str]) -> None:
        sent = [("files", (name, text.encode())) for name, text in files.items()]
        response = await self.client.post("/api/v1/documents", files=sent)
        assert response.status_code == 202, response.text
        await self.settled()

    async def settled(self) -> None:
        """All its jobs are done, but for those of another day."""
        async with asyncio.timeout(WAIT_SECONDS):
            while await self._count_jobs():
                await asyncio.sleep(0.05)

    async def _count_jobs(self) -> int:
        async with self.services.database.transaction(self.owner) as connection:
            return len(await fetch(connection, JOBS, {}))

    async def document(self, filename: str) -> UUID:
        listed = (await self.get("/documents"))["documents"]
        return next(UUID(document["id"]) for document in listed if document["filename"] == filename)

    async def ask(self, message: str, **body: Any) -> dict[str, Any]:
        response = await self.client.post("/api/v1/chat", json={"message": message, **body})
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        self.said.append(answer)
        return answer

    async def tell(self) -> list[str]:
        """All that can be read of its conversations, and of what was proposed."""
        addresses = {f"/conversations/{answer['conversation_id']}" for answer in self.said}
        paths = ["/conversations?limit=200", "/feedback?limit=200"]
        if (await self.get("/collections"))["collections"]:
            paths.append("/golden-cases/proposals?limit=200")
        paths += [
            address + path for address in addresses for path in ("", "/messages", "/export", "/export?format=json")
        ]
        paths += [f"/conversations/{of['conversation_id']}/messages/{of['message_id']}" for of in self.said]
        texts = []
        for path in paths:
            response = await self.client.get(f"/api/v1{path}")
            assert response.status_code == 200, response.text
            texts.append(response.text)
        return texts

    async def view(self) -> dict[str, Any]:
        """What is to be equal: documents, the graph, statistics, and answers to new questions."""
        collection = await self.services.collections.open(self.owner, None)
        edges = await self.services.graph.list_causal_edges(collection)
        async with self.services.database.transaction(self.owner) as connection:
            lexemes = await fetch(connection, "SELECT lexeme, document_frequency FROM lexeme_statistics ORDER BY 1", {})
            entities = await fetch(connection, "SELECT key FROM entities ORDER BY 1", {})
        answers = [await self.ask(question) for question in QUESTIONS]
        return {
            "collections": comparable(await self.get("/collections")),
            "documents": sorted(map(str, comparable(await self.get("/documents"))["documents"])),
            "edges": sorted((edge.cause.name, edge.effect.name, edge.quote) for edge in edges),
            "lexemes": lexemes,
            "entities": entities,
            "answers": comparable(answers),
        }


def comparable(value: Any) -> Any:
    """Without what each twin has of its own."""
    match value:
        case dict():
            return {key: comparable(part) for key, part in value.items() if key not in ITS_OWN}
        case list():
            return [comparable(part) for part in value]
        case str():
            return A_UUID.sub("…", value)
    return value


def uncounted(view: dict[str, Any]) -> dict[str, Any]:
    answers = [
        (answer["answer"], [(source["filename"], source["content"]) for source in answer["sources"]])
        for answer in view["answers"]
    ]
    return {"documents": view["documents"], "edges": view["edges"], "answers": answers}


def telling(texts: Sequence[str], known: str = "") -> list[str]:
    """Those with words of the document, but for what is known of it still."""
    return [text for text in texts if set(SECRET.findall(text)) - {known}]


def find_words(database: str) -> set[str]:
    """The tables that hold any word of the document: all that the catalog knows, whatever their columns are."""
    found = set()
    with psycopg.connect(database) as connection:
        for name, space, table in connection.execute(TABLES).fetchall():
            for row in connection.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(space, table))):
                if any(SECRET.search(written(value)) for value in row):
                    found.add(name.removeprefix("causeway."))
    return found


def written(value: object) -> str:
    match value:
        case bytes() | memoryview():
            return bytes(value).decode("latin-1")
        case list():
            return " ".join(map(written, value))
    return str(value)


@dataclass
class Pair:
    database: str
    home: Path
    having: Twin
    without: Twin

    async def collection(self) -> Any:
        return await self.having.services.collections.open(self.having.owner, None)


Make = Callable[..., Awaitable[Pair]]


@asynccontextmanager
async def open_twin(database: str, owner: str, home: Path, **settings: Any) -> AsyncIterator[Twin]:
    given: dict[str, Any] = {"owner": owner, "home": home, "database_url": SecretStr(database)}
    services = open_services(Settings.from_environment(**given, **settings))
    app = create_app(services)
    async with running(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", timeout=60) as client:
            yield Twin(services, client)


@asynccontextmanager
async def running(app: FastAPI) -> AsyncIterator[None]:
    """In a task of its own: what an application begins, it must end in the same one, and a fixture ends in another."""
    begun, over = asyncio.Event(), asyncio.Event()

    async def live() -> None:
        async with app.router.lifespan_context(app):
            begun.set()
            await over.wait()

    living = asyncio.create_task(live())
    await begun.wait()
    try:
        yield
    finally:
        over.set()
        await living


@pytest.fixture
async def make_pair(
    make_database: Callable[[], str], tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Make]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-tests")
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.base_url)
    model_server.default = Reply(speak)
    async with AsyncExitStack() as stack:

        async def make(**settings: Any) -> Pair:
            database = make_database()
            twins = [
                await stack.enter_async_context(open_twin(database, owner, tmp_path, **settings))
                for owner in ("having", "without")
            ]
            return Pair(database, tmp_path, *twins)

        yield make


WRITERS: dict[str, dict[str, Any]] = {
    "extractive": {},
    "model": {
        "chat_model": "openai:scripted",
        "contextual_embeddings": True,
        "query_refinement": False,
        "title_refinement": True,
    },
}


BY_EACH_WRITER = pytest.mark.parametrize("writer", ["extractive", pytest.param("model", marks=pytest.mark.slow)])


async def live_with_it(pair: Pair) -> list[dict[str, Any]]:
    """The one has the document, asks about it, and says what it thinks of the answers."""
    await pair.having.upload({**OTHERS, NAME: DOOMED})
    told = []
    for question in QUESTIONS:
        first = await pair.having.ask(question)
        place = {"conversation_id": first["conversation_id"]}
        told += [first, await pair.having.ask(FOLLOW_UP, **place)]
    for answer in told:
        message = f"/api/v1/conversations/{answer['conversation_id']}/messages/{answer['message_id']}"
        for number in range(1, len(answer["citations"]) + 1):
            await pair.having.client.put(f"{message}/citations/{number}/feedback", json={"rating": 1})
        await pair.having.client.put(f"{message}/feedback", json={"rating": -1})
    await decide_some(pair.having)
    await pair.having.settled()
    return told


async def decide_some(twin: Twin) -> None:
    """Of the golden cases that the document proposes one is rejected, the others wait."""
    sent = {"documents": [NAME]}
    proposed = (await twin.client.post("/api/v1/golden-cases/proposals", json=sent)).json()["proposals"]
    assert len([of for of in proposed if SECRET.search(str(of))]) >= 2
    first = proposed[0]["id"]
    assert (await twin.client.post(f"/api/v1/golden-cases/proposals/{first}/reject")).status_code == 200


async def delete(pair: Pair) -> None:
    document = await pair.having.document(NAME)
    assert (await pair.having.client.delete(f"/api/v1/documents/{document}")).status_code == 204


async def expire(pair: Pair) -> None:
    document = await pair.having.document(NAME)
    with psycopg.connect(pair.database) as connection:
        for (table,) in connection.execute(EXPIRED).fetchall():
            chunked = table == "chunk_embeddings"
            condition = (
                "chunk_id IN (SELECT chunk_id FROM causeway.chunks WHERE document_id = %s)"
                if chunked
                else "document_id = %s"
            )
            statement = sql.SQL("UPDATE causeway.{} SET expires_at = now() WHERE " + condition)
            connection.execute(statement.format(sql.Identifier(table)), [document])


async def purge(pair: Pair) -> None:
    await expire(pair)
    await pair.having.services.jobs.purge(pair.having.owner, (await pair.collection()).id)


async def replace(pair: Pair) -> None:
    document = await pair.having.document(NAME)
    given = {"file": (NAME, REPLACEMENT.encode())}
    assert (await pair.having.client.put(f"/api/v1/documents/{document}", files=given)).status_code == 202
    await pair.having.settled()  # until then the old version is found


@BY_EACH_WRITER
@pytest.mark.parametrize("end", [delete, expire, purge, replace])
async def test_what_is_gone_has_never_been(
    make_pair: Make, model_server: ModelServer, end: Callable[[Pair], Awaitable[None]], writer: str
) -> None:
    """Security 19 After its end every endpoint answers as the twin's, and tells no word of it; nor does a table."""
    # The test sets back the time of stored rows, not of what a search has found already.
    pair = await make_pair(**WRITERS[writer], query_cache_seconds=0 if end in (expire, purge) else 300)
    told = await live_with_it(pair)
    assert any(SECRET.search(answer["answer"]) for answer in told)
    held = {"documents", "chunks", "messages", "checkpoint_blobs", "lexeme_statistics", "causal_edges", "entities"}
    held.add("golden_proposals")
    held |= {"cache_entries", "conversations"} if writer == "model" else set()
    assert held <= find_words(pair.database)
    asked, known = len(model_server.requests), STEM if end is replace else ""

    await end(pair)
    assert not telling(await pair.having.tell(), known)
    await pair.having.settled()
    later = {NAME: REPLACEMENT} if end is replace else {}
    await pair.without.upload({**OTHERS, **later})
    having, without = await pair.having.view(), await pair.without.view()
    if end is expire:  # until it is purged, a minute later, it still counts: scores tell how many chunks have a word
        having, without = uncounted(having), uncounted(without)
    assert having == without
    for answer in told:
        await pair.having.ask(FOLLOW_UP, conversation_id=answer["conversation_id"])
    assert not telling(await pair.having.tell(), known)
    assert not telling([str(request.body) for request in model_server.requests[asked:]], known)
    if end not in (expire, replace):
        assert find_words(pair.database) == set()
        assert not [
            path for path in pair.home.rglob("*") if path.is_file() and SECRET.search(path.read_text("latin-1"))
        ]


@BY_EACH_WRITER
async def test_a_deleted_collection_leaves_nothing(make_pair: Make, writer: str) -> None:
    """Security 19 Its conversations stay, without a word of its documents."""
    pair = await make_pair(**WRITERS[writer])
    await live_with_it(pair)
    collection = await pair.collection()
    assert (await pair.having.client.delete(f"/api/v1/collections/{collection.name}")).status_code == 204
    await pair.having.settled()
    with pytest.raises(CollectionNotFound):
        await pair.collection()
    texts = await pair.having.tell()
    assert not telling(texts)
    assert any(question in text for question in QUESTIONS for text in texts)
    assert find_words(pair.database) == set()


async def test_an_answer_that_was_being_written_tells_nothing_either(
    make_pair: Make, model_server: ModelServer
) -> None:
    """Security 19 The document is deleted while the model writes: neither the answer nor what follows has its words."""
    pair = await make_pair(**WRITERS["model"] | {"contextual_embeddings": False})
    await pair.having.upload({**OTHERS, NAME: DOOMED})
    document, collection = await pair.having.document(NAME), await pair.collection()
    loop = asyncio.get_running_loop()

    def delete_first(body: Body) -> str:
        deleting = pair.having.services.documents.delete(collection, document)
        asyncio.run_coroutine_threadsafe(deleting, loop).result(WAIT_SECONDS)
        return speak(body)

    model_server.script(Reply(delete_first))
    answer = await pair.having.ask(QUESTIONS[0])
    assert any(SECRET.search(str(request.body)) for request in model_server.requests)
    assert not telling([str(answer)])
    asked = len(model_server.requests)
    await pair.having.ask(FOLLOW_UP, conversation_id=answer["conversation_id"])
    await pair.having.settled()
    assert not telling([*await pair.having.tell(), *(str(request.body) for request in model_server.requests[asked:])])
    assert find_words(pair.database) == set()
