"""The commands `causeway search` and `causeway ask`."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.table import Table

from agent import messages
from agent.library import Causeway
from api.cli.terminal import CollectionsOption, JsonOption, err, out, print_json, run, say, terminal_language
from api.schemas.search import describe, describe_hits
from graphrag.retrieval.filters import KNOWN, parse_filters
from graphrag.retrieval.pipeline import SearchRequest
from graphrag.retrieval.query import SearchResult
from graphrag.services import Services
from graphrag.table_queries.exports import read_query, run_query, write_csv

MOST_HITS = 1000
BY_THE_SAME_MODEL = {"transform", "verify"}  # stages: where it does not write either, one sentence tells of all


def search(
    query: str,
    collection: CollectionsOption = None,
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
    """Search collections and show the results with their scores."""
    given = {"top_k": limit, "strategy": strategy, "rerank": rerank, "graph": graph}
    overrides = {name: value for name, value in given.items() if value is not None}
    pairs = _pairs(filters or [])
    request = SearchRequest(query, tuple(collection or [None]), overrides, parse_filters(pairs), offset, min_score)
    found = run(lambda services: services.retrieval.find(request, services.owner), says_degraded=True)
    if as_json:
        print_json({"hits": describe_hits(found.hits, found.query.collections), **describe(found)})
    else:
        _print(found)


def _pairs(given: Sequence[str]) -> dict[str, str | list[str]]:
    values: dict[str, list[str]] = {}
    for pair in given:
        key, _, value = pair.partition("=")
        values.setdefault(key, []).append(value)
    return {key: alternatives[0] if len(alternatives) == 1 else alternatives for key, alternatives in values.items()}


def _print(found: SearchResult) -> None:
    names = {each.id: each.name for each in found.query.collections}
    several = [say("column_collection")] if len(names) > 1 else []
    score, *columns = (say(f"column_{name}") for name in ("score", "document", "chunk", "text", "stages"))
    table = Table(score, *several, *columns)
    for hit in found.hits:
        stages = " ".join(f"{name} {score:.2f}" for name, score in hit.scores.items())
        text = " ".join(hit.chunk.content.split())[:160]
        name = [names.get(hit.chunk.document.collection_id, "")] if several else []
        table.add_row(f"{hit.score:.3f}", *name, hit.chunk.document.filename, str(hit.chunk.index), text, stages)
    out.print(table if found.hits else say("nothing_found"))
    degraded = [messages.say(f"degraded_{name}", terminal_language(os.environ)) for name in found.failed]
    for warning in (*found.warnings, *degraded):
        err.print(warning, style="yellow", highlight=False)


def ask(
    question: str,
    collection: CollectionsOption = None,
    as_json: JsonOption = False,
    csv_file: Annotated[
        Path | None,
        typer.Option(
            "--csv", help="Also write the table that the answer is computed from, all of its rows, to a file."
        ),
    ] = None,
) -> None:
    """Answer a question, then list its citations."""
    asked = collection or []
    run(lambda services: _ask(services, question, asked, as_json=as_json, csv_file=csv_file), says_degraded=True)


async def _ask(
    services: Services, question: str, names: Sequence[str], *, as_json: bool, csv_file: Path | None
) -> None:
    done: dict[str, Any] = {}
    async with aclosing(Causeway(services).stream(question, collections=names)) as stream:
        async for event in stream:
            if event["event"] == "token" and not as_json:
                out.file.write(event["data"]["text"])
                out.file.flush()
            done = event["data"]
    if as_json:
        print_json(done)
    else:
        _print_citations(done, names_collections=len(names) > 1)
    if csv_file:
        if not done["table"]:
            err.print(say("no_table", file=csv_file), style="red")
            raise typer.Exit(1)
        asked = await services.collections.open_all(services.owner, names or [None])
        found = await run_query(read_query(done["table"]["query"]), store=services.store, collections=asked)
        await asyncio.to_thread(csv_file.write_bytes, write_csv(found, done["language"]).encode())


def _print_citations(done: dict[str, Any], *, names_collections: bool) -> None:
    out.print()
    if chain := _cited_chain(done):
        out.print(chain, style="cyan", highlight=False)
    for citation in done["citations"]:
        quote, status = " ".join(citation["quote"].split()), say(f"citation_{citation['status']}")
        name = f"{citation['collection']}: " if names_collections and citation["collection"] else ""
        out.print(
            f"[{citation['number']}] {name}{citation['filename']}{_place(citation)}, {status}: {quote}",
            style="dim",
            highlight=False,
        )
    implied = BY_THE_SAME_MODEL if "generate" in done["degraded"] else ()
    for name, message in zip(done["degraded"], done["degraded_messages"], strict=True):
        if name not in implied:
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
    file = f" {citation['file']}" if citation["file"] and not citation["cell"] else ""
    page = f" p. {citation['page']}{' (OCR)' if citation['recognized'] else ''}" if citation["page"] else ""
    cells = "!".join(part for part in (citation["sheet"], citation["cell"]) if part)
    trend = f" ({citation['trend']})" if citation["trend"] else ""
    return f"{file}{page}{' ' if cells else ''}{cells}{trend}"
