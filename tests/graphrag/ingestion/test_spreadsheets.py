"""What is computed of tables: it is true, it is said with its cells, and nothing that stood before it moves."""

import math
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphrag.config.settings import ParsingLimits
from graphrag.ingestion.tables.computed_tables import MOST_LINES, with_computed
from graphrag.ingestion.tables.series import written
from graphrag.linguistics.cell_values import read_numbers
from graphrag.models import Cell, ParsedText, SourceLocation, Table, TableRow
from graphrag.parsers.source_locations import cell_range, corners
from graphrag.parsers.spreadsheet import parse_csv
from graphrag.parsers.spreadsheet import written as written_cell
from graphrag.parsers.text import clean

Rows = Sequence[Sequence[Cell]]
MONTHS = "Enero Febrero Marzo Abril Mayo Junio Julio Agosto Septiembre Octubre Noviembre Diciembre".split()
SALES = [810, 820, 830, 840, 850, 860, 870, 880, 890, 900, 1000, 1250]


def parsed_table(headers: Sequence[str], rows: Rows, *, sheet: str = "Ventas", caption: str = "") -> ParsedText:
    """A sheet as its parser gives it: headers in row 1, a row a line."""
    text = f"{sheet}\n" + (f"{caption}\n" if caption else "")
    locations = [SourceLocation(len(sheet) + 1, len(text) - 1, sheet=sheet, cells="A1")] if caption else []
    lines = []
    first_row = 3 if caption else 2
    for number, values in enumerate(rows, start=first_row):
        parts = [
            f"{header}: {written_cell(cell)}" for header, cell in zip(headers, values, strict=True) if cell is not None
        ]
        line = clean("; ".join(parts)) or "-"
        locations.append(
            SourceLocation(
                len(text),
                len(text) + len(line),
                sheet=sheet,
                cells=cell_range((0, number), (len(headers) - 1, number)),
            )
        )
        lines.append(TableRow(len(text), len(text) + len(line), number, tuple(values)))
        text += f"{line}\n"
    table = Table(sheet, tuple(headers), 0, tuple(lines))
    return ParsedText(text.rstrip("\n"), "application/x-sheet", locations=tuple(locations), tables=(table,))


def computed(headers: Sequence[str], rows: Rows, *, language: str = "es", **options: str) -> list[str]:
    """The sentences that are added."""
    parsed = parsed_table(headers, rows, **options)
    return with_computed(parsed, language=language).text[len(parsed.text) :].strip().splitlines()


def monthly(sales: Sequence[int] = SALES) -> list[list[Cell]]:
    return [[date(2025, month, 1), sold] for month, sold in enumerate(sales, start=1)]


def from_csv(text: str, *, language: str) -> list[str]:
    parsed = parse_csv(text.encode(), limits=ParsingLimits())
    return with_computed(parsed, language=language).text[len(parsed.text) :].strip().splitlines()


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("es", "Ventas, diciembre de 2025: 1.250, +25 % frente al mes anterior (noviembre de 2025: 1.000): sube 250."),
        (
            "fr",
            "Ventas, décembre 2025 : 1 250, +25 % par rapport au mois précédent (novembre 2025 : 1 000) :"
            " augmente de 250.",
        ),
        ("en", "Ventas, December 2025: 1,250, +25% on the previous month (November 2025: 1,000): up by 250."),
        ("de", "Ventas, December 2025: 1,250, +25% on the previous month (November 2025: 1,000): up by 250."),
    ],
)
def test_a_month_is_compared_with_the_one_before(language: str, said: str) -> None:
    """R1.5 The change against the previous period, in the document's language."""
    parsed = parsed_table(["Mes", "Ventas"], monthly())
    found = with_computed(parsed, language=language)
    assert said in found.text.splitlines()
    start = found.text.index(said)
    (location,) = [location for location in found.locations if location.start_char == start]
    assert found.text[location.start_char : location.end_char] == said
    assert (location.sheet, location.cells) == ("Ventas", "B12:B13")
    assert location.temporal
    assert (location.temporal.date, location.temporal.period, location.temporal.change) == (
        date(2025, 12, 1),
        "month",
        0.25,
    )
    assert location.temporal.label in said


