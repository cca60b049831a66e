"""Values of a column's cells: numbers and dates as people write them, each column in one way."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import islice

from graphrag.linguistics.dates import Period, parse_period
from graphrag.linguistics.language import STEMMERS

Number = int | float
MOST_CHARS = 40  # of a number or a date
SAMPLE = 200  # texts that a column is judged by before all are read
ENOUGH = 0.8  # of a column's cells make it one of numbers, or of dates
MISSING = frozenset("- – — -- n/a na n.a. s/d nd n.d. ? x null none".split())
_CURRENCY = r"(?:€|\$|£|¥|eur|euros?|usd|gbp|chf)"
_NUMBER = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[+\-−])?\s*(?P<before>{_CURRENCY})?\s*(?P<minus>[\-−])?"
    rf"(?P<body>\d(?:[\d.,'’\s]*\d)?)\s*(?P<after>{_CURRENCY}|%)?\s*\)?",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"(\d{1,3})((?:([.,'’\s])\d{3})(?:\3\d{3})*)(?:([.,])(\d+))?")
_DECIMAL = re.compile(r"(\d+)([.,])(\d+)")
_PHONE = re.compile(r"\+\d{8,}")
_SYMBOLS = {"eur": "€", "euro": "€", "euros": "€", "usd": "$", "gbp": "£", "chf": "CHF"}
_ORDERED = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.]\d{2,4}")


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers by the texts that they were read from, and their common unit."""

    values: dict[str, Number]
    unit: str


def read_numbers(texts: Collection[str], *, language: str) -> Numbers:
    """Read numbers. An ambiguous text («1.250») is decided by the others of its column, then by the language."""
    parts = {text: found for text in texts if (found := _parts(text))}
    marks = {mark for found in parts.values() if (mark := _decimal_mark(found["body"]))}
    if len(marks) == 1:
        (decimal,) = marks
    else:
        decimal = {"en": "."}.get(language, "," if language in STEMMERS else "") if not marks else ""
    values = {}
    for text, found in parts.items():
        value = _value(found["body"], decimal)
        if value is not None:
            is_negative = found["open"] or found["sign"] in ("-", "−") or found["minus"]
            values[text] = -value if is_negative else value
    units = {unit for text in values if (unit := _unit(parts[text]))}
    if len(units) > 1:  # dollars and euros have no sum
        return Numbers({}, "")
    return Numbers(values, units.pop() if units else "")


def _parts(text: str) -> dict[str, str] | None:
    if len(text) > MOST_CHARS or not any(map(str.isdigit, text)) or _PHONE.fullmatch(text):
        return None
    match = _NUMBER.fullmatch(text.strip())
    return {name: part or "" for name, part in match.groupdict().items()} if match else None


def _unit(parts: dict[str, str]) -> str:
    symbol = (parts["before"] or parts["after"]).lower()
    return _SYMBOLS.get(symbol, symbol)


def _decimal_mark(body: str) -> str:
    """Return the decimal mark if the text is clear about it, else ""."""
    if match := _GROUPED.fullmatch(body):
        if match[4]:
            return match[4] if match[4] != match[3] else ""
        is_plain = len(match[2]) == 4  # one group of three: either thousands or decimals
        if match[3] not in ".,":
            return ""
        if is_plain and match[1] != "0":
            return ""
        return match[3] if is_plain else {".": ",", ",": "."}[match[3]]
    match = _DECIMAL.fullmatch(body)
    return match[2] if match else ""


def _value(body: str, decimal: str) -> Number | None:
    own = _decimal_mark(body) or decimal
    if body.isdecimal():
        return int(body) if len(body) == 1 or body[0] != "0" else None  # a code, a telephone
    grouped = _GROUPED.fullmatch(body)
    if grouped and grouped[3] in ".," and not own:
        return None
    if grouped and grouped[3] != own and grouped[1] != "0":
        digits = grouped[1] + "".join(filter(str.isdecimal, grouped[2]))
        return float(f"{digits}.{grouped[5]}") if grouped[5] else int(digits)
    plain = _DECIMAL.fullmatch(body)
    return float(f"{plain[1]}.{plain[3]}") if plain and plain[2] == own else None


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
