"""`causeway reembed`: a collection moves to another embedding model while it is searched."""

from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from api.terminal import err, out, run
from graphrag.errors import InvalidSettings
from graphrag.services import Services
from graphrag.stores.embedding_migration import EmbeddingMigration


def reembed(
    collection: str,
    model: Annotated[str | None, typer.Option(help="The id of the model, as in the embeddings configuration.")] = None,
    rollback: Annotated[bool, typer.Option("--rollback", help="Go back to the model before.")] = False,
) -> None:
    """Move a collection to another embedding model while searches and uploads go on; run again, it goes on."""
    if rollback == (model is not None):
        raise InvalidSettings("Say where to: --model ID, or --rollback to go back to the model before.")
    moved = run(lambda services: _reembed(services, collection, model))
    out.print(f"{collection} is searched with {moved}.", highlight=False)


async def _reembed(services: Services, name: str, model_id: str | None) -> str:
    collection = await services.collection(services.settings.owner, name)
    migration = EmbeddingMigration(services.database, collection, batch_size=services.settings.embedding_batch_size)
    model = services.embeddings.get(model_id or await migration.previous_model())
    columns = (TextColumn("Embedding"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err) as progress:
        task = progress.add_task("", total=collection.chunk_count)
        await migration.run(model, report=lambda done, total: progress.update(task, completed=done, total=total))
    await services.library.queue.defer_optimization(collection)
    return model.id
