"""What a statement says against its passage is named: a number, a date, a name, a unit, a denial, a direction."""

import pytest

from agent.verification.support import Support
from graphrag.linguistics.numbers import read_quantities
from tests.agent.verification.passages import check


@pytest.mark.parametrize(
    ("text", "language", "value", "unit"),
    [
        ("9.240 €", "es", 9240, "€"),
        ("9,240 euros", "en", 9240, "€"),
        ("9 240 euros", "fr", 9240, "€"),
        ("nueve mil doscientos cuarenta euros", "es", 9240, "€"),
        ("neuf mille deux cent quarante euros", "fr", 9240, "€"),
        ("nine thousand two hundred and forty euros", "en", 9240, "€"),
        ("quatre-vingt-dix-sept", "fr", 97, ""),
        ("soixante-douze", "fr", 72, ""),
        ("treinta y cinco", "es", 35, ""),
        ("twenty-one", "en", 21, ""),
        ("mil millones", "es", 10**9, ""),
        ("2,5 M€", "fr", 2_500_000, "€"),
        ("2.5 million euros", "en", 2_500_000, "€"),
        ("2,5 millones de euros", "es", 2_500_000, "€"),
        ("12k", "en", 12_000, ""),
        ("25 %", "es", 25, "%"),
        ("25 por ciento", "es", 25, "%"),
        ("una cuarta parte", "es", 25, "%"),
        ("trois quarts", "fr", 75, "%"),
        ("la mitad", "es", 50, "%"),
        ("3,5 km", "es", 3500, "length"),
        ("two weeks", "en", 14, "time"),
        ("0.250", "en", 0.25, ""),
    ],
)
def test_a_number_is_read_in_all_its_writings(text: str, language: str, value: float, unit: str) -> None:
    """R8.4 Digits, words, magnitudes, shares; with its unit."""
    (quantity,) = read_quantities(text, language)
    assert (quantity.values, quantity.measure) == (frozenset({value}), unit)


BRIDGE = "El puente de Arenal se cerró el 3 de abril de 2024. La obra costó 1.200 euros y duró dos semanas."
SALES = "Les ventes ont augmenté de 12 % en mars. Marie Dupont n'a pas signé le contrat avec Legrand."
SHIP = "Kestrel Freight sued Amberley Ports in 2019. The crane failed because the cable broke."


@pytest.mark.parametrize(
    ("statement", "passage", "language"),
    [
        ("La obra costó mil doscientos euros.", BRIDGE, "es"),
        ("The work cost 1,200 euros.", BRIDGE, "es"),
        ("El puente de Arenal se cerró el 3/4/2024.", BRIDGE, "es"),
        ("The Arenal bridge was closed on April 3, 2024.", BRIDGE, "es"),
        ("La obra duró 14 días.", BRIDGE, "es"),
        ("En mars, les ventes ont augmenté de 12 pour cent.", SALES, "fr"),
        ("Le contrat avec Legrand n'a pas été signé par Marie Dupont.", SALES, "fr"),
        ("M. Dupont n'a pas signé le contrat.", "M. Dupont n'a pas signé le contrat.", "fr"),
        ("Amberley Ports was sued by Kestrel Freight in 2019.", SHIP, "en"),
        ("The cable broke, so the crane failed.", SHIP, "en"),
    ],
)
def test_what_the_passage_says_is_supported(statement: str, passage: str, language: str) -> None:
    """R8.4 In another writing, order, voice or language."""
    found = check(statement, passage, language=language)
    assert (found.status, found.reasons) == (Support.SUPPORTED, ())


@pytest.mark.parametrize(
    ("statement", "passage", "language", "reason"),
    [
        ("La obra costó 1.300 euros.", BRIDGE, "es", "number"),
        ("La obra costó 1.200 dólares.", BRIDGE, "es", "unit"),
        ("La obra duró dos meses.", BRIDGE, "es", "number"),
        ("El puente de Arenal se cerró el 4 de abril de 2024.", BRIDGE, "es", "date"),
        ("The Arenal bridge was closed in May 2024.", BRIDGE, "es", "date"),
        ("El puente de Villar se cerró el 3 de abril de 2024.", BRIDGE, "es", "name"),
        ("El puente de Arenal no se cerró el 3 de abril de 2024.", BRIDGE, "es", "negation"),
        ("El puente de Arenal se abrió el 3 de abril de 2024.", BRIDGE, "es", "direction"),
        ("Les ventes ont baissé de 12 % en mars.", SALES, "fr", "direction"),
        ("Las ventas bajaron un 12 % en marzo.", SALES, "fr", "direction"),
        ("Marie Dupont a signé le contrat avec Legrand.", SALES, "fr", "negation"),
        ("Amberley Ports sued Kestrel Freight in 2019.", SHIP, "en", "role"),
    ],
)
def test_what_it_does_not_say_is_named(statement: str, passage: str, language: str, reason: str) -> None:
    """R8.4 Numbers, names, dates and negation must agree; so must directions and who did it."""
    found = check(statement, passage, language=language)
    assert found.status is not Support.SUPPORTED
    assert reason in found.reasons


