"""langchain-postgres: PGVectorStore with its hybrid search, in PostgreSQL."""

from collections.abc import Mapping
from typing import Any, Self
from uuid import UUID

import psycopg
from langchain_postgres import PGEngine, PGVectorStore
from langchain_postgres.v2.hybrid_search_config import HybridSearchConfig
from langchain_postgres.v2.indexes import HNSWIndex, HNSWQueryOptions
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy.engine import URL
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from tests.benchmarks.systems.databases import database_bytes
from tests.benchmarks.systems.protocol import Batch, Search, Workplace
from tests.benchmarks.vectors import DIMENSIONS

# mypy: disable-error-code="import-not-found,import-untyped"
# The peers are in the extra `bench` alone.


TABLE = "passages"
EF_SEARCH = 100  # as Chroma's default; pgvector's is 40
CONNECTIONS = 8
DICTIONARIES = {"es": "pg_catalog.spanish", "fr": "pg_catalog.french", "en": "pg_catalog.english"}


class PGVectorSystem:
    """Hybrid search by its default fusion, a weighted sum of .5 and .5."""

    def __init__(self, store: Any, engine: AsyncEngine, workplace: Workplace) -> None:
        self._store = store
        self._engine = engine
        self._workplace = workplace

    @classmethod
    async def open(cls, workplace: Workplace) -> Self:
        config = hybrid_config(workplace.language, k=1)
        engine, store = await open_store(workplace, hybrid_search_config=config)
        return cls(store, engine, workplace)

    @property
    def searches(self) -> Mapping[str, Search]:
        return {"": self._search}

    async def add(self, batch: Batch) -> None:
        await add_to_store(self._store, batch)

    async def build_indexes(self) -> None:
        await self._store.aapply_vector_index(HNSWIndex())
        await self._store.aapply_hybrid_search_index()
        tidy(self._workplace.database)

    async def size_bytes(self) -> int:
        return database_bytes(self._workplace.database)

    async def close(self) -> None:
        await self._engine.dispose()

    async def _search(self, question: str, k: int) -> list[int]:
        # A new one for every question: a search writes its words into the one it is given and into the store's own,
        # and the next would search for them again (langchain-postgres, issue 337).
        config = hybrid_config(self._workplace.language, k)
        found = await self._store.asimilarity_search(question, k=k, hybrid_search_config=config)
        return [UUID(document.id).int for document in found]


def hybrid_config(language: str, k: int) -> HybridSearchConfig:
    """Each leg finds as many as are asked for: its default of four can't fill ten places."""
    return HybridSearchConfig(
        tsv_column="content_tsv",
        tsv_lang=DICTIONARIES.get(language, "pg_catalog.simple"),
        primary_top_k=k,
        secondary_top_k=k,
    )


async def open_store(workplace: Workplace, **options: Any) -> tuple[AsyncEngine, Any]:
    with psycopg.connect(workplace.database, autocommit=True) as connection:
        # As pgvector's documentation has it for building an HNSW index.
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} SET maintenance_work_mem = '1GB'".encode())
    pool = create_async_engine(_asyncpg_url(workplace.database), pool_size=CONNECTIONS)
    engine = PGEngine.from_engine(pool)
    await engine.ainit_vectorstore_table(TABLE, DIMENSIONS, hybrid_search_config=options.get("hybrid_search_config"))
    store = await PGVectorStore.create(
        engine,
        embedding_service=workplace.embeddings,
        table_name=TABLE,
        index_query_options=HNSWQueryOptions(ef_search=EF_SEARCH),
        **options,
    )
    return pool, store


async def add_to_store(store: Any, batch: Batch) -> None:
    await store.aadd_embeddings(
        batch.contents,
        batch.vectors.tolist(),
        metadatas=[{"row": row} for row in batch.rows],
        ids=[str(UUID(int=row)) for row in batch.rows],
    )


def tidy(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def _asyncpg_url(conninfo: str) -> URL:
    parts = {name: str(value) for name, value in conninfo_to_dict(conninfo).items() if value}
    # The host is a socket's folder, which only the query of a URL can hold.
    query = {str(name): value for name, value in parts.items() if name in ("host", "port")}
    login = {"username": parts.get("user"), "password": parts.get("password")}
    return URL.create("postgresql+asyncpg", **login, database=parts["dbname"], query=query)
