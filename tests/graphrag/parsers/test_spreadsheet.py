"""Workbooks and CSV: rows with their headers, sheets and cells."""

import io
import re
from datetime import date, datetime, time, timedelta

import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import ParsedText, SourceLocation, Table, TableRow
from graphrag.parsers.parsing import parse
from graphrag.parsers.source_locations import letters
from graphrag.parsers.spreadsheet import written
from tests.graphrag.parsers.documents import SALES, make_xlsx, part, with_part
from tests.graphrag.parsers.laws import assert_lawful

LIMITS = ParsingLimits()


def read(data: bytes, *, filename: str = "a.xlsx", limits: ParsingLimits = LIMITS) -> ParsedText:
    parsed = parse(data, filename=filename, limits=limits)
    assert_lawful(parsed)
    return parsed


def test_row_is_a_line_with_its_headers_and_cells() -> None:
    """R1.5"""
    parsed = read(make_xlsx({"Ventas": SALES}))
    first = "Fecha: 2024-01-15; Cliente: Muñoz; Unidades: 3; Precio: 12.5"
    second = "Fecha: 2024-02-15; Cliente: Lefèvre; Unidades: 5; Precio: 11.25"
    assert parsed.text == f"Ventas\n{first}\n{second}"
    start, end = 7, 7 + len(first)
    assert parsed.locations[0] == SourceLocation(start, end, sheet="Ventas", cells="A2:D2")
    rows = (
        TableRow(start, end, 2, (date(2024, 1, 15), "Muñoz", 3, 12.5)),
        TableRow(end + 1, len(parsed.text), 3, (date(2024, 2, 15), "Lefèvre", 5, 11.25)),
    )
    assert parsed.tables == (Table("Ventas", SALES[0], 0, rows),)


def test_cells_are_named_as_the_sheet_names_them() -> None:
    """R1.5: also where the table does not begin at A1."""
    parsed = read(make_xlsx({"Hoja": SALES}, row=9, column=26))
    assert [place.cells for place in parsed.locations] == ["AA11:AD11", "AA12:AD12"]
    assert parsed.tables[0].first_column == 26
    assert [row.number for row in parsed.tables[0].rows] == [11, 12]


def test_titles_over_a_table_blank_lines_and_gaps() -> None:
    """R1.5"""
    rows: list[list[object]] = [["Informe anual"], [], ["Año", "Total"], [2023, 7], [], [2024, None], [None, 9]]
    parsed = read(make_xlsx({"Hoja": rows}))
    assert parsed.text == "Hoja\nInforme anual\nAño: 2023; Total: 7\nAño: 2024\nTotal: 9"
    assert [place.cells for place in parsed.locations] == ["A1", "A4:B4", "A6", "B7"]
    assert {table.headers for table in parsed.tables} == {("Año", "Total")}


def test_percentages_are_read_as_they_are_shown() -> None:
    """R1.5 By the format of their cells, built in or the sheet's own; other numbers stay."""
    data = io.BytesIO()
    with xlsxwriter.Workbook(data) as workbook:
        plain, fine = workbook.add_format({"num_format": "0%"}), workbook.add_format({"num_format": '0.0" %"'})
        workbook.add_worksheet("Otra")
        sheet = workbook.add_worksheet("Tasas & más")
        sheet.write_row(3, 2, ["Zona", "IVA", "Cuota"])
        for number, (zone, rate) in enumerate([("Norte", 0.21), ("Sur", 0.125), ("Este", 0)], start=4):
            sheet.write(number, 2, zone)
            sheet.write(number, 3, rate, plain)
            sheet.write(number, 4, rate, fine if zone == "Sur" else None)
    parsed = read(data.getvalue())
    assert parsed.text.splitlines()[1:] == [
        "Zona: Norte; IVA: 21 %; Cuota: 0.21",
        "Zona: Sur; IVA: 12.5 %; Cuota: 12.5 %",
        "Zona: Este; IVA: 0 %; Cuota: 0",
    ]


def test_tables_side_by_side_are_two() -> None:
    """R1.5 Each with its own cells; columns apart of the same rows are one table."""
    beside: list[list[object]] = [
        ["Socio", "Cuota", None, "Fecha", "Gasto"],
        ["Ana", 30, None, "2025-01-02", 12.5],
        ["Bea", 45, None, "2025-01-09", 8],
        ["Leo", 30, None, None, None],
    ]
    parsed = read(make_xlsx({"Hoja": beside}))
    assert [(table.headers, table.first_column, len(table.rows)) for table in parsed.tables] == [
        (("Socio", "Cuota"), 0, 3),
        (("Fecha", "Gasto"), 3, 2),
    ]
    assert [place.cells for place in parsed.locations] == ["A2:B2", "A3:B3", "A4:B4", "D2:E2", "D3:E3"]
    one = [[*row[:2], None, *row[3:]] for row in beside[:3]]
    (table,) = read(make_xlsx({"Hoja": one})).tables
    assert table.headers == ("Socio", "Cuota", "", "Fecha", "Gasto")


