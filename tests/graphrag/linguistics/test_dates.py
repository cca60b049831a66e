"""Dates, periods and clock times in running text."""

import time
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.linguistics.dates import Moment, only_year, read_dates
from graphrag.linguistics.language import ANSWER_LANGUAGES
from graphrag.linguistics.periods import UNITS, Unit, name, of_day

MONDAY = date(2025, 11, 24)
languages = st.sampled_from(ANSWER_LANGUAGES)
days = st.dates(date(1900, 1, 1), date(2100, 12, 31))
PIECES = (
    "3 10 31 2025 1999 1856 12/11/2025 3/4 2025-03-04 10:30 5pm T3 H1 90s 1990s XIX dic-25 2019-21 A-2517 1.234,5 % €"
    " , . - – / ' \" ( ) \n | de del el la au du to from between entre y et and a hasta until en in hace il y a ago"
    " mayo mai May mars lunes lundi Monday pasado last next dernier semana week años années siglo century tres twenty"
    " one un trimestre quarter primera second semana del hoy ayer demain tomorrow esta this"
).split(" ")
texts = st.one_of(st.text(max_size=120), st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join))


def spans(text: str, language: str, reference: date | None = MONDAY) -> list[tuple[str, str]]:
    """Return first and last day of what has any."""
    read = read_dates(text, language, reference=reference)
    return [(str(each.first), str(each.last)) for each in read if each.first]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("La auditoría será el 6 de marzo de 2026.", [("6 de marzo de 2026", date(2026, 3, 6), "day")]),
        ("Le contrat prend fin le 1er juin 2026.", [("1er juin 2026", date(2026, 6, 1), "day")]),
        ("On 16 April 2025 it closed, in May 2026 it opened.", [
            ("16 April 2025", date(2025, 4, 16), "day"), ("May 2026", date(2026, 5, 1), "month"),
        ]),
        ("Fundada en 1987 con 2000 €.", [("1987", date(1987, 1, 1), "year")]),
        ("Vence el 05/06/2025 o el 2025-12-01.", [
            ("05/06/2025", date(2025, 6, 5), "day"), ("2025-12-01", date(2025, 12, 1), "day"),
        ]),
        ("Mayo es cálido y marzo 12 veces más frío; H2, A-2517.", []),
    ],
)  # fmt: skip
def test_dates_are_found_where_they_stand(text: str, found: list[tuple[str, date, str]]) -> None:
    """R8.6"""
    told = [
        (text[each.start : each.end], period.first_day, period.unit)
        for each in read_dates(text, "es")
        if (period := each.period)
    ]
    assert told == found


@pytest.mark.parametrize(
    ("language", "text", "first", "last"),
    [
        ("es", "Del 3 al 7 de mayo de 2025.", "2025-05-03", "2025-05-07"),
        ("es", "Del 20 de diciembre al 7 de enero de 2026.", "2025-12-20", "2026-01-07"),
        ("es", "Primera quincena de marzo de 2025.", "2025-03-01", "2025-03-15"),
        ("es", "Ventas del 3T 2024", "2024-07-01", "2024-09-30"),
        ("es", "En los años noventa.", "1990-01-01", "1999-12-31"),
        ("es", "Durante el siglo XIX.", "1801-01-01", "1900-12-31"),
        ("fr", "Entre mars et mai 2024.", "2024-03-01", "2024-05-31"),
        ("fr", "Le premier semestre 2025.", "2025-01-01", "2025-06-30"),
        ("fr", "La semaine du 5 mars 2025.", "2025-03-03", "2025-03-09"),
        ("fr", "Dans les années 1990.", "1990-01-01", "1999-12-31"),
        ("fr", "Au XVIIe siècle.", "1601-01-01", "1700-12-31"),
        ("en", "June 1 - June 30, 2025", "2025-06-01", "2025-06-30"),
        ("en", "The second half of last year.", "2024-07-01", "2024-12-31"),
        ("en", "Week 12 of 2025.", "2025-03-17", "2025-03-23"),
        ("en", "The 2024-25 season.", "2024-01-01", "2025-12-31"),
        ("en", "A twenty-first century house.", "2001-01-01", "2100-12-31"),
    ],
)
def test_periods_have_their_days(language: str, text: str, first: str, last: str) -> None:
    """R1.5 Ranges, fortnights, quarters, halves, weeks, decades and centuries."""
    assert spans(text, language) == [(first, last)]


