"""Causal chains of an answer: the excerpt that states each link, their form in a prompt and in a response."""

from collections.abc import Sequence
from typing import Any

from graphrag.extractive_answers.statements import Chain, ChainLink, Excerpt
from graphrag.linguistics.language import visible
from graphrag.models import Passage
from graphrag.models.graph import CausalEdge, CausalPath


def source_of(edge: CausalEdge, passages: Sequence[Passage]) -> int | None:
    """Return the number of the excerpt that holds the whole quote."""
    for number, passage in enumerate(passages, start=1):
        is_inside = passage.start_char <= edge.start_char and edge.end_char <= passage.end_char
        if passage.document.id == edge.document.id and is_inside:
            return number
    return None


def chains_in(paths: Sequence[CausalPath], passages: Sequence[Passage]) -> list[tuple[CausalPath, list[int]]]:
    """Return the paths that the excerpts hold whole, with the excerpt's number of each link."""
    numbered = [(path, [source_of(edge, passages) for edge in path.edges]) for path in paths]
    return [(path, [number for number in numbers if number]) for path, numbers in numbered if all(numbers)]


def stated_chains(
    paths: Sequence[CausalPath], passages: Sequence[Passage], excerpts: Sequence[Excerpt]
) -> tuple[Chain, ...]:
    """Return the chains that the excerpts hold whole, with the sentences that state each link."""
    return tuple(
        Chain(
            _describe(path, numbers),
            path.score,
            tuple(
                _link(edge, passages[number - 1], excerpts[number - 1])
                for edge, number in zip(path.edges, numbers, strict=True)
            ),
        )
        for path, numbers in chains_in(paths, passages)
    )


def _describe(path: CausalPath, numbers: Sequence[int]) -> str:
    """Return «A» –CAUSES→ «B» [1] –LEADS_TO→ «C» [2]."""
    steps = [
        f" –{edge.type.value}→ «{_name(edge.effect.name)}» [{number}]"
        for edge, number in zip(path.edges, numbers, strict=True)
    ]
    return f"«{_name(path.edges[0].cause.name)}»{''.join(steps)}"


def _link(edge: CausalEdge, passage: Passage, excerpt: Excerpt) -> ChainLink:
    start, end = (
        len(visible(passage.content[: place - passage.start_char])) for place in (edge.start_char, edge.end_char)
    )
    held = [
        index
        for index, span in enumerate(excerpt.sentences)
        if excerpt.text[max(span.start, start) : min(span.end, end)].strip()
    ] or [0]
    return ChainLink(excerpt.number, held[0], held[-1])


def describe_paths(paths: Sequence[CausalPath], passages: Sequence[Passage]) -> list[dict[str, Any]]:
    return [
        {
            "entities": list(path.entities),
            "edges": [
                {
                    **describe_edge(edge),
                    "link_score": link_score and round(link_score, 4),
                    "source": source_of(edge, passages),
                }
                for edge, link_score in zip(path.edges, (None, *path.link_scores), strict=True)
            ],
            "score": round(path.score, 4),
        }
        for path in paths
    ]


def describe_edge(edge: CausalEdge) -> dict[str, Any]:
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
    }


def _name(text: str) -> str:
    """Return a name on one line and without marks of its own: a document's name for a thing could imitate ours."""
    return " ".join(text.split()).replace("[", "(").replace("]", ")")
