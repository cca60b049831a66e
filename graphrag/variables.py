"""The environment's variables that settings are read from."""

import difflib
from collections.abc import Iterator, Mapping, Set

from pydantic import BaseModel

from graphrag.settings import Settings

PREFIX = "RAG_"


def known_variables() -> frozenset[str]:
    return frozenset(_names())


def unknown_variables(environment: Mapping[str, str]) -> dict[str, str | None]:
    """Those that look like ours and are read by nobody, each with the known one that it resembles."""
    known = {name.upper() for name in known_variables()}
    given = sorted({name.upper() for name in environment if name.upper().startswith(PREFIX)} - known)
    return {name: _nearest(name, known) for name in given}


def _nearest(name: str, known: Set[str]) -> str | None:
    """By what follows the prefix, in which all are alike."""
    endings = {other.removeprefix(PREFIX): other for other in known}
    return next((endings[end] for end in difflib.get_close_matches(name.removeprefix(PREFIX), endings, n=1)), None)


def _names() -> Iterator[str]:
    for name, field in Settings.model_fields.items():
        own = str(field.validation_alias or f"{PREFIX}{name.upper()}")
        yield own
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from (f"{own}__{inner.upper()}" for inner in field.annotation.model_fields)
