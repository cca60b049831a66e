"""What each chunk of a document adds to the graph: by rules, which cost no call of a model, and by a model."""

from collections.abc import Sequence
from dataclasses import replace

from graphrag.causal_graph import naming
from graphrag.causal_graph.extraction import extract_from_chunks
from graphrag.causal_graph.model_extraction import merge
from graphrag.graph_models import CausalRelation, ChunkGraph
from graphrag.models import Chunk


def chunk_graphs(text: str, chunks: Sequence[Chunk], *, language: str) -> list[ChunkGraph]:
    """One a chunk; `text` is the whole document's."""
    relations = extract_from_chunks(text, chunks, language=language)
    return list(map(ChunkGraph, naming.mentions(chunks), relations))


def with_relations(graphs: Sequence[ChunkGraph], found: Sequence[Sequence[CausalRelation]]) -> list[ChunkGraph]:
    """Each chunk's with what a model has found in it."""
    return [
        replace(graph, relations=merge(graph.relations, relations))
        for graph, relations in zip(graphs, found, strict=True)
    ]
