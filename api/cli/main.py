"""The command line. A command's module is imported when it runs, so that `causeway --help` waits for none of them."""

import os
import signal
import sys
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from graphrag import DISTRIBUTION
from graphrag.errors import CausewayError

COMMANDS = {  # name → where it is, and the first line of its help
    "serve": ("api.cli.serve:serve", "Start the HTTP service, with a chat page at /."),
    "ingest": ("api.cli.ingest:ingest", "Index files and folders; unchanged ones are skipped."),
    "ask": ("api.cli.search:ask", "Answer a question, then list its citations."),
    "search": ("api.cli.search:search", "Search collections and show the results with their scores."),
    "eval": ("api.cli.evaluation:app", "Measure the quality of retrieval and answers."),
    "graph": ("api.cli.graph:app", "Show the causal graph of a collection."),
    "keys": ("api.cli.keys:app", "Manage keys for the HTTP service (RAG_AUTH=api_key)."),
    "worker": (
        "api.cli.ingest:worker",
        "Run background jobs until Ctrl-C, beside the service's worker or instead of it (RAG_WORKER=false).",
    ),
    "mcp": (
        "api.cli.maintenance:mcp",
        "Start an MCP server on standard input and output.",
    ),
    "rechunk": (
        "api.cli.ingest:rechunk",
        "Chunk documents that are stored whole; ids and dates are kept.",
    ),
    "models": (
        "api.cli.models:models",
        "List embedding models and what each needs; measure one on a collection's golden cases (--compare).",
    ),
    "reembed": (
        "api.cli.maintenance:reembed",
        "Move a collection to another embedding model without downtime; run again to resume.",
    ),
    "optimize": (
        "api.cli.ingest:optimize",
        "Optimize the database for search, and synchronize the search index (RAG_INDEX) with it.",
    ),
    "backup": (
        "api.cli.maintenance:backup",
        "Back up the database and the original files to one file, while the service runs.",
    ),
    "restore": (
        "api.cli.maintenance:restore",
        "Restore a backup into an empty CAUSEWAY_HOME or DATABASE_URL.",
    ),
    "migrate": (
        "api.cli.maintenance:migrate",
        "Migrate the database to this version. Other commands do so automatically if their role may.",
    ),
    "doctor": (
        "api.cli.doctor:doctor",
        "Check this installation and explain how to fix problems; nothing is changed. Exit code 1: something fails.",
    ),
    "settings": (
        "api.cli.maintenance:print_settings",
        "Print every setting with its default; as Markdown if redirected to a file.",
    ),
}


INTERRUPTED = 130  # exit code


class LazyCommand(TyperCommand):
    """A command's name and help, in place of the command until it runs."""

    def load(self) -> Any:
        module, _, attribute = COMMANDS[str(self.name)][0].partition(":")
        command = getattr(import_module(module), attribute)
        if not isinstance(command, typer.Typer):
            single = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
            single.command(self.name)(command)
            command = single
        return typer.main.get_command(command)

    def make_context(self, *args: Any, **extra: Any) -> Any:
        return self.load().make_context(*args, **extra)


class LazyGroup(TyperGroup):
    def list_commands(self, ctx: object) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: object, cmd_name: str) -> LazyCommand | None:
        return LazyCommand(cmd_name, help=COMMANDS[cmd_name][1]) if cmd_name in COMMANDS else None


app = typer.Typer(
    cls=LazyGroup,
    help="Answer questions over your documents, with verified citations.",
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def show_help(
    context: typer.Context,
    shows_version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if shows_version:
        typer.echo(f"causeway {version(DISTRIBUTION)}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())
    else:
        return
    raise typer.Exit


def main() -> None:
    """Run the command: our own errors are one line and exit code 1; Ctrl-C is 130."""
    # A supervisor's or a closing terminal's signal ends a command like Ctrl-C: the database is left in order.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        app()
    except CausewayError as exc:
        from api.cli.terminal import describe_error, err, say

        err.print(say("error", sentence=describe_error(exc)), style="red", highlight=False, soft_wrap=True)
        sys.exit(1)
    except (KeyboardInterrupt, SystemExit) as exc:
        if isinstance(exc, KeyboardInterrupt) or exc.code == INTERRUPTED:  # typer makes one of the other
            from api.cli.terminal import say

            typer.echo(say("stopped"), err=True)
            sys.exit(INTERRUPTED)
        raise
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
