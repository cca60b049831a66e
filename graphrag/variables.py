"""Which variables of the environment are settings, and which were meant to be."""

import difflib
from collections.abc import Mapping, Set

from graphrag.settings_reference import DELIMITER, PREFIX, themes


def known_variables() -> frozenset[str]:
    """Also those of the libraries beneath, and those that hold several settings as JSON."""
    names = {variable.name for theme in themes() for variable in theme.variables}
    return frozenset(names | {name.partition(DELIMITER)[0] for name in names})


def unknown_variables(environment: Mapping[str, str]) -> dict[str, str | None]:
    """Those that look like ours and are read by nobody, each with the known one that it resembles."""
    known = known_variables()
    given = sorted({name.upper() for name in environment if name.upper().startswith(PREFIX)} - known)
    return {name: _nearest(name, known) for name in given}


def _nearest(name: str, known: Set[str]) -> str | None:
    """By what follows the prefix, in which all are alike."""
    endings = {other.removeprefix(PREFIX): other for other in known}
    return next((endings[end] for end in difflib.get_close_matches(name.removeprefix(PREFIX), endings, n=1)), None)