@pytest.mark.parametrize(
    ("language", "text", "first", "last"),
    [
        ("es", "Salió hace tres días.", "2025-11-21", "2025-11-21"),
        ("es", "Hace treinta y un años.", "1994-11-24", "1994-11-24"),
        ("es", "Te contesto pasado mañana.", "2025-11-26", "2025-11-26"),
        ("es", "La semana pasada.", "2025-11-17", "2025-11-23"),
        ("es", "El 3 de mayo del año pasado.", "2024-05-03", "2024-05-03"),
        ("fr", "Il y a deux semaines.", "2025-11-10", "2025-11-10"),
        ("fr", "Le mois prochain.", "2025-12-01", "2025-12-31"),
        ("fr", "Lundi dernier.", "2025-11-17", "2025-11-17"),
        ("en", "Two weeks from now.", "2025-12-08", "2025-12-08"),
        ("en", "Last quarter.", "2025-07-01", "2025-09-30"),
        ("en", "Next Monday.", "2025-12-01", "2025-12-01"),
        ("en", "A fortnight ago.", "2025-11-10", "2025-11-10"),
    ],
)
def test_relative_dates_are_counted_from_the_reference(language: str, text: str, first: str, last: str) -> None:
    """R8.6 Without a reference they have no days."""
    assert spans(text, language) == [(first, last)]
    assert spans(text, language, None) == []


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("es", "Se repartieron 2024 cajas."), ("es", "Habitaciones 1901 a 1905."), ("es", "La versión 2019.3"),
        ("es", "La mañana y el mañana."), ("es", "Ley 1/2015"), ("es", "Calle 2 de Mayo"), ("es", "Caja 3/4"),
        ("fr", "Page 1999 du Journal."), ("fr", "Dossier 2023-0417-B"), ("fr", "Une barre de Mars."),
        ("fr", "Vingt-sept jours."), ("fr", "Cette année-là."),
        ("en", "May Thompson has left."), ("en", "In his sixties."), ("en", "The last year of the war."),
        ("en", "It was built in three weeks."), ("en", "Flight BA2024"), ("en", "It costs 2000."),
    ],
)  # fmt: skip
def test_what_is_no_date_has_no_days(language: str, text: str) -> None:
    """R1.5 Numbers of things and codes, names, and what words mean elsewhere."""
    assert spans(text, language) == []


def test_what_moved_from_one_day_to_another_did_not_last() -> None:
    """R8.6"""
    assert len(spans("The meeting moved from 6 November to 8 November.", "en")) == 2
    assert len(spans("The fair lasts from 6 November to 8 November.", "en")) == 1


def test_parts_without_a_year_and_clock_times_are_named() -> None:
    """R8.4 What verification compares."""
    moments = [
        moment for each in read_dates("El lunes a las 10:30, o del 3 al 4 de mayo.", "es") for moment in each.moments
    ]
    assert [moment.said() for moment in moments] == [{"weekday"}, {"minute"}, {"day", "month"}, {"day", "month"}]
    (ambiguous,) = read_dates("On 3/4.", "en")
    assert ambiguous.moments == (Moment(3, 6, month=4, day=3, other_month=3),)


def test_a_date_without_a_year_is_of_the_one_that_is_given() -> None:
    """R8.6"""
    (told,) = read_dates("Será el 6 de marzo.", "es", year=2026)
    assert told.first == told.last == date(2026, 3, 6)
    (told,) = read_dates("Será el 6 de marzo.", "es")
    assert told.first is None


def test_a_day_that_may_be_a_month_is_none_in_english() -> None:
    """R8.6 05/06 is in May or in June; 25/06 is in June."""
    (told,) = read_dates("It ends on 05/06/2025.", "en")
    assert told.first is None
    (told,) = read_dates("It ends on 25/06/2025.", "en")
    assert told.first == date(2025, 6, 25)


def test_the_only_year_of_a_text() -> None:
    """R8.6 Two years are none: a date without a year could be of either."""
    assert only_year("Acta de 2025. En 2025 se cerró.") == 2025
    assert only_year("Acta de 2025. Desde 2024.") == 0
    assert only_year("El lote A-2025 pesa 2000 €.") == 0


@given(days, st.sampled_from(UNITS), languages)
def test_a_period_is_read_in_a_text_as_it_is_named(day: date, unit: Unit, language: str) -> None:
    """R1.5"""
    period = of_day(day).within(unit)
    opening = {"es": "Todo empezó en", "fr": "Tout a commencé en", "en": "It all began in"}[language]
    assert period
    (read,) = read_dates(f"{opening} {name(period, language)}.", language)
    assert read.period == period


@given(st.dates(date(1950, 1, 1), date(2090, 12, 31)), st.integers(2, 400), languages)
def test_days_are_counted_back_and_ahead(today: date, count: int, language: str) -> None:
    """R8.6"""
    back, ahead = {"es": ("hace {} días", "dentro de {} días"), "fr": ("il y a {} jours", "dans {} jours"),
                   "en": ("{} days ago", "{} days from now")}[language]  # fmt: skip
    for text, away in ((back, -count), (ahead, count)):
        (read,) = read_dates(text.format(count), language, reference=today)
        assert read.first == read.last == today + timedelta(away)


@given(texts, languages, st.sampled_from([None, MONDAY, date(2024, 2, 29)]))
def test_what_is_read_lies_in_the_text_in_its_order(text: str, language: str, reference: date | None) -> None:
    """R1.5 Nothing overlaps, no end is before its beginning, and nothing fails."""
    end = 0
    for each in read_dates(text, language, reference=reference):
        assert end <= each.start < each.end <= len(text)
        assert (each.first is None) == (each.last is None)
        assert each.first is None or each.last is None or each.first <= each.last
        end = each.end


@pytest.mark.parametrize("unit", ["1", "1 ", "1:", "2025-01-01 ", "1 January 2025 ", "enero y ", "10:30 ", "a-", "Aa "])
def test_time_grows_with_the_text(unit: str) -> None:
    """R1.5 A hostile text of four times the length takes about four times the time."""

    def seconds(chars: int, attempt: int) -> float:
        text = (unit * (chars // len(unit) + 1))[:chars] + "." * attempt  # a text of its own: nothing is cached
        begun = time.process_time()
        read_dates(text, "es")
        return time.process_time() - begun

    def least(chars: int) -> float:
        return min(seconds(chars, attempt) for attempt in range(3))

    assert least(40_000) < 8 * least(10_000) + 0.05  # quadratic: sixteen times
