"""LanceDB: its own full text and vectors, fused by its RRF reranker."""

from collections.abc import Mapping
from typing import Any, Self

import lancedb
import pyarrow as pa
from lancedb.index import FTS, HnswSq
from lancedb.rerankers import RRFReranker

from tests.benchmarks.systems.protocol import Batch, Search, Workplace, folder_bytes
from tests.benchmarks.vectors import DIMENSIONS

# mypy: disable-error-code="import-not-found,import-untyped"
# The peers are in the extra `bench` alone.


EF = 100
LANGUAGES = {"es": "Spanish", "fr": "French", "en": "English"}
SCHEMA = pa.schema(
    [("row", pa.int64()), ("text", pa.string()), ("vector", pa.list_(pa.float32(), DIMENSIONS))],
)


class LanceSystem:
    def __init__(self, table: Any, workplace: Workplace) -> None:
        self._table = table
        self._workplace = workplace

    @classmethod
    async def open(cls, workplace: Workplace) -> Self:
        connection = await lancedb.connect_async(str(workplace.folder))
        return cls(await connection.create_table("passages", schema=SCHEMA), workplace)

    @property
    def searches(self) -> Mapping[str, Search]:
        return {"": self._search}

    async def add(self, batch: Batch) -> None:
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(batch.vectors.ravel()), DIMENSIONS)
        await self._table.add(pa.table([pa.array(batch.rows), pa.array(batch.contents), vectors], schema=SCHEMA))

    async def build_indexes(self) -> None:
        """One HNSW graph with scalar quantisation: what its documentation recommends where recall counts."""
        await self._table.optimize()
        language = LANGUAGES.get(self._workplace.language, "English")
        await self._table.create_index("text", config=FTS(language=language))
        await self._table.create_index("vector", config=HnswSq(distance_type="cosine", num_partitions=1))
        await self._table.optimize()

    async def size_bytes(self) -> int:
        return folder_bytes(self._workplace.folder)

    async def close(self) -> None:
        self._table.close()

    async def _search(self, question: str, k: int) -> list[int]:
        vector = await self._workplace.embeddings.aembed_query(question)
        query = self._table.query().nearest_to(vector).distance_type("cosine").ef(EF).nearest_to_text(question)
        found = await query.rerank(RRFReranker()).select(["row", "text"]).limit(k).to_list()
        return [hit["row"] for hit in found]
