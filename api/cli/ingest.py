"""The commands `causeway ingest`, `rechunk`, `optimize` and `worker`, and the demo collection of the notebooks."""

import asyncio
import os
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from watchfiles import awatch

from agent.evaluation.golden_run import Evaluator, Scheduler
from api.cli.terminal import CollectionOption, describe_error, err, out, run, say, warn_of_unknown_variables
from api.gauges import metrics_served
from graphrag.config.settings import check_splitter
from graphrag.errors import UnreadableDocument
from graphrag.ingestion.bulk import Loading, Rechunking
from graphrag.ingestion.sources import check_files, find_files, source_of
from graphrag.models import Chunking, Collection
from graphrag.models.ingestion import Ingestion, IngestionOutcome, IngestionStatus
from graphrag.observability.telemetry import configure_logging, configure_thresholds
from graphrag.services import Services, shared_services

LISTED_DOCUMENTS = 40  # of more, only those with something to say
COLUMNS = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.")],
    collection: CollectionOption = None,
    chunking: Annotated[
        Chunking | None, typer.Option(help="Chunking of the documents; default: the collection's.")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Keep indexing changes until Ctrl-C.")] = False,
) -> None:
    """Index files and folders; unchanged ones are skipped.

    Exit code 1: some were not indexed.
    """
    outcomes = run(lambda services: _ingest(services, paths, collection, chunking=chunking, watch=watch), answers=False)
    if any(outcome.status is IngestionStatus.ERROR for outcome in outcomes):
        raise typer.Exit(1)


def rechunk(
    collection: CollectionOption = None,
    chunking: Annotated[Chunking, typer.Option(help="Chunking of the documents.")] = "auto",
    everything: Annotated[bool, typer.Option("--all", help="Include documents that already have chunks.")] = False,
) -> None:
    """Chunk documents that are stored whole; ids and dates are kept."""
    print_outcomes(run(lambda services: _rechunk(services, collection, chunking, everything=everything), answers=False))


def optimize(
    collection: Annotated[str | None, typer.Option("--collection", help="Collection; default: all.")] = None,
) -> None:
    """Optimize the database for search, and synchronize the search index (RAG_INDEX) with it."""

    async def each(services: Services) -> None:
        owner = services.owner
        named = [await services.collections.open(owner, collection)] if collection else None
        for of in named or await services.store.list_collections(owner):
            await services.store.optimize(of)
            out.print(say("collection_size", name=of.name, chunks=of.chunk_count), highlight=False)

    run(each)


def worker(
    collection: CollectionOption = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(help="Port for this process's Prometheus metrics; default: not served.", min=1, max=65535),
    ] = None,
    metrics_host: Annotated[
        str, typer.Option(help="Address for the metrics; they are served without authentication.")
    ] = "127.0.0.1",
) -> None:
    """Run background jobs until Ctrl-C, beside the service's worker or instead of it (RAG_WORKER=false)."""

    async def work(services: Services) -> None:
        warn_of_unknown_variables()
        configure_thresholds(services.settings.observability.slow_seconds)
        async with AsyncExitStack() as stack:
            if metrics_port:
                await stack.enter_async_context(metrics_served(services, metrics_host, metrics_port))
            out.print(say("waiting_for_jobs"))
            await services.documents.queue.work(services.jobs, Evaluator(services), Scheduler(services))

    run(work, awaits_database=True)


async def _rechunk(
    services: Services, name: str | None, chunking: Chunking, *, everything: bool
) -> list[IngestionOutcome]:
    check_splitter(chunking)
    collection = await services.collections.open(services.owner, name)
    model = await services.collections.embedding_model(collection)
    known = await services.store.list_documents(collection)
    documents = [document for document in known if everything or document.processing_strategy == "none"]
    rechunking = Rechunking(services.documents, services.ingestion, collection, model)
    async with services.documents.queue.working(services.jobs):
        return await _follow(rechunking.rechunk(documents, chunking=chunking), total=len(documents))


async def _ingest(
    services: Services, paths: Sequence[Path], name: str | None, *, chunking: Chunking | None, watch: bool
) -> list[IngestionOutcome]:
    check_splitter(chunking)
    if not watch or not all(path.is_dir() for path in paths):
        check_files(paths)
    collection = await services.collections.create(services.owner, name)
    async with services.documents.queue.working(services.jobs), AsyncExitStack() as stack:
        changes = await stack.enter_async_context(_watching(paths)) if watch else None
        outcomes = await load(services, collection, paths, chunking=chunking)
        print_outcomes(outcomes)
        if changes:
            await _forget_missing(services, collection, paths)
            out.print(say("following"))
            async for _ in changes:
                await _keep_in_step(services, collection, paths, chunking=chunking)
    return outcomes


@asynccontextmanager
async def _watching(paths: Sequence[Path]) -> AsyncGenerator[AsyncIterator[object]]:
    """Watch the paths from now on, missing no change while earlier ones are processed."""
    changes = awatch(*paths)
    first = asyncio.create_task(anext(changes))
    await asyncio.sleep(0)  # it begins

    async def each() -> AsyncIterator[object]:
        yield await first
        async for change in changes:
            yield change

    try:
        yield each()
    finally:
        first.cancel()


