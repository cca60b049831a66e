"""Shared by all commands: the terminal, the settings, the services."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.measure import Measurement
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from graphrag.config.reference import unknown_variables
from graphrag.config.settings import Settings
from graphrag.observability.telemetry import configure_logging, log
from graphrag.observability.tracing import configure_tracing
from graphrag.services import Services, open_services

T = TypeVar("T")
MOST_COLUMNS = 10_000  # of characters: where a table is measured, not printed
out = Console(markup=False, emoji=False)  # documents and errors may hold what rich takes for its own marks
err = Console(markup=False, emoji=False, stderr=True)

CollectionOption = Annotated[
    str | None, typer.Option("--collection", help="Collection; default: the default collection.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def load_settings(**overrides: Any) -> Settings:
    """Raises InvalidSettings or MissingExtra."""
    settings = Settings.from_environment(**{name: value for name, value in overrides.items() if value is not None})
    configure_logging(settings.observability.log_level)
    configure_tracing()
    return settings


def warn_of_unknown_variables() -> None:
    """Log every RAG_ variable that no setting reads, with the nearest name."""
    for name, nearest in unknown_variables(os.environ).items():
        log.warning("unknown setting", variable=name, nearest=nearest)


def run(command: Callable[[Services], Awaitable[T]], *, awaits_database: bool = False, answers: bool = True) -> T:
    """Open the services, run a command and close them.

    `awaits_database`: for a command that runs on, and may begin before the database does; `answers`: it asks questions.
    """
    services = open_services(load_settings())

    async def opened() -> T:
        try:
            await services.open(awaits_database=awaits_database, answers=answers)
            return await command(services)
        finally:
            await services.close()

    coroutine: Coroutine[Any, Any, T] = opened()
    return asyncio.run(coroutine)


def print_table(table: Table, spare: Sequence[str] = ()) -> None:
    """Print a table; a narrow terminal gets fewer columns.

    Those headed `spare` are dropped, in that order, until the others fit.
    """
    unlimited = out.options.update(max_width=MOST_COLUMNS)
    left_out = []
    for header in spare:
        if Measurement.get(out, unlimited, table).minimum <= out.width:
            break
        table.columns[:] = [column for column in table.columns if column.header != header]
        left_out.append(header)
    out.print(table)
    if left_out:
        out.print(f"Not shown, for want of room: {', '.join(left_out)}", style="dim", highlight=False)


def print_json(value: dict[str, Any]) -> None:
    out.file.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


@contextmanager
def embedding_progress() -> Iterator[Callable[[int, int], None]]:
    """Show a bar of the chunks that are embedded, on standard error; yields what reports done and total."""
    columns = (TextColumn("Embedding"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
