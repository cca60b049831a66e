"""What a ChunkIndex holds of a chunk, and what it finds."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from graphrag.models import Chunk, VectorKind


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A chunk with one of its vectors. The same chunk with another text or of another kind has another id."""

    id: UUID
    chunk: Chunk  # with its document: owner's filters, expiry, citations
    vector: Sequence[float] | None  # of the collection's embedding model; None: it has no direction
    kinds: frozenset[VectorKind]  # of the searches that find it; both, where the chunk has not been situated


@dataclass(frozen=True, slots=True)
class Candidate:
    entry_id: UUID
    chunk_id: UUID
    score: float  # in [0, 1]; of vectors the cosine, not below 0