def test_totals_extremes_and_mean_with_their_cells() -> None:
    """R1.5 Computed, stored and cited."""
    parsed = parsed_table(["Mes", "Ventas"], monthly())
    found = with_computed(parsed, language="es")
    lines = {found.text[location.start_char : location.end_char]: location.cells for location in found.locations}
    assert {
        "Total de Ventas (enero de 2025 – diciembre de 2025): 10.800, suma de 12 valores.": "B2:B13",
        "Mínimo de Ventas: 810 (enero de 2025).": "B2:B13",
        "Máximo de Ventas: 1.250 (diciembre de 2025).": "B2:B13",
        "Media de Ventas (enero de 2025 – diciembre de 2025): 900, de 12 valores.": "B2:B13",
    }.items() <= lines.items()


def test_rows_know_their_time_and_trend() -> None:
    """R1.5 temporal_context of the row itself: its date, its period, its change, its label."""
    parsed = parsed_table(["Mes", "Ventas"], monthly())
    rows = with_computed(parsed, language="fr").locations[:12]
    assert [location.temporal and location.temporal.period for location in rows] == ["month"] * 12
    first, last = rows[0].temporal, rows[-1].temporal
    assert first
    assert last
    assert (first.date, first.change, first.label) == (date(2025, 1, 1), None, "")
    assert (last.date, last.change, last.label) == (date(2025, 12, 1), 0.25, "+25 % par rapport au mois précédent")


def test_a_day_of_each_month_is_kept_and_compared_with_the_month_before() -> None:
    """R8.6 «date: 15 déc 2025, tendance: +25% vs mois précédent»."""
    rows: Rows = [[date(2025, 11, 15), 1000], [date(2025, 12, 15), 1250]]
    location = with_computed(parsed_table(["Date", "Ventes"], rows), language="fr").locations[1]
    assert location.temporal
    assert (location.temporal.date, location.temporal.period) == (date(2025, 12, 15), "day")
    assert location.temporal.label == "+25 % par rapport au mois précédent"


def test_several_measures_are_told_apart() -> None:
    """R1.5 The label says which of them changed."""
    rows: Rows = [[date(2025, 1, 1), 2.5, 100], [date(2025, 2, 1), 3.0, 110]]
    location = with_computed(parsed_table(["Mes", "Precio", "Ventas"], rows), language="es").locations[1]
    assert location.temporal
    assert location.temporal.label == "Ventas: +10 % frente al mes anterior"


def test_a_missing_month_leaves_no_trend() -> None:
    """R1.5 Against the period before, or not at all."""
    lines = computed(["Mes", "Ventas"], [[date(2025, 1, 1), 10], [date(2025, 3, 1), 20], [date(2025, 4, 1), 30]])
    assert "Ventas, marzo de 2025: 20." in lines
    assert any(line.startswith("Ventas, abril de 2025: 30, +50 %") for line in lines)


def test_deliveries_are_no_series_but_have_months() -> None:
    """R1.5 Rows at any day have a date and no trend; their months have both."""
    days = [date(2026, 1, 7), date(2026, 1, 9), date(2026, 2, 3), date(2026, 2, 20)]
    rows: Rows = [[f"E-{number}", day, 10 * number] for number, day in enumerate(days, start=1)]
    parsed = parsed_table(["Pedido", "Fecha prevista", "Palés"], rows)
    found = with_computed(parsed, language="es")
    assert [
        location.temporal and (location.temporal.date, location.temporal.change) for location in found.locations[:4]
    ] == [(day, None) for day in days]
    said = "Palés, febrero de 2026: 70, +133,3 % frente al mes anterior (enero de 2026: 30): sube 40."
    assert said in found.text


@pytest.mark.parametrize("label", ["Total", "TOTAL", "Totales", "Somme", "Total général", "Grand total", "Suma:"])
def test_the_total_row_of_the_sheet_is_not_counted_twice(label: str) -> None:
    """R1.5 A sum of sums is no sum."""
    lines = computed(["Producto", "Cajas"], [["Dorada", 10], ["Soleada", 5], [label, 15]])
    assert "Total de Cajas: 15, suma de 2 valores." in lines


