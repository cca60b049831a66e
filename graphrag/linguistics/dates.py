"""Dates, times and periods as they are written in Spanish, French and English."""

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import date
from functools import lru_cache
from typing import Literal, cast

from babel import Locale
from babel.dates import format_date, get_day_names
from babel.numbers import format_decimal

from graphrag.linguistics.language import ANSWER_LANGUAGES, fold
from graphrag.linguistics.normalization import flatten
from graphrag.linguistics.rules import Rules, WordSet, read_rules
from graphrag.models import TemporalContext

Unit = Literal["day", "month", "quarter", "year"]
UNITS: tuple[Unit, ...] = ("day", "month", "quarter", "year")
PARTS = {"month": 12, "quarter": 4, "year": 1}  # of a year
YEARS = range(1900, 2101)  # a number outside is no year


class DateRules(Rules):
    against: dict[str, dict[Unit, str]]
    previous: dict[str, dict[Unit, str]]
    formats: dict[str, dict[Unit, str]]
    short_formats: dict[Unit, str]
    yearless_formats: dict[Unit, str]
    empty_words: WordSet
    months: dict[str, int]
    quarters: dict[str, int]
    unsure_months: WordSet


@lru_cache(maxsize=1)
def _rules() -> DateRules:
    return read_rules(DateRules, "graphrag.linguistics", "dates")


_LONGEST = 40  # characters
_TIME = r"(?:[ t]\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?z?)?"
_ISO = re.compile(r"(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2})" + _TIME + ")?")
_MONTH_OF_YEAR = re.compile(r"(\d{1,2})[-/.](\d{4})")
_NUMERIC = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})" + _TIME)
_QUARTER = re.compile(
    r"(?:q|t|tr|trim\.?|trimestre|quarter) ?(?P<a>[1-4])(?:[ /'-]*(?:de |of )?(?P<b>\d{4}|\d{2}))?"
    r"|(?P<c>[1-4])\.?(?:o|er|e|eme|st|nd|rd|th)? ?(?:q|t|tr|trim\.?|trimestre|quarter)"
    r"(?:[ /'-]*(?:de |of )?(?P<d>\d{4}|\d{2}))?"
    r"|(?P<e>\d{4})[ /-]?(?:q|t)(?P<f>[1-4])"
)
_WORDS = re.compile(r"\d+|[a-z]+")
_NAMED = re.compile(r"[\da-z .,'/-]{3,40}")
_SHORT_YEAR = re.compile(r"[a-z]{3,10}\.?[-'/]\d{2}")  # «dic-25»; «Dec 25» may be a day


