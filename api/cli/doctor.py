"""`causeway doctor`: what an installation has and lacks, in the reader's language, each line with what mends it."""

import asyncio
import os
from typing import Annotated, Any

import typer

from api.cli.terminal import JsonOption, out, print_json, terminal_language
from graphrag.diagnosis.examination import examine
from graphrag.diagnosis.findings import Finding, Level
from graphrag.linguistics.rules import read_texts
from graphrag.observability.telemetry import configure_logging

STYLES = {Level.OK: "green", Level.WARNING: "yellow", Level.ERROR: "red"}
# By code, and by level, then by language.
WORDS: dict[str, dict[str, str]] = read_texts("api.cli", "doctor")


def doctor(
    host: Annotated[str, typer.Option(help="Address that `causeway serve` will listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port that `causeway serve` will listen on.", min=1, max=65535)] = 8000,
    call: Annotated[
        bool, typer.Option("--call", help="Send each chat model a short question; its vendor may charge for it.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check this installation and explain how to fix problems; nothing is changed. Exit code 1: something fails."""
    configure_logging("CRITICAL")  # what a check meets is a finding
    language = terminal_language(os.environ)
    findings = asyncio.run(_examine(language, host=host, port=port, calls=call, shows=not as_json))
    is_well = all(finding.level is not Level.ERROR for finding in findings)
    if as_json:
        print_json({"ok": is_well, "findings": [_describe(finding, language) for finding in findings]})
    if not is_well:
        raise typer.Exit(1)


async def _examine(language: str, *, host: str, port: int, calls: bool, shows: bool) -> list[Finding]:
    """Each is shown as soon as it is known: a service that does not answer takes seconds."""
    findings = []
    async for finding in examine(os.environ, host=host, port=port, calls=calls):
        findings.append(finding)
        if shows:
            _show(finding, language)
    return findings


def _show(finding: Finding, language: str) -> None:
    width = max(len(WORDS[level][language]) for level in Level)
    out.print(f"{WORDS[finding.level][language]:<{width}} ", style=STYLES[finding.level], end="")
    out.print(_worded(finding, language), highlight=False, soft_wrap=True)


def _worded(finding: Finding, language: str) -> str:
    return WORDS[finding.code][language].format(**finding.details)


def _describe(finding: Finding, language: str) -> dict[str, Any]:
    return {
        "level": finding.level,
        "code": finding.code,
        "message": _worded(finding, language),
        "details": dict(finding.details),
    }
