"""Amounts, shares and counts in sentences, and how they are written for a reader."""

import pytest

from graphrag.linguistics.numbers import Quantity, read_quantities, write_quantity


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("es", "Costó 1.250,50 euros.", [(1250.5, "€")]),
        ("fr", "Cela a coûté 48 600 € de plus.", [(48_600.0, "€")]),
        ("en", "It cost €48,600 and £1,250.50.", [(48_600.0, "€"), (1250.5, "£")]),
        ("en", "Sales: €14.2 million, up 3.5%.", [(14_200_000.0, "€"), (3.5, "%")]),
        ("es", "Unas ventas de 3 millones de euros.", [(3_000_000.0, "€")]),
        ("fr", "Un chiffre de 13,5 M€.", [(13_500_000.0, "€")]),
        ("fr", "Le tube mesure 340 m de long.", [(340.0, "m")]),
        ("es", "Se hicieron 2.000 cajas y 150 latas.", [(2000.0, ""), (150.0, "")]),
        ("fr", "Il fait 4 °C.", [(4.0, "°C")]),
        ("fr", "Entre 2 et 4 °C.", [(2.0, "°C")]),
    ],
)
def test_numbers_are_read_as_the_language_writes_them(language: str, text: str, found: list[tuple[float, str]]) -> None:
    """R8.6 «1.250» is a thousand in Spanish, «1,250» in English."""
    assert [(quantity.low, quantity.unit) for quantity in read_quantities(text, language)] == found


def test_a_range_has_two_ends_and_a_count_its_noun() -> None:
    """R8.6"""
    (warmth,) = read_quantities("Entre 2 et 4 °C.", "fr")
    assert (warmth.low, warmth.high) == (2, 4)
    assert [each.counted for each in read_quantities("Se hicieron 2.000 cajas y 150 latas.", "es")] == [
        "cajas",
        "latas",
    ]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("es", "El lote A-2517 se retiró el 16 de abril."),
        ("fr", "Le four H2 s'est arrêté le 3 mai 2025 à 6:40."),
        ("en", "Founded in 1987, line L4 moved on April 16, 2025."),
        ("es", "El 29 de febrero no hubo reparto."),
    ],
)
def test_dates_codes_and_times_are_no_quantities(language: str, text: str) -> None:
    """R8.6"""
    assert not read_quantities(text, language)


@pytest.mark.parametrize(("language", "written"), [("es", "48.600,5 €"), ("fr", "48 600,5 €"), ("en", "€48,600.5")])
def test_a_quantity_is_written_for_its_reader(language: str, written: str) -> None:
    """R8.6 In the language of the question, without spaces that break no line."""
    assert write_quantity(Quantity(48_600.5, 48_600.5, "€"), language) == written
