"""Tables of HTML, DOCX, ODT, PPTX and RTF: every cell is in its row's line, under its header."""

import io
import time

import pptx
import pytest
from docx.document import Document as WordDocument
from docx.shared import Length
from hypothesis import given
from hypothesis import strategies as st
from pptx.util import Inches

from graphrag.config.settings import ParsingLimits
from graphrag.models import ParsedText
from graphrag.parsers.parsing import parse
from graphrag.parsers.text import MAX_REPEATED_CHARS, Cell, TextBuilder, clean, write_table
from tests.graphrag.parsers.documents import make_docx, make_odt, part, with_part
from tests.graphrag.parsers.laws import assert_lawful

LIMITS = ParsingLimits()
BUDGET = [
    [Cell("Region", rows=2), Cell("Budget 2024", 2), Cell("Budget 2025", 2)],
    [Cell("T1"), Cell("T2"), Cell("T1"), Cell("T2")],
    [Cell("North"), Cell("3 €"), Cell(""), Cell("5 €"), Cell("6 €")],
]


def read(data: bytes, filename: str) -> ParsedText:
    parsed = parse(data, filename=filename, limits=LIMITS)
    assert_lawful(parsed)
    return parsed


def read_page(body: str) -> str:
    return read(f"<html>{body}".encode(), "a.html").text


def cells(*rows: str) -> list[list[Cell]]:
    return [[Cell(text) for text in row.split(",")] for row in rows]


def test_rows_of_headers_are_joined() -> None:
    """R1.3: what spans columns stands over each of them."""
    assert write_table(BUDGET) == (
        "| Region | Budget 2024 / T1 | Budget 2024 / T2 | Budget 2025 / T1 | Budget 2025 / T2 |\n"
        "| --- | --- | --- | --- | --- |\n| North | 3 € |  | 5 € | 6 € |"
    )


def test_title_stands_before_its_table() -> None:
    """R1.3: merged over the whole table, or alone in its row."""
    assert write_table([[Cell("Ventas", 2)], *cells("Mes,Total", "enero,3")]).startswith(
        "Ventas\n| Mes | Total |\n| ---"
    )
    assert write_table(cells("Ventas,", "Mes,Total", "enero,3")).startswith("Ventas\n| Mes | Total |\n| ---")


def test_row_that_is_one_cell_says_it_once() -> None:
    """R1.3"""
    written = write_table([*cells("Mes,Total"), [Cell("Primer semestre", 2)], *cells("enero,3")])
    assert written.splitlines()[2:] == ["| Primer semestre |  |", "| enero | 3 |"]


def test_what_has_one_row_or_column_lays_text_out() -> None:
    """R1.3"""
    assert write_table(cells("uno", "dos")) == "uno\ndos"
    assert write_table(cells("Voto,7")) == "| Voto | 7 |"
    assert write_table(cells("uno\ndos,tres")) == "uno\ndos\ntres"
    assert write_table(cells(",uno", ",dos")) == "uno\ndos"
    assert write_table([]) == write_table(cells(",", ",")) == ""


def test_merged_cell_of_long_text_is_written_once() -> None:
    """R1.3"""
    text = "palabra " * MAX_REPEATED_CHARS
    assert write_table([[Cell(text, rows=2), Cell("a")], cells("b")[0]]).count("palabra") == MAX_REPEATED_CHARS


TEXT = st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="|"), max_size=12)
CELL = st.builds(Cell, TEXT, st.integers(1, 4), st.integers(1, 4))


@given(st.lists(st.lists(CELL, max_size=6), max_size=6))
def test_every_word_of_every_cell_survives(rows: list[list[Cell]]) -> None:
    """R1.3: whatever is merged, and the text is clean."""
    builder = TextBuilder(LIMITS.characters)
    span = builder.add(write_table(rows))
    assert clean(builder.text) == builder.text
    assert 0 <= span.start <= span.end <= len(builder.text)
    written = set(builder.text.replace("|", " ").split())
    for row in rows:
        for cell in row:
            assert written >= set(clean(cell.text).split())


@given(
    st.lists(st.lists(st.from_regex(r"[a-zñ]{1,5}( \d{1,3} €)?", fullmatch=True), min_size=3, max_size=3), min_size=2)
)
def test_rows_of_a_grid_are_lines(rows: list[list[str]]) -> None:
    """R1.3"""
    lines = write_table([[Cell(text) for text in row] for row in rows]).splitlines()
    assert [lines[0], *lines[2:]] == [f"| {' | '.join(row)} |" for row in rows]