@pytest.mark.parametrize(
    "statement",
    [
        "De 60 hogares, 15 aceptaron: el 25 %.",
        "Aceptaron 15 de los 60 hogares; 45 no.",
    ],
)
def test_a_computed_number_is_told_by_its_operands(statement: str) -> None:
    """R8.4 A share or a difference of numbers that the statement gives, too."""
    assert "number" not in check(statement, "Se llamó a 60 hogares y 15 aceptaron.").reasons
    assert "number" in check("De 60 hogares aceptó el 30 %.", "Se llamó a 60 hogares y 15 aceptaron.").reasons


def test_the_number_of_another_thing_is_not_its_own() -> None:
    """R8.4 The passage has both numbers; each belongs to something."""
    passage = "Alquilar la sala cuesta 18 libras a los socios y 27 libras a los demás."
    assert check("Los socios pagan 18 libras por la sala.", passage).reasons != ("number",)
    assert "number" in check("Los socios pagan 27 libras por la sala.", passage).reasons


SIGNED = "Firmaron la petición 5.120 vecinos."
BOXES = "In all, 29 boxes were lost."
CENSUS = "En 1909, el censo daba 281.754 judíos y 18.189 católicos."
RANK = "The Panthers ranked sixth in points conceded."
CAPACITY = "La capacidad pasó de 10 Gbit/s a 100 Gbit/s."


@pytest.mark.parametrize(
    ("statement", "passage", "language", "follows"),
    [
        ("Firmaron la petición más de cinco mil vecinos.", SIGNED, "es", True),
        ("Firmaron la petición más de nueve mil vecinos.", SIGNED, "es", False),
        ("About 30 boxes were lost.", BOXES, "en", True),
        ("Exactly 30 boxes were lost.", BOXES, "en", False),
        ("El censo daba 263.565 judíos más.", CENSUS, "es", True),
        ("El censo daba 263.566 judíos más.", CENSUS, "es", False),
        ("En tout, 68 épidémies ont été notées.", "On a noté 37 épidémies avant 1750 et 31 après.", "fr", True),
        ("Five teams conceded fewer points.", RANK, "en", True),
        ("Eight teams conceded fewer points.", RANK, "en", False),
        ("La capacidad se multiplicó por diez.", CAPACITY, "es", True),
        ("La capacidad se multiplicó por doce.", CAPACITY, "es", False),
    ],
)
def test_a_number_may_follow_from_the_passage(statement: str, passage: str, language: str, follows: bool) -> None:
    """R8.4 Rounded, added up, subtracted, counted out of a rank, as a ratio; else it is wrong."""
    assert ("number" in check(statement, passage, language=language).reasons) is not follows


@pytest.mark.parametrize(
    ("statement", "passage", "language", "reason"),
    [
        ("Todos los socios votaron a favor.", "La mayoría de los socios votaron a favor.", "es", "quantifier"),
        ("Aucun membre n'a voté le budget.", "Certains membres ont voté le budget.", "fr", "quantifier"),
        ("The bakery sells only bread.", "The bakery sells mostly bread.", "en", "quantifier"),
        ("El ayuntamiento cerró el puente.", "El ayuntamiento podría cerrar el puente.", "es", "modality"),
        ("The river flooded the mill.", "The river may have flooded the mill.", "en", "modality"),
    ],
)
def test_how_many_and_how_surely_must_agree(statement: str, passage: str, language: str, reason: str) -> None:
    """R8.4"""
    assert reason in check(statement, passage, language=language).reasons


@pytest.mark.parametrize(
    ("statement", "passage", "language"),
    [
        ("La mayoría de los socios votó a favor.", "La mayoría de los socios votaron a favor.", "es"),
        ("Le budget a été voté par certains membres.", "Certains membres ont voté le budget.", "fr"),
        ("Puede que el ayuntamiento cierre el puente.", "El ayuntamiento podría cerrar el puente.", "es"),
        ("The mill was closed in spring.", "The mill was closed in May.", "en"),
        ("The mill was closed that month.", "The mill was closed on 3 May 2024.", "en"),
    ],
)
def test_the_same_quantifier_and_modality_agree(statement: str, passage: str, language: str) -> None:
    """R8.4"""
    assert not {"quantifier", "modality"} & set(check(statement, passage, language=language).reasons)
