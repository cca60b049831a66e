"""Tables of PDF files: rows whose cells are in one line, and texts that only look like tables."""

import io
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reportlab.lib import colors
from reportlab.lib.enums import TA_JUSTIFY
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, PageTemplate, Paragraph, Table

from graphrag.config.settings import ParsingLimits
from graphrag.models import ParsedText
from graphrag.models.ingestion import PageRequest, PageView
from graphrag.parsers.parsing import parse, view
from tests.graphrag.parsers.laws import assert_lawful

LIMITS = ParsingLimits()
PROSE = (
    "El comité revisó los resultados del trimestre y acordó que las inversiones previstas para el año siguiente se "
    "mantendrán sin cambios mientras no varíen los precios de la energía. "
) * 3
JUSTIFIED = ParagraphStyle("justified", fontName="Helvetica", fontSize=9, alignment=TA_JUSTIFY)
PLAIN = ParagraphStyle("plain", fontName="Helvetica", fontSize=9)
SALES = [
    ["Région", "Ventes (€)", "Marge", "Remarques"],
    ["Île-de-France", "91.224,81", "12 %", "hausse"],
    ["Bretagne", "7.857,67", "3 %", ""],
    ["North West", "35.885,17", "41 %", "sin IVA"],
    ["Wales", "2.865,79", "–", "revu"],
]
RULES: dict[str, list[Any]] = {
    "grid": [("GRID", (0, 0), (-1, -1), 0.5, colors.black)],
    "rows": [("LINEBELOW", (0, 0), (-1, -1), 0.5, colors.grey)],
    "header": [(f"LINE{side}", (0, row), (-1, row), 1, colors.black) for side, row in (("ABOVE", 0), ("BELOW", 0))],
    "stripes": [("ROWBACKGROUNDS", (0, 0), (-1, -1), [colors.whitesmoke, colors.lightgrey])],
    "none": [],
}


def make(flowables: Sequence[Flowable], *, columns: int = 1) -> bytes:
    data = io.BytesIO()
    document = BaseDocTemplate(data, pagesize=A4)
    width = (A4[0] - 80) / columns - 10
    frames = [Frame(40 + place * (width + 20), 40, width, A4[1] - 80) for place in range(columns)]
    document.addPageTemplates(PageTemplate(frames=frames))
    document.build(list(flowables))
    return data.getvalue()


def draw(write: Callable[[Canvas], object], *, font: str = "Helvetica") -> bytes:
    data = io.BytesIO()
    canvas = Canvas(data, pagesize=A4)
    canvas.setFont(font, 9)
    write(canvas)
    canvas.showPage()
    canvas.save()
    return data.getvalue()


def lines_beside(*columns: Sequence[str], left: int = 60, apart: int = 220) -> bytes:
    """A page of prose, and columns of short lines that are drawn line by line."""

    def write(canvas: Canvas) -> None:
        for place, line in enumerate(zip(*columns, strict=True)):
            for number, text in enumerate(line):
                canvas.drawString(left + apart * number, 780 - 13 * place, text)
        for place in range(10):
            canvas.drawString(left, 400 - 13 * place, PROSE[place : place + 90])

    return draw(write)


def read(data: bytes) -> ParsedText:
    parsed = parse(data, filename="a.pdf", limits=LIMITS)
    assert_lawful(parsed)
    return parsed


