"""The commands `causeway search` and `causeway ask`."""

from collections.abc import Sequence
from contextlib import aclosing
from typing import Annotated, Any, Literal

import typer
from langchain_core.messages import HumanMessage
from rich.table import Table

from agent.context import Context
from agent.graph import graph
from agent.output.events import stream_answer
from api.cli.terminal import CollectionOption, JsonOption, err, out, print_json, run
from api.schemas.search import describe, describe_hits
from graphrag.query_transformation.transformation import check_question
from graphrag.retrieval.filters import KNOWN, parse_filters
from graphrag.retrieval.pipeline import SearchRequest
from graphrag.retrieval.query import SearchResult
from graphrag.services import Services

MOST_HITS = 1000


def search(
    query: str,
    collection: CollectionOption = None,
    as_json: JsonOption = False,
    limit: Annotated[
        int | None, typer.Option(help="Maximum number of results; default: RAG_TOP_K.", min=1, max=MOST_HITS)
    ] = None,
    offset: Annotated[int, typer.Option(help="Number of results to skip.", min=0, max=MOST_HITS)] = 0,
    min_score: Annotated[float, typer.Option(help="Minimum score of a result.", min=0, max=1)] = 0.0,
    strategy: Annotated[
        Literal["auto", "fulltext", "semantic", "hybrid"] | None,
        typer.Option(help="Search strategy; default: RAG_STRATEGY."),
    ] = None,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter", metavar="KEY=VALUE", help=f"Repeatable; a key's values are alternatives: {', '.join(KNOWN)}."
        ),
    ] = None,
    graph: Annotated[
        bool | None,
        typer.Option("--graph/--no-graph", help="Graph expansion when a question needs it; default: RAG_GRAPH."),
    ] = None,
    rerank: Annotated[
        bool | None, typer.Option("--rerank/--no-rerank", help="Rerank the results; default: RAG_RERANK.")
    ] = None,
) -> None:
    """Search a collection and show the results with their scores."""
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


def ask(question: str, collection: CollectionOption = None, as_json: JsonOption = False) -> None:
    """Answer a question, then list its citations."""
    run(lambda services: _ask(services, question, collection, as_json=as_json))


async def _ask(services: Services, question: str, name: str | None, *, as_json: bool) -> None:
    check_question(question, max_chars=services.settings.search.max_question_chars)
    opened = await services.collections.open(services.owner, name)
    done: dict[str, Any] = {}
    context = Context(collection=name, owner_id=opened.owner_id, opened=opened, services=services)
    events = stream_answer(graph, [HumanMessage(question)], context)
    async with aclosing(events) as stream:
        async for event in stream:
            if event["event"] == "token" and not as_json:
                out.file.write(event["data"]["text"])
                out.file.flush()
            done = event["data"]
    if as_json:
        print_json(done)
        return
    out.print()
    if chain := _cited_chain(done):
        out.print(chain, style="cyan", highlight=False)
    for citation in done["citations"]:
        quote = " ".join(citation["quote"].split())
        out.print(
            f"[{citation['number']}] {citation['filename']}{_place(citation)}, {citation['status']}: {quote}",
            style="dim",
            highlight=False,
        )
    for message in done["degraded_messages"]:
        err.print(message, style="yellow")


def _cited_chain(done: dict[str, Any]) -> str:
    """«A → B [1] → C [2]»: the best causal chain of which the answer cites a sentence of every link."""
    for path in done["paths"]:
        if all(any(_is_of(citation, edge) for citation in done["citations"]) for edge in path["edges"]):
            first, *names = [" ".join(name.split()) for name in path["entities"]]
            steps = [f" → {name} [{edge['source']}]" for name, edge in zip(names, path["edges"], strict=True)]
            return "".join([first, *steps])
    return ""


def _is_of(citation: dict[str, Any], edge: dict[str, Any]) -> bool:
    is_inside = citation["start_char"] < edge["end_char"] and edge["start_char"] < citation["end_char"]
    return is_inside and bool(citation["number"] == edge["source"])


def _place(citation: dict[str, Any]) -> str:
    """« p. 3», « Ventas!C12 (+25 % frente al mes anterior)»."""
    page = f" p. {citation['page']}" if citation["page"] else ""
    cells = "!".join(part for part in (citation["sheet"], citation["cell"]) if part)
    trend = f" ({citation['trend']})" if citation["trend"] else ""
    return f"{page}{' ' if cells else ''}{cells}{trend}"
