"""Prefix index of a pattern: the letters that its matches begin with, so that most words need no search."""

from re import _constants as code  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

# Private, but the only reader of patterns there is; what it does not know here is taken to begin with anything.

LETTERS = 5
LENGTHS = range(1, LETTERS + 1)
SPACES = " \n\t\u00a0\u202f"
MOST = 40  # characters that one place is spelled out for
REPEATS = (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT)
ZERO_WIDTH = (code.ASSERT, code.ASSERT_NOT, code.AT)


def beginnings(pattern: str) -> frozenset[str]:
    """Return the first LETTERS characters of every possible match, or fewer that stand for all that begin with them."""
    return frozenset(prefix for prefix, _ in _all_of(list(parser.parse(pattern))))


Prefix = tuple[str, bool]  # and whether more of the pattern may follow it


def _all_of(items: list[Any], prefix: str = "") -> set[Prefix]:
    found: set[Prefix] = {(prefix, True)}
    for item in items:
        found = {
            longer
            for known, is_open in found
            for longer in (_one_of(item, known) if is_open and len(known) < LETTERS else {(known, False)})
        }
    return found


def _one_of(item: Any, prefix: str) -> set[Prefix]:
    op, value = item
    if op is code.LITERAL:
        return {(prefix + chr(value), True)}
    if op is code.IN:
        letters = _letters(value)
        return {(prefix, False)} if letters is None else {(prefix + letter, True) for letter in letters}
    if op is code.BRANCH:
        return {found for branch in value[1] for found in _all_of(list(branch), prefix)}
    if op is code.SUBPATTERN:
        return _all_of(list(value[-1]), prefix)
    if op in REPEATS:
        least, most, repeated = value
        once = _all_of(list(repeated), prefix)
        again = {
            (known, is_open and most == 1) for known, is_open in once
        }  # what a repetition goes on with is not followed
        return again | ({(prefix, True)} if least == 0 else set())
    return {(prefix, op in ZERO_WIDTH)}


def _letters(members: list[Any]) -> set[str] | None:
    found: set[str] = set()
    for op, value in members:
        if op is code.LITERAL:
            found.add(chr(value))
        elif op is code.RANGE and value[1] - value[0] < MOST:
            found.update(map(chr, range(value[0], value[1] + 1)))
        elif op is code.CATEGORY and value is code.CATEGORY_SPACE:
            found.update(SPACES)
        else:
            return None
    return found
