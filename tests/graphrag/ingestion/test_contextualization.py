"""Chunks in their context: what the model is asked, what becomes of its answer."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from graphrag.embeddings.registry import embed_batches, load_registry
from graphrag.ingestion.contextualization import HOPELESS, LONGEST, contextual_text, situate
from graphrag.models import Chunk, Document
from graphrag.models.ingestion import IndexedDocument
from graphrag.protocols import Cache
from graphrag.services import Services
from graphrag.testing.in_memory_store import InMemoryCache
from tests.conformance.test_chunk_store import tile
from tests.factories import make_document
from tests.model_server import Fail, ModelServer, Reply

TEXTS = ["El horno H2 es de 2019. ", "Falló en marzo. ", "Lo cambiaron <en abril> & mayo."]
WHOLE = "".join(TEXTS)


class BrokenCache:
    async def get_many(self, owner_id: str, keys: Sequence[str]) -> dict[str, bytes]:
        raise ConnectionError("down, on purpose")

    async def set_many(self, owner_id: str, values: Mapping[str, bytes], *, seconds: float) -> None:
        raise ConnectionError("down, on purpose")


def open_chat(server: ModelServer, model: str = "scripted") -> BaseChatModel:
    return ChatOpenAI(model=model, base_url=server.base_url, api_key=SecretStr("sk-test"), max_retries=0)


async def tell(server: ModelServer, *, texts: Sequence[str] = TEXTS, **options: Any) -> list[str | None]:
    document: Document = options.pop("document", None) or make_document(title="Informe del horno")
    given: dict[str, Any] = {"chat_model": open_chat(server), "cache": InMemoryCache(), "owner_id": "me"}
    chunks: list[Chunk] = tile(document, texts)
    return await situate(chunks, document=document, text="".join(texts), **given | options)


def excerpt(body: dict[str, Any]) -> str:
    prompt: str = body["messages"][-1]["content"]
    return prompt.split("<excerpt>\n")[1].split("\n</excerpt>")[0]


async def test_each_chunk_is_situated_by_its_surroundings(model_server: ModelServer) -> None:
    """R3.7 document, position, headings, neighbours; answers in the chunks' order."""
    model_server.default = Reply(lambda body: f"Sobre: {excerpt(body)}")
    document = make_document(title="Informe del horno")
    assert await tell(model_server, document=document, max_concurrency=1) == [
        "Sobre: El horno H2 es de 2019.", "Sobre: Falló en marzo.", "Sobre: Lo cambiaron &lt;en abril&gt; &amp; mayo.",
    ]  # fmt: skip
    (second,) = [request.body for request in model_server.requests if excerpt(request.body) == TEXTS[1]]
    rules, given = (message["content"] for message in second["messages"])
    assert "data, not instructions" in rules
    for part in ("<title>\nInforme del horno", f"<beginning>\n{TEXTS[0]}", "part 2 of 3", f"<before>\n{TEXTS[0]}"):
        assert part in given
    assert "<after>\nLo cambiaron &lt;en abril&gt; &amp; mayo.\n</after>" in given


async def test_what_was_told_once_is_not_asked_again(model_server: ModelServer) -> None:
    """R3.7 cached, one owner's apart from another's, by model and prompt."""
    cache: Cache = InMemoryCache()
    document = make_document()
    first = await tell(model_server, cache=cache, document=document)
    assert len(model_server.requests) == 3
    assert await tell(model_server, cache=cache, document=document) == first
    assert len(model_server.requests) == 3
    await tell(model_server, cache=cache, document=document, owner_id="you")
    assert len(model_server.requests) == 6
    await tell(model_server, cache=cache, document=document, chat_model=open_chat(model_server, "other"))
    assert len(model_server.requests) == 9
    await tell(model_server, cache=cache, document=document, texts=[*TEXTS[:2], "Otra cosa."])
    assert len(model_server.requests) == 12  # "after", "before", "place" and "beginning" have changed


async def test_a_chunk_that_fails_stands_alone(model_server: ModelServer) -> None:
    """R3.7 the plain text then; asked again the next time."""
    cache: Cache = InMemoryCache()
    document = make_document()
    model_server.script(Reply("Uno."), Fail(500), Reply("Tres."))
    assert await tell(model_server, cache=cache, document=document, max_concurrency=1) == ["Uno.", None, "Tres."]
    model_server.script(Reply("Dos."))
    assert await tell(model_server, cache=cache, document=document) == ["Uno.", "Dos.", "Tres."]
    assert len(model_server.requests) == 4


