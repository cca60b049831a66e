"""Dates as sentences tell them."""

from datetime import date

import pytest

from graphrag.linguistics.dates import only_year, read_dates


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
