"""What the command line does before any command runs."""

import json
import subprocess
import sys
from importlib import import_module

import pytest
import typer

from api.cli.main import COMMANDS
from tests.api.commands import causeway, one_line
from tests.processes import started

HEAVY = {"langgraph", "langchain_core", "fastapi", "psycopg", "pydantic", "graphrag.services"}


def test_help_imports_nothing_heavy() -> None:
    """R9.7 `causeway --help` waits for no command's module."""
    code = f"import sys, api.cli.main as main\ntry: main.app(['--help'])\nfinally: print({HEAVY} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_listed_help_is_the_command_s(name: str) -> None:
    """R9.7"""
    place, help_text = COMMANDS[name]
    module, _, attribute = place.partition(":")
    command = getattr(import_module(module), attribute)
    full = command.info.help if isinstance(command, typer.Typer) else command.__doc__
    assert " ".join(str(full).split("\n\n")[0].split()) == help_text


def test_no_command_prints_the_help() -> None:
    """R9.7 exit code 0"""
    bare, asked = causeway(), causeway("--help")
    assert (bare.returncode, bare.stdout.split()) == (0, asked.stdout.split())


def test_the_version_is_printed() -> None:
    """R9.7"""
    assert causeway("--version").stdout.startswith("causeway 0.")


def test_the_shell_completes_commands() -> None:
    """R9.7"""
    run = causeway(_CAUSEWAY_COMPLETE="complete_bash", COMP_WORDS="causeway re", COMP_CWORD="1")
    assert set(run.stdout.split()) == {"rechunk", "reembed", "restore"}


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("RAG_CHAT_MODEL", "gpt-5", "provider:model, such as openai:gpt-5"),
        ("RAG_CHAT_MODEL", "mine", "provider:model, such as openai:gpt-5 or ollama:llama3.1"),
        ("DATABASE_URL", "mysql://me:geheim@host/db", "mysql:// is no PostgreSQL: it has the form postgresql://"),
    ],
)
def test_a_setting_of_another_form_names_the_form(variable: str, value: str, expected: str) -> None:
    """R4.10"""
    told = one_line(causeway("ask", "hola", **{variable: value}))
    assert told.startswith(f"Error: {variable}: it" if variable != "DATABASE_URL" else f"Error: {variable}: mysql")
    assert expected in told
    assert "geheim" not in told


@pytest.mark.parametrize(
    ("variable", "expected"),
    [("RAG_PARSING", "not valid JSON"), ("RAG_PARSING__SECONDS", "a valid number")],
)
def test_a_wrong_part_of_a_setting_names_its_variable(variable: str, expected: str) -> None:
    """R4.10"""
    line = one_line(causeway("ask", "hola", **{variable: "abc"}))
    assert line.startswith(f"Error: {variable}: ")
    assert expected in line


@pytest.mark.parametrize("command", [("serve", "--port", "0"), ("worker",)])
def test_a_variable_that_no_setting_reads_is_warned_of(command: tuple[str, ...], postgres: str) -> None:
    """R4.10 with the nearest name."""
    with started(*command, DATABASE_URL=postgres, RAG_CHATMODEL="openai:gpt-5") as process:
        process.read_line("Causeway answers" if command[0] == "serve" else "Waiting for jobs")
        line = next(line for line in process.log().splitlines() if "RAG_CHATMODEL" in line)
    assert (json.loads(line)["nearest"], json.loads(line)["level"]) == ("RAG_CHAT_MODEL", "warning")