@pytest.mark.parametrize("label", ["Total Norte", "Total 2025", None])
def test_what_may_be_a_total_is_one_if_the_numbers_agree(label: str | None) -> None:
    """R1.5 «Total Energies» may be a customer, and a last row without a name a total."""
    summed = computed(["Cliente", "Cajas"], [["Dorada", 10], ["Soleada", 5], [label, 15]])
    assert "Total de Cajas: 15, suma de 2 valores." in summed
    counted = computed(["Cliente", "Cajas"], [["Dorada", 10], ["Soleada", 5], [label, 7]])
    assert "Total de Cajas: 22, suma de 3 valores." in counted


def test_subtotals_are_left_out() -> None:
    """R1.5"""
    rows: Rows = [["A", 1], ["B", 2], ["Subtotal", 3], ["C", 4], ["D", 5], ["Subtotal", 9], ["Total", 12]]
    assert "Total de Cajas: 12, suma de 4 valores." in computed(["Producto", "Cajas"], rows)


@pytest.mark.parametrize(
    ("header", "values"),
    [
        ("Código postal", [50001, 31000, 28001]),
        ("Teléfono", [976123456, 976123457, 976123999]),
        ("Año", [2023, 2024, 2025]),
        ("Precio (€/kg)", [2.5, 2.7, 2.9]),
        ("Prix unitaire", [2.5, 2.7, 2.9]),
        ("Margen %", [0.2, 0.25, 0.3]),
        ("Taux", [0.2, 0.25, 0.3]),
        ("Temperatura", [180, 185, 190]),
        ("N°", [1, 2, 3]),
        ("Stock", [5, 6, 9]),
        ("Ventas acumuladas", [10, 25, 60]),
        ("", [100, 101, 102, 103, 104]),
        ("Referencia", [45, 12, 77]),
    ],
)
def test_what_has_no_sum_gets_none(header: str, values: list[int | float]) -> None:
    """R1.5 A total of codes, years, prices or percentages is nonsense."""
    lines = computed(["Nombre", header], [[f"Fila {number}", value] for number, value in enumerate(values)])
    assert not any(line.startswith("Total") for line in lines)


@pytest.mark.parametrize(
    "header",
    ["Ventas", "Cajas", "Número de cajas", "Importe factura", "Nº de pedidos", "Coste (€)", "Cuota", "Nombre de colis"],
)
def test_what_has_a_sum_gets_it(header: str) -> None:
    """R1.5"""
    rows: Rows = [["Norte", 2010], ["Sur", 2030], ["Este", 1995]]
    assert f"Total de {header}: 6.035, suma de 3 valores." in computed(["Zona", header], rows)


def test_months_as_columns_are_a_series_a_row() -> None:
    """R1.5 Series along the row; the year stands over the table."""
    rows: Rows = [["Dorada", 100, 125, 150], ["Soleada", 40, 30, 20]]
    parsed = parsed_table(["Producto", "Octubre", "Noviembre", "Diciembre"], rows, caption="Cajas vendidas en 2025")
    found = with_computed(parsed, language="es")
    cells = {found.text[location.start_char : location.end_char]: location.cells for location in found.locations}
    december = "Dorada, diciembre de 2025: 150, +20 % frente al mes anterior (noviembre de 2025: 125): sube 25."
    assert cells[december] == "C3:D3"
    assert cells["Total de Soleada (octubre de 2025 – diciembre de 2025): 90, suma de 3 valores."] == "B4:D4"
    together = (
        "Todas las filas, noviembre de 2025: 155, +10,7 % frente al mes anterior (octubre de 2025: 140): sube 15."
    )
    assert cells[together] == "B3:C4"


def test_rows_of_different_measures_are_not_added() -> None:
    """R1.5 Sales and costs have no sum."""
    rows: Rows = [["Ventas", 100, 125], ["Costes", 40, 30]]
    lines = computed(["Concepto", "T1 2025", "T2 2025"], rows)
    assert not any("Todas las filas" in line for line in lines)
    assert (
        "Ventas, 2.º trimestre de 2025: 125, +25 % frente al trimestre anterior (1.er trimestre de 2025: 100): sube 25."
        in lines
    )


