"""What Word and PowerPoint compute or keep apart: numbers, notes, headers, charts."""

import io
import zipfile
from collections.abc import Sequence
from xml.etree.ElementTree import Element, fromstring

import pptx
import pytest
from docx import Document
from docx.document import Document as WordDocument
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import parse_xml
from docx.shared import Inches as WordInches
from docx.text.paragraph import Paragraph
from hypothesis import given
from hypothesis import strategies as st
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from graphrag.config.settings import ParsingLimits
from graphrag.models import ParsedText
from graphrag.parsers.parsing import parse
from graphrag.parsers.word_styles import ParagraphStyles, _written
from tests.graphrag.parsers.documents import make_docx, make_ppt, part, with_part, zipped
from tests.graphrag.parsers.isolated import IsolatedParser
from tests.graphrag.parsers.laws import assert_lawful

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def read(data: bytes, name: str = "a.docx") -> ParsedText:
    parsed = parse(data, filename=name, limits=ParsingLimits())
    assert_lawful(parsed)
    return parsed


def level(depth: int, kind: str, text: str, start: int = 1) -> str:
    values = f'<w:start w:val="{start}"/><w:numFmt w:val="{kind}"/><w:lvlText w:val="{text}"/>'
    return f'<w:lvl w:ilvl="{depth}">{values}</w:lvl>'


def define(document: WordDocument, number: int, levels: Sequence[str], *, override: str = "") -> None:
    """Add a list of these levels, which comes before the numbers, as Word wants it."""
    numbering = document.part.numbering_part.element
    definition = f'<w:abstractNum xmlns:w="{W}" w:abstractNumId="{number}">{"".join(levels)}</w:abstractNum>'
    numbering.insert(0, parse_xml(definition))
    used = f'<w:num xmlns:w="{W}" w:numId="{number}"><w:abstractNumId w:val="{number}"/>{override}</w:num>'
    numbering.append(parse_xml(used))


def number(paragraph: Paragraph, list_id: int, depth: int) -> None:
    properties = paragraph._p.get_or_add_pPr()
    properties.append(
        parse_xml(f'<w:numPr xmlns:w="{W}"><w:ilvl w:val="{depth}"/><w:numId w:val="{list_id}"/></w:numPr>')
    )


def test_numbers_of_headings_and_lists_are_kept() -> None:
    """R1.3: «2.1», «b)»: as Word shows them, where the same text comes twice too."""

    def write(document: WordDocument) -> None:
        define(document, 77, [level(0, "decimal", "%1"), level(1, "decimal", "%1.%2"), level(2, "upperRoman", "%3.")])
        define(document, 78, [level(0, "lowerLetter", "%1)"), level(1, "bullet", "•")])
        for depth, text in ((0, "Alcance"), (0, "Plazos"), (1, "Obra"), (1, "Obra"), (2, "Detalle"), (0, "Fin")):
            number(document.add_heading(text, depth + 1), 77, depth)
        for depth, text in ((0, "uno"), (1, "punto"), (0, "dos")):
            number(document.add_paragraph(text, style="List Paragraph"), 78, depth)

    parsed = read(make_docx(write))
    assert [heading.text for heading in parsed.headings] == [
        "1 Alcance",
        "2 Plazos",
        "2.1 Obra",
        "2.2 Obra",
        "I. Detalle",
        "3 Fin",
    ]
    assert parsed.text.endswith("3 Fin\na) uno\n- punto\nb) dos")


def test_numbers_of_styles_and_new_starts() -> None:
    """R1.3: a style may number its paragraphs, and a list begin anew."""

    def write(document: WordDocument) -> None:
        override = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'
        define(document, 79, [level(0, "decimalZero", "Art. %1")], override=override)
        style = document.styles["Heading 2"].element
        style.get_or_add_pPr().append(parse_xml(f'<w:numPr xmlns:w="{W}"><w:numId w:val="79"/></w:numPr>'))
        for text in ("Objeto", "Precio"):
            document.add_heading(text, 2)

    assert [heading.text for heading in read(make_docx(write)).headings] == ["Art. 05 Objeto", "Art. 06 Precio"]


