"""PDF: pages, headings, what pages repeat, words cut at line ends, scans, passwords."""

import io
from collections.abc import Sequence
from typing import Any

import pytest
from reportlab.lib.colors import HexColor
from reportlab.pdfgen.canvas import Canvas

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import ParsedText
from graphrag.parsers.parsing import parse
from graphrag.parsers.pdf import without_repeated_lines
from graphrag.parsers.text import word_joiner
from tests.graphrag.parsers.documents import make_pdf
from tests.graphrag.parsers.laws import assert_lawful

LIMITS = ParsingLimits(recognition_seconds=0)
SENTENCES = [f"Párrafo {word}: lo que se dijo aquel día." for word in ("uno", "dos", "tres", "cuatro", "cinco", "seis")]


def read(data: bytes, *, limits: ParsingLimits = LIMITS) -> ParsedText:
    parsed = parse(data, filename="a.pdf", limits=limits)
    assert_lawful(parsed)
    return parsed


def test_text_knows_its_pages() -> None:
    """R1.3"""
    parsed = read(make_pdf([SENTENCES[:2], SENTENCES[2:4]], title="El plan", author="Ana Muñoz"))
    pages = [(place.page, parsed.text[place.start_char : place.end_char]) for place in parsed.locations]
    assert pages == [(1, "\n".join(SENTENCES[:2])), (2, "\n".join(SENTENCES[2:4]))]
    assert (parsed.title, parsed.authors) == ("El plan", ("Ana Muñoz",))


@pytest.mark.parametrize("title", ["Microsoft Word - informe.docx", "untitled", "informe.docx"])
def test_title_that_a_program_made_up_is_none(title: str) -> None:
    """R1.3"""
    assert read(make_pdf([SENTENCES], title=title, author="anonymous")).title == ""
    assert read(make_pdf([SENTENCES], title=title, author="anonymous")).authors == ()


def test_large_print_is_a_heading() -> None:
    """R1.3"""
    parsed = read(make_pdf([["# Introducción", *SENTENCES], [*SENTENCES, "# Cierre", *SENTENCES]]))
    assert [(heading.level, heading.text) for heading in parsed.headings] == [(1, "Introducción"), (1, "Cierre")]


def make_report(*, font: str, size: float = 11, outline: str | None = None) -> bytes:
    """Three chapters on two pages each, with a bold paragraph; `outline`: what it names them, with {} for the title."""
    data = io.BytesIO()
    canvas = Canvas(data)
    for number, chapter in enumerate(CHAPTERS, start=1):
        for lines in ([f"{number}. {chapter}", *(SENTENCES * 5)[:22]], [BOLD_LINE, BOLD_LINE, *(SENTENCES * 5)[:20]]):
            for place, line in enumerate(lines):
                is_bold = line == BOLD_LINE
                title = line.endswith(chapter)
                canvas.setFont(font if title else "Helvetica-Bold" if is_bold else "Helvetica", size if title else 11)
                canvas.drawString(72, 780 - 30 * place, line)
                if title and outline:
                    canvas.bookmarkPage(chapter)
                    canvas.addOutlineEntry(outline.format(chapter), chapter, 0)
            canvas.showPage()
    canvas.save()
    return data.getvalue()


CHAPTERS = ("Alcance de la obra", "Causas de la avería", "Conclusiones")
BOLD_LINE = "Este párrafo entero va en negrita, porque importa a quien lo lea, y no es título"


@pytest.mark.parametrize(("font", "size"), [("Helvetica-Bold", 11), ("Times-Bold", 12), ("Helvetica", 14)])
def test_titles_stand_out_by_their_weight_or_size(font: str, size: float) -> None:
    """R1.3: bold lines are headings where they stand alone; a bold paragraph is none."""
    parsed = read(make_report(font=font, size=size))
    assert [(heading.level, heading.text) for heading in parsed.headings] == [
        (1, f"{number}. {chapter}") for number, chapter in enumerate(CHAPTERS, start=1)
    ]