@dataclass(frozen=True, slots=True)
class Period:
    """Its number counts the periods of its unit, so the next has the next; of the year 0 where the year is unknown."""

    unit: Unit
    number: int

    @property
    def year(self) -> int:
        return date.fromordinal(self.number).year if self.unit == "day" else self.number // PARTS[self.unit]

    @property
    def first_day(self) -> date | None:
        if self.unit == "day":
            return date.fromordinal(self.number)
        parts = PARTS[self.unit]
        year, part = divmod(self.number, parts)
        return date(year, part * (12 // parts) + 1, 1) if 1 <= year <= 9999 else None

    def within(self, unit: Unit) -> "Period | None":
        """The period of a coarser unit that it is part of."""
        if unit == self.unit:
            return self
        if UNITS.index(unit) < UNITS.index(self.unit) or (self.year == 0 and unit == "year"):
            return None
        if self.unit == "day":
            day = date.fromordinal(self.number)
            return Period(unit, day.year * PARTS[unit] + (day.month - 1) * PARTS[unit] // 12)
        return Period(unit, self.number * PARTS[unit] // PARTS[self.unit])

    def of_year(self, year: int) -> "Period":
        """Add a year to a period that lacks one."""
        is_lacking = year > 0 and self.unit in ("month", "quarter") and self.number < PARTS[self.unit]
        return Period(self.unit, year * PARTS[self.unit] + self.number) if is_lacking else self


def of_day(day: date) -> Period:
    return Period("day", day.toordinal())


def period_of(time: TemporalContext) -> Period:
    day = of_day(time.date)
    return day.within(time.period) or day


def of_month(year: int, month: int) -> Period:
    return Period("month", year * 12 + month - 1)


def spoken(language: str) -> str:
    """The language itself, or English where it is none of ours."""
    return language if language in ANSWER_LANGUAGES else "en"


@lru_cache(maxsize=10_000)
def name(period: Period, language: str, *, short: bool = False) -> str:
    """«diciembre de 2025», short «dic 2025»."""
    day = period.first_day
    if day is None:
        day = period.of_year(2000).first_day
        return format_date(day, _rules().yearless_formats[period.unit], locale=language) if day else ""
    if short:
        return format_date(day, _rules().short_formats[period.unit], locale=language).replace(".", "")
    return format_date(day, _rules().formats[language][period.unit], locale=language)


def against(unit: Unit, language: str) -> str:
    """Return «frente al mes anterior»."""
    return _rules().against[spoken(language)][unit]


def trend(change: float, unit: Unit, language: str, *, measure: str = "") -> str:
    """«+25 % frente al mes anterior»; `measure` opens it."""
    changed = f"{percent(change, language)} {against(unit, language)}"
    return f"{measure}: {changed}" if measure else changed


def brief_trend(temporal: TemporalContext, language: str) -> str:
    """Return a trend in another language than its label: «+25% vs mois précédent»; "" if it is unknown."""
    if temporal.change is None:
        return ""
    measure, unit = _read_label(temporal)
    against = f"{percent(temporal.change, 'en')} vs {_rules().previous[spoken(language)][unit]}"
    return f"{measure}: {against}" if measure else against


def trend_in(temporal: TemporalContext, language: str) -> str:
    """The label in another language."""
    if temporal.change is None:
        return ""
    measure, unit = _read_label(temporal)
    return trend(temporal.change, unit, language, measure=measure)


def _read_label(temporal: TemporalContext) -> tuple[str, Unit]:
    """The measure and the unit that it was made with: a day's change may be against the month before."""
    for wording in _rules().against.values():
        for unit, words in wording.items():
            if temporal.label.endswith(words):
                return temporal.label.removesuffix(words).rpartition(": ")[0], unit
    return "", temporal.period


def percent(share: float, language: str) -> str:
    """Return the share as a percentage with its sign and at most one decimal."""
    return _percent(round(share * 1000), spoken(language))


@lru_cache(maxsize=10_000)
def _percent(thousandths: int, language: str) -> str:
    number = breaking_spaces(
        format_decimal(thousandths / 10, "+#,##0.#;-#,##0.#" if thousandths else "0", locale=language)
    )
    return f"{number}%" if language == "en" else f"{number} %"


def breaking_spaces(text: str) -> str:
    """Spaces that break no line read as words joined, to a tokenizer and to whoever searches the text."""
    return text.replace("\u202f", " ").replace("\u00a0", " ")


def parse_period(text: str, *, day_first: bool | None = None, year: int = 0) -> Period | None:
    """Parse a text that is a time and nothing else.

    «05/06/2025» is one only if `day_first` is known; «4 de mayo» only if the `year` is.
    """
    folded = " ".join(fold(text).split())
    if len(folded) > _LONGEST or not (any(map(str.isdigit, folded)) or folded.rstrip(".") in months()):
        return None
    if folded.isdecimal():
        return Period("year", int(folded)) if len(folded) == 4 and int(folded) in YEARS else None
    return _numeric(folded, day_first) or _quarter(folded) or _in_words(folded, year)


def _numeric(text: str, day_first: bool | None) -> Period | None:
    if match := _ISO.fullmatch(text):
        year, month = int(match[1]), int(match[2])
        return _day(year, month, int(match[3])) if match[3] else _month(year, month)
    if match := _MONTH_OF_YEAR.fullmatch(text):
        return _month(int(match[2]), int(match[1]))
    if match := _NUMERIC.fullmatch(text):
        first, second, year = int(match[1]), int(match[3]), _full_year(match[4])
        by_day, by_month = _day(year, second, first), _day(year, first, second)
        if by_day and by_month and first != second:
            return None if day_first is None else by_day if day_first else by_month
        return by_day or by_month
    return None


def _quarter(text: str) -> Period | None:
    match = _QUARTER.fullmatch(text)
    if not match:
        return None
    quarter, year = match["a"] or match["c"] or match["f"], match["b"] or match["d"] or match["e"]
    return Period("quarter", (_full_year(year) if year else 0) * 4 + int(quarter) - 1)


def _in_words(text: str, year: int) -> Period | None:
    if not _NAMED.fullmatch(text):
        return None
    found = [word for word in _WORDS.findall(text) if word not in _rules().empty_words]
    named = [word for word in found if word in months()]
    numbers = [int(word) for word in found if word.isdecimal() and len(word) <= 4]
    if len(named) != 1 or len(numbers) + 1 != len(found):
        return None
    month = months()[named[0]]
    match numbers:
        case []:
            return of_month(0, month)
        case [short] if _SHORT_YEAR.fullmatch(text):
            return of_month(2000 + short, month)
        case [number] if number in YEARS:
            return of_month(number, month)
        case [number] if year:
            return _day(year, month, number)
        case [number, last] if last in YEARS:
            return _day(last, month, number)
    return None


@lru_cache(maxsize=1)
def months() -> dict[str, int]:
    """Folded names and abbreviations in our languages → 1 … 12."""
    found = dict(_rules().months)
    for language in ANSWER_LANGUAGES:
        for width in ("wide", "abbreviated"):
            for number, month in Locale(language).months["format"][width].items():
                found[fold(month).rstrip(".")] = cast(int, number)
    return found


def _full_year(text: str) -> int:
    return int(text) if len(text) == 4 else int(text) + (2000 if int(text) < 70 else 1900)


def _month(year: int, month: int) -> Period | None:
    return of_month(year, month) if year in YEARS and 1 <= month <= 12 else None


def _day(year: int, month: int, day: int) -> Period | None:
    is_day = year in YEARS and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]
    return of_day(date(year, month, day)) if is_day else None


_WRITTEN = (
    r"\b\d{4}-\d{1,2}(?:-\d{1,2})?\b|\b\d{1,2}[/.-]\d{1,2}[/.-]\d{4}\b"
    r"|\b\d{1,2}(?:st|nd|rd|th|er|º)? (?:de |of )?MONTH\b\.?(?:,? (?:de |del |of )?\d{4}\b)?"
    r"|\bMONTH\b \d{1,2}(?:st|nd|rd|th)?\b(?!\s?[:%€])(?:,? \d{4}\b)?"
    r"|\bMONTH\b\.? (?:de |del |of )?\d{4}\b"
    r"|(?<![\w.,-])(?:19|20)\d{2}\b(?![.,-]?\d| ?[%€£$])"
)
_NAMED_WITH_YEAR = (
    r"\b\d{4}-\d{1,2}(?:-\d{1,2})?\b|\b\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}\b"
    r"|\b(?:q|t)[1-4](?: (?:de |of )?\d{4})?\b"
    r"|\b(?:\d{1,2}(?:st|nd|rd|th|er|º)? (?:de |of )?)?MONTH\.?(?:,? (?:de |del |of )?(?:\d{1,2},? )?\d{4})?\b"
    r"|\b(?:19|20)\d{2}\b"
)
_WRITTEN_YEAR = re.compile(r"(?<![\w.,-])(?:19|20)\d{2}(?![\w%€£$]|[.,-]\d| ?[%€£$])")


@dataclass(frozen=True, slots=True)
class ToldDate:
    start: int
    end: int
    period: Period


def find_told_dates(text: str, language: str, *, year: int = 0) -> list[ToldDate]:
    """Return the dates in a text in their order.

    `year` completes dates that name none; without it they are left out, as is 05/06/2025 in English, which may be of
    May or of June.
    """
    return list(_find(text, year, None if language == "en" else True))


def find_named_periods(text: str, language: str) -> tuple[TemporalContext, ...]:
    """Return the days, months, quarters and years that a text names with their year, each once."""
    found = []
    for match in _named_pattern().finditer(flatten(text).lower()):
        period = parse_period(match[0], day_first=None if language == "en" else True)
        if period and period.year and period.first_day:
            found.append(TemporalContext(period.first_day, period.unit))
    return tuple(dict.fromkeys(found))


def _find(text: str, year: int, day_first: bool | None) -> Iterator[ToldDate]:
    for match in _pattern().finditer(flatten(text).lower()):
        period = parse_period(match[0], day_first=day_first, year=year)
        if period and period.year:
            yield ToldDate(match.start(), match.end(), period)


def only_year(text: str) -> int:
    """The year that a text names where it names one; else 0."""
    found = {int(year) for year in _WRITTEN_YEAR.findall(text) if int(year) in YEARS}
    return found.pop() if len(found) == 1 else 0


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    return _with_months(_WRITTEN)


@lru_cache(maxsize=1)
def _named_pattern() -> re.Pattern[str]:
    return _with_months(_NAMED_WITH_YEAR)


def _with_months(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace("MONTH", f"(?:{'|'.join(sorted(months(), key=len, reverse=True))})"))


_MONTH = r"(?P<month>[A-Za-zÀ-ÿ]{3,10})\.?"
_YEAR = r"(?P<year>(?:19|20|21)\d\d)"
_DAY = r"(?P<day>\d{1,2})(?:er|st|nd|rd|th|[ºo°])?"
_TIMES = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2})?)?"
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<!\d)" + _YEAR + r"-(?P<number>\d{2})(?:-(?P<day>\d{2}))?(?!\d)",
        r"(?<![\d/])(?P<first>\d{1,2})(?P<mark>[/.-])(?P<second>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})(?![\d/])",
        r"(?<![\d/.])(?P<number>0?[1-9]|1[0-2])/(?P<year>(?:19|20)\d\d)(?![\d/])",
        r"(?<![\d/.,])(?P<first>\d{1,2})/(?P<second>\d{1,2})(?![\d/.,])",
        r"(?<![\d.,])"
        + _DAY
        + r"(?:\s+(?:de|of))?[\s\u00a0]+"
        + _MONTH
        + r"(?:,?\s+(?:de\s+|del\s+|of\s+)?"
        + _YEAR
        + r")?(?!\w)",
        r"(?<!\w)" + _MONTH + r"\s+" + _DAY + r"(?!\d)(?:,?\s+" + _YEAR + r")?(?!\w)",
        r"(?<!\w)" + _MONTH + r",?\s+(?:de\s+|del\s+|of\s+)?" + _YEAR + r"(?!\w)",
    )
)
_HOUR = re.compile(
    r"(?<![\d.,:])(?P<hour>[01]?\d|2[0-4])\s?(?:[:hH]|h\.)\s?(?P<minute>[0-5]\d)(?!\d)(?:\s?(?P<half>[ap]\.?\s?m\b\.?))?"
    r"|(?<![\d.,:])(?P<bare>1?\d)(?:[.:](?P<more>[0-5]\d))?\s?(?P<part>[ap]\.?\s?m\b\.?)"
    r"|(?<![\d.,:])(?P<french>[01]?\d|2[0-4])\s?h(?:eures)?(?!\w)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")