def test_months_without_a_year_are_still_in_order() -> None:
    """R1.5 What year it was is not guessed: no date, but a trend."""
    parsed = parsed_table(["Mes", "Ventas"], list(zip(MONTHS, SALES, strict=True)))
    found = with_computed(parsed, language="es")
    assert "Ventas, diciembre: 1.250, +25 % frente al mes anterior (noviembre: 1.000): sube 250." in found.text
    assert all(location.temporal is None for location in found.locations)


def test_years_are_compared_when_both_are_whole() -> None:
    """R1.5 Three months of a year are not compared with twelve."""
    rows: Rows = [[date(2023 + month // 12, month % 12 + 1, 1), 10] for month in range(27)]
    lines = computed(["Mes", "Ventas"], rows)
    assert "Ventas, 2024: 120, igual que en 2023." in lines
    assert "Ventas, 2025: 30." in lines


def test_csv_numbers_and_dates_as_people_write_them() -> None:
    """R1.5 Typed columns: decimal commas, spaces, currency, days before months."""
    text = "Date;Produit;Montant\n05/11/2025;Dorada;1 000,50 €\n05/12/2025;Dorada;1 250,50 €\n"
    lines = from_csv(text, language="fr")
    assert "Total de Montant (novembre 2025 – décembre 2025) : 2 251 €, somme de 2 valeurs." in lines
    assert any(line.startswith("Montant, décembre 2025 : 1 250,5 €, +25 %") for line in lines)


def test_a_label_s_own_series_is_compared() -> None:
    """R1.5 The previous period of the same label."""
    rows: Rows = [
        [date(2025, month, 1), product, cases]
        for month, cases_of in ((11, (100, 10)), (12, (125, 8)))
        for product, cases in zip(("Dorada", "Soleada"), cases_of, strict=True)
    ]
    found = with_computed(parsed_table(["Mes", "Producto", "Cajas"], rows), language="es")
    assert [location.temporal and location.temporal.change for location in found.locations[:4]] == [
        None,
        None,
        0.25,
        -0.2,
    ]
    assert "Cajas, Soleada, diciembre de 2025: 8, -20 % frente al mes anterior" in found.text


def test_a_large_table_gets_a_few_hundred_lines_at_most() -> None:
    """R1.5 Bounded in number: by months where days would be too many, by labels only where they are few."""
    rows: Rows = [
        [date(2023, 1, 1) + timedelta(number // 3), f"Cliente {number}", number % 7, number % 11 + 0.5]
        for number in range(3000)
    ]
    assert 20 < len(computed(["Fecha", "Cliente", "Cajas", "Importe"], rows)) <= MOST_LINES


def test_each_sheet_s_lines_have_their_heading() -> None:
    """R1.5 Their chunks' context says what they are of."""
    parsed = parsed_table(["Mes", "Ventas"], monthly(), caption="Tienda en línea")
    found = with_computed(parsed, language="es")
    (heading,) = found.headings
    assert heading.text == "Ventas, Tienda en línea: cifras calculadas"
    assert found.text[heading.start_char :].startswith(f"{heading.text}\n")
    assert heading.start_char > len(parsed.text)


@pytest.mark.parametrize(
    ("language", "texts", "values"),
    [
        ("es", ["1.250", "2.300"], [1250, 2300]),
        ("en", ["1.250", "2.300"], [1.25, 2.3]),
        ("und", ["1.250"], []),
        ("es", ["1.250", "3.75"], [1.25, 3.75]),
        ("es", ["1.250,50 €", "-4,5 €", "(7 €)"], [1250.5, -4.5, -7]),
        ("fr", ["1 250,5", "12 500"], [1250.5, 12500]),
        ("en", ["€1,250", "$3.5"], []),
        ("es", ["0612345678", "+34976123456", "00123", "06 12 34 56 78", "1.2.3", "12a"], []),
        ("es", ["12 %", "3,5%"], [12, 3.5]),
    ],
)
def test_numbers_in_texts(language: str, texts: list[str], values: list[float]) -> None:
    """R1.5 What is ambiguous is decided by its column, then by the language, else not at all."""
    assert list(read_numbers(texts, language=language).values.values()) == values


odd_cells = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**18), 10**18),
    st.integers(0, 3000),
    st.floats(),
    st.dates(),
    st.datetimes(),
    st.times(),
    st.timedeltas(),
    st.text(max_size=12),
    st.sampled_from(["Total", "1.250,50 €", "12/2025", "déc. 2025", "Q1 2025", "n/a", "2025", "Subtotal Norte", "5 %"]),
    st.just(10**400),
)
odd_headers = st.one_of(
    st.text(max_size=10),
    st.sampled_from(
        ["Mes", "Fecha", "Año", "Ventas", "Precio", "Enero", "Febrero", "2024", "2025", "Total", "%", "{x}"]
    ),
)


@st.composite
def odd_tables(draw: st.DrawFn) -> tuple[list[str], list[list[Cell]]]:
    width = draw(st.integers(1, 5))
    headers = draw(st.lists(odd_headers, min_size=width, max_size=width))
    columns = [
        draw(st.sampled_from([odd_cells, st.integers(0, 50), st.dates(), st.sampled_from(MONTHS), st.floats(0, 10)]))
        for _ in headers
    ]
    rows = draw(st.lists(st.tuples(*columns), max_size=12))
    return headers, [list(row) for row in rows]


@given(odd_tables(), st.sampled_from(["es", "fr", "en", "und"]))
@example((["Fecha", "Ventas"], [[date.max, 1], [date.min, 2], [datetime.max, 3]]), "es")
@example((["Ventas"], [[10**400], [float("nan")], [float("inf")], [1e300], [-1e300], [True], [time(1)]]), "fr")
def test_nothing_moves_and_nothing_fails(table: tuple[list[str], list[list[Cell]]], language: str) -> None:
    """R1.5 For any cells: the text before stays, every new line has its location, and the same again gives the same."""
    parsed = parsed_table(*table)
    found = with_computed(parsed, language=language)
    assert found.text.startswith(parsed.text)
    assert found.headings[: len(parsed.headings)] == parsed.headings
    assert [(p.start_char, p.end_char, p.cells) for p in found.locations[: len(parsed.locations)]] == [
        (p.start_char, p.end_char, p.cells) for p in parsed.locations
    ]
    assert found.tables == parsed.tables
    assert clean(found.text[len(parsed.text) :]).strip() == found.text[len(parsed.text) :].strip()
    for location in found.locations[len(parsed.locations) :]:
        assert location.start_char > len(parsed.text)
        line = found.text[location.start_char : location.end_char]
        assert line
        assert "\n" not in line
        assert corners(location.cells)
    assert with_computed(parsed, language=language) == found


amounts = st.one_of(
    st.lists(st.integers(-1000, 100_000), min_size=2, max_size=30),
    st.lists(st.decimals(0, 10_000, places=2).map(float), min_size=2, max_size=30),
)


@given(amounts, st.sampled_from(["es", "fr", "en"]))
def test_every_number_is_what_a_plain_computation_gives(values: list[float], language: str) -> None:
    """R1.5 Totals, extremes and means are computed, never guessed."""
    rows: Rows = [[f"Fila {number}", value] for number, value in enumerate(values)]
    lines = computed(["Nombre", "Importe"], rows, language=language)
    numbers = [line.partition(":")[2].strip() for line in lines[2:]]
    exact = [sum(values), min(values), max(values)]
    decimals = max((len(f"{value:.10g}".partition(".")[2]) for value in values if isinstance(value, float)), default=0)
    for said, value in zip(numbers, exact, strict=False):
        assert said.startswith(written(value, language, decimals=decimals))
    mean = math.fsum(values) / len(values)
    assert numbers[3].startswith(written(mean, language, decimals=max(2, decimals)))


@given(st.lists(st.integers(0, 500), min_size=2, max_size=24))
def test_every_trend_is_what_a_plain_computation_gives(values: list[int]) -> None:
    """R1.5 Change against the month before; none against nothing."""
    rows: Rows = [[date(2024 + month // 12, month % 12 + 1, 1), value] for month, value in enumerate(values)]
    found = with_computed(parsed_table(["Mes", "Ventas"], rows), language="en").locations[: len(rows)]
    changes = [location.temporal and location.temporal.change for location in found]
    assert changes[0] is None
    for change, before, after in zip(changes[1:], values, values[1:], strict=False):
        assert change is None if before == 0 else change == pytest.approx((after - before) / before)
