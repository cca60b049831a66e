"""Documents, chunks and hits for tests: the defaults are plausible, every field can be overridden."""

from datetime import UTC, datetime
from hashlib import sha256
from itertools import count
from typing import Any
from uuid import UUID, uuid4

from graphrag.config.settings import RetrievalConfig, Settings
from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.models import EVERYTHING, Chunk, Collection, Document, Filters, Hit, TransformedQuery
from graphrag.models.ingestion import Ingestion, IngestionStatus
from graphrag.protocols import Reranker
from graphrag.rerankers.bundled import BundledReranker
from graphrag.retrieval.collections import Collections
from graphrag.retrieval.hybrid import UNCACHED, QueryCache
from graphrag.retrieval.pipeline import RetrievalPipeline
from graphrag.retrieval.query import Query, Trace
from graphrag.testing.in_memory_graph import InMemoryGraph
from graphrag.testing.in_memory_store import InMemoryStore

COLLECTION_ID = UUID("00000000-0000-4000-8000-000000000001")
CREATED_AT = datetime(2025, 3, 14, 9, 30, tzinfo=UTC)
_numbers = count(1)


def make_document(**overrides: Any) -> Document:
    """A Spanish Markdown file of its own name and content hash; all are of one collection and one moment."""
    filename = overrides.get("filename", f"informe-{next(_numbers)}.md")
    fields: dict[str, Any] = {
        "id": uuid4(),
        "collection_id": COLLECTION_ID,
        "source": filename,
        "filename": filename,
        "media_type": "text/markdown",
        "content_hash": sha256(filename.encode()).hexdigest(),
        "language": "es",
        "title": filename.rpartition(".")[0],
        "created_at": CREATED_AT,
    }
    return Document(**fields | overrides)


def make_ingestion(collection: Collection, **overrides: Any) -> Ingestion:
    """Return the ingestion of a file that was just uploaded."""
    document = uuid4()
    values: dict[str, Any] = {
        "document_id": document,
        "ticket": uuid4(),
        "source": str(document),
        "filename": "parte.txt",
        "content_hash": "0" * 64,
        "byte_count": 10,
        "options": {},
        "status": IngestionStatus.UPLOADED,
        "created_at": datetime.now(UTC),
        "updated_at": datetime.now(UTC),
    }
    return Ingestion(collection_id=collection.id, **values | overrides)


def make_chunk(text: str, **overrides: Any) -> Chunk:
    """The first chunk of a document of its own, or of `document`; its span is as long as its text."""
    start = overrides.get("start_char", 0)
    document = overrides.get("document") or make_document()
    fields: dict[str, Any] = {
        "id": uuid4(),
        "index": 0,
        "content": text,
        "start_char": start,
        "end_char": start + len(text),
        "window_start": start,
        "context": document.title,
        "document": document,
    }
    return Chunk(**fields | overrides)


def make_hit(text: str = "Un texto.", score: float = 0.5, **overrides: Any) -> Hit:
    """`chunk` and `scores` are the hit's; anything else goes to make_chunk, `document` too."""
    scores = overrides.pop("scores", {})
    chunk = overrides.pop("chunk", None) or make_chunk(text, **overrides)
    return Hit(chunk, score, scores)


def make_query(
    transformed: TransformedQuery,
    collection: Any,
    *,
    model: Any = None,
    config: RetrievalConfig | None = None,
    filters: Filters = EVERYTHING,
    trace: Trace | None = None,
    **chosen: Any,
) -> Query:
    """`chosen`: fields of RetrievalConfig."""
    config = config or RetrievalConfig.model_validate(chosen)
    return Query(transformed, collection, model, config, filters, trace=trace or Trace())


def make_pipeline(
    store: InMemoryStore, *, reranker: Reranker | None = None, cache: QueryCache = UNCACHED
) -> RetrievalPipeline:
    judge = reranker or BundledReranker()
    collections = Collections(Settings.from_environment(), store, EmbeddingRegistry([]), (), cache=None)
    return RetrievalPipeline(collections, store, InMemoryGraph(store), lambda *_: judge, cache=cache)
