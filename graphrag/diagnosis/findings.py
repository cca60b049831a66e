"""Findings: a level, a code that the interfaces have a sentence for, and the values for its placeholders."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from graphrag.observability.logging import without_secrets


class Level(StrEnum):
    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    level: Level
    code: str
    details: Mapping[str, str | int]


def ok(code: str, **details: str | int) -> Finding:
    return _found(Level.OK, code, details)


def warning(code: str, **details: str | int) -> Finding:
    return _found(Level.WARNING, code, details)


def error(code: str, **details: str | int) -> Finding:
    return _found(Level.ERROR, code, details)


def _found(level: Level, code: str, details: Mapping[str, str | int]) -> Finding:
    shown = {name: _shown(value) if isinstance(value, str) else value for name, value in details.items()}
    return Finding(level, code, shown)


def _shown(text: str) -> str:
    """Return the text in one line, without its final full stop and without keys and passwords."""
    return " ".join(without_secrets(text).split()).rstrip(".?")
