"""Vector search in PostgreSQL: every vector of a small collection, an HNSW index a model for big ones."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from pgvector import HalfVector
from psycopg import sql

from graphrag.database import Connection
from graphrag.models import EVERYTHING, Collection, Filters, VectorKind
from graphrag.stores.filtering import restrict
from graphrag.stores.queries import QUERIES, fetch

EXACT_CHUNKS = 5_000  # as many vectors are compared in the time of a scan of the index
DETOUR_CHUNKS = 1_000  # and as many more each time that the index holds as many rows of others as of the collection
MOST_DIMENSIONS = 4_000  # of a halfvec in an index
EF_SEARCH = 200  # at least: recall@10 of .88 among 300,000 bundled vectors; 100 has .79, 400 has .92
OF_CHUNKS = "chunk_id IN (SELECT chunk_id FROM chunks WHERE collection_id = %(collection_id)s AND {filter})"
# Beside the index each row is looked up in its turn: OFFSET keeps that from becoming a join, which loses the order.
IN_CHUNK = """EXISTS (SELECT FROM chunks c WHERE c.collection_id = chunk_embeddings.collection_id
                      AND c.chunk_id = chunk_embeddings.chunk_id AND {filter} OFFSET 0)"""


async def search_vectors(
    connection: Connection,
    collection: Collection,
    vector: Sequence[float],
    *,
    kind: VectorKind,
    filters: Filters,
    limit: int,
) -> list[dict[str, Any]]:
    """Rows of chunks, nearest first, each with its score in [0, 1]: `limit` of them wherever there are so many."""
    restriction = await restrict(connection, collection, filters)
    values = {
        "collection_id": collection.id,
        "model": collection.embedding_model,
        "kind": kind,
        "vector": HalfVector(list(vector)),
        "limit": limit,
        **restriction.values,
    }
    is_big = collection.chunk_count > EXACT_CHUNKS and not restriction.is_narrow
    if is_big and await _prepare_index_scan(connection, collection, kind, len(vector), limit):
        condition = IN_CHUNK.replace("{filter}", restriction.condition) if filters != EVERYTHING else "true"
        statement = (
            QUERIES["search_vectors_by_index"]
            .replace("{filter}", condition)
            .replace("{embedding}", f"embedding::halfvec({len(vector)})")
            .replace("{kind}", kind)
            .replace("{model}", _literal(collection.embedding_model).replace("%", "%%"))
        )
        rows = await fetch(connection, statement, values)
        if len(rows) == limit:
            return rows
    condition = OF_CHUNKS.replace("{filter}", restriction.condition) if filters != EVERYTHING else "true"
    return await fetch(connection, QUERIES["search_vectors_exactly"].replace("{filter}", condition), values)


async def build_index(connection: Connection, model: str, dimensions: int, *, kind: VectorKind) -> None:
    """Of all collections with this model. Writers go on meanwhile. Needs the tables' owner, outside a transaction."""
    name_of_index = _index_name(model, dimensions, kind)
    if await fetch(connection, QUERIES["find_index"], {"name": name_of_index}):
        return
    name = sql.Identifier(name_of_index)
    await connection.execute("SET maintenance_work_mem = '512MB'")
    half_built = sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS causeway.{}").format(name)
    await connection.execute(half_built)
    await connection.execute(
        sql.SQL(
            "CREATE INDEX CONCURRENTLY {} ON causeway.chunk_embeddings"
            " USING hnsw ((embedding::halfvec({})) halfvec_cosine_ops) WHERE model = {} AND kind = {}"
        ).format(name, sql.Literal(dimensions), sql.Literal(model), sql.Literal(kind))
    )
    await connection.execute("RESET maintenance_work_mem")  # the connection goes back to the pool


async def _prepare_index_scan(
    connection: Connection, collection: Collection, kind: VectorKind, dimensions: int, limit: int
) -> bool:
    """False where there is no index, or where it holds so many rows of others that comparing all is quicker."""
    values = {
        "name": _index_name(collection.embedding_model, dimensions, kind),
        "ef_search": max(EF_SEARCH, 2 * limit),
        "chunks": collection.chunk_count,
        "exact_chunks": EXACT_CHUNKS,
        "detour_chunks": DETOUR_CHUNKS,
    }
    return bool(await fetch(connection, QUERIES["prepare_index_scan"], values))


def _index_name(model: str, dimensions: int, kind: VectorKind) -> str:
    name = f"chunk_embeddings_hnsw_{sha256(model.encode()).hexdigest()[:16]}_{dimensions}"
    return name if kind == "content" else f"{name}_{kind}"


def _literal(model: str) -> str:
    return sql.Literal(model).as_string(None)
