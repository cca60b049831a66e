"""How long a walk through a big graph takes, and what it costs a load to be linked, on a server of its own.

python -m tests.benchmarks.traversal --entities 100000 --edges 300000 --mentions 300000 --walks 300
"""

import argparse
import asyncio
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4, uuid5

import numpy as np
import psycopg
from pydantic import SecretStr

from graphrag.causal_graph.concepts import roots
from graphrag.config.settings import Settings
from graphrag.db.embedded_postgres import EmbeddedPostgres
from graphrag.db.migrate import migrate
from graphrag.models import Collection, Span
from graphrag.models.graph import CausalRelation, ChunkGraph, Mention, Polarity, RelationType
from graphrag.models.ingestion import IndexedDocument
from graphrag.observability.telemetry import configure_logging
from graphrag.services import Services, open_services
from tests.factories import CREATED_AT, make_chunk, make_document

CHUNKS_A_DOCUMENT = 10
EDGES_A_CHUNK = 10
LINKS = 20_000
VOCABULARY = 30_000
SYLLABLES = "ba ce di fo gu la me ni po ru sa te vi zo tra pre clo fri gen sol mar ten cor pul dan bri".split()

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Size:
    entities: int
    edges: int
    mentions: int

    @property
    def chunks(self) -> int:
        return self.edges // EDGES_A_CHUNK