def row(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("is_wrapped", [False, True])
def test_rows_of_a_table_are_lines(rules: str, is_wrapped: bool) -> None:
    """R1.3: with the text before and after it, whatever is drawn around its cells, and cells of several lines."""
    texts: list[list[str]] = [*SALES, ["Centre", "1.234,50", "7 %", "les prix de l'énergie ont doublé depuis janvier"]]
    shown = [[Paragraph(text, PLAIN) for text in line] for line in texts] if is_wrapped else texts
    table = Table(shown, style=RULES[rules], colWidths=[110] * 4 if is_wrapped else None)
    text = read(make([Paragraph(PROSE, JUSTIFIED), table, Paragraph(PROSE, JUSTIFIED)])).text
    assert "\n".join([row(texts[0]), row(["---"] * 4), *map(row, texts[1:])]) in text
    assert text.startswith("El comité")
    assert text.endswith("energía.")


@pytest.mark.parametrize("rules", ["grid", "none"])
def test_headers_over_several_columns(rules: str) -> None:
    """R1.3"""
    texts = [["Región", "2024", "", "2025", ""], ["", "T1", "T2", "T1", "T2"]]
    texts += [[name, *(str(number + 11) for number in range(4))] for name in ("Norte", "Sur", "Lyon", "Wales")]
    spans = [("SPAN", (1, 0), (2, 0)), ("SPAN", (3, 0), (4, 0)), ("SPAN", (0, 0), (0, 1))]
    table = Table(texts, style=[*RULES[rules], *spans, ("ALIGN", (1, 0), (-1, -1), "CENTER")])
    text = read(make([Paragraph(PROSE, JUSTIFIED), table])).text
    assert "| Región | 2024 / T1 | 2024 / T2 | 2025 / T1 | 2025 / T2 |" in text
    assert row(texts[-1]) in text


@pytest.mark.parametrize("rules", ["grid", "header", "none"])
def test_words_cut_at_a_line_end_in_a_cell_are_whole_again(rules: str) -> None:
    """R1.3"""
    texts = [["Norma", "Texto", "Núm."], *([f"N{n}", "el fluido de la mani-\nobra", str(7 * n)] for n in range(1, 5))]
    style = [*RULES[rules], ("VALIGN", (0, 0), (-1, -1), "TOP")]
    assert "| N3 | el fluido de la maniobra | 21 |" in read(make([Table(texts, style=style)])).text


def test_header_of_a_table_on_each_page_is_no_page_header() -> None:
    """R1.3: the lines that pages repeat are left out, but not those of tables."""
    texts = [SALES[0], *SALES[1:] * 40]
    parsed = read(make([Table(texts, style=RULES["grid"], repeatRows=1)]))
    assert parsed.text.count(row(SALES[0])) == len(parsed.locations) >= 3
    assert parsed.text.count(row(SALES[1])) == 40


@given(
    st.lists(
        st.tuples(st.from_regex(r"[A-Z][a-z]{2,9}", fullmatch=True), st.integers(10, 99_999), st.integers(10, 999)),
        min_size=3,
        max_size=12,
    )
)
def test_every_row_of_a_grid_survives(rows: list[tuple[str, int, int]]) -> None:
    """R1.3"""
    texts = [["Nom", "Total", "Part"], *([name, str(total), str(part)] for name, total, part in rows)]
    lines = read(make([Table(texts, style=RULES["grid"])])).text.splitlines()
    assert [lines[0], *lines[2:]] == list(map(row, texts))


NAMES = ("ACME S. A.", "Calle Mayor, 3", "28013 Madrid", "España")
NO_TABLES = {
    "two columns": make([Paragraph(PROSE * 2, JUSTIFIED)] * 12, columns=2),
    "three columns": make([Paragraph(PROSE, JUSTIFIED)] * 16, columns=3),
    "columns line by line": lines_beside(*([PROSE[n : n + 44] for n in range(s, s + 20)] for s in (0, 60))),
    "paragraphs": make([Paragraph(PROSE, JUSTIFIED)] * 6),
    "contents with leaders": lines_beside(
        [f"{n}. Capítulo {'. ' * 20}" for n in range(9)], [str(3 * n) for n in range(9)]
    ),
    "contents": lines_beside([f"El capítulo {name}" for name in NAMES], ["3", "9", "12", "40"]),
    "form": lines_beside(
        ["Cliente: ACME", "Pedido: 12", "Divisa: EUR"], ["Fecha: 3/2/25", "Agente: Ana", "Plazo: 30 días"]
    ),
    "addresses": lines_beside(NAMES, ("Juan Pérez", "Avenida de América, 12", "08001 Barcelona", "España")),
    "letterhead": lines_beside(
        NAMES[:3], ("Tel. 91 555 12 12", "info@acme.es", "www.acme.es"), ("IBAN", "BIC", "NIF"), apart=170
    ),
    "references": lines_beside([f"[{n}]" for n in range(9)], [PROSE[n : n + 60] for n in range(9)], apart=30),
    "code": lines_beside(["total = 0;", "for (i = 0; i < 3;)", "total += f(i);"], ["# one", "# two", "# three"]),
    "verses": lines_beside([PROSE[n : n + 30] for n in range(9)], ["", "", "", "", "5", "", "", "", ""]),
}


@pytest.mark.parametrize("name", NO_TABLES)
def test_what_only_looks_like_a_table_stays(name: str) -> None:
    """R1.3"""
    assert "|" not in read(NO_TABLES[name]).text


def test_large_print_in_a_table_is_no_heading() -> None:
    """R1.3: headings begin lines."""
    large = ParagraphStyle("large", fontName="Helvetica", fontSize=18, leading=20)
    texts: list[list[Any]] = [
        [SALES[0][0], Paragraph("Grande", large), "x"],
        *([name, number, part] for name, number, part, _ in SALES[1:]),
    ]
    flowables = [Paragraph("Título", large), *[Paragraph(PROSE, JUSTIFIED)] * 4, Table(texts, style=RULES["grid"])]
    parsed = read(make(flowables))
    assert [heading.text for heading in parsed.headings] == ["Título"]
    assert "| Région | Grande | x |" in parsed.text


def test_quote_of_a_row_is_found_on_its_page() -> None:
    """R8.3: also where cells are of several lines."""
    texts: list[list[str]] = [*SALES, ["Centre", "1.234,50", "7 %", "les prix de l'énergie ont doublé depuis janvier"]]
    data = make(
        [Table([[Paragraph(text, PLAIN) for text in line] for line in texts], colWidths=[90] * 4, style=RULES["grid"])]
    )
    for line in (texts[1], texts[-1]):
        shown = view(data, PageRequest(1, quote=row(line)), filename="a.pdf", limits=LIMITS)
        assert isinstance(shown, PageView)
        assert shown.boxes
