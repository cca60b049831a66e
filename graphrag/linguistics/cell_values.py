"""Values of a column's cells: numbers and dates as people write them, each column in one way."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import islice

from graphrag.linguistics.dates import parse_period
from graphrag.linguistics.language import STEMMERS, fold
from graphrag.linguistics.numbers import decimal_mark, number_rules, read_digits, usual_mark
from graphrag.linguistics.periods import Period

Number = int | float
MOST_CHARS = 40  # of a number or a date
SAMPLE = 200  # texts that a column is judged by before all are read
ENOUGH = 0.8  # of a column's cells make it one of numbers, or of dates
MISSING = frozenset("- – — -- n/a na n.a. s/d nd n.d. ? x null none".split())
_UNIT = r"[€$£¥%]|[^\W\d_]+"
_NUMBER = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[+\-−])?\s*(?P<before>{_UNIT})?\s*(?P<minus>[\-−])?"
    rf"(?P<body>\d(?:[\d.,'’\s]*\d)?)\s*(?P<after>{_UNIT})?\s*\)?"
)
_PLAIN = re.compile(r"\d(?:[\d.,]*\d)?")
_WITHOUT_UNIT = dict.fromkeys(("open", "sign", "before", "minus", "after", "unit"), "")
_PHONE = re.compile(r"\+\d{8,}")
_ORDERED = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.]\d{2,4}")


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers by the texts that they were read from, and their common unit."""

    values: dict[str, Number]
    unit: str


def read_numbers(texts: Collection[str], *, language: str) -> Numbers:
    """Read numbers. An ambiguous text («1.250») is decided by the others of its column, then by the language."""
    parts = {text: found for text in texts if (found := _parts(text))}
    marks = {mark for found in parts.values() if (mark := decimal_mark(found["body"]))}
    decimal = usual_mark(language) if not marks else marks.pop() if len(marks) == 1 else ""
    values = {}
    for text, found in parts.items():
        value = read_digits(found["body"], decimal)
        if value is not None:
            is_negative = found["open"] or found["sign"] in ("-", "−") or found["minus"]
            values[text] = -value if is_negative else value
    units = {unit for text in values if (unit := parts[text]["unit"])}
    if len(units) > 1:  # dollars and euros have no sum
        return Numbers({}, "")
    return Numbers(values, units.pop() if units else "")


def _parts(text: str) -> dict[str, str] | None:
    """Return the body, the signs and the unit of a cell that is a number and nothing else; it may have a currency."""
    if len(text) > MOST_CHARS:
        return None
    if _PLAIN.fullmatch(text):  # as nearly all are
        return _WITHOUT_UNIT | {"body": text}
    if not any(map(str.isdigit, text)) or _PHONE.fullmatch(text):
        return None
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        return None
    units = number_rules().prices | {"%": "%", "euro": "€", "euros": "€"}
    words = [fold(word) for word in (match["before"], match["after"]) if word]
    if not all(word in units for word in words) or match["before"] == "%":
        return None
    parts = {name: part or "" for name, part in match.groupdict().items()}
    return parts | {"unit": units[words[0]] if words else ""}


def read_periods(texts: Collection[str], *, language: str, year: int = 0) -> dict[str, Period]:
    """Return the texts that are dates, as text → period.

    The order of day and month is the one that some text shows, else the language's. English has both, so its ambiguous
    texts are no dates.
    """
    day_first = _day_first(texts, language)
    found = ((text, parse_period(text, day_first=day_first, year=year)) for text in texts if len(text) <= MOST_CHARS)
    return {text: period for text, period in found if period}


def _day_first(texts: Iterable[str], language: str) -> bool | None:
    pairs = [(int(match[1]), int(match[2])) for text in texts if (match := _ORDERED.match(text))]
    is_day, is_month = any(first > 12 for first, _ in pairs), any(second > 12 for _, second in pairs)
    if is_day != is_month:
        return is_day
    return None if is_day or language not in STEMMERS or language == "en" else True


def sample(texts: Collection[str]) -> list[str]:
    return list(islice(texts, SAMPLE))