_YEAR_ALONE = re.compile(r"(?<![\w.,€$£/-])(?P<year>(?:19|20)\d\d)(?![\w/-]|[.,]\d|\s?[€$£%])")
_OLD_YEAR = re.compile(
    r"(?<!\w)(?:en|in|de|desde|hacia|hasta|since|from|until|by|depuis|vers)\s+(?P<year>1[5-8]\d\d)(?![\w/.,-]\d|\s?[€$£%\d])"
)
_QUARTER_WORDS = frozenset({"trimestre", "quarter"})
_QUARTER_OF_HOUR = re.compile(r"(?<!\w)[QT]([1-4])(?!\w)")
_LONG = 4


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment; parts that are missing in the text are None. `day_first`: the other reading of 3/4."""

    start: int
    end: int
    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    quarter: int | None = None
    minute: int | None = None  # of the day, or of half of it
    other_month: int | None = None  # where day and month may be the other way round

    def said(self) -> frozenset[str]:
        names = (field.name for field in fields(self) if field.name not in ("start", "end", "other_month"))
        return frozenset(name for name in names if getattr(self, name) is not None)

    def contradicts(self, other: "Moment") -> bool:
        shared = self.said() & other.said()
        if self._agrees_turned(other) or other._agrees_turned(self):
            shared -= {"day", "month"}
        return any(not _alike(name, getattr(self, name), getattr(other, name)) for name in shared)

    def _agrees_turned(self, other: "Moment") -> bool:
        return self.other_month is not None and (self.other_month, self.month) == (other.month, other.day)


def _alike(name: str, one: int, other: int) -> bool:
    return one == other or (name == "minute" and abs(one - other) == 720)


@lru_cache(maxsize=1)
def _weekdays() -> dict[str, int]:
    named = [
        (number, name)
        for language in ANSWER_LANGUAGES
        for number, name in get_day_names("wide", locale=language).items()
    ]
    plural = {f"{fold(name)}s": number for number, name in named}
    return plural | {fold(name): number for number, name in named}


@lru_cache(maxsize=2048)
def read_moments(text: str, language: str) -> tuple[Moment, ...]:
    found: list[Moment] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            moment = _dated(match)
            if moment and not _overlaps(found, moment):
                found.append(moment)
    for moment in (*_hours(text), *_moments_in_words(text, language)):
        if not _overlaps(found, moment):
            found.append(moment)
    return tuple(sorted(found, key=lambda moment: moment.start))


def _overlaps(found: list[Moment], moment: Moment) -> bool:
    return any(other.start < moment.end and moment.start < other.end for other in found)


def _dated(match: re.Match[str]) -> Moment | None:
    parts = match.groupdict()
    year = int(parts["year"]) if parts.get("year") else None
    if year is not None and year < 100:
        year += 2000 if year < 70 else 1900
    if parts.get("first"):
        first, second = int(parts["first"]), int(parts["second"])
        if not (1 <= first <= 31 and 1 <= second <= 31 and min(first, second) <= 12):
            return None
        if second > 12:
            first, second = second, first
        turned = first if first <= 12 and first != second else None
        return Moment(match.start(), match.end(), year=year, month=second, day=first, other_month=turned)
    month = int(parts["number"]) if parts.get("number") else months().get(fold(parts["month"]).rstrip("."))
    day = int(parts["day"]) if parts.get("day") else None
    if month is None or not 1 <= month <= 12 or (day is not None and not 1 <= day <= 31):
        return None
    return Moment(match.start(), match.end(), year=year, month=month, day=day)


def _hours(text: str) -> Iterator[Moment]:
    for match in _HOUR.finditer(text):
        hour = int(match["hour"] or match["bare"] or match["french"])
        half = (match["half"] or match["part"] or "").lower()
        if half.startswith("p") and hour < 12:
            hour += 12
        yield Moment(match.start(), match.end(), minute=hour % 24 * 60 + int(match["minute"] or match["more"] or 0))


def _moments_in_words(text: str, language: str) -> Iterator[Moment]:
    matches = list(_WORD.finditer(text))
    words = [fold(match.group()) for match in matches]
    for at, (word, match) in enumerate(zip(words, matches, strict=True)):
        if word in _weekdays():
            yield Moment(match.start(), match.end(), weekday=_weekdays()[word])
        elif (
            word in months()
            and len(word) >= _LONG - (word in {"may", "mai"})
            and _is_month(word, match.group(), language)
        ):
            yield Moment(match.start(), match.end(), month=months()[word])
        elif word in _QUARTER_WORDS and at and words[at - 1] in _rules().quarters:
            yield Moment(matches[at - 1].start(), match.end(), quarter=_rules().quarters[words[at - 1]])
    for found in _QUARTER_OF_HOUR.finditer(text):
        yield Moment(found.start(), found.end(), quarter=int(found[1]))
    for found in _YEAR_ALONE.finditer(text):
        if int(found["year"]) in YEARS:
            yield Moment(found.start(), found.end(), year=int(found["year"]))
    for found in _OLD_YEAR.finditer(text):
        yield Moment(found.start("year"), found.end("year"), year=int(found["year"]))


def _is_month(word: str, written: str, language: str) -> bool:
    if word in {"may", "march"}:
        return language == "en" and written[0].isupper()
    if word == "mars":
        return language == "fr"
    return word not in _rules().unsure_months