def test_months_and_years_name_columns() -> None:
    """R1.5: as dates, which spreadsheets make of «ene-25», and as mere numbers."""
    months: list[list[object]] = [["Producto", date(2025, 1, 1), date(2025, 2, 1)], ["Galleta", 110, 120]]
    years: list[list[object]] = [["Línea", 2023, 2024], ["L1", 10, 20]]
    dated: list[list[object]] = [["Pedido", date(2025, 1, 7)], ["Otro", date(2025, 1, 9)]]
    parsed = read(make_xlsx({"Meses": months, "Años": years, "Fechas": dated}))
    assert [table.headers for table in parsed.tables] == [("Producto", "2025-01", "2025-02"), ("Línea", "2023", "2024")]
    assert "Producto: Galleta; 2025-01: 110; 2025-02: 120" in parsed.text


def test_sheets_without_headers_are_read_too() -> None:
    """R1.5"""
    parsed = read(make_xlsx({"Uno": [[1, 2], [3, 4]], "Vacía": [], "Dos": [["solo"]]}))
    assert parsed.text == "Uno\n1; 2\n3; 4\n\nDos\nsolo"
    assert [heading.text for heading in parsed.headings] == ["Uno", "Dos"]
    assert [(place.sheet, place.cells) for place in parsed.locations] == [
        ("Uno", "A1:B1"),
        ("Uno", "A2:B2"),
        ("Dos", "A1"),
    ]
    assert not parsed.tables


def test_values_keep_their_types() -> None:
    """R1.5: dates and numbers are what they are."""
    moment = datetime(2024, 5, 6, 7, 8)
    parsed = read(make_xlsx({"Hoja": [["Valor", "Otro"], [True, 1], [moment, 0.5], ["  dos\npalabras ", 10**12]]}))
    values = [row.values[0] for row in parsed.tables[0].rows]
    assert values[0] is True
    assert values[2] == "dos palabras"
    assert parsed.tables[0].rows[2].values[1] == 10**12
    assert "Valor: true; Otro: 1" in parsed.text


def test_formula_without_a_stored_value_is_warned_of() -> None:
    """R1.5"""
    rows: list[list[object]] = [["Mes", "Total"], ["enero", 3], ["febrero", 4]]
    assert read(make_xlsx({"Hoja": rows})).warnings == ()
    data = make_xlsx({"Hoja": [*rows, ["suma", "=SUM(B2:B3)"]]})
    assert read(data).warnings == ()  # the writer stores a 0

    sheet = part(data, "xl/worksheets/sheet1.xml")
    assert b"<v>0</v>" in sheet
    for empty in (b"", b"<v></v>", b"<v/>"):
        parsed = read(with_part(data, "xl/worksheets/sheet1.xml", sheet.replace(b"<v>0</v></c>", empty + b"</c>")))
        assert parsed.warnings[0].startswith("1 formula")
        assert "B4" in parsed.warnings[0]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("charset", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_csv_in_every_dialect(delimiter: str, charset: str) -> None:
    """R1.1, R1.5"""
    lines = ["Cliente|Nota|Total", 'Muñoz|"año; mes, día"|3,5', "Lefèvre|«así»|4"]
    data = "\r\n".join(line.replace("|", delimiter) for line in lines).encode(charset)
    parsed = read(data, filename="a.csv")
    expected = "Cliente: Muñoz; Nota: año; mes, día; Total: 3,5"
    if delimiter == ",":
        expected = "Cliente: Muñoz; Nota: año; mes, día; Total: 3"
    assert parsed.text.startswith(expected)
    assert parsed.locations[0].cells.startswith("A2:")
    assert parsed.tables[0].headers[:3] == ("Cliente", "Nota", "Total")


def test_csv_with_a_cell_as_long_as_the_file() -> None:
    """R1.1"""
    parsed = read(b'a;b\n"' + b"x;y\n" * 100_000, filename="a.csv")
    assert parsed.text.count("x;y") == 100_000


def test_headers_repeated_on_every_row_stay_within_the_limit() -> None:
    """R1.1: a limit on expansion."""
    data = ("x" * 70 + ";" + "y" * 70 + "\n" + "1;2\n" * 1_000).encode()
    with pytest.raises(UnreadableDocument) as caught:
        read(data, filename="a.csv", limits=ParsingLimits(characters=20_000))
    assert caught.value.details["reason"] == "too_large"


def test_damaged_workbook() -> None:
    """R1.2"""

    with pytest.raises(UnreadableDocument) as caught:
        read(with_part(make_xlsx({"Hoja": SALES}), "xl/workbook.xml", b"<nothing"))
    assert caught.value.details["reason"] == "damaged"


@given(st.integers(0, 16_383))
def test_letters_count_columns(column: int) -> None:
    """R1.5"""
    value = 0
    for letter in letters(column):
        value = 26 * value + ord(letter) - ord("A") + 1
    assert value == column + 1


CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.floats(-1e6, 1e6),
    st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF), max_size=12).filter(
        lambda text: text[:1] not in "={"
    ),
    st.dates(date(1990, 1, 1), date(2050, 1, 1)),
)