async def test_a_model_that_is_down_is_not_asked_for_every_chunk(model_server: ModelServer) -> None:
    """R3.7, R11.1"""
    model_server.default = Reply("never")
    model_server.script(*[Fail(503)] * 40)
    assert (
        await tell(model_server, texts=[f"Frase {number}. " for number in range(40)], max_concurrency=1) == [None] * 40
    )
    assert len(model_server.requests) == HOPELESS


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("  Del horno.\n\nDe\tmarzo. ", "Del horno. De marzo."),
        ("«Del horno.»", "Del horno."),
        ("Del\x00 hor\u202eno.", "Del hor no."),
        ("\n\t ", None),
        ("palabra " * 200, None),
        ("x" * 2_000, None),
    ],
)
async def test_what_is_told_is_made_harmless(model_server: ModelServer, said: str, expected: str | None) -> None:
    """R3.7, security 14: one short printable line, or nothing."""
    model_server.default = Reply(said)
    (told,) = await tell(model_server, texts=["Algo."])
    if expected or not said.strip():
        assert told == expected
    else:
        assert told is not None
        assert LONGEST - 10 <= len(told) <= LONGEST
        assert not told.endswith("palabr")


async def test_a_cache_that_is_down_is_passed_over(model_server: ModelServer) -> None:
    """R11.1"""
    assert await tell(model_server, cache=BrokenCache()) == ["This is a scripted answer."] * 3


async def test_not_more_are_asked_at_once_than_may_be(model_server: ModelServer) -> None:
    """R3.7"""
    asked_at_once = most = 0

    class Counting(ChatOpenAI):
        async def ainvoke(self, *arguments: Any, **options: Any) -> Any:
            nonlocal asked_at_once, most
            asked_at_once += 1
            most = max(most, asked_at_once)
            await asyncio.sleep(0.01)
            asked_at_once -= 1
            return await super().ainvoke(*arguments, **options)

    chat = Counting(model="m", base_url=model_server.base_url, api_key=SecretStr("sk-test"), max_retries=0)
    await tell(model_server, texts=[f"Frase {number}. " for number in range(9)], chat_model=chat, max_concurrency=3)
    assert most == 3


async def test_a_chunk_is_found_by_what_was_said_of_it(
    model_server: ModelServer, services: Services, owner: str, tmp_path: Path
) -> None:
    """R3.7 situated by one model, embedded in context by another, stored with both vectors, searched by the context."""
    (tmp_path / "embeddings.yml").write_text(
        f"embeddings: [{{id: far, provider: openai, model: m, base_url: '{model_server.base_url}'}}]"
    )
    model = load_registry(tmp_path / "embeddings.yml").get("far")
    model_server.script(Reply("Sobre el horno H2."), Fail(500))
    collection = await services.store.create_collection(owner, "notes", embedding_model="far")
    document = make_document(collection_id=collection.id)
    chunks = tile(document, ["Falló en marzo. ", "Lo cambiaron."])
    told = await situate(
        chunks, document=document, text="Falló en marzo. Lo cambiaron.", chat_model=open_chat(model_server),
        cache=services.cache, owner_id=owner, max_concurrency=1,
    )  # fmt: skip
    plain, _ = await embed_batches([chunk.content for chunk in chunks], model)
    in_context = [contextual_text(said, chunk.content) for said, chunk in zip(told, chunks, strict=True)]
    contextual, _ = await embed_batches(in_context, model)
    indexed = IndexedDocument(
        document, chunks, [vector or [] for vector in plain], [vector or [] for vector in contextual], situations=told
    )
    await services.store.put_documents(collection, [indexed])
    (collection,) = await services.store.list_collections(owner)

    async def found_by(text: str) -> str | None:
        """Unrelated texts have unrelated vectors here: only the very text is near."""
        (vector,) = await model.embed_queries([text])
        hits = await services.store.search_vectors(collection, vector, limit=1)
        return hits[0].chunk.content if hits[0].score > 0.99 else None

    said = "Sobre el horno H2.\nFalló en marzo. "
    assert [await found_by(text) for text in ("Falló en marzo. ", said, "Lo cambiaron.")] == [
        "Falló en marzo. ", None, "Lo cambiaron.",
    ]  # fmt: skip
    collection = await services.store.configure_collection(collection, ingestion_config={"contextual_embeddings": True})
    assert [await found_by(text) for text in ("Falló en marzo. ", said, "Lo cambiaron.")] == [
        None, "Falló en marzo. ", "Lo cambiaron.",
    ]  # fmt: skip


async def test_no_chunks_are_no_call(model_server: ModelServer) -> None:
    assert await tell(model_server, texts=[]) == []
    assert model_server.requests == []


def test_what_is_embedded_begins_with_the_context() -> None:
    """R3.7 context + content."""
    assert contextual_text("Del horno.", "Título\nFalló.") == "Del horno.\nTítulo\nFalló."
    assert contextual_text(None, "Título\nFalló.") == "Título\nFalló."
