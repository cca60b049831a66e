"""The environment's variables that look like settings and are none."""

import difflib
from collections.abc import Mapping, Set

from graphrag.settings_reference import PREFIX, themes


def known_variables() -> frozenset[str]:
    return frozenset(variable.name for theme in themes() for variable in theme.variables)


def unknown_variables(environment: Mapping[str, str]) -> dict[str, str | None]:
    """Those that look like ours and are read by nobody, each with the known one that it resembles."""
    known = {name.upper() for name in known_variables()}
    given = sorted({name.upper() for name in environment if name.upper().startswith(PREFIX)} - known)
    return {name: _nearest(name, known) for name in given}


def _nearest(name: str, known: Set[str]) -> str | None:
    """By what follows the prefix, in which all are alike."""
    endings = {other.removeprefix(PREFIX): other for other in known}
    return next((endings[end] for end in difflib.get_close_matches(name.removeprefix(PREFIX), endings, n=1)), None)