def test_html_merged_cells() -> None:
    """R1.3: and the sections in the order in which they are shown."""
    page = """<table><caption>Tabla 1</caption><tfoot><tr><td>Total<td colspan=2>9</tfoot>
    <thead><tr><th rowspan=2>Región<th colspan=2>2025<tr><th>T1<th>T2</thead>
    <tr><th rowspan=0>Norte<td>1 %<td>a|b<tr><td>2<ul><li>x<li>y</ul><td></table>"""
    assert read_page(page) == (
        "Tabla 1\n| Región | 2025 / T1 | 2025 / T2 |\n| --- | --- | --- |\n"
        "| Norte | 1 % | a/b |\n| Norte | 2 x y |  |\n| Total | 9 | 9 |"
    )


def test_html_tables_in_cells_follow_their_table() -> None:
    """R1.3: their rows are not those of the outer one."""
    rows = "".join(f"<tr><td>{name}<td>{name * 2}<td>{name * 3}" for name in "abc")
    page = f"<table>{rows}<tr><td>d<td>ver<table><tr><th>n<th>m<tr><td>1<td>2</table><td>fin</table>"
    assert read_page(page) == (
        "| a | aa | aaa |\n| --- | --- | --- |\n| b | bb | bbb |\n| c | cc | ccc |\n| d | ver | fin |\n\n"
        "| n | m |\n| --- | --- |\n| 1 | 2 |"
    )


def test_html_tables_for_layout_are_text() -> None:
    """R1.3"""
    assert read_page("<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>") == "a\n\nb\n\nc\n\nd"
    assert read_page("<table><tr><td>uno<p>dos<td>tres</table>") == "uno\ndos\ntres"


@pytest.mark.parametrize(
    "page",
    [
        "<table><tr><td colspan=1000 rowspan=65534>x<td>y" + "<tr><td>z<td>v" * 20_000,
        "<table><tr>" + "<td>a" * 10_000 + "<td colspan=1000 rowspan=65534>x" + "<tr><td>b" * 20_000,
        "<table>" + ("<tr>" + "<td colspan=1000 rowspan=65534>a" * 100) * 300,
        "<table>" + "<tr><td colspan=99999999999 rowspan=-1>a<td colspan=x>b" * 300,
        "<table><tr><th>a<td>b<tr><td>" * 3_000 + "hola",
    ],
)
def test_hostile_spans_cost_nothing(page: str) -> None:
    """Security 9"""
    started = time.process_time()
    assert len(read_page(page)) < 3 * len(page)
    assert time.process_time() - started < 5


