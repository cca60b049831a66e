"""Days, months, quarters and years as they are written, and how they follow one another."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.linguistics.dates import parse_period
from graphrag.linguistics.language import ANSWER_LANGUAGES
from graphrag.linguistics.periods import (
    UNITS,
    Period,
    Unit,
    brief_trend,
    name,
    of_day,
    of_month,
    percent,
    period_of,
    trend,
    trend_in,
)
from graphrag.models import TemporalContext

days = st.dates(date(1900, 1, 1), date(2100, 12, 31))
languages = st.sampled_from(ANSWER_LANGUAGES)


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("diciembre 2025", of_month(2025, 12)),
        ("diciembre de 2025", of_month(2025, 12)),
        ("déc. 2025", of_month(2025, 12)),
        ("2025-12", of_month(2025, 12)),
        ("12/2025", of_month(2025, 12)),
        ("dic-25", of_month(2025, 12)),
        ("Août", of_month(0, 8)),
        ("sept.", of_month(0, 9)),
        ("15/12/2025", of_day(date(2025, 12, 15))),
        ("12/15/2025", of_day(date(2025, 12, 15))),
        ("5.5.25", of_day(date(2025, 5, 5))),
        ("15 de diciembre de 2025", of_day(date(2025, 12, 15))),
        ("lundi 15 déc. 2025", of_day(date(2025, 12, 15))),
        ("Dec 15, 2025", of_day(date(2025, 12, 15))),
        ("2025-12-15 08:30", of_day(date(2025, 12, 15))),
        ("T4 2025", Period("quarter", 2025 * 4 + 3)),
        ("1T25", Period("quarter", 2025 * 4)),
        ("2025-Q2", Period("quarter", 2025 * 4 + 1)),
        ("1er trimestre 2025", Period("quarter", 2025 * 4)),
        ("Q3", Period("quarter", 2)),
        ("2025", Period("year", 2025)),
    ],
)
def test_periods_are_read(text: str, period: Period) -> None:
    """R1.5 Dates written as text in Spanish, French and English."""
    assert parse_period(text) == period


@pytest.mark.parametrize(
    "text",
    [
        "05/06/2025",
        "31/02/2025",
        "2025-13",
        "4 février",
        "Dec 25",
        "12 kg",
        "María",
        "L4",
        "1250",
        "15",
        "",
        "mayo fue",
    ],
)
def test_what_is_no_period_is_not_read_as_one(text: str) -> None:
    """R1.5 Never guessed."""
    assert parse_period(text) is None


def test_what_the_column_knows_decides() -> None:
    """R1.5 Days before months, or after; the year that stands over the table."""
    assert parse_period("05/06/2025", day_first=True) == of_day(date(2025, 6, 5))
    assert parse_period("05/06/2025", day_first=False) == of_day(date(2025, 5, 6))
    assert parse_period("4 février", year=2025) == of_day(date(2025, 2, 4))


@given(days, st.sampled_from(UNITS), languages)
def test_a_period_is_read_as_it_is_named(day: date, unit: Unit, language: str) -> None:
    """R1.5"""
    period = of_day(day).within(unit)
    assert period
    assert parse_period(name(period, language)) == period


@given(days, st.sampled_from(UNITS))
def test_periods_hold_their_days(day: date, unit: Unit) -> None:
    """R1.5 The day is not before the period's first day, and before the next period's."""
    period = of_day(day).within(unit)
    assert period
    first, following = period.first_day, Period(unit, period.number + 1).first_day
    assert first
    assert following
    assert first <= day < following
    assert period_of(TemporalContext(first, unit)) == period


def test_a_year_that_is_not_known_is_not_made_up() -> None:
    """R1.5"""
    assert of_month(0, 5).first_day is None
    assert of_month(0, 5).within("year") is None
    assert of_month(0, 5).of_year(2025) == of_month(2025, 5)
    assert of_month(2024, 5).of_year(2025) == of_month(2024, 5)
    assert name(of_month(0, 5), "fr") == "mai"


@pytest.mark.parametrize(
    ("language", "line"),
    [("es", "+25% vs mes anterior"), ("fr", "+25% vs mois précédent"), ("en", "+25% vs previous month")],
)
def test_a_trend_in_short(language: str, line: str) -> None:
    """R8.6 In the language of the question, whatever that of the document."""
    time = TemporalContext(date(2025, 12, 15), "day", 0.25, trend(0.25, "month", "es"))
    assert brief_trend(time, language) == line
    assert brief_trend(TemporalContext(date(2025, 12, 15), "day"), language) == ""


@given(st.floats(-1, 50), st.sampled_from(UNITS), languages, languages, st.sampled_from(["", "Ventas", "Coste: total"]))
def test_a_trend_is_said_in_another_language(
    change: float, unit: Unit, written_in: str, asked_in: str, measure: str
) -> None:
    """R8.6"""
    time = TemporalContext(date(2025, 1, 1), "day", change, trend(change, unit, written_in, measure=measure))
    assert trend_in(time, asked_in) == trend(change, unit, asked_in, measure=measure)


@pytest.mark.parametrize(
    ("share", "language", "written"),
    [
        (0.25, "es", "+25 %"),
        (-0.1234, "fr", "-12,3 %"),
        (12.5, "en", "+1,250%"),
        (0.0, "es", "0 %"),
        (0.0001, "en", "0%"),
    ],
)
def test_percentages(share: float, language: str, written: str) -> None:
    """R1.5 One decimal at most, with its sign."""
    assert percent(share, language) == written
