"""What two compared statements differ by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.extractive_answers.direct_answers import say_difference
from graphrag.extractive_answers.statements import ExtractedStatement


def difference(question: str, *texts: str, language: str = "es", is_row: bool = False) -> str | None:
    statements = [ExtractedStatement(text, number, language, 1.0, is_row) for number, text in enumerate(texts, start=1)]
    return say_difference(question, ["A", "B"], statements, language=language)


@pytest.mark.parametrize(
    ("language", "texts", "expected"),
    [
        ("es", ("El tren cuesta 60 euros.", "El avión cuesta 150 €."), "Diferencia (B − A): 150 − 60 = 90 € (+150 %)"),
        ("fr", ("Le site de Lyon a 1 200 palettes.", "Celui de Nice a 950 palettes."),
         "Différence (A − B) : 1 200 − 950 = 250 (+26,3 %)"),
        ("en", ("Sales were €14.2 million, against €13.9 million before.", "Sales were €12 million."),
         "Difference (A − B): 14,200,000 − 12,000,000 = €2,200,000 (+18.3%)"),
        ("en", ("The oven is at 178 °C.", "The cold room is at 4 °C."), "Difference (A − B): 178 − 4 = 174°C"),
    ],
)  # fmt: skip
def test_the_smaller_is_taken_from_the_larger(language: str, texts: tuple[str, str], expected: str) -> None:
    """R8.6 With its terms, in the language of the question; a difference of degrees has no percentage."""
    assert difference("?", *texts, language=language) == expected


def test_rows_are_compared_by_the_cell_that_is_asked_for() -> None:
    """R8.6 Of a row of many numbers; what stands beside it in brackets is of another time."""
    rows = ("Mes: 2025-11-01; Ventas (€): 48000; Pedidos: 1600.", "Mes: 2025-12-01; Ventas (€): 60000; Pedidos: 1950.")
    said = "Diferencia (B − A): 1.950 − 1.600 = 350 (+21,9 %)"
    assert difference("¿Cuántos pedidos en noviembre frente a diciembre?", *rows, is_row=True) == said
    lines = (
        "Pedidos, noviembre de 2025: 1.600, +24 % frente al mes anterior (octubre de 2025: 1.290): sube 310.",
        "Pedidos, diciembre de 2025: 1.950, +21,9 % frente al mes anterior (noviembre de 2025: 1.600): sube 350.",
    )
    assert difference("¿Cuántos pedidos en noviembre frente a diciembre?", *lines, is_row=True) == said


@pytest.mark.parametrize(
    "texts",
    [
        ("Cuesta 60 euros.", "Mide 150 metros."),
        ("Cuesta 60 euros o 70 euros.", "Cuesta 150 euros."),
        ("Cuesta 60 euros.", "Es caro."),
        ("Cuesta 60 euros.", "Cuesta 60 €."),
        ("Cuesta 60 euros por 3 kilos.", "Cuesta 90 euros por 4 kilos."),
        ("Abrió en 1987.", "Abrió en 2004."),
        ("Cuesta 60 euros.",),
    ],
)
def test_what_has_no_one_number_in_common_has_no_difference(texts: tuple[str, ...]) -> None:
    """R8.4, R8.6"""
    assert difference("¿Cuál?", *texts) is None


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_difference_does_not_depend_on_the_order(one: int, other: int) -> None:
    """R8.6"""
    texts = (f"Cuesta {one} euros.", f"Cuesta {other} euros.")
    said, turned = difference("?", *texts), difference("?", *reversed(texts))
    assert (said is None) == (one == other)
    if said and turned:
        assert said.partition(": ")[2] == turned.partition(": ")[2]
