"""The settings as the command line prints them, and as docs/settings.md keeps them."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from graphrag.config.reference import OF_OTHERS, UNSET, themes
from graphrag.config.settings import Settings

ROOT = Path(__file__).parents[3]
SETTINGS = [sys.executable, "-m", "api.cli.main", "settings"]
OF_LIBRARIES = re.compile(r'"((?:AWS|GOOGLE|OLLAMA|OPENAI|OTEL)_[A-Z_]+)"')
OURS = [variable for theme in themes() if theme is not OF_OTHERS for variable in theme.variables]


def test_the_page_is_what_the_command_prints() -> None:
    """R4.10 where this fails: causeway settings > docs/settings.md"""
    printed = subprocess.run(SETTINGS, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == printed


def test_a_terminal_gets_tables_instead_of_markup() -> None:
    """R4.10"""
    ours, theirs = pty.openpty()
    with subprocess.Popen(SETTINGS, stdout=theirs, cwd=ROOT, env={**os.environ, "COLUMNS": "120", "TERM": "dumb"}):
        os.close(theirs)
        printed = b""
        while chunk := _read(ours):
            printed += chunk
    os.close(ours)
    text = printed.decode()
    assert "RAG_CHAT_MODEL" in text
    assert "|---" not in text


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # Linux's way to say that a terminal's other side is closed
        return b""


def test_every_setting_is_told_of_in_words() -> None:
    """R4.10"""
    assert len(OURS) > len(Settings.model_fields)  # those within others besides
    assert [variable.name for variable in OURS if len(variable.description) < 10] == []
    assert [theme.title for theme in themes() if not theme.title] == []


def test_the_defaults_as_written_are_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    """R4.10"""
    by_default = Settings.from_environment()
    for variable in OURS:
        if variable.default != UNSET and " " not in variable.default:
            monkeypatch.setenv(variable.name, variable.default)
    assert Settings.from_environment() == by_default


def test_no_variable_that_is_read_is_left_out() -> None:
    """R4.10"""
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "graphrag").rglob("*.py")]
    read = {name for source in sources if "os.environ" in source for name in OF_LIBRARIES.findall(source)}
    assert read
    assert read <= {variable.name for variable in OF_OTHERS.variables}
