"""`causeway search`: what a search finds, with the scores of each stage."""

from collections.abc import Sequence
from typing import Annotated, Literal

import typer
from rich.table import Table

from api.cli.terminal import CollectionOption, JsonOption, err, out, print_json, run
from api.schemas.search import describe, describe_hits
from graphrag.retrieval.filters import KNOWN, parse_filters
from graphrag.retrieval.pipeline import SearchRequest
from graphrag.retrieval.query import SearchResult

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
    request = SearchRequest(query, collection, overrides, parse_filters(pairs), offset, min_score)
    found = run(lambda services: services.retrieval.find(request, services.owner))
    if as_json:
        print_json({"hits": describe_hits(found.hits), **describe(found)})
    else:
        _print(found)


def _pairs(given: Sequence[str]) -> dict[str, str | list[str]]:
    values: dict[str, list[str]] = {}
    for pair in given:
        key, _, value = pair.partition("=")
        values.setdefault(key, []).append(value)
    return {key: alternatives[0] if len(alternatives) == 1 else alternatives for key, alternatives in values.items()}


def _print(found: SearchResult) -> None:
    table = Table("Score", "Document", "Chunk", "Text", "Stages")
    for hit in found.hits:
        stages = " ".join(f"{name} {score:.2f}" for name, score in hit.scores.items())
        text = " ".join(hit.chunk.content.split())[:160]
        table.add_row(f"{hit.score:.3f}", hit.chunk.document.filename, str(hit.chunk.index), text, stages)
    out.print(table if found.hits else "Nothing found.")
    for warning in found.warnings:
        err.print(warning, style="yellow", highlight=False)