def test_docx_merged_cells_and_headers() -> None:
    """R1.3: with bold words, links and paragraphs of cells as text, and tables in cells after their own."""

    def write(document: WordDocument) -> None:
        document.add_paragraph("antes")
        table = document.add_table(4, 3)
        for row, texts in enumerate(
            (("Región", "2025", ""), ("", "T1", "T2"), ("Norte", "1", "2"), ("Sur", "", "4 €"))
        ):
            for column, text in enumerate(texts):
                table.cell(row, column).text = text
        table.cell(0, 0).merge(table.cell(1, 0))
        table.cell(0, 1).merge(table.cell(0, 2))
        table.cell(2, 1).paragraphs[0].add_run(" M€").bold = True
        table.cell(2, 2).add_paragraph("dos")
        inner = table.cell(3, 1).add_table(2, 2)
        for place in range(4):
            inner.cell(place // 2, place % 2).text = f"n{place}"
        document.add_paragraph("después")

    assert read(make_docx(write), "a.docx").text == (
        "antes\n\n| Región | 2025 / T1 | 2025 / T2 |\n| --- | --- | --- |\n| Norte | 1 M€ | 2 dos |\n"
        "| Sur |  | 4 € |\n\n| n0 | n1 |\n| --- | --- |\n| n2 | n3 |\n\ndespués"
    )


def test_docx_body_that_xberg_reads_otherwise() -> None:
    """R1.3: a table without rows and tables of headers leave the others in their places."""

    def write(document: WordDocument) -> None:
        header = document.sections[0].header.add_table(2, 2, Length(3_000_000))
        table = document.add_table(2, 2)
        document.add_table(0, 2)
        for place in range(4):
            header.cell(place // 2, place % 2).text = f"h{place}"
            table.cell(place // 2, place % 2).text = f"b{place}"

    text = read(make_docx(write), "a.docx").text
    assert text.startswith("| b0 | b1 |\n| --- | --- |\n| b2 | b3 |")
    assert text.endswith("| h0 | h1 |\n| --- | --- |\n| h2 | h3 |")


def test_docx_marked_headers() -> None:
    """R1.3: w:tblHeader, cells before the grid, controls, deletions and a hyphen that doesn't break."""

    def write(document: WordDocument) -> None:
        table = document.add_table(3, 2)
        for place in range(6):
            table.cell(place // 2, place % 2).text = f"c{place}"

    data = make_docx(write)
    body = part(data, "word/document.xml").decode()
    rows = body.split("<w:tr>")
    mark = "<w:tr><w:trPr><w:tblHeader/></w:trPr>"
    body = rows[0] + mark + rows[1] + mark + rows[2] + "<w:tr><w:trPr><w:gridBefore w:val='1'/></w:trPr>" + rows[3]
    body = body.replace(
        "c4", "c4</w:t></w:r><w:del><w:r><w:delText>no</w:delText></w:r></w:del><w:r><w:noBreakHyphen/><w:t>"
    )
    text = read(with_part(data, "word/document.xml", body.encode()), "a.docx").text
    assert text == "| c0 / c2 | c1 / c3 |  |\n| --- | --- | --- |\n|  | c4\u2011 | c5 |"


def test_odt_merged_and_repeated_cells() -> None:
    """R1.3"""
    body = """<table:table><table:table-header-rows><table:table-row>
    <table:table-cell table:number-columns-spanned="2"><text:p>Año <text:span>2025</text:span></text:p>
    </table:table-cell>
    <table:covered-table-cell/><table:table-cell><text:p>Nota</text:p></table:table-cell></table:table-row>
    </table:table-header-rows><table:table-row>
    <table:table-cell table:number-rows-spanned="2"><text:p>Norte</text:p></table:table-cell>
    <table:table-cell><text:p>b<text:s/>c</text:p><text:p>d</text:p></table:table-cell><table:table-cell/>
    </table:table-row><table:table-row><table:covered-table-cell/>
    <table:table-cell table:number-columns-repeated="2"><text:p>7</text:p></table:table-cell></table:table-row>
    </table:table><text:p>fin</text:p>"""
    assert read(make_odt(body), "a.odt").text == (
        "| Año 2025 | Año 2025 | Nota |\n| --- | --- | --- |\n| Norte | b c d |  |\n| Norte | 7 | 7 |\n\nfin"
    )


def test_rtf_table() -> None:
    """R1.3"""
    row = rb"\trowd\cellx2000\cellx4000\pard\intbl %b\cell %b\cell\row"
    data = rb"{\rtf1\ansi\pard antes\par" + row % (b"Mes", b"Total") + row % (b"enero", b"3 \\'80") + rb"\pard fin\par}"
    assert "| Mes | Total |\n| --- | --- |\n| enero | 3 €" in read(data, "a.rtf").text


def test_pptx_merged_cells() -> None:
    """R1.3: also in a group of shapes."""
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    frame = slide.shapes.add_table(4, 3, 0, 0, Inches(4), Inches(2))
    texts = (("Region", "2025", ""), ("", "T1", "T2"), ("North", "1\nmore", "2"), ("", "3", ""))
    for row, line in enumerate(texts):
        for column, text in enumerate(line):
            frame.table.cell(row, column).text = text
    for first, last in (((0, 0), (1, 0)), ((0, 1), (0, 2)), ((2, 0), (3, 0))):
        frame.table.cell(*first).merge(frame.table.cell(*last))
    group = slide.shapes.add_group_shape()
    group._element.append(frame._element)
    data = io.BytesIO()
    presentation.save(data)
    assert read(data.getvalue(), "a.pptx").text == (
        "| Region | 2025 / T1 | 2025 / T2 |\n| --- | --- | --- |\n| North | 1 more | 2 |\n| North | 3 |  |"
    )


@given(st.data())
def test_every_cell_of_a_merged_docx_survives(data: st.DataObject) -> None:
    """R1.3"""
    rows, columns = data.draw(st.integers(2, 5)), data.draw(st.integers(2, 5))

    def write(document: WordDocument) -> None:
        table = document.add_table(rows, columns)
        for row, written in enumerate(table.rows):
            for column, cell in enumerate(written.cells):
                cell.text = f"r{row}c{column}"
        last_row, last_column = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1))
        first_row, first_column = data.draw(st.integers(0, last_row)), data.draw(st.integers(0, last_column))
        table.cell(first_row, first_column).merge(table.cell(last_row, last_column))

    text = read(make_docx(write), "a.docx").text
    assert all(f"r{row}c{column}" in text for row in range(rows) for column in range(columns))
