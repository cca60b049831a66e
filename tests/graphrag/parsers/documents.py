"""Files of every format, made for the tests."""

import io
import struct
import zipfile
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

import docx
import pptx
import xlsxwriter
from docx.document import Document as WordDocument
from PIL import Image
from pptx.util import Inches
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from graphrag.parsers import detection

OFFICE = "urn:oasis:names:tc:opendocument:xmlns"
SALES = (
    ("Fecha", "Cliente", "Unidades", "Precio"),
    (date(2024, 1, 15), "Muñoz", 3, 12.5),
    (date(2024, 2, 15), "Lefèvre", 5, 11.25),
)
_FREE, _END_OF_CHAIN, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


def zipped(parts: Mapping[str, bytes | str], *, stored: str = "mimetype") -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content, zipfile.ZIP_STORED if name == stored else None)
    return data.getvalue()


def with_part(data: bytes, name: str, content: bytes, *, stored: str = "mimetype") -> bytes:
    """An Office file with one of its parts replaced."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts: dict[str, bytes | str] = {part: archive.read(part) for part in archive.namelist()}
    return zipped(parts | {name: content}, stored=stored)


def part(data: bytes, name: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.read(name)


def make_docx(write: Callable[[WordDocument], object] | None = None) -> bytes:
    document = docx.Document()
    document.core_properties.title = "El informe"
    document.core_properties.author = "Ana Muñoz"
    if write is None:
        _write_report(document)
    else:
        write(document)
    data = io.BytesIO()
    document.save(data)
    return data.getvalue()


def _write_report(document: WordDocument) -> None:
    document.add_heading("Ventas", 1)
    document.add_paragraph("Las ventas subieron un 5 %: «¡récord!».")
    document.add_heading("Por cliente", 2)
    table = document.add_table(2, 2)
    for row, values in enumerate((("Cliente", "Total"), ("Lefèvre", "3 €"))):
        for column, value in enumerate(values):
            table.cell(row, column).text = value
    document.add_paragraph("primero", style="List Bullet")
    document.add_paragraph("segundo", style="List Bullet")


def make_pptx() -> bytes:
    """Three slides: a title, points and notes; a text without a title; a table. The last is shown before the second."""
    presentation = pptx.Presentation()
    presentation.core_properties.title = "La presentación"
    presentation.core_properties.author = "Zoé"
    first = presentation.slides.add_slide(presentation.slide_layouts[1])
    first.shapes.title.text = "Objetivos"
    first.placeholders[1].text = "crecer\nahorrar"
    second = presentation.slides.add_slide(presentation.slide_layouts[6])
    second.shapes.add_textbox(0, 0, Inches(3), Inches(1)).text_frame.text = "sin título"
    second.notes_slide.notes_text_frame.text = "hablar despacio"
    third = presentation.slides.add_slide(presentation.slide_layouts[5])
    third.shapes.title.text = "Cifras"
    table = third.shapes.add_table(2, 2, 0, 0, Inches(4), Inches(2)).table
    for row, values in enumerate((("Mes", "Total"), ("enero", "7"))):
        for column, value in enumerate(values):
            table.cell(row, column).text = value
    order = presentation.slides._sldIdLst
    order.insert(1, order[2])
    data = io.BytesIO()
    presentation.save(data)
    return data.getvalue()


def make_xlsx(sheets: Mapping[str, Sequence[Sequence[Any]]], *, row: int = 0, column: int = 0) -> bytes:
    """Sheets whose cells begin at `row`, `column`. «=…» is a formula without a stored value."""
    data = io.BytesIO()
    with xlsxwriter.Workbook(data, {"default_date_format": "yyyy-mm-dd"}) as workbook:
        for name, rows in sheets.items():
            sheet = workbook.add_worksheet(name)
            for number, cells in enumerate(rows, start=row):
                for place, cell in enumerate(cells, start=column):
                    if cell is not None:
                        sheet.write(number, place, cell)
    return data.getvalue()


def make_pdf(
    pages: Sequence[Sequence[str]], *, title: str = "", author: str = "", password: str | None = None, size: int = 11
) -> bytes:
    """Pages of lines; one that begins with «# » is printed large. A page without lines holds an image."""
    data = io.BytesIO()
    canvas = Canvas(data, encrypt=password)
    canvas.setTitle(title)
    canvas.setAuthor(author)
    for lines in pages:
        for number, line in enumerate(lines):
            canvas.setFont("Helvetica", 2 * size if line.startswith("# ") else size)
            canvas.drawString(72, 780 - 30 * number, line.removeprefix("# "))
        if not lines:
            canvas.drawImage(ImageReader(_picture()), 0, 0, 595, 842)
        canvas.showPage()
    canvas.save()
    return data.getvalue()


def _picture() -> io.BytesIO:
    data = io.BytesIO()
    Image.new("L", (60, 80), 200).save(data, "PNG")
    data.seek(0)
    return data


