"""The command line: serve, ask, migrate; ingest, search, reembed, graph, keys and eval have files of their own."""

import asyncio
import os
import signal
import socket
import sys
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from langchain_core.messages import HumanMessage

from agent.context import Context
from agent.graph import graph
from agent.output.events import stream_answer
from api.cli.doctor import doctor
from api.cli.evaluation import app as evaluation
from api.cli.graph import app as causal_graph
from api.cli.ingest import check_files, ingest, load, optimize, print_outcomes, rechunk, worker
from api.cli.keys import app as keys
from api.cli.maintenance import backup, mcp, print_settings, reembed, restore
from api.cli.search import search
from api.cli.terminal import CollectionOption, JsonOption, err, load_settings, out, print_json, run
from api.serving import listen, serve_http
from graphrag.config.settings import Settings
from graphrag.db.database import Database
from graphrag.embeddings.registry import load_registry
from graphrag.errors import CausewayError, DatabaseUnavailable
from graphrag.ingestion.sources import find_files
from graphrag.models.ingestion import IngestionStatus
from graphrag.query_transformation.transformation import check_question
from graphrag.services import Services, open_services

app = typer.Typer(
    help="Answers questions over your documents, with citations that were checked.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(evaluation, name="eval")
app.add_typer(causal_graph, name="graph")
app.add_typer(keys, name="keys")


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=0, max=65535)] = 8000,
    collection: CollectionOption = None,
    ingest_first: Annotated[
        list[Path] | None, typer.Option("--ingest", help="Files or folders to index before serving.")
    ] = None,
    embeddings_config: Annotated[
        Path | None, typer.Option(help="YAML list of embedding models; else EMBEDDINGS_CONFIG.")
    ] = None,
    download_models: Annotated[
        bool, typer.Option("--download-models", help="Load and check every embedding model, then stop.")
    ] = False,
) -> None:
    """Answer questions over HTTP, with a chat page at /."""
    settings = load_settings(collection=collection, embeddings_config=embeddings_config)
    if download_models:
        for model in load_registry(settings.embeddings_config, may_download=True).models.values():
            out.print(f"{model.id}: loaded, {model.dimensions} dimensions")
        return
    # Ctrl-C is how a person ends it: no failure.
    with listen(host, port, asks_nobody=settings.auth == "none") as listener, suppress(KeyboardInterrupt):
        asyncio.run(_serve(settings, listener, ingest_first or []))


async def _serve(settings: Settings, listener: socket.socket, paths: list[Path]) -> None:
    services = open_services(settings)
    try:
        await services.open(awaits_database=True)
        if paths:
            await _ingest_or_tell(services, paths)
        await serve_http(services, listener, announce=_announce)
    finally:
        await services.close()


async def _ingest_or_tell(services: Services, paths: list[Path]) -> None:
    """Without its database the service starts all the same."""
    try:
        await _ingest_first(services, paths)
    except DatabaseUnavailable as exc:
        err.print(f"Nothing was indexed: {exc} Then: causeway ingest PATH", style="yellow", soft_wrap=True)


async def _ingest_first(services: Services, paths: list[Path]) -> None:
    files = find_files(paths)
    check_files(files, paths)
    collection = await services.collections.create(services.settings.owner, services.settings.collection)
    async with services.documents.queue.working(services.jobs):
        outcomes = await load(services, collection, files)
    if any(outcome.status is IngestionStatus.ERROR for outcome in outcomes):
        print_outcomes(outcomes)


def _announce(address: str) -> None:
    out.print(f"Causeway answers at {address}  (Ctrl-C stops it)")


app.command()(ingest)
app.command()(rechunk)
app.command()(optimize)
app.command()(worker)
app.command()(search)
app.command()(reembed)
app.command()(mcp)
app.command()(doctor)
app.command()(backup)
app.command()(restore)
app.command("settings")(print_settings)


@app.command()
def ask(question: str, collection: CollectionOption = None, as_json: JsonOption = False) -> None:
    """Answer a question, then list its citations."""
    run(lambda services: _ask(services, question, collection, as_json=as_json))


async def _ask(services: Services, question: str, name: str | None, *, as_json: bool) -> None:
    check_question(question, max_chars=services.settings.max_question_chars)
    opened = await services.collections.open(services.settings.owner, name)
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
    if chain := _told_chain(done):
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


def _told_chain(done: dict[str, Any]) -> str:
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


@app.command()
def migrate(collection: CollectionOption = None) -> None:
    """Prepare the database for this version. Every other command does it by itself, where its role may."""
    database = Database(load_settings())

    async def prepare() -> None:
        await database.open()
        await database.close()

    asyncio.run(prepare())
    out.print("The database is ready.")


def main() -> None:
    """Our own errors are one line and exit code 1; Ctrl-C is 130."""
    # A supervisor's or a closing terminal's signal ends a command like Ctrl-C: the database is left in order.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        app()
    except CausewayError as exc:
        err.print(f"Error: {exc}", style="red", highlight=False, soft_wrap=True)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