class Made:
    """A graph as large as is wanted, whose words, degrees and names are as uneven as those of real texts."""

    def __init__(self, collection: Collection, size: Size) -> None:
        self.collection, self.size = collection, size
        self.random = np.random.default_rng(7)
        parts = self.random.integers(0, len(SYLLABLES), (VOCABULARY, 4))
        self.words = ["".join(SYLLABLES[part] for part in row) for row in parts]
        self.keys = list(dict.fromkeys(self.phrase() for _ in range(size.entities * 2)))[: size.entities]
        self.entities = [uuid5(collection.id, key) for key in self.keys]
        self.chunks = [uuid5(collection.id, f"chunk {number}") for number in range(size.chunks)]

    def phrase(self) -> str:
        """Two to five words, the usual ones most often."""
        ranks = self.random.zipf(1.3, 2 + int(self.random.integers(0, 4))) + self.random.integers(0, 40)
        return " ".join(dict.fromkeys(self.words[rank % VOCABULARY] for rank in ranks))

    def uneven(self, most: int, wanted: int, exponent: float) -> list[int]:
        """Numbers below `most`, the low ones most often."""
        return [int(number) for number in (most * self.random.random(wanted) ** exponent).astype(int)]

    def document(self, chunk: int) -> UUID:
        return uuid5(self.collection.id, f"document {chunk // CHUNKS_A_DOCUMENT}")

    def tables(self) -> Iterator[tuple[str, str, Iterator[Row]]]:
        """Each table's name, columns and rows, all but the first two columns, which are of all rows the same."""
        yield (
            "documents",
            "document_id, source, filename, media_type, content_hash, language, title, created_at",
            (
                (self.document(n), f"{n}.md", f"{n}.md", "text/markdown", f"{n}", "es", f"{n}", CREATED_AT)
                for n in range(0, self.size.chunks, CHUNKS_A_DOCUMENT)
            ),
        )
        yield (
            "chunks",
            "chunk_id, document_id, chunk_index, start_char, end_char, window_start, context, content, language",
            (
                (chunk, self.document(n), n % CHUNKS_A_DOCUMENT, n * 9, n * 9 + 9, n * 9, "", "contenido", "es")
                for n, chunk in enumerate(self.chunks)
            ),
        )
        yield (
            "entities",
            "entity_id, key, name",
            ((id_, key, key) for id_, key in zip(self.entities, self.keys, strict=True)),
        )
        yield (
            "entity_roots",
            "root, entity_id, size",
            (
                (root, entity, len(found))
                for entity, key in zip(self.entities, self.keys, strict=True)
                for found in [roots(key.split(" "))]
                for root in found
            ),
        )
        yield (
            "causal_edges",
            "edge_id, chunk_id, chunk_index, document_id, cause_id, effect_id, type, polarity, confidence,"
            " extractor, quote, start_char, end_char",
            self.edges(),
        )
        yield "entity_links", "entity_id, other_id, similarity", self.links()
        yield "mentions", "key, chunk_id, document_id, weight", self.mentions()

    def edges(self) -> Iterator[Row]:
        wanted = self.size.edges
        causes, effects = (self.uneven(len(self.entities), wanted, 3) for _ in range(2))
        effects = [len(self.entities) - 1 - effect if effect % 2 else effect for effect in effects]
        for n, (cause, effect) in enumerate(zip(causes, effects, strict=True)):
            chunk = n % len(self.chunks)
            polarity = "fact" if n % 6 else "negated"
            yield (
                *(
                    uuid5(self.collection.id, f"edge {n}"),
                    self.chunks[chunk],
                    chunk % CHUNKS_A_DOCUMENT,
                    self.document(chunk),
                ),
                *(self.entities[cause], self.entities[effect], "CAUSES", polarity, 0.4 + n % 60 / 100),
                *("rules", "Lo uno provocó lo otro.", 0, 23),
            )

    def links(self) -> Iterator[Row]:
        one, other = (self.uneven(len(self.entities), LINKS // 2, 2) for _ in range(2))
        for a, b in {(min(pair), max(pair)) for pair in zip(one, other, strict=True) if pair[0] != pair[1]}:
            near = 0.5 + (a + b) % 50 / 100
            yield self.entities[a], self.entities[b], near
            yield self.entities[b], self.entities[a], near

    def mentions(self) -> Iterator[Row]:
        names = self.uneven(self.size.mentions // 4, self.size.mentions, 2.5)
        pairs = {(name, int(self.random.integers(0, len(self.chunks)))) for name in names}
        for name, chunk in pairs:
            yield f"nombre {name}", self.chunks[chunk], self.document(chunk), 1.0


def load(url: str, made: Made) -> None:
    with psycopg.connect(url, options="-c search_path=causeway,public") as connection:
        for table, columns, rows in made.tables():
            with connection.cursor().copy(f"COPY {table} (collection_id, owner_id, {columns}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row((made.collection.id, made.collection.owner_id, *row))


async def measure(name: str, walks: int, walk: Callable[[int], Awaitable[int]]) -> None:
    milliseconds, sizes = [], []
    for number in range(walks):
        started = time.perf_counter()
        sizes.append(await walk(number))
        milliseconds.append((time.perf_counter() - started) * 1000)
    p50, p95, most = np.percentile(milliseconds, [50, 95, 100]).round(1)
    print(f"{name:<46} p50 {p50:>6} ms  p95 {p95:>6} ms  at most {most:>6} ms  ({np.mean(sizes):.0f} edges)")


async def walk_everywhere(services: Services, made: Made, walks: int) -> None:
    graph, collection, random = services.graph, made.collection, np.random.default_rng(11)

    def causes(pick: Callable[[int], str], **options: Any) -> Callable[[int], Awaitable[int]]:
        async def walk(number: int) -> int:
            words = pick(number).split(" ")
            return len((await graph.find_causal_neighbourhood(collection, words, **options)).edges)

        return walk

    def anyone(number: int) -> str:
        return made.keys[int(random.integers(0, len(made.keys)))]

    def question(number: int) -> str:
        return " ".join(dict.fromkeys(f"{anyone(number)} {made.phrase()}".split(" ")))

    def hub(number: int) -> str:
        return made.keys[number % 100]

    async def mentions(number: int) -> int:
        seeds = [made.chunks[int(n)] for n in random.integers(0, len(made.chunks), 5)]
        return len(await graph.find_mention_neighbourhood(collection, seeds, [f"nombre {number * 37}"]))

    await measure("causes of an entity", walks, causes(anyone, direction="causes"))
    await measure("effects of an entity", walks, causes(anyone, direction="effects"))
    await measure("causes, words of two questions", walks, causes(question, direction="causes"))
    await measure("both directions", walks, causes(question, direction=None))
    await measure("causes of the 100 most linked entities", walks, causes(hub, direction="causes"))
    await measure("both directions, the 100 most linked", walks, causes(hub, direction=None))
    await measure("names, from 5 chunks", walks, mentions)


async def store_batches(services: Services, made: Made, chunks: int) -> None:
    """Of the same texts, with the same vectors: what the graph adds."""
    plain = await services.store.create_collection(made.collection.owner_id, "plain", embedding_model="tiny")
    for name, collection, has_graph in (
        ("without a graph", plain, False),
        ("with its graph, in an empty collection", plain, True),
        ("with its graph, beside the big one", made.collection, True),
    ):
        documents = batch(made, collection, chunks, has_graph=has_graph)
        started = time.perf_counter()
        await services.store.put_documents(collection, documents)
        print(f"{chunks} chunks stored {name:<40} {time.perf_counter() - started:.2f} s")


def batch(made: Made, collection: Collection, chunks: int, *, has_graph: bool) -> list[IndexedDocument]:
    documents = []
    for _ in range(chunks // CHUNKS_A_DOCUMENT):
        document = make_document(collection_id=collection.id, filename=f"{uuid4()}.md")
        held, graph, start = [], [], 0
        for index in range(CHUNKS_A_DOCUMENT):
            cause, effect = made.phrase(), made.phrase()
            said = f"{cause} provocó {effect}."
            end = start + len(said)
            relation = CausalRelation(
                Span(start, start + len(cause)),
                Span(end - 1 - len(effect), end - 1),
                Span(start, end),
                RelationType.CAUSES,
                Polarity.FACT,
                0.8,
            )
            named = tuple(Mention(f"nombre {n}") for n in made.uneven(75_000, 8, 2.5))
            text = f"{said} " + " ".join(made.phrase() for _ in range(25))
            held.append(make_chunk(text, document=document, index=index, start_char=start))
            graph.append(ChunkGraph(named, (relation,)))
            start += len(text)
        vectors = made.random.random((len(held), 256)).tolist()
        documents.append(IndexedDocument(document, held, vectors, graph=graph if has_graph else ()))
    return documents


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entities", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=300_000)
    parser.add_argument("--mentions", type=int, default=300_000)
    parser.add_argument("--walks", type=int, default=300)
    parser.add_argument("--stored", type=int, default=3_000)
    given = parser.parse_args()
    configure_logging("ERROR")
    home = Path(tempfile.mkdtemp(prefix="cw-"))
    server = EmbeddedPostgres(home)
    url = server.start()
    migrate(url)
    services = open_services(Settings.from_environment(database_url=SecretStr(url)))
    try:
        collection = await services.store.create_collection("me", "big", embedding_model="tiny")
        made = Made(collection, Size(given.entities, given.edges, given.mentions))
        await asyncio.to_thread(load, url, made)
        await services.store.optimize(collection)  # with ANALYZE
        await walk_everywhere(services, made, given.walks)
        await store_batches(services, made, given.stored)
    finally:
        await services.close()
        server.stop()
        shutil.rmtree(home)


if __name__ == "__main__":
    asyncio.run(main())
