"""What a document is about: its title and its language."""

from pathlib import PurePath

from graphrag import language
from graphrag.models import ParsedText
from graphrag.sentences import plain

TITLE_CHARS = 120


def title(parsed: ParsedText, *, filename: str) -> str:
    """Its first heading of the highest rank; else a first line that reads like one; else the file's name."""
    if parsed.headings:
        return min(parsed.headings, key=lambda heading: (heading.level, heading.start_char)).text[:TITLE_CHARS]
    first, _, rest = parsed.text.partition("\n")
    line = plain(first)
    is_name = len(line) <= TITLE_CHARS and any(character.isalnum() for character in line)
    if is_name and ":" not in line and not line.endswith(".") and rest.strip():
        return line
    return PurePath(filename).stem.replace("-", " ").replace("_", " ")


def detect_language(parsed: ParsedText) -> str:
    return language.detect(parsed.text)


def authors(parsed: ParsedText) -> tuple[str, ...]:
    return parsed.authors


def keywords(parsed: ParsedText, language: str) -> tuple[str, ...]:
    return ()
