"""Every format's text, headings, tables, title and authors; read in a process of its own, as the service does."""

import pytest
from docx.document import Document as WordDocument
from docx.enum.text import WD_BREAK

from graphrag.errors import UnreadableDocument
from graphrag.models import Heading, ParsedText
from tests.graphrag.parsers.documents import (
    HTML,
    MARKDOWN,
    ODT_BODY,
    RTF,
    make_docx,
    make_every_format,
    make_odt,
    make_pdf,
    make_pptx,
    make_xlsx,
)
from tests.graphrag.parsers.isolated import IsolatedParser
from tests.graphrag.parsers.laws import assert_lawful


@pytest.mark.parametrize(("name", "data"), make_every_format().items())
async def test_every_format_is_read(parser: IsolatedParser, name: str, data: bytes) -> None:
    """R1.1, R1.3"""
    assert_lawful(await parser.parse(data, filename=name))


def titles(parsed: ParsedText) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in parsed.headings]


async def test_docx(parser: IsolatedParser) -> None:
    """R1.3: headings, tables, title and authors."""
    parsed = await parser.parse(make_docx(), filename="a.docx")
    assert parsed.text == (
        "Ventas\n\nLas ventas subieron un 5 %: «¡récord!».\n\nPor cliente\n\n"
        "| Cliente | Total |\n| --- | --- |\n| Lefèvre | 3 € |\n- primero\n- segundo"
    )
    assert titles(parsed) == [(1, "Ventas"), (2, "Por cliente")]
    assert (parsed.title, parsed.authors) == ("El informe", ("Ana Muñoz",))


async def test_docx_keeps_breaks_and_marks_of_markdown(parser: IsolatedParser) -> None:
    """R1.3: the text is the file's own, whatever it looks like."""

    def write(document: WordDocument) -> None:
        document.add_paragraph("# no *es* [un](enlace)").add_run().add_break()
        document.paragraphs[0].add_run("a_b\tc")
        document.add_paragraph("fin").add_run().add_break(WD_BREAK.PAGE)

    parsed = await parser.parse(make_docx(write), filename="a.docx")
    assert parsed.text == "# no *es* [un](enlace)\na_b\tc\n\nfin"
    assert not parsed.headings


async def test_pptx(parser: IsolatedParser) -> None:
    """R1.3: slides in the order they are shown, each with its number, title, table and notes."""
    parsed = await parser.parse(make_pptx(), filename="a.pptx")
    slides = [(place.page, parsed.text[place.start_char : place.end_char]) for place in parsed.locations]
    assert slides == [
        (1, "Objetivos\n\ncrecer\nahorrar"),
        (2, "Cifras\n\n| Mes | Total |\n| --- | --- |\n| enero | 7 |"),
        (3, "sin título\n\nhablar despacio"),
    ]
    assert titles(parsed) == [(1, "Objetivos"), (1, "Cifras")]
    assert (parsed.title, parsed.authors) == ("La presentación", ("Zoé",))


async def test_odt(parser: IsolatedParser) -> None:
    """R1.3"""
    parsed = await parser.parse(make_odt(ODT_BODY), filename="a.odt")
    assert parsed.text == "Capítulo\n\nSe aprobó el plan.\n\n| Voto | 7 |"
    assert titles(parsed) == [(1, "Capítulo")]
    assert (parsed.title, parsed.authors) == ("El acta", ("Inés",))


async def test_rtf(parser: IsolatedParser) -> None:
    """R1.3: its escapes are read in the text and in its properties."""
    parsed = await parser.parse(RTF, filename="a.rtf")
    assert parsed.text == "El señor Muñoz cobró 3 €.\n\nSegunda línea."
    assert (parsed.title, parsed.authors) == ("La nómina", ("José Ł",))


async def test_html(parser: IsolatedParser) -> None:
    """R1.3: what a reader sees, and no more."""
    parsed = await parser.parse(HTML.encode(), filename="a.html")
    assert parsed.text == (
        "H2O\n\nEl agua hierve a 100 °C.\nOtra línea.\n- uno\n- dos\n\n| Sal | Pepper |\n| --- | --- |\n| 1 | a b / c |"
    )
    assert parsed.headings == (Heading(1, "H2O", 0),)
    assert (parsed.title, parsed.authors) == ("La página", ("Léa",))


async def test_html_tables_that_lay_a_page_out_are_no_tables(parser: IsolatedParser) -> None:
    """R1.3"""
    page = "<html><table><tr><td><h2>Menú</h2>izquierda<td>derecha<table><tr><th>A<th>B</table></table>"
    parsed = await parser.parse(page.encode(), filename="a.html")
    assert parsed.text == "Menú\n\nizquierda\n\nderecha\n\n| A | B |"
    assert titles(parsed) == [(2, "Menú")]


async def test_html_keeps_preformatted_lines(parser: IsolatedParser) -> None:
    """R1.3"""
    page = "<html><p>una\n línea</p><pre>def f():\n    return  1\n</pre><p>otra\n línea</p>"
    parsed = await parser.parse(page.encode(), filename="a.html")
    assert parsed.text == "una línea\n\ndef f():\n    return  1\n\notra línea"


@pytest.mark.parametrize("charset", ["utf-8", "utf-16", "cp1252", "shift_jis"])
async def test_html_in_its_declared_charset(parser: IsolatedParser, charset: str) -> None:
    """R1.1"""
    text = "日本語のテキスト" if charset == "shift_jis" else "¿Qué pasó, señor?"
    page = f"<html><meta charset='{charset}'><p>{text}</p>"
    assert (await parser.parse(page.encode(charset), filename="a.html")).text == text


async def test_markdown(parser: IsolatedParser) -> None:
    """R1.3: its text stays as written; headings are read without marks, not in code and not in the front matter."""
    parsed = await parser.parse(MARKDOWN.encode(), filename="a.md")
    assert parsed.text == MARKDOWN.strip()
    assert titles(parsed) == [(1, "El título"), (2, "Sub ref")]
    assert [parsed.text[heading.start_char :][:6] for heading in parsed.headings] == ["# El *", "Sub [r"]


async def test_markdown_too_long_for_its_headings_says_so(parser: IsolatedParser) -> None:
    """R1.3"""
    parsed = await parser.parse(b"# Uno\n\n" + b"palabra " * 400_000, filename="a.md")
    assert not parsed.headings
    assert "headings" in parsed.warnings[0]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.docx", make_docx(lambda document: document.add_paragraph(" … "))),
        ("a.odt", make_odt("<text:p>---</text:p>")),
        ("a.html", b"<html><script>x</script><p>&nbsp;</p>"),
        ("a.rtf", rb"{\rtf1\ansi \par\par}"),
        ("a.csv", b";;;\n;;;\n"),
        ("a.xlsx", make_xlsx({"Vacía": [], "Otra": [[None, " "]]})),
        ("a.pdf", make_pdf([[" "]])),
        ("a.md", b"--- ... ***"),
    ],
)
async def test_file_without_a_word_is_empty(parser: IsolatedParser, name: str, data: bytes) -> None:
    """R1.2"""
    with pytest.raises(UnreadableDocument) as caught:
        await parser.parse(data, filename=name)
    assert caught.value.details["reason"] == "empty"