async def load(
    services: Services, collection: Collection, paths: Sequence[Path], *, chunking: Chunking | None = None
) -> list[IngestionOutcome]:
    """Load files and folders, while a worker is running."""
    files = await asyncio.to_thread(find_files, paths)
    loading = Loading(services.documents, collection, chunking, [path for path in paths if path.is_dir()])
    return await _follow(loading.load(files), total=len(files))


async def _follow(steps: AsyncGenerator[IngestionOutcome | Ingestion, None], *, total: int) -> list[IngestionOutcome]:
    """Collect the outcomes while a progress bar shows the steps."""
    outcomes: list[IngestionOutcome] = []
    with Progress(TextColumn(say("indexing")), *COLUMNS, console=err) as progress:
        task = progress.add_task("", total=total)
        async with aclosing(steps):
            async for step in steps:
                if isinstance(step, IngestionOutcome):
                    outcomes.append(step)
                    progress.update(task, advance=1, description=Path(step.source).name)
                else:
                    progress.update(task, description=_describe(step))
    return outcomes


async def _keep_in_step(
    services: Services, collection: Collection, paths: Sequence[Path], *, chunking: Chunking | None
) -> None:
    """Bring the collection up to date with the paths: new, changed and deleted files."""
    outcomes = await load(services, collection, paths, chunking=chunking)
    if new := [outcome for outcome in outcomes if outcome.status is not IngestionStatus.UNCHANGED]:
        print_outcomes(new)
    await _forget_missing(services, collection, paths)


async def _forget_missing(services: Services, collection: Collection, paths: Sequence[Path]) -> None:
    folders = [path for path in paths if path.is_dir()]  # one that is away itself takes nothing with it
    known = await services.store.list_documents(collection)
    present = {source_of(file) for file in await asyncio.to_thread(find_files, folders)}
    for document in known:
        is_ours = any(document.source.startswith(f"{source_of(path)}{os.sep}") for path in folders)
        if is_ours and document.source not in present:
            await services.documents.delete(collection, document.id)
            out.print(say("removed", name=document.filename))


def print_outcomes(outcomes: Sequence[IngestionOutcome]) -> None:
    names = _name_files([outcome.source for outcome in outcomes])
    originals = {outcome.document_id: names[outcome.source] for outcome in outcomes if not outcome.is_copy}
    notes = [_note(outcome, originals) for outcome in outcomes]
    if any(notes) or len(outcomes) <= LISTED_DOCUMENTS:
        table = Table(*(say(f"column_{name}") for name in ("document", "status", "chunks", "note")))
        for outcome, note in zip(outcomes, notes, strict=True):
            if note or len(outcomes) <= LISTED_DOCUMENTS:
                chunks = str(outcome.chunks) if outcome.chunks else ""
                table.add_row(names[outcome.source], say(f"outcome_{outcome.status}"), chunks, note)
        out.print(table)
    counts = Counter(outcome.status for outcome in outcomes)
    summary = ", ".join(f"{count:,} {say(f'outcome_{status}')}" for status, count in counts.items())
    out.print(say("outcomes", count=len(outcomes), summary=summary, chunks=sum(outcome.chunks for outcome in outcomes)))


def _name_files(sources: Sequence[str]) -> dict[str, str]:
    """Name each file as it is shown: where several have the same name, by their paths in the folder that holds all."""
    counts = Counter(Path(source).name for source in sources)
    paths = [source for source in sources if os.path.isabs(source)]  # texts have none
    folder = os.path.commonpath([os.path.dirname(path) for path in paths]) if paths else ""
    repeated = {path: os.path.relpath(path, folder) for path in paths if counts[Path(path).name] > 1}
    return {source: Path(source).name for source in sources} | repeated


def _note(outcome: IngestionOutcome, originals: Mapping[UUID | None, str]) -> str:
    if outcome.same_as:
        return say("same_content", name=originals.get(outcome.document_id, outcome.same_as))
    if outcome.renamed_from:
        return say("renamed", name=Path(outcome.renamed_from).name)
    if not outcome.reason:
        return outcome.cause
    details = {**outcome.details, "reason": f"indexing_{outcome.reason}"}
    return describe_error(UnreadableDocument(outcome.cause, **details))


def _describe(ingestion: Ingestion) -> str:
    stage = say(f"stage_{ingestion.stage}")
    if not ingestion.total:
        return f"{ingestion.filename}: {stage}"
    return say("progress", name=ingestion.filename, stage=stage, done=ingestion.done, total=ingestion.total)


CHECKOUT = Path(__file__).parents[2]
DOCUMENTS = CHECKOUT / "notebooks" / "demo"
QUESTIONS = CHECKOUT / "tests" / "golden" / "demo.json"


async def open_demo() -> tuple[Services, Collection]:
    """Open the demo collection; its documents are indexed once."""
    services = shared_services()
    configure_logging("ERROR")  # a notebook shows what went wrong itself
    await services.open()
    owner = services.owner
    collection = await services.collections.create(owner, "demo")
    async with services.documents.queue.working(services.jobs):
        await load(services, collection, [DOCUMENTS])
    return services, await services.collections.open(owner, collection.name)
