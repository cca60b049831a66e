"""What a file may be called: by our own ids alone, so that nothing a user wrote ever becomes a path."""

import re

PARTS = 3  # collection, document, content: no key lies under another, which a folder could not hold
# Lower case alone: two keys that differ in case are one file on some systems. Never a dot first: that is ".." and
# the name of what is half written.
PART = re.compile(r"[0-9a-z][0-9a-z._-]{0,127}")


def check_key(key: str) -> str:
    """Raises ValueError."""
    if len(_checked(key, "key")) != PARTS:
        raise ValueError(f"{key!r} is no key of a file: it has {PARTS} parts.")
    return key


def check_prefix(prefix: str) -> str:
    """A key, or what one or more of its first parts make. Raises ValueError."""
    if len(_checked(prefix, "prefix")) > PARTS:
        raise ValueError(f"{prefix!r} is no prefix of a file's key: it has at most {PARTS} parts.")
    return prefix


def _checked(text: str, kind: str) -> list[str]:
    parts = text.split("/")
    if not all(PART.fullmatch(part) for part in parts):
        raise ValueError(f"{text!r} is no {kind} of a file: each part is of a-z, 0-9, '.', '_' and '-'.")
    return parts
