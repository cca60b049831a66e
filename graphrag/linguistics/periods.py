"""Days, months, quarters and years: how they follow one another, and how they and their trends are worded."""

from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Literal

from babel.dates import format_date
from babel.numbers import format_decimal

from graphrag.linguistics.language import ANSWER_LANGUAGES
from graphrag.linguistics.rules import Rules, read_rules
from graphrag.models import TemporalContext

Unit = Literal["day", "month", "quarter", "year"]
UNITS: tuple[Unit, ...] = ("day", "month", "quarter", "year")
PARTS = {"month": 12, "quarter": 4, "year": 1}  # of a year
Days = tuple[date, date]  # the first and the last


class PeriodRules(Rules):
    against: dict[str, dict[Unit, str]]
    previous: dict[str, dict[Unit, str]]
    formats: dict[str, dict[Unit, str]]
    short_formats: dict[Unit, str]
    yearless_formats: dict[Unit, str]


@lru_cache(maxsize=1)
def _rules() -> PeriodRules:
    return read_rules(PeriodRules, "graphrag.linguistics", "periods")


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

    @property
    def days(self) -> Days | None:
        first, following = self.first_day, Period(self.unit, self.number + 1).first_day
        return (first, following - timedelta(1)) if first and following else None

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