def make_odt(body: str, *, manifest: str = "") -> bytes:
    namespaces = " ".join(
        f'xmlns:{name}="{OFFICE}:{name}:1.0"' for name in ("office", "text", "table", "meta", "manifest")
    )
    namespaces += ' xmlns:dc="http://purl.org/dc/elements/1.1/"'
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    return zipped(
        {
            "mimetype": detection.ODT,
            "content.xml": f"{head}<office:document-content {namespaces}><office:body><office:text>{body}"
            "</office:text></office:body></office:document-content>",
            "meta.xml": f"{head}<office:document-meta {namespaces}><office:meta><dc:title>El acta</dc:title>"
            "<dc:creator>Inés</dc:creator></office:meta></office:document-meta>",
            "META-INF/manifest.xml": f"{head}<manifest:manifest {namespaces}>{manifest}</manifest:manifest>",
        }
    )


ODT_BODY = (
    '<text:h text:outline-level="1">Capítulo</text:h><text:p>Se aprobó el plan.</text:p>'
    "<table:table><table:table-row><table:table-cell><text:p>Voto</text:p></table:table-cell>"
    "<table:table-cell><text:p>7</text:p></table:table-cell></table:table-row></table:table>"
)

RTF = (
    rb"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Arial;}}{\info{\title La n\'f3mina}{\author Jos\'e9 \u321?}}"
    rb"\f0 El se\'f1or Mu\'f1oz cobr\'f3 3 \u8364?.\par Segunda l\'ednea.\par}"
)

HTML = """<!doctype html><html><head><meta charset="utf-8"><title>La página</title><meta name="Author" content="Léa">
<script>var oculto = 1;</script><style>p {color: red}</style></head><body><nav>menú</nav>
<h1>H<sub>2</sub>O</h1><p>El agua
hier<b>ve</b> a 100 °C.<br>Otra línea.</p><ul><li>uno<li><p>dos</p></ul>
<table><tr><th>Sal<th>Pepper<tr><td>1<td><p>a</p><p>b | c</p></table><p hidden>nada</p></body></html>"""

MARKDOWN = (
    "---\ntitle: x\n---\n\n# El *título*\n\nTexto.\n\n```\n# no\n```\n\nSub [ref]\n---\n\nFin.\n\n[ref]: http://a.b\n"
)


def make_ole(streams: Mapping[str, bytes]) -> bytes:
    """A compound file ([MS-CFB]) of few streams, each padded to 4,096 bytes so that it stands in whole sectors."""
    padded = [(name, content.ljust(4096, b"\0")) for name, content in streams.items()]
    fat, sectors = [_FAT, _END_OF_CHAIN], b""
    entries = [_entry("Root Entry", kind=5, child=1 if padded else _FREE)]
    for number, (name, content) in enumerate(padded, start=1):
        count = -(-len(content) // 512)
        begin = len(fat)
        fat += [*range(begin + 1, begin + count), _END_OF_CHAIN]
        sectors += content.ljust(512 * count, b"\0")
        right = number + 1 if number < len(padded) else _FREE
        entries.append(_entry(name, kind=2, right=right, begin=begin, size=len(content)))
    assert len(entries) <= 4
    assert len(fat) <= 128
    header = struct.pack(
        "<8s16xHHHHH6x9I", detection._OLE, 0x3E, 3, 0xFFFE, 9, 6, 0, 1, 1, 0, 4096, *(_END_OF_CHAIN, 0) * 2
    )
    return (
        header
        + struct.pack("<109I", 0, *[_FREE] * 108)
        + struct.pack("<128I", *fat, *[_FREE] * (128 - len(fat)))
        + b"".join(entries).ljust(512, b"\0")
        + sectors
    )


def _entry(
    name: str, *, kind: int, right: int = _FREE, child: int = _FREE, begin: int = _END_OF_CHAIN, size: int = 0
) -> bytes:
    written = name.encode("utf-16-le") + b"\0\0"
    return struct.pack("<64sHBBIII16xI16xIQ", written, len(written), kind, 1, _FREE, right, child, 0, begin, size)


def make_every_format() -> dict[str, bytes]:
    """Filename → a good file of its format; of .doc only the development data has one."""
    return {
        "a.txt": "Hola, señor Muñoz.".encode(),
        "a.md": MARKDOWN.encode(),
        "a.html": HTML.encode(),
        "a.csv": "Cliente;Total\nMuñoz;3\nLefèvre;4\n".encode(),
        "a.pdf": make_pdf([["# Resumen", "Una página en la que se dice lo que pasó."], ["Y otra, con el resto."]]),
        "a.docx": make_docx(),
        "a.pptx": make_pptx(),
        "a.xlsx": make_xlsx({"Ventas": SALES}),
        "a.odt": make_odt(ODT_BODY),
        "a.rtf": RTF,
    }
