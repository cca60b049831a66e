"""Shared by all commands: the terminal and its language, the settings, the services."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.measure import Measurement
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from graphrag.config.reference import unknown_variables
from graphrag.config.settings import Settings
from graphrag.db.errors import one_line
from graphrag.errors import CausewayError
from graphrag.linguistics.language import ANSWER_LANGUAGES
from graphrag.linguistics.rules import read_texts
from graphrag.observability.logging import without_secrets
from graphrag.observability.telemetry import configure_logging, log
from graphrag.observability.tracing import configure_tracing
from graphrag.resilience.cancellation import run_cancellable
from graphrag.services import Services, open_services

T = TypeVar("T")
MOST_COLUMNS = 10_000  # of characters: where a table is measured, not printed
out = Console(markup=False, emoji=False)  # documents and errors may hold what rich takes for its own marks
err = Console(markup=False, emoji=False, stderr=True)

CollectionOption = Annotated[
    str | None, typer.Option("--collection", help="Collection; default: the default collection.")
]
CollectionsOption = Annotated[
    list[str] | None,
    typer.Option("--collection", help="Collection; repeat it to ask several at once; default: the default collection."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def terminal_language(environment: Mapping[str, str]) -> str:
    """Return the language of the locale, in POSIX' order; English where it is none of ours."""
    locale = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := environment.get(name))), "")
    return locale[:2] if locale[:2] in ANSWER_LANGUAGES else "en"


@cache
def _texts() -> dict[str, dict[str, str]]:
    return read_texts("api.cli", "terminal")


def say(key: str, /, **values: object) -> str:
    """Return a text of terminal.yml in the terminal's language."""
    return _texts()[key][terminal_language(os.environ)].format(**values)


def describe_error(exc: CausewayError) -> str:
    """Return the sentence of an error: that of HTTP, unless terminal.yml has one; in English where there is none."""
    from api.errors import MESSAGES  # and FastAPI: every command would wait for it

    texts = MESSAGES | _texts()
    listed = {name: ", ".join(map(str, value)) or "–" for name, value in exc.details.items() if isinstance(value, list)}
    cause = without_secrets(one_line(exc.__cause__ if isinstance(exc.__cause__, Exception) else exc)).rstrip(".")
    values = {"message": str(exc), "cause": cause, **exc.details, **listed}
    key = next((key for key in (exc.details.get("reason"), exc.code) if key in texts), None)
    return texts[key][terminal_language(os.environ)].format(**values) if key else str(exc)


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


def run(
    command: Callable[[Services], Awaitable[T]],
    *,
    awaits_database: bool = False,
    answers: bool = True,
    says_degraded: bool = False,
) -> T:
    """Open the services, run a command and close them.

    `awaits_database`: for a command that runs on, and may begin before the database does; `answers`: it asks questions.
    `says_degraded`: its result says so in a sentence, which the log's warnings only repeat: RAG_LOG_LEVEL shows them.
    """
    settings = load_settings()
    if says_degraded and "log_level" not in settings.observability.model_fields_set:
        configure_logging("ERROR")
    services = open_services(settings)

    async def opened() -> T:
        try:
            await services.open(awaits_database=awaits_database, answers=answers)
            return await command(services)
        finally:
            await services.close()

    return asyncio.run(run_cancellable(opened()))


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
        out.print(say("columns_omitted", names=", ".join(left_out)), style="dim", highlight=False)


def print_json(value: dict[str, Any]) -> None:
    out.file.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


@contextmanager
def embedding_progress() -> Iterator[Callable[[int, int], None]]:
    """Show a bar of the chunks that are embedded, on standard error; yields what reports done and total."""
    columns = (TextColumn(say("embedding")), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
