"""Texts that come without a file: stored when the call ends, not by a job."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import InvalidDocuments, ProviderError
from graphrag.ingestion.cleaning import clean, holds_words
from graphrag.ingestion.library import Library
from graphrag.ingestion.pipeline import Pipeline
from graphrag.ingestion.sources import SourceText, document_id
from graphrag.ingestion_models import IngestionOutcome, IngestionStatus
from graphrag.models import Collection, Document


async def store_texts(
    texts: Sequence[SourceText],
    *,
    collection: Collection,
    library: Library,
    pipeline: Pipeline,
    model: EmbeddingModel,
    most_documents: int | None = None,
) -> list[IngestionOutcome]:
    """One outcome a text, in order: indexed, unchanged, or that the embedding model did not take it. A text replaces
    the one of its source; all are embedded together.

    Raises InvalidDocuments, QuotaExceeded, ProviderError where the model took none of them, CollectionChanged: then
    none was stored.
    """
    _check(texts, library.max_file_bytes)
    ids = [document_id(collection.id, text.source) for text in texts]
    if files := {of.document_id for of in await library.ingestions.find(collection, ids)}:
        raise invalid(min(map(ids.index, files)), "a file has this source: choose another one")
    if most_documents is not None:
        await library.ingestions.check_room(collection, ids, most_documents)
    stored = {document.id: document for document in await library.store.find_documents(collection, ids=ids)}
    known = {text.source: stored.get(key) for text, key in zip(texts, ids, strict=True)}
    changed = [_in_place_of(known[text.source], text) for text in texts if not _is_same(text, known[text.source])]
    made = await pipeline.ingest(changed, collection=collection, model=model) if changed else []
    if changed and all(outcome.status is IngestionStatus.ERROR for outcome in made):
        raise ProviderError(made[0].cause)
    await _plan(made, collection, library)
    outcomes = {outcome.source: outcome for outcome in made}
    return [outcomes.get(text.source) or _unchanged(text, key) for text, key in zip(texts, ids, strict=True)]


def invalid(index: int, problem: str, **details: str) -> InvalidDocuments:
    message = f"Document {index} (counting from 0) is not valid: {problem}."
    return InvalidDocuments(message, reason="invalid_document", index=index, problem=problem, **details)


def _check(texts: Sequence[SourceText], max_bytes: int) -> None:
    seen: set[str] = set()
    for index, text in enumerate(texts):
        if not holds_words(text.text):
            raise invalid(index, "text: it holds no words", field="text")
        if text.byte_count > max_bytes:
            raise invalid(index, f"text: it is larger than {max_bytes} bytes", field="text")
        if text.source in seen:
            raise invalid(index, "source: another one of the same source came with it", field="source")
        seen.add(text.source)


def _is_same(text: SourceText, known: Document | None) -> bool:
    if known is None or known.content_hash != text.content_hash:
        return False
    is_titled = text.title is None or known.title == " ".join(clean(text.title).split())
    return is_titled and dict(known.metadata) == dict(text.metadata) and known.tags == text.tags


def _in_place_of(known: Document | None, text: SourceText) -> SourceText:
    return replace(text, created_at=known.created_at) if known else text


def _unchanged(text: SourceText, key: UUID) -> IngestionOutcome:
    return IngestionOutcome(text.source, IngestionStatus.UNCHANGED, key)


async def _plan(outcomes: Sequence[IngestionOutcome], collection: Collection, library: Library) -> None:
    """What is to be done of it later."""
    for expires_at in {outcome.expires_at for outcome in outcomes if outcome.expires_at}:
        await library.queue.defer_purge(collection, expires_at)
    if outcomes:
        await library.queue.defer_optimization(collection)