@given(st.lists(st.lists(CELLS, max_size=5), max_size=8), st.integers(0, 40), st.integers(0, 40))
def test_every_row_quotes_its_cells(rows: list[list[object]], row: int, column: int) -> None:
    """R1.5: offsets and cells hold for whatever a sheet holds."""
    try:
        parsed = read(make_xlsx({"Hoja": rows}, row=row, column=column))
    except UnreadableDocument:
        assert not any(isinstance(cell, int | float | date) for cells in rows for cell in cells)
        return
    for table in parsed.tables:
        for line in table.rows:
            assert line.number > row
            assert table.first_column >= column


def test_durations_and_times_are_written_out() -> None:
    """R1.5"""

    assert written(time(7, 30)) == "07:30:00"
    assert written(timedelta(hours=30)) == "1 day, 6:00:00"
    assert written(datetime(2024, 5, 6)) == "2024-05-06"
    assert written(datetime(2024, 5, 6, 7, 8)) == "2024-05-06 07:08"


def make_sparse(*far: tuple[int, int, object]) -> bytes:
    data = io.BytesIO()
    with xlsxwriter.Workbook(data) as workbook:
        sheet = workbook.add_worksheet("Ventas")
        blue = workbook.add_format({"bg_color": "blue"})
        for row, column, value in ((0, 0, "Mes"), (0, 1, "Total"), (1, 0, "enero"), (1, 1, 3), *far):
            sheet.write(row, column, value, blue if value is None else None)
    return data.getvalue()


@pytest.mark.parametrize(
    ("row", "column", "cell"), [(1_048_575, 16_383, "XFD1048576"), (100_000, 500, "SG100001"), (20_000, 300, "KO20001")]
)
def test_cell_far_from_all_others_costs_no_memory(row: int, column: int, cell: str) -> None:
    """R1.3, security 9: the others are read, and it is named; one that is only coloured is not."""
    parsed = read(make_sparse((row, column, "perdido")))
    assert parsed.text == "Ventas\nMes: enero; Total: 3"
    assert parsed.warnings == (f"1 cells far from the others are not read (the first is {cell})",)
    assert read(make_sparse((row, column, None))).warnings == ()


def test_of_cells_in_opposite_corners_the_upper_is_read() -> None:
    """R1.3, security 9"""
    parsed = read(make_xlsx({"Hoja": [[None] * 16_383 + ["arriba"], *[[]] * 1_048_574, ["abajo"]]}))
    assert parsed.text == "Hoja\narriba"
    assert "A1048576" in parsed.warnings[0]


def test_cells_that_are_only_apart_are_read() -> None:
    """R1.3: a gap alone cuts nothing off."""
    parsed = read(make_sparse((4_000, 1, "lejos"), (0, 250, "Notas"), (1, 250, "aquí")))
    assert "lejos" in parsed.text
    assert "Notas: aquí" in parsed.text
    assert not parsed.warnings


def test_far_cell_of_a_sheet_that_does_not_say_its_size() -> None:
    """R1.3: some programs leave it out."""
    data, name = make_sparse((1_048_575, 16_383, "perdido")), "xl/worksheets/sheet1.xml"
    assert b"<dimension" in part(data, name)
    bare = with_part(data, name, re.sub(rb"<dimension[^>]*/>", b"", part(data, name)))
    assert read(bare).text == "Ventas\nMes: enero; Total: 3"
