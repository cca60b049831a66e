"""Sources → prepared documents: read, chunked and described, with their names, relations and tables.

All that needs neither the database nor a model that is somebody else's: it runs in the sandbox's processes.
"""

import asyncio
from dataclasses import replace
from itertools import islice
from uuid import UUID

from graphrag.causal_graph.document_graph import chunk_graphs
from graphrag.config.settings import IngestionConfig, ParsingLimits
from graphrag.embeddings.word_vectors import TokenModel, WordVectors
from graphrag.errors import UnreadableDocument
from graphrag.ingestion.chunking import chunk_document
from graphrag.ingestion.chunking.division import TokenCounter
from graphrag.ingestion.enrichment import (
    MOST_PHRASES,
    authors,
    detect_language,
    keywords,
    phrases,
    title,
)
from graphrag.ingestion.prepared import Preparation
from graphrag.ingestion.sources import Source, SourceFile, SourceText
from graphrag.ingestion.tables.computed_tables import with_computed
from graphrag.ingestion.tables.typed_tables import typed_tables
from graphrag.models import ParsedText
from graphrag.parsers.detection import PLAIN
from graphrag.parsers.parsing import parse
from graphrag.parsers.text import clean, holds_words


class InProcessPreparer:
    """A Preparer that keeps nothing from a file: for files of one's own."""

    def __init__(self, limits: ParsingLimits) -> None:
        self._limits = limits

    async def prepare(self, source: Source, *, config: IngestionConfig, model: TokenModel) -> Preparation:
        return await asyncio.to_thread(prepare, source, config, limits=self._limits, count_tokens=model.count_tokens)


_BUNDLED = WordVectors()  # finds the boundaries of semantic chunks at no cost
_NOWHERE = UUID(int=0)  # a collection: names and tables depend on none


def prepare(
    source: Source, config: IngestionConfig, *, limits: ParsingLimits, count_tokens: TokenCounter
) -> Preparation:
    """Raises UnreadableDocument. Not to be called where a hang or a crash would matter: the sandbox is for that."""
    given = _read(source, limits)
    described = _described(source, given)
    parsed = with_computed(given, language=described.language)
    if source.chunking:
        config = config.model_copy(update={"chunking": source.chunking})
    chunked = chunk_document(
        parsed,
        title=described.title,
        config=config,
        count_tokens=count_tokens,
        embed=_BUNDLED.embed_documents,
        most=limits.chunks,
    )
    described = replace(described, text=parsed.text, chunking=chunked.strategy, spans=tuple(chunked.spans))
    document = described.document(source, _NOWHERE, config)
    tables = typed_tables(given, document, [span.start for span in chunked.spans])
    chunks = described.chunks(document)
    ranked = islice(phrases(given, described.language), MOST_PHRASES if config.keywords == "embeddings" else 0)
    return replace(
        described,
        phrases=tuple(ranked),
        graph=tuple(chunk_graphs(parsed.text, chunks, language=described.language)),
        tables=tuple(table.to_bytes() for table in tables),
    )


def _read(source: Source, limits: ParsingLimits) -> ParsedText:
    if isinstance(source, SourceFile):
        return parse(source.data, filename=source.filename, limits=limits)
    if not holds_words(source.text):
        raise UnreadableDocument("it holds no text", reason="empty")
    return ParsedText(clean(source.text), PLAIN)


def _described(source: Source, parsed: ParsedText) -> Preparation:
    own_language, own_title = (source.language, source.title) if isinstance(source, SourceText) else (None, None)
    language = own_language or detect_language(parsed)
    return Preparation(
        parsed.text,
        parsed.media_type,
        language,
        title(parsed, filename=source.filename) if own_title is None else " ".join(clean(own_title).split()),
        chunking="none",
        authors=authors(parsed),
        keywords=keywords(parsed, language),
        warnings=parsed.warnings,
        metadata=parsed.metadata,
    )
