"""PDF: pages, headings, what pages repeat, words cut at line ends, scans, passwords."""

import pytest

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import ParsedText
from graphrag.parsers.parsing import parse
from graphrag.parsers.pdf import join_words, without_repeated_lines
from tests.graphrag.parsers.documents import make_pdf
from tests.graphrag.parsers.laws import assert_lawful

LIMITS = ParsingLimits()
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
    joined = join_words(cut)
    assert joined[0] == "El crecimiento franco-alemán de Aix-En-Provence"
    assert joined[2] == "bienvenido"
    assert join_words(["- uno\n- dos\n1-\n2"]) == ["- uno\n- dos\n1-\n2"]


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
    pages = ["abc-\n" * 200_000]
    assert join_words(pages) == ["abc" * 200_000 + "-\n"]
