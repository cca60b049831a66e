"""`causeway search`: what a search finds, with the scores of each stage."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

import typer
from rich.table import Table

from api.terminal import CollectionOption, JsonOption, err, out, print_json, run
from graphrag.models import Hit
from graphrag.places import describe_place
from graphrag.query_transformation.checking import check_question
from graphrag.retrieval.filters import KNOWN, parse_filters
from graphrag.retrieval.search import SearchResult
from graphrag.retrieval.search import search as find
from graphrag.services import Services

MOST_HITS = 1000


def search(
    query: str,
    collection: CollectionOption = None,
    as_json: JsonOption = False,
    limit: Annotated[int | None, typer.Option(help="Hits; else RAG_TOP_K.", min=1, max=MOST_HITS)] = None,
    offset: Annotated[int, typer.Option(help="Hits that are passed over.", min=0, max=MOST_HITS)] = 0,
    min_score: Annotated[float, typer.Option(help="Hits below it are left out.", min=0, max=1)] = 0.0,
    strategy: Annotated[
        Literal["auto", "fulltext", "semantic", "hybrid"] | None, typer.Option(help="How to search; else RAG_STRATEGY.")
    ] = None,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter", metavar="KEY=VALUE", help=f"Repeatable; a key's values are alternatives: {', '.join(KNOWN)}."
        ),
    ] = None,
    graph: Annotated[
        bool | None,
        typer.Option("--graph/--no-graph", help="Follow names where a question needs it; else RAG_GRAPH."),
    ] = None,
    rerank: Annotated[
        bool | None, typer.Option("--rerank/--no-rerank", help="Reorder by how well hits answer; else RAG_RERANK.")
    ] = None,
) -> None:
    """Show what the search finds, with scores."""
    given = {"top_k": limit, "strategy": strategy, "rerank": rerank, "graph": graph}
    overrides = {name: value for name, value in given.items() if value is not None}
    pairs = _pairs(filters or [])
    found = run(lambda services: _search(services, query, collection, overrides, pairs, offset, min_score))
    if as_json:
        print_json(_describe(found))
    else:
        _print(found)


def _pairs(given: Sequence[str]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for pair in given:
        key, _, value = pair.partition("=")
        values.setdefault(key, []).append(value)
    return values


async def _search(
    services: Services,
    question: str,
    name: str | None,
    overrides: dict[str, Any],
    filters: dict[str, list[str]],
    offset: int,
    min_score: float,
) -> SearchResult:
    wanted = parse_filters({key: values[0] if len(values) == 1 else values for key, values in filters.items()})
    checked = check_question(question, max_chars=services.settings.max_question_chars)
    collection = await services.collection(services.settings.owner, name)
    config, ignored = services.retrieval_config(collection, overrides)
    found = await find(
        checked,
        store=services.store,
        graph=services.graph,
        collection=collection,
        model=await services.embedding_model(collection),
        reranker=services.reranker_of(collection),
        config=config,
        filters=wanted,
        offset=offset,
        min_score=min_score,
        cache=services.query_cache,
    )
    return replace(found, warnings=(*ignored, *found.warnings))


def _print(found: SearchResult) -> None:
    table = Table("Score", "Document", "Chunk", "Text", "Stages")
    for hit in found.hits:
        stages = " ".join(f"{name} {score:.2f}" for name, score in hit.scores.items())
        text = " ".join(hit.chunk.content.split())[:160]
        table.add_row(f"{hit.score:.3f}", hit.chunk.document.filename, str(hit.chunk.index), text, stages)
    out.print(table if found.hits else "Nothing found.")
    for warning in found.warnings:
        err.print(warning, style="yellow", highlight=False)


def _describe(found: SearchResult) -> dict[str, Any]:
    return {
        "hits": [_describe_hit(hit) for hit in found.hits],
        "degraded": list(found.failed),
        "strategy": found.strategy,
        "warnings": list(found.warnings),
    }


def _describe_hit(hit: Hit) -> dict[str, Any]:
    chunk, document = hit.chunk, hit.chunk.document
    return {
        "chunk_id": str(chunk.id),
        "document_id": str(document.id),
        "chunk_index": chunk.index,
        "content": chunk.content,
        "score": hit.score,
        "scores": dict(hit.scores),
        "created_at": document.created_at.isoformat(),
        "metadata": {
            "filename": document.filename,
            "title": document.title,
            "language": document.language,
            "context": chunk.context,
            "start_char": chunk.start_char,
            "end_char": chunk.end_char,
            **describe_place(chunk),
        },
    }
