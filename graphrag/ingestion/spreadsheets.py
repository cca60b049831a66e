"""Stand-in."""

from graphrag.models import ParsedText


def with_computed(parsed: ParsedText, *, language: str) -> ParsedText:
    return parsed
