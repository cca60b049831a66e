"""What a terminal shows: tables that are too wide for it, and logs."""

import json
import os
import pty
import subprocess
import sys
from io import StringIO

import pytest
from rich.console import Console
from rich.table import Table

from api.cli import terminal
from api.cli.evaluation_runs import whole


def test_a_narrow_terminal_shows_fewer_columns_and_each_of_them_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """R10.4 a figure is never cut; what there is no room for is named."""
    lines = {width: StringIO() for width in (80, 40, 20)}
    for width, file in lines.items():
        monkeypatch.setattr(terminal, "out", Console(file=file, width=width))
        table = Table(whole("Metric"), "all", "easy", "hard")
        table.add_row("answer_relevance", "0.894", "0.812", "0.923")
        terminal.print_table(table, ("hard", "easy"))
    wide, narrow, narrowest = (file.getvalue() for file in lines.values())
    assert "0.923" in wide
    assert "Not shown" not in wide
    assert ("0.812" in narrow, "0.923" in narrow) == (True, False)
    assert narrow.endswith("Not shown, for want of room: hard\n")
    assert "hard, easy" in narrowest.replace("\n", " ")


LOG = """
from graphrag.observability.telemetry import configure_logging, log
configure_logging("WARNING")
log.warning("model does not answer", model="ollama:llama3.1", error=ConnectionError("secret words"))
"""


def test_logs_are_sentences_for_a_person_and_json_for_a_program() -> None:
    """R11.1 On a terminal a line is read by who waits for the command; redirected, by a collector."""
    ours, theirs = pty.openpty()
    subprocess.run([sys.executable, "-c", LOG], stderr=theirs, check=True, env=os.environ | {"NO_COLOR": "1"})
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    collected = subprocess.run([sys.executable, "-c", LOG], stderr=subprocess.PIPE, check=True).stderr
    assert "[warning  ] model does not answer" in shown
    assert "error=ConnectionError model=ollama:llama3.1" in shown
    event = json.loads(collected)
    assert (event["level"], event["event"], event["error"]) == ("warning", "model does not answer", "ConnectionError")
    assert "secret" not in shown + collected.decode()
