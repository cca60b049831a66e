"""The commands migrate, backup, restore, reembed, settings and mcp."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Annotated

import typer
from rich.markdown import Markdown

from api.cli.terminal import CollectionOption, embedding_progress, err, load_settings, out, run, say
from graphrag.config.reference import themes, to_markdown
from graphrag.db.backup import restore_backup, write_backup
from graphrag.db.database import Database
from graphrag.errors import InvalidSettings
from graphrag.ingestion.reembedding import EmbeddingMigration
from graphrag.services import Services


def migrate(collection: CollectionOption = None) -> None:
    """Migrate the database to this version. Other commands do so automatically if their role may."""
    database = Database(load_settings())

    async def prepare() -> None:
        await database.open()
        await database.close()

    asyncio.run(prepare())
    out.print(say("database_ready"))


def backup(path: Annotated[Path, typer.Argument(help="File to write; it must not exist.")]) -> None:
    """Back up the database and the original files to one file, while the service runs."""
    written = write_backup(load_settings(), path)
    out.print(f"{path}: {path.stat().st_size / 1_000_000:,.1f} MB", highlight=False)
    if not written.has_files:
        err.print(say("files_elsewhere"), style="yellow")


def restore(path: Annotated[Path, typer.Argument(help="File written by `causeway backup`.")]) -> None:
    """Restore a backup into an empty CAUSEWAY_HOME or DATABASE_URL."""
    restored = restore_backup(load_settings(), path)
    out.print(say("restored", version=restored.version), highlight=False)
    if not restored.has_files:
        err.print(say("files_elsewhere"), style="yellow")


def reembed(
    collection: str,
    model: Annotated[str | None, typer.Option(help="Id of the model in the embeddings configuration.")] = None,
    rollback: Annotated[bool, typer.Option("--rollback", help="Return to the previous model.")] = False,
) -> None:
    """Move a collection to another embedding model without downtime; run again to resume."""
    if rollback == (model is not None):
        told = "Say where to: --model ID, or --rollback to go back to the model before."
        raise InvalidSettings(told, reason="destination_missing")
    moved = run(lambda services: _reembed(services, collection, model))
    out.print(say("reembedded", collection=collection, model=moved), highlight=False)


async def _reembed(services: Services, name: str, model_id: str | None) -> str:
    collection = await services.collections.open(services.owner, name)
    migration = EmbeddingMigration(
        services.database, collection, batch_size=services.settings.ingestion_limits.embedding_batch_size
    )
    model = services.embeddings.get(model_id or await migration.previous_model())
    with embedding_progress() as report:
        await migration.run(model, report=report)
    await services.documents.queue.defer_optimization(collection)
    return model.id


INTRODUCTION = """\
# Settings

Settings are environment variables, validated at start: an invalid value stops it with the variable's name. Where a
heading says so, a collection can override them (`PUT /api/v1/collections/NAME`), and a request as well.
`causeway settings` prints this page.
"""


def print_settings() -> None:
    """Print every setting with its default; as Markdown if redirected to a file."""
    page = f"{INTRODUCTION}\n{to_markdown(themes())}"
    if out.file.isatty():
        out.print(Markdown(page))
    else:
        out.file.write(page)


INTERRUPTED = 130


def mcp() -> None:
    """Start an MCP server on standard input and output."""
    run(_serve)


async def _serve(services: Services) -> None:
    """Serve MCP until the client closes standard input, or a signal arrives."""
    from api.mcp.server import serve_stdio  # a third of a second, which every other command starts faster without

    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    serving, stopping = asyncio.create_task(serve_stdio(services)), asyncio.create_task(stopped.wait())
    await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        stopping.cancel()
        return serving.result()
    await services.close()
    os._exit(INTERRUPTED)  # the thread that waits for the client's next line can't be told to stop
