"""What searches notice while their collection moves to another embedding model.

python -m tests.benchmarks.reembedding --chunks 20000 --searchers 4
"""

import argparse
import asyncio
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import numpy as np
from langchain_core.embeddings import Embeddings
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.db.embedded_postgres import EmbeddedPostgres
from graphrag.db.migrate import migrate
from graphrag.embeddings.registry import EmbeddingModel, EmbeddingRegistry, load_registry
from graphrag.errors import CollectionChanged
from graphrag.ingestion.reembedding import EmbeddingMigration
from graphrag.models import Collection
from graphrag.models.ingestion import IndexedDocument
from graphrag.observability.telemetry import configure_logging
from graphrag.services import Services, open_services
from tests.factories import make_chunk, make_document

CHUNKS_A_DOCUMENT = 100
OLD, NEW = "bundled", "turned"
SEARCHES_AFTERWARDS, LONGEST_WAIT_SECONDS = 20, 60  # with the new model, however slow the machine is
WORDS = (
    "oven furnace compressor pressure valve bakery butter flour sugar invoice supplier contract truck warehouse shift "
    "mechanic leak gas alarm sensor temperature humidity audit meeting budget customer complaint delivery pallet "
    "winter summer training safety helmet ladder floor roof window office paper printer network password backup report"
).split()
QUESTIONS = [
    "who repaired the leaking valve of the compressor",
    "how much butter and flour came with the truck",
    "what did the customer complain about in winter",
    "when was the safety training in the warehouse",
    "which sensor measured the humidity of the bakery",
]


class Turned(Embeddings):
    """Another model's vectors, put in the opposite order and one dimension longer: beside the model's own they mean
    nothing, among themselves they find the same.
    """

    def __init__(self, embeddings: Embeddings, *, seconds_a_batch: float = 0) -> None:
        self._embeddings = embeddings
        self._seconds = seconds_a_batch

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        time.sleep(self._seconds if len(texts) > 1 else 0)
        return [[*reversed(vector), 0.0] for vector in self._embeddings.embed_documents(texts)]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


@dataclass
class Report:
    searches: Counter[str] = field(default_factory=Counter)  # by the model that the collection had
    failures: list[str] = field(default_factory=list)
    strange: int = 0  # searches whose results are not those that either model alone finds
    milliseconds: list[float] = field(default_factory=list)
    uploads: int = 0
    seconds: float = 0.0


def two_models(*, seconds_a_batch: float = 0) -> EmbeddingRegistry:
    old = load_registry().get(OLD)
    turned = Turned(old.embeddings, seconds_a_batch=seconds_a_batch)
    return EmbeddingRegistry([old, replace(old, id=NEW, name=NEW, dimensions=old.dimensions + 1, embeddings=turned)])


async def fill(services: Services, collection: Collection, chunks: int) -> None:
    random = Random(1)
    for number in range(chunks // CHUNKS_A_DOCUMENT):
        texts = [" ".join(random.choices(WORDS, k=12)) + f" {number}-{index}. " for index in range(CHUNKS_A_DOCUMENT)]
        await put(
            services, collection, f"document {number}", texts, services.embeddings.get(collection.embedding_model)
        )


async def put(
    services: Services, collection: Collection, source: str, texts: Sequence[str], model: EmbeddingModel
) -> None:
    document = make_document(collection_id=collection.id, source=source, filename=source, language="en", title="")
    starts = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
    chunks = [
        make_chunk(text, document=document, index=index, start_char=int(starts[index]))
        for index, text in enumerate(texts)
    ]
    vectors = await model.embed([f"{chunk.context}\n{chunk.content}" for chunk in chunks])
    await services.store.put_documents(collection, [IndexedDocument(document, chunks, vectors)])


async def ask(services: Services, owner: str, question: str) -> tuple[str, list[str]]:
    """As every door does: the collection is read, and decides the model."""
    collection = await services.collections.open(owner, "moving")
    transformed, _ = await services.retrieval.transform(question)
    query = await services.retrieval.plan(transformed, [collection], {"strategy": "semantic", "rerank": False})
    found = await services.retrieval.search(query)
    assert not found.failed, found.failed
    return collection.embedding_model, [hit.chunk.content for hit in found.hits]


async def move_under_load(services: Services, collection: Collection, *, searchers: int) -> Report:
    report, is_over = Report(), asyncio.Event()
    expected = {question: set((await ask(services, collection.owner_id, question))[1]) for question in QUESTIONS}

    async def keep_searching(number: int) -> None:
        turn = number
        while not is_over.is_set():
            question = QUESTIONS[turn % len(QUESTIONS)]
            started = time.perf_counter()
            try:
                model, found = await ask(services, collection.owner_id, question)
            except Exception as exc:  # whatever it is, it is what is looked for
                report.failures.append(repr(exc))
                continue
            report.milliseconds.append((time.perf_counter() - started) * 1000)
            report.searches[model] += 1
            # An index finds most of the nearest, not all; vectors of different models find others altogether.
            report.strange += len(expected[question] & set(found)) < 0.7 * len(expected[question])
            turn += 1

    async def keep_uploading() -> None:
        while not is_over.is_set():
            fresh = await services.collections.open(collection.owner_id, collection.name)
            model = services.embeddings.get(fresh.embedding_model)
            texts = [f"A note about nothing of this kind, number {report.uploads}."]
            with suppress(CollectionChanged):  # it is to be read again: just then it has moved
                await put(services, fresh, f"late {report.uploads}", texts, model)
                report.uploads += 1
            await asyncio.sleep(0.2)

    migration = EmbeddingMigration(services.database, collection)
    started = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(searchers):
            group.create_task(keep_searching(number))
        group.create_task(keep_uploading())
        await migration.run(services.embeddings.get(NEW))
        report.seconds = time.perf_counter() - started
        with suppress(TimeoutError):
            async with asyncio.timeout(LONGEST_WAIT_SECONDS):
                while report.searches[NEW] < SEARCHES_AFTERWARDS:
                    await asyncio.sleep(0.1)
        is_over.set()
    return report


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--searchers", type=int, default=4)
    given = parser.parse_args()
    configure_logging("ERROR")
    home = Path(tempfile.mkdtemp(prefix="cw-"))
    server = EmbeddedPostgres(home)
    url = server.start()
    migrate(url)
    settings = Settings.from_environment(database_url=SecretStr(url), query_cache_seconds=0)
    services = open_services(settings, embeddings=two_models())
    try:
        collection = await services.store.create_collection("me", "moving", embedding_model=OLD)
        await fill(services, collection, given.chunks)
        await services.store.optimize(collection)
        report = await move_under_load(services, collection, searchers=given.searchers)
    finally:
        await services.close()
        server.stop()
        shutil.rmtree(home)
    quantiles = np.percentile(report.milliseconds, [50, 95, 100]).round(1)
    print(f"{given.chunks} chunks moved in {report.seconds:.1f} s while {given.searchers} clients searched")
    print(f"searches {dict(report.searches)}, failed {len(report.failures)}, of mixed models {report.strange}")
    print(f"a search took {quantiles[0]} ms (p50), {quantiles[1]} ms (p95), {quantiles[2]} ms at most")
    print(f"uploads meanwhile: {report.uploads}")


if __name__ == "__main__":
    asyncio.run(main())
