"""What each chunk of a document adds to the graph: by rules, which cost no call of a model, and by models."""

from collections.abc import Sequence
from dataclasses import replace

from graphrag.causal_graph import naming
from graphrag.causal_graph.extraction import extract_from_chunks
from graphrag.causal_graph.model_extraction import merge
from graphrag.causal_graph.naming import NameRecognizer
from graphrag.graph_models import CausalRelation, ChunkGraph, Mention
from graphrag.models import Chunk


def chunk_graphs(text: str, chunks: Sequence[Chunk], *, language: str) -> list[ChunkGraph]:
    """One a chunk; `text` is the whole document's."""
    relations = extract_from_chunks(text, chunks, language=language)
    return list(map(ChunkGraph, naming.mentions(chunks), relations))


async def with_names(
    graphs: Sequence[ChunkGraph], chunks: Sequence[Chunk], recognizer: NameRecognizer | None, *, language: str
) -> Sequence[ChunkGraph]:
    """With the names that a model, where there is one, finds in sentences: cells are none, and may be a million."""
    if recognizer is None:
        return graphs
    texts = ["" if chunk.headers else chunk.content for chunk in chunks]
    found = await recognizer.find_names(texts, language=language)
    return [
        replace(graph, mentions=(*graph.mentions, *(Mention(key) for name in names if (key := naming.name_key(name)))))
        for graph, names in zip(graphs, found, strict=True)
    ]


def with_relations(graphs: Sequence[ChunkGraph], found: Sequence[Sequence[CausalRelation]]) -> list[ChunkGraph]:
    """Each chunk's with what a model has found in it."""
    return [
        replace(graph, relations=merge(graph.relations, relations))
        for graph, relations in zip(graphs, found, strict=True)
    ]