@pytest.mark.parametrize(
    ("kind", "number", "text"),
    [
        ("lowerLetter", 27, "aa"),
        ("upperLetter", 2, "B"),
        ("upperRoman", 1994, "MCMXCIV"),
        ("lowerRoman", 4, "iv"),
        ("decimalZero", 7, "07"),
        ("hebrew1", 3, "3"),
        ("lowerRoman", 9_999, "9999"),
        ("lowerLetter", 0, "0"),
    ],
)
def test_number_formats(kind: str, number: int, text: str) -> None:
    """R1.3: one that is not known is decimal."""
    assert _written(number, kind) == text


NONSENSE = st.sampled_from(
    [
        *("0", "1", "8", "9", "-1", "x", "", "99999999999999999999"),
        *("%1", "%9.%1", "bullet", "lowerRoman", "heading 9", "Title"),
    ]
)
TAGS = st.sampled_from(
    "abstractNum num lvl lvlOverride startOverride numFmt lvlText start abstractNumId p pPr numPr ilvl numId pStyle"
    " style basedOn name outlineLvl".split()
)


@st.composite
def elements(draw: st.DrawFn, depth: int = 0) -> Element:
    names = ("val", "ilvl", "numId", "abstractNumId", "styleId")
    element = Element(f"{{{W}}}{draw(TAGS)}", {f"{{{W}}}{name}": draw(NONSENSE) for name in names})
    if depth < 3:
        element.extend(draw(st.lists(elements(depth + 1), max_size=4)))
    return element


@given(elements(), elements(), st.lists(elements(), max_size=5))
def test_nonsense_in_styles_ends_as_numbers(numbering: Element, styles: Element, paragraphs: list[Element]) -> None:
    """Security 10"""
    counted = ParagraphStyles(numbering, styles)
    assert all(0 <= counted.next(each).level <= 9 for each in paragraphs)


def with_notes() -> bytes:
    """A text with a note, and a table with marks of emphasis in its header's cells."""
    document = Document()
    document.add_paragraph("El horno falló").add_run()._r.append(
        parse_xml(f'<w:footnoteReference xmlns:w="{W}" w:id="1"/>')
    )
    table = document.sections[0].header.add_table(1, 2, WordInches(4))
    for cell, text in zip(table.rows[0].cells, ("Obra", "Arenal"), strict=True):
        cell.paragraphs[0].add_run(text).bold = True
    document.sections[0].header.paragraphs[0].text = "Ayuntamiento de Arenal"
    document.sections[0].footer.paragraphs[0].text = "Página 1 de 3"
    data = io.BytesIO()
    document.save(data)
    footnotes = (
        f'<w:footnotes xmlns:w="{W}"><w:footnote w:id="1"><w:p><w:r><w:t>Según el acta.</w:t></w:r></w:p></w:footnote>'
        "</w:footnotes>"
    )
    return with_footnotes(data.getvalue(), footnotes)


def with_footnotes(data: bytes, footnotes: str) -> bytes:
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
    types = part(data, "[Content_Types].xml").replace(
        b"</Types>", f'<Override PartName="/word/footnotes.xml" ContentType="{kind}"/></Types>'.encode()
    )
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    relations = part(data, "word/_rels/document.xml.rels").replace(
        b"</Relationships>",
        f'<Relationship Id="rId99" Type="{relation}" Target="footnotes.xml"/></Relationships>'.encode(),
    )
    data = with_part(data, "word/footnotes.xml", footnotes.encode())
    return with_part(with_part(data, "[Content_Types].xml", types), "word/_rels/document.xml.rels", relations)


def test_notes_are_tied_to_their_places_and_margins_follow_the_body() -> None:
    """R1.3: no mark of Markdown in a cell; no page number."""
    parsed = read(with_notes())
    assert parsed.text.startswith("El horno falló[1]\n\n")
    assert "[1] Según el acta." in parsed.text
    assert "| Obra | Arenal |" in parsed.text
    assert "Ayuntamiento de Arenal" in parsed.text
    assert "Página" not in parsed.text
    assert "*" not in parsed.text


def add(document: WordDocument, content: str) -> None:
    """Append a paragraph by its XML."""
    math = "http://schemas.openxmlformats.org/officeDocument/2006/math"
    document.element.body.insert(-1, parse_xml(f'<w:p xmlns:w="{W}" xmlns:m="{math}">{content}</w:p>'))


