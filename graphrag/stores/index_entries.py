"""What an index is to hold of a chunk: its ids can be told from the chunk alone, its vectors are PostgreSQL's."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid5

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphrag.index_models import IndexEntry
from graphrag.ingestion_models import IndexedDocument
from graphrag.models import Chunk, Collection, VectorKind

Version = tuple[bytes, int, datetime | None]  # of a chunk: its text's hash, where its overlap starts, its expiry
BOTH: frozenset[VectorKind] = frozenset({"content", "contextual"})
PLAIN: frozenset[VectorKind] = frozenset({"content"})
SITUATED: frozenset[VectorKind] = frozenset({"contextual"})


def entries_of(collection: Collection, indexed: IndexedDocument) -> Iterator[IndexEntry]:
    """Raises ValueError where there is not one vector a chunk."""
    contextual = indexed.contextual_vectors or indexed.vectors
    for chunk, plain, situated in zip(indexed.chunks, indexed.vectors, contextual, strict=True):
        yield from chunk_entries(collection, chunk, plain, situated)


def chunk_entries(collection: Collection, chunk: Chunk, plain: ArrayLike, situated: ArrayLike) -> Iterator[IndexEntry]:
    """One of both kinds, or one of each where the vectors differ, in the precision that PostgreSQL keeps."""
    vector, in_context = np.asarray(plain, np.float16), np.asarray(situated, np.float16)
    if np.array_equal(vector, in_context):
        yield _entry(collection, chunk, vector, BOTH)
    else:
        yield _entry(collection, chunk, vector, PLAIN)
        yield _entry(collection, chunk, in_context, SITUATED)


def entry_ids(collection: Collection, chunk: Chunk, kind: VectorKind) -> set[UUID]:
    """Of the entries that a search of this kind may find this chunk by, as it is now."""
    version = _version(chunk)
    return {_id(collection, chunk.id, version, kinds) for kinds in (BOTH, PLAIN, SITUATED) if kind in kinds}


def stored_entry_ids(collection: Collection, row: dict[str, Any]) -> list[UUID]:
    """Of a row of `list_chunk_versions`."""
    kinds = (PLAIN, SITUATED) if row["is_situated"] else (BOTH,)
    version = (row["digest"], row["window_start"], row["expires_at"])
    return [_id(collection, row["chunk_id"], version, of) for of in kinds]


def _entry(
    collection: Collection, chunk: Chunk, vector: NDArray[np.float16], kinds: frozenset[VectorKind]
) -> IndexEntry:
    values: Sequence[float] | None = vector.tolist() if vector.any() else None
    return IndexEntry(_id(collection, chunk.id, _version(chunk), kinds), chunk, values, kinds)


def _version(chunk: Chunk) -> Version:
    """All that an entry is made from beside the model: ids of chunks come again when a document is chunked anew."""
    digest = sha256(f"{chunk.context}\n{chunk.content}".encode()).digest()
    return digest, chunk.window_start, chunk.document.expires_at


def _id(collection: Collection, chunk_id: UUID, version: Version, kinds: frozenset[VectorKind]) -> UUID:
    digest, window_start, expires_at = version
    until = expires_at.timestamp() if expires_at else ""
    of = f"{collection.owner_id} {collection.id} {collection.embedding_model} {sorted(kinds)}"
    return uuid5(chunk_id, f"{digest.hex()} {window_start} {until} {of}")
