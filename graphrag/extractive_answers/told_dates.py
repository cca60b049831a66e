"""Dates as sentences tell them, «el 6 de marzo de 2026», «9 June», «en 1987», and where they stand."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from graphrag.periods import YEARS, Period, months, parse_period
from graphrag.query_transformation.flattening import flatten

_WRITTEN = (
    r"\b\d{4}-\d{1,2}(?:-\d{1,2})?\b|\b\d{1,2}[/.-]\d{1,2}[/.-]\d{4}\b"
    r"|\b\d{1,2}(?:st|nd|rd|th|er|º)? (?:de |of )?MONTH\b\.?(?:,? (?:de |del |of )?\d{4}\b)?"
    r"|\bMONTH\b \d{1,2}(?:st|nd|rd|th)?\b(?!\s?[:%€])(?:,? \d{4}\b)?"
    r"|\bMONTH\b\.? (?:de |del |of )?\d{4}\b"
    r"|(?<![\w.,-])(?:19|20)\d{2}\b(?![.,-]?\d| ?[%€£$])"
)
_YEAR = re.compile(r"(?<![\w.,-])(?:19|20)\d{2}(?![\w%€£$]|[.,-]\d| ?[%€£$])")


@dataclass(frozen=True, slots=True)
class ToldDate:
    start: int
    end: int
    period: Period


def find_told_dates(text: str, language: str, *, year: int = 0) -> list[ToldDate]:
    """In their order; `year` is that of dates that say none, which without it are left out.

    So is 05/06/2025 in English: it may be of May or of June."""
    return list(_find(text, year, None if language == "en" else True))


def _find(text: str, year: int, day_first: bool | None) -> Iterator[ToldDate]:
    for match in _pattern().finditer(flatten(text).lower()):
        period = parse_period(match[0], day_first=day_first, year=year)
        if period and period.year:
            yield ToldDate(match.start(), match.end(), period)


def only_year(text: str) -> int:
    """The year that a text names where it names one; else 0."""
    found = {int(year) for year in _YEAR.findall(text) if int(year) in YEARS}
    return found.pop() if len(found) == 1 else 0


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    names = "|".join(sorted(months(), key=len, reverse=True))
    return re.compile(_WRITTEN.replace("MONTH", f"(?:{names})"))