def run(text: str, properties: str = "") -> str:
    return f'<w:r>{properties}<w:t xml:space="preserve">{text}</w:t></w:r>'


def test_every_part_of_a_text_stands_in_its_place() -> None:
    """R1.3: formulas, results of fields, insertions, controls, text boxes; nothing deleted or hidden, no comment."""
    square = "<m:sSup><m:e><m:r><m:t>c</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>"
    box = f"<w:r><w:pict><w:txbxContent><w:p>{run('en la caja')}</w:p></w:txbxContent></w:pict></w:r>"

    def write(document: WordDocument) -> None:
        add(document, f"{run('Fórmula: ')}<m:oMath><m:r><m:t>E=m</m:t></m:r>{square}</m:oMath>")
        add(document, f"<w:ins>{run('nuevo')}</w:ins><w:del><w:r><w:delText>viejo</w:delText></w:r></w:del>")
        add(document, f"<w:r><w:instrText>PAGE</w:instrText></w:r>{run('enlace')}")
        add(document, f"<w:sdt><w:sdtPr/><w:sdtContent>{run('control')}</w:sdtContent></w:sdt>")
        add(document, f"{run('Antes')}{run('oculto', '<w:rPr><w:vanish/></w:rPr>')}{box}{run(' y después')}")
        document.add_comment(document.paragraphs[-1].runs[0], text="Una duda", author="Ana")

    assert read(make_docx(write)).text.split("\n\n") == [
        *("Fórmula: E=mc^2", "nuevo", "enlace", "control", "Antes y después", "en la caja", "Una duda")
    ]


def test_charts_and_diagrams_of_a_text_follow_their_paragraph() -> None:
    """R1.3: as tables and lines."""
    types = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    points = '<c:pt idx="0"><c:v>{}</c:v></c:pt><c:pt idx="1"><c:v>{}</c:v></c:pt>'
    series = f"<c:cat>{points.format('enero', 'mayo')}</c:cat><c:val>{points.format(3, 4)}</c:val>"
    parts = {
        "chart": f'<c:x xmlns:c="c"><c:ser><c:tx>{points.format("Ventas", "netas")}</c:tx>{series}</c:ser></c:x>',
        "diagramData": '<d:dataModel xmlns:d="d"><d:pt><d:t>fase uno</d:t></d:pt></d:dataModel>',
    }
    drawing = (
        f'<w:drawing xmlns:w="{W}" xmlns:r="{types}"><chart r:id="chart"/><relIds r:dm="diagramData"/></w:drawing>'
    )

    def write(document: WordDocument) -> None:
        document.add_paragraph("Véase:").add_run()._r.append(parse_xml(drawing))
        document.add_paragraph("Fin.")

    data = make_docx(write)
    relations = "".join(f'<Relationship Id="{kind}" Type="{types}/{kind}" Target="{kind}.xml"/>' for kind in parts)
    known = part(data, "word/_rels/document.xml.rels").replace(b"</Rel", relations.encode() + b"</Rel")
    data = with_part(data, "word/_rels/document.xml.rels", known)
    for kind, content in parts.items():
        data = with_part(data, f"word/{kind}.xml", content.encode())
    table = "|  | Ventas netas |\n| --- | --- |\n| enero | 3 |\n| mayo | 4 |"
    assert read(data).text.split("\n\n") == ["Véase:", table, "fase uno", "Fin."]


def test_numbers_in_cells_and_levels_of_styles_are_kept() -> None:
    """R1.3: a list goes on in a table; a style made of a heading's is one, unless it is set to be none."""

    def write(document: WordDocument) -> None:
        define(document, 77, [level(0, "decimal", "%1.")])
        number(document.add_paragraph("uno"), 77, 0)
        cells = document.add_table(1, 2).rows[0].cells
        cells[0].text, cells[1].text = "dos", "x"
        number(cells[0].paragraphs[0], 77, 0)
        number(document.add_paragraph("tres"), 77, 0)
        for name in ("Artículo", "Lema"):
            style = document.styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH)
            style.base_style = document.styles["Heading 2"]
            document.add_paragraph(name, style=name)
        style.element.get_or_add_pPr().append(parse_xml(f'<w:outlineLvl xmlns:w="{W}" w:val="9"/>'))

    parsed = read(make_docx(write))
    assert parsed.text == "1. uno\n\n| 2. dos | x |\n3. tres\n\nArtículo\n\nLema"
    assert [(heading.level, heading.text) for heading in parsed.headings] == [(2, "Artículo")]