def test_outline_names_headings_that_their_print_does_not() -> None:
    """R1.3: with or without their numbers; one of another text is not used, but the numbers of lines are."""
    wanted = [f"{number}. {chapter}" for number, chapter in enumerate(CHAPTERS, start=1)]
    plain = make_report(font="Helvetica", outline="{}")
    assert [heading.text for heading in read(plain).headings] == wanted
    shouted = make_report(font="Helvetica", outline="  {} ".upper())
    assert [heading.text for heading in read(shouted).headings] == wanted
    assert [heading.text for heading in read(make_report(font="Helvetica", outline="Marcador {}")).headings] == wanted


def make_designed(titles: Sequence[str], *, font: str = "Helvetica", size: float = 10, color: str = "#000000") -> bytes:
    """Sections whose titles are printed so, over text in Helvetica 10; two a page."""
    data = io.BytesIO()
    canvas = Canvas(data)
    for place, title in enumerate(titles):
        top = 780 - 360 * (place % 2)
        canvas.setFont(font, size)
        canvas.setFillColor(HexColor(color))
        canvas.drawString(72, top, title)
        canvas.setFont("Helvetica", 10)
        canvas.setFillColor(HexColor("#000000"))
        for number, line in enumerate((SENTENCES * 3)[:12], start=1):
            canvas.drawString(72, top - 24 * number, line)
        if place % 2:
            canvas.showPage()
    canvas.save()
    return data.getvalue()


TITLES = ("Alcance de la obra", "Causas de la avería", "Requisitos:", "Conclusiones")


@pytest.mark.parametrize(
    "look",
    [
        {"size": 11},
        {"font": "Helvetica-Bold", "size": 9.5},
        {"font": "Helvetica-Oblique"},
        {"font": "Times-Roman"},
        {"color": "#1F4E79"},
    ],
)
def test_titles_stand_out_by_their_look(look: dict[str, Any]) -> None:
    """R1.3: slightly larger, bold but smaller, in italics, another font or colour."""
    assert [heading.text for heading in read(make_designed(TITLES, **look)).headings] == [*TITLES]


@pytest.mark.parametrize(
    ("titles", "levels"),
    [
        (["ALCANCE DE LA OBRA", "CAUSAS", "PLAZOS", "FIN"], [1, 1, 1, 1]),
        (["1 Alcance", "1.1 Obra", "1.2 Precio", "2 Causas"], [1, 2, 2, 1]),
        (["1.1 Obra", "1.2. Precio", "2.1 Causas", "2.2 Fin"], [2, 2, 2, 2]),
    ],
)
def test_titles_in_the_text_s_print_are_told_by_capitals_or_numbers(titles: list[str], levels: list[int]) -> None:
    """R1.3"""
    found = read(make_designed(titles)).headings
    assert [(heading.level, heading.text) for heading in found] == [*zip(levels, titles, strict=True)]


@pytest.mark.parametrize(
    "lines",
    [
        [f"{number}. Un punto de la lista" for number in range(1, 9)],
        ["3 Obra", "1 Precio", "2024 Año", "7 Fin"],
        ["SIGLAS DE LA OBRA"],
    ],
)
def test_lists_and_single_lines_are_no_headings(lines: list[str]) -> None:
    """R1.3"""
    assert read(make_pdf([[*SENTENCES, *lines, *SENTENCES]])).headings == ()


def test_titles_that_follow_each_other_in_one_print_are_two() -> None:
    """R1.3: where the second has a number."""
    found = read(make_pdf([["# Informe anual", "# 1 Resumen de la", "# obra", *SENTENCES * 4]])).headings
    assert [heading.text for heading in found] == ["Informe anual", "1 Resumen de la obra"]


def test_hyphens_of_compounds_stay_at_a_line_end() -> None:
    """R1.3: in three languages; PDFium takes them for those of cut words."""
    lines = ["Le porte-", "parole viendra peut-", "être, in a well-", "known adminis-", "tración."]
    assert read(make_pdf([lines])).text == "Le porte-parole viendra peut-être, in a well-known administración."


