"""Causal chains beside the numbered excerpts: which excerpt holds each link, and what is shown of them."""

from collections.abc import Sequence
from html import escape
from typing import Any

from graphrag.extractive_answers.chain_wording import ToldChain, ToldLink
from graphrag.models import Direction, Passage, Span
from graphrag.models.graph import CausalEdge, CausalPath


def source_of(edge: CausalEdge, passages: Sequence[Passage]) -> int | None:
    """The number of the excerpt that holds the whole quote."""
    for number, passage in enumerate(passages, start=1):
        is_inside = passage.start_char <= edge.start_char and edge.end_char <= passage.end_char
        if passage.document.id == edge.document.id and is_inside:
            return number
    return None


def chains_in(paths: Sequence[CausalPath], passages: Sequence[Passage]) -> list[tuple[CausalPath, list[int]]]:
    """Return the chains that the excerpts contain as a whole, with each link's excerpt number."""
    numbered = [(path, [source_of(edge, passages) for edge in path.edges]) for path in paths]
    return [(path, [number for number in numbers if number]) for path, numbers in numbered if all(numbers)]


def chain_lines(paths: Sequence[CausalPath], passages: Sequence[Passage]) -> list[str]:
    """Return the chains as lines: 1. «A» –CAUSES→ «B» [1] –LEADS_TO→ «C» [2]."""
    lines: list[str] = []
    for path, numbers in chains_in(paths, passages):
        steps = [
            f" –{edge.type.value}→ «{_data(edge.effect.name)}» [{number}]"
            for edge, number in zip(path.edges, numbers, strict=True)
        ]
        lines.append(f"{len(lines) + 1}. «{_data(path.edges[0].cause.name)}»{''.join(steps)}")
    return lines


def told_chains(
    paths: Sequence[CausalPath], passages: Sequence[Passage], *, direction: Direction | None
) -> list[ToldChain]:
    """Return the chains as the extractive model reads them."""
    return [
        ToldChain(
            tuple(
                ToldLink(number, Span(edge.start_char, edge.end_char))
                for edge, number in zip(path.edges, numbers, strict=True)
            ),
            path.score,
            answering=0 if direction == "effects" else len(numbers) - 1,
        )
        for path, numbers in chains_in(paths, passages)
    ]


def describe_paths(paths: Sequence[CausalPath], passages: Sequence[Passage]) -> list[dict[str, Any]]:
    return [
        {
            "entities": list(path.entities),
            "edges": [_describe_edge(edge, source_of(edge, passages)) for edge in path.edges],
            "score": round(path.score, 4),
        }
        for path in paths
    ]


def _describe_edge(edge: CausalEdge, source: int | None) -> dict[str, Any]:
    return {
        "cause": edge.cause.name,
        "effect": edge.effect.name,
        "type": edge.type.value,
        "confidence": round(edge.confidence, 4),
        "quote": edge.quote,
        "document_id": str(edge.document.id),
        "filename": edge.document.filename,
        "content_hash": edge.document.content_hash,
        "chunk_index": edge.chunk_index,
        "start_char": edge.start_char,
        "end_char": edge.end_char,
        "source": source,
    }


def _data(name: str) -> str:
    """Return the name in one line without marks: a document's text could imitate ours."""
    return escape(" ".join(name.split()), quote=False).replace("[", "(").replace("]", ")")
