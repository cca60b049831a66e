"""Tables in the text of a document, as Markdown writes them; parsers write all tables so but those of sheets."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from graphrag.linguistics.sentences import plain
from graphrag.models import Heading, Table, TableRow

_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*")
_BAR = re.compile(r"(?<!\\)\|")
_MOST_CAPTION_CHARACTERS = 120


def read_markdown_tables(text: str, headings: Sequence[Heading] = ()) -> Iterator[Table]:
    """Yield the tables of a text, with the heading over each as its sheet."""
    if "|" not in text:
        return
    lines = text.splitlines(keepends=True)
    starts, at = [], 0
    for line in lines:
        starts.append(at)
        at += len(line)
    heading_starts = [heading.start_char for heading in headings]
    end = 0
    for number in range(1, len(lines)):
        over, rule = lines[number - 1], lines[number]
        if number <= end or "|" not in rule or "|" not in over or not _RULE.fullmatch(rule.rstrip("\n")):
            continue
        end = number + 1
        while end < len(lines) and "|" in lines[end]:
            end += 1
        above = bisect_right(heading_starts, starts[number - 1]) - 1
        rows = (_row(starts[line], lines[line], line - number) for line in range(number + 1, end))
        yield Table(headings[above].text if above >= 0 else "", _cells(over), 0, tuple(rows))


def caption_over(text: str, table: Table) -> str:
    """Return the line over a Markdown table's headers, where it is short."""
    if not table.rows:
        return ""
    above = text[: table.rows[0].start_char].rstrip().splitlines()[:-2]
    caption = next((plain(line) for line in reversed(above[-2:]) if line.strip()), "")
    return caption if len(caption) <= _MOST_CAPTION_CHARACTERS else ""


def _row(start: int, line: str, number: int) -> TableRow:
    text = line.strip()
    begin = start + line.find(text)
    return TableRow(begin, begin + len(text), number, tuple(cell or None for cell in _cells(text)))


def _cells(line: str) -> tuple[str, ...]:
    bare = line.strip().removeprefix("|").removesuffix("|")
    return tuple(plain(cell.strip()) for cell in _BAR.split(bare))
