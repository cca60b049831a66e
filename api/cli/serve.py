"""`causeway serve`: the HTTP service, with a chat page."""

import asyncio
import socket
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from api.cli.ingest import load, print_outcomes
from api.cli.terminal import CollectionOption, describe_error, err, load_settings, out, say, warn_of_unknown_variables
from api.serving import address_of, drop_stalled_clients, listen, serve_http
from api.supervisor import ServerProcess, Supervisor
from graphrag.config.settings import Settings
from graphrag.embeddings.registry import load_registry
from graphrag.errors import DatabaseUnavailable
from graphrag.ingestion.sources import check_files
from graphrag.models.ingestion import IngestionStatus
from graphrag.observability.metrics import share
from graphrag.services import Services, load_tables, open_services


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=0, max=65535)] = 8000,
    collection: CollectionOption = None,
    ingest_first: Annotated[
        list[Path] | None, typer.Option("--ingest", help="Files or folders to index before serving.")
    ] = None,
    processes: Annotated[
        int, typer.Option(help="Server processes on the port, at most one a core; each needs about 500 MB.", min=1)
    ] = 1,
    embeddings_config: Annotated[
        Path | None, typer.Option(help="YAML list of embedding models; default: EMBEDDINGS_CONFIG.")
    ] = None,
    download_models: Annotated[
        bool, typer.Option("--download-models", help="Load and check every embedding model, then exit.")
    ] = False,
) -> None:
    """Start the HTTP service, with a chat page at /."""
    settings = load_settings(collection=collection, embeddings_config=embeddings_config)
    warn_of_unknown_variables()
    if download_models:
        for model in load_registry(settings.storage.embeddings_config, may_download=True).models.values():
            out.print(say("model_loaded", model=model.id, dimensions=model.dimensions))
        return
    # Ctrl-C is how a person ends it: no failure.
    with (
        listen(host, port, asks_nobody=settings.authentication.auth == "none") as listener,
        suppress(KeyboardInterrupt),
    ):
        announce = partial(_announce, address_of(listener))
        drop_stalled_clients(listener, settings.streams.stream_stalled_seconds)
        if processes == 1:
            asyncio.run(_serve(settings, listener, ingest_first or [], announce))
        else:
            _serve_by_several(settings, listener, ingest_first or [], processes, announce)


def _serve_by_several(
    settings: Settings, listener: socket.socket, paths: list[Path], count: int, announce: Callable[[], None]
) -> None:
    with tempfile.TemporaryDirectory(prefix="causeway-") as folder:
        share(Path(folder))
        load_tables()
        Supervisor(partial(_serve_supervised, settings, paths), count, listener, Path(folder)).run(announce=announce)


async def _serve_supervised(settings: Settings, paths: list[Path], process: ServerProcess) -> None:
    """Serve as one of several processes; only the first runs background jobs."""
    is_first = process.number == 0
    own = settings.changed(worker=settings.ingestion_limits.worker and is_first)
    await _serve(own, process, paths if is_first and not process.is_restarted else [], process.ready)


async def _serve(
    settings: Settings, source: socket.socket | ServerProcess, paths: list[Path], announce: Callable[[], None]
) -> None:
    services = open_services(settings)
    try:
        await services.open(awaits_database=True)
        if paths:
            await _ingest_or_warn(services, paths)
        await serve_http(services, source, announce=announce)
    finally:
        await services.close()


async def _ingest_or_warn(services: Services, paths: list[Path]) -> None:
    """Ingest the files, or say why not: without its database the service starts all the same."""
    try:
        await _ingest_first(services, paths)
    except DatabaseUnavailable as exc:
        err.print(say("nothing_indexed", reason=describe_error(exc)), style="yellow", soft_wrap=True)


async def _ingest_first(services: Services, paths: list[Path]) -> None:
    check_files(paths)
    collection = await services.collections.create(services.owner, services.settings.storage.collection)
    async with services.documents.queue.working(services.jobs):
        outcomes = await load(services, collection, paths)
    if any(outcome.status is IngestionStatus.ERROR for outcome in outcomes):
        print_outcomes(outcomes)


def _announce(address: str) -> None:
    out.print(say("serving", address=address))
