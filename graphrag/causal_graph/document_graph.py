"""The part of the graph that a document's chunks give."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from uuid import UUID, uuid5

from graphrag.causal_graph.concepts import concept_key
from graphrag.causal_graph.extraction import extract_from_chunks
from graphrag.linguistics.names import NameRecognizer, mentions, name_key
from graphrag.models import Chunk
from graphrag.models.graph import CausalEdge, CausalRelation, ChunkGraph, Entity, Mention
from graphrag.models.ingestion import IndexedDocument


def chunk_graphs(text: str, chunks: Sequence[Chunk], *, language: str) -> list[ChunkGraph]:
    """One a chunk; `text` is the whole document's."""
    relations = extract_from_chunks(text, chunks, language=language)
    return list(map(ChunkGraph, mentions(chunks), relations))


async def with_names(
    graphs: Sequence[ChunkGraph], chunks: Sequence[Chunk], recognizer: NameRecognizer | None, *, language: str
) -> Sequence[ChunkGraph]:
    """Add the names that the recognizer, if there is one, finds in sentences.

    Table cells are skipped: they are no sentences, and may be a million.
    """
    if recognizer is None:
        return graphs
    texts = ["" if chunk.headers else chunk.content for chunk in chunks]
    found = await recognizer.find_names(texts, language=language)
    return [
        replace(graph, mentions=(*graph.mentions, *(Mention(key) for name in names if (key := name_key(name)))))
        for graph, names in zip(graphs, found, strict=True)
    ]


def assemble_edges(indexed: IndexedDocument, collection_id: UUID) -> list[CausalEdge]:
    """One for what a chunk says several times: the surest. Nothing causes itself, nor does what has no word."""
    found: dict[UUID, CausalEdge] = {}
    text = "".join(chunk.content for chunk in indexed.chunks)
    for chunk, relation in _relations(indexed):
        edge = _edge(relation, chunk, text, indexed, collection_id)
        if edge.cause.key and edge.effect.key and edge.cause.key != edge.effect.key:
            known = found.get(edge.id)
            found[edge.id] = edge if known is None or edge.confidence > known.confidence else known
    return list(found.values())


def assemble_mentions(indexed: IndexedDocument) -> list[tuple[Chunk, Mention]]:
    """One for a name that a chunk holds several times: the weightiest."""
    found: dict[tuple[UUID, str], tuple[Chunk, Mention]] = {}
    for chunk, graph in zip(indexed.chunks, indexed.graph, strict=bool(indexed.graph)):
        for mention in sorted(graph.mentions, key=lambda mention: -mention.weight):
            if mention.key:
                found.setdefault((chunk.id, mention.key), (chunk, mention))
    return list(found.values())


def _relations(indexed: IndexedDocument) -> Iterator[tuple[Chunk, CausalRelation]]:
    for chunk, graph in zip(indexed.chunks, indexed.graph, strict=bool(indexed.graph)):
        yield from ((chunk, relation) for relation in graph.relations)


def _edge(
    relation: CausalRelation, chunk: Chunk, text: str, indexed: IndexedDocument, collection_id: UUID
) -> CausalEdge:
    offset = indexed.chunks[0].start_char
    cause, effect, quote = (
        text[span.start - offset : span.end - offset] for span in (relation.cause, relation.effect, relation.quote)
    )
    language = indexed.document.language
    causing, caused = _entity(cause, language, collection_id), _entity(effect, language, collection_id)
    return CausalEdge(
        id=uuid5(collection_id, f"{chunk.id}\n{causing.key}\n{caused.key}\n{relation.polarity}"),
        cause=causing,
        effect=caused,
        type=relation.type,
        polarity=relation.polarity,
        confidence=relation.confidence,
        quote=quote,
        start_char=relation.quote.start,
        end_char=relation.quote.end,
        document=indexed.document,
        chunk_id=chunk.id,
        chunk_index=chunk.index,
        extractor=relation.extractor,
    )


def _entity(text: str, language: str, collection_id: UUID) -> Entity:
    key = concept_key(text, language)
    return Entity(uuid5(collection_id, key), key, " ".join(text.split()))
