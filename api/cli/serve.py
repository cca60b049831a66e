"""`causeway serve`: the HTTP service, with a chat page."""

import asyncio
import socket
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from api.cli.ingest import check_files, load, print_outcomes
from api.cli.terminal import CollectionOption, err, load_settings, out, warn_of_unknown_variables
from api.serving import listen, serve_http
from graphrag.config.settings import Settings
from graphrag.embeddings.registry import load_registry
from graphrag.errors import DatabaseUnavailable
from graphrag.ingestion.sources import find_files
from graphrag.models.ingestion import IngestionStatus
from graphrag.services import Services, open_services


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=0, max=65535)] = 8000,
    collection: CollectionOption = None,
    ingest_first: Annotated[
        list[Path] | None, typer.Option("--ingest", help="Files or folders to index before serving.")
    ] = None,
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
            out.print(f"{model.id}: loaded, {model.dimensions} dimensions")
        return
    # Ctrl-C is how a person ends it: no failure.
    with (
        listen(host, port, asks_nobody=settings.authentication.auth == "none") as listener,
        suppress(KeyboardInterrupt),
    ):
        asyncio.run(_serve(settings, listener, ingest_first or []))


async def _serve(settings: Settings, listener: socket.socket, paths: list[Path]) -> None:
    services = open_services(settings)
    try:
        await services.open(awaits_database=True)
        if paths:
            await _ingest_or_warn(services, paths)
        await serve_http(services, listener, announce=_announce)
    finally:
        await services.close()


async def _ingest_or_warn(services: Services, paths: list[Path]) -> None:
    """Ingest the files, or say why not: without its database the service starts all the same."""
    try:
        await _ingest_first(services, paths)
    except DatabaseUnavailable as exc:
        err.print(f"Nothing was indexed: {exc} Then: causeway ingest PATH", style="yellow", soft_wrap=True)


async def _ingest_first(services: Services, paths: list[Path]) -> None:
    files = find_files(paths)
    check_files(files, paths)
    collection = await services.collections.create(services.owner, services.settings.storage.collection)
    async with services.documents.queue.working(services.jobs):
        outcomes = await load(services, collection, files)
    if any(outcome.status is IngestionStatus.ERROR for outcome in outcomes):
        print_outcomes(outcomes)


def _announce(address: str) -> None:
    out.print(f"Causeway answers at {address}  (Ctrl-C stops it)")