def test_main_part_is_the_one_that_the_file_names() -> None:
    """R1.1: «document2.xml» in files of some programs."""
    data = make_docx(lambda document: document.add_paragraph("El horno falló."))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name.replace("document.xml", "document2.xml"): archive.read(name) for name in archive.namelist()}
    parts["_rels/.rels"] = parts["_rels/.rels"].replace(b"document.xml", b"document2.xml")
    assert read(zipped(parts)).text == "El horno falló."


def test_table_in_a_text_box_in_a_cell_comes_once() -> None:
    """R1.3"""
    inner = f"<w:tbl><w:tr><w:tc><w:p>{run('dentro')}</w:p></w:tc></w:tr></w:tbl>"
    box = f"<w:r><w:pict><w:txbxContent>{inner}<w:p/></w:txbxContent></w:pict></w:r>"

    def write(document: WordDocument) -> None:
        cells = document.add_table(1, 2).rows[0].cells
        cells[0].text, cells[1].text = "uno", "dos"
        cells[0].paragraphs[0]._p.append(parse_xml(box.replace("<w:r>", f'<w:r xmlns:w="{W}">', 1)))

    assert read(make_docx(write)).text == "| uno | dos |\n\ndentro"


def test_what_looks_like_a_note_is_text_where_there_is_none() -> None:
    """R1.3"""
    assert read(make_docx(lambda document: document.add_paragraph("véase [^1]"))).text == "véase [^1]"


def test_charts_of_slides_are_tables() -> None:
    """R1.3: titles, series, categories and values."""
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Cifras"
    bars, dots = CategoryChartData(), XyChartData()
    bars.categories = ["enero", "febrero"]
    bars.add_series("Ventas", (3.5, 4))
    bars.add_series("Costes", (1, None))
    dots.add_series("Pares").add_data_point(1, 2)
    size = (0, 0, Inches(4), Inches(3))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *size, bars).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Ventas de 2024"
    slide.shapes.add_chart(XL_CHART_TYPE.XY_SCATTER, *size, dots)
    data = io.BytesIO()
    presentation.save(data)
    assert read(data.getvalue(), "a.pptx").text == (
        "Cifras\n\nVentas de 2024\n|  | Ventas | Costes |\n| --- | --- | --- |\n| enero | 3.5 | 1 |\n"
        "| febrero | 4 |  |\n\n|  | Pares |\n| --- | --- |\n| 1 | 2 |"
    )


async def test_slides_of_powerpoint_97(parser: IsolatedParser) -> None:
    """R1.1, R1.3: titles, text boxes and the slides' numbers."""
    parsed = await parser.parse(
        make_ppt([("Objetivos", ["crecer", "ahorrar más"]), ("Cifras", ["siete"])]), filename="a"
    )
    assert_lawful(parsed)
    slides = [(place.page, parsed.text[place.start_char : place.end_char]) for place in parsed.locations]
    assert slides == [(1, "Objetivos\n\ncrecer\n\nahorrar más"), (2, "Cifras\n\nsiete")]
    assert [heading.text for heading in parsed.headings] == ["Objetivos", "Cifras"]


def test_numbering_of_another_namespace_is_read() -> None:
    """R1.3: that of the strict variant."""
    strict = "http://purl.oclc.org/ooxml/wordprocessingml/main"
    numbering = fromstring(
        f'<w:numbering xmlns:w="{strict}"><w:abstractNum w:abstractNumId="0">{level(0, "decimal", "%1.")}'
        '</w:abstractNum><w:num w:numId="3"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
    )
    paragraph = fromstring(f'<w:p xmlns:w="{strict}"><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr></w:p>')
    assert ParagraphStyles(numbering, Element("none")).next(paragraph).number == "1."