def test_lines_of_a_table_of_contents_are_no_headings() -> None:
    """R1.3"""
    lines = ["# Índice", "# Alcance . . . . . . . . . 2", "# Causas ........ 3", *SENTENCES * 3]
    assert [heading.text for heading in read(make_pdf([lines[:3], lines[3:]])).headings] == []


def test_text_all_in_one_size_or_mostly_large_has_no_headings() -> None:
    """R1.3"""
    assert not read(make_pdf([SENTENCES])).headings
    assert not read(make_pdf([["# " + sentence for sentence in SENTENCES[:3]] + SENTENCES[:3]])).headings


def test_headers_and_footers_of_all_pages_are_left_out() -> None:
    """R1.3: text cleaned."""
    pages = [["ACME S. A.", sentence, f"Página {number} de 6"] for number, sentence in enumerate(SENTENCES, start=1)]
    assert read(make_pdf(pages)).text == "\n\n".join(SENTENCES)


def test_lines_that_repeat_in_the_middle_or_on_few_pages_stay() -> None:
    """R1.3"""
    pages = ["\n".join(["ñ" * number, "b", "c", "Total", "d", "e", "f" * number]) for number in range(1, 4)]
    assert all("Total" in page for page in without_repeated_lines(pages))
    assert without_repeated_lines(["ACME\nuno", "ACME\ndos"]) == ["ACME\nuno", "ACME\ndos"]


def test_lines_alike_but_for_numbers_that_do_not_follow_the_pages_stay() -> None:
    """R1.3: a total at each page's end is no footer."""
    pages = [f"Artículo {number * number}\n{'ñ' * number}\nTotal {100 - number * 7}" for number in range(1, 6)]
    assert without_repeated_lines(pages) == pages


@pytest.mark.parametrize("footer", ["{}", "- {} -", "Página {} de 9", "ACME 2024 | p. {}", "ACME"])
def test_page_numbers_are_left_out(footer: str) -> None:
    """R1.3: also where the count begins elsewhere."""
    pages = ["ñ" * number + "\n" + footer.format(number + 6) for number in range(1, 6)]
    assert without_repeated_lines(pages) == ["ñ" * number for number in range(1, 6)]


def test_words_cut_at_a_line_end_are_whole_again() -> None:
    """R1.3"""
    cut = ["El cre-\ncimiento franco-\nalemán de Aix-\nEn-Provence", "El acuerdo franco-alemán", "bien\u00ad\nvenido"]
    joined = [*map(word_joiner(cut), cut)]
    assert joined[0] == "El crecimiento franco-alemán de Aix-En-Provence"
    assert joined[2] == "bienvenido"
    assert word_joiner([])("- uno\n- dos\n1-\n2") == "- uno\n- dos\n1-\n2"


def test_scanned_file_says_that_it_has_no_text_layer() -> None:
    """R1.2: the cause."""
    with pytest.raises(UnreadableDocument, match="no text layer") as caught:
        read(make_pdf([[], [], []]))
    assert caught.value.details["reason"] == "scanned"


def test_scanned_pages_among_others_are_listed() -> None:
    """R1.3"""
    parsed = read(make_pdf([SENTENCES, [], [], SENTENCES, []]))
    assert parsed.warnings == ("pages without a text layer: 2–3, 5",)
    assert [place.page for place in parsed.locations] == [1, 4]


def test_password_is_named() -> None:
    """R1.2"""
    with pytest.raises(UnreadableDocument, match="password") as caught:
        read(make_pdf([SENTENCES], password="secreto"))
    assert caught.value.details["reason"] == "encrypted"


@pytest.mark.parametrize("limits", [ParsingLimits(pages=2), ParsingLimits(characters=50)])
def test_more_than_the_limit_of_pages_or_characters(limits: ParsingLimits) -> None:
    """R1.1"""
    with pytest.raises(UnreadableDocument) as caught:
        read(make_pdf([SENTENCES] * 3), limits=limits)
    assert caught.value.details["reason"] == "too_large"


def test_long_text_full_of_hyphens_is_joined() -> None:
    """R1.3: in time that grows with the text."""
    page = "abc-\n" * 200_000
    assert word_joiner([page])(page) == "abc" * 200_000 + "-\n"
