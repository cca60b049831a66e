"""Files of every format, made for the tests."""

import io
import struct
import zipfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from email.message import EmailMessage
from itertools import accumulate
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

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
    return make_open_document(detection.ODT, f"<office:text>{body}</office:text>", manifest=manifest)


def make_open_document(media_type: str, body: str, *, manifest: str = "") -> bytes:
    parts = ("office", "text", "table", "meta", "manifest", "presentation", "drawing")
    namespaces = " ".join(f'xmlns:{name}="{OFFICE}:{name}:1.0"' for name in parts)
    namespaces += ' xmlns:dc="http://purl.org/dc/elements/1.1/"'
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    return zipped(
        {
            "mimetype": media_type,
            "content.xml": f"{head}<office:document-content {namespaces}><office:body>{body}"
            "</office:body></office:document-content>",
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

ODS_BODY = (
    '<office:spreadsheet><table:table table:name="Ventas"><table:table-row>'
    '<table:table-cell office:value-type="string"><text:p>Fecha</text:p></table:table-cell>'
    '<table:table-cell office:value-type="string"><text:p>Total</text:p></table:table-cell></table:table-row>'
    '<table:table-row><table:table-cell office:value-type="date" office:date-value="2024-01-15"/>'
    '<table:table-cell office:value-type="float" office:value="12.5"/></table:table-row>'
    "</table:table></office:spreadsheet>"
)
ODP_BODY = (
    '<office:presentation><drawing:page><drawing:frame presentation:class="title"><drawing:text-box>'
    "<text:p>Objetivos</text:p></drawing:text-box></drawing:frame><drawing:frame><drawing:text-box><text:list>"
    "<text:list-item><text:p>crecer</text:p></text:list-item><text:list-item><text:p>ahorrar</text:p>"
    "</text:list-item></text:list></drawing:text-box></drawing:frame>"
    '<drawing:frame presentation:class="page-number"><drawing:text-box><text:p>1</text:p></drawing:text-box>'
    "</drawing:frame><presentation:notes><drawing:frame><drawing:text-box><text:p>hablar despacio</text:p>"
    "</drawing:text-box></drawing:frame></presentation:notes></drawing:page>"
    "<drawing:page><drawing:frame><table:table><table:table-row><table:table-cell><text:p>Mes</text:p>"
    "</table:table-cell><table:table-cell><text:p>Total</text:p></table:table-cell></table:table-row>"
    "<table:table-row><table:table-cell><text:p>enero</text:p></table:table-cell><table:table-cell><text:p>7</text:p>"
    "</table:table-cell></table:table-row></table:table></drawing:frame></drawing:page></office:presentation>"
)
CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/libro.opf"/></rootfiles></container>'
)


def make_epub(chapters: Mapping[str, str], *, encryption: str = "") -> bytes:
    """A book: pages by their names, in reading order, which is not the order of the names."""
    items = "".join(f'<item id="c{number}" href="{quote(name)}"/>' for number, name in enumerate(sorted(chapters)))
    order = "".join(f'<itemref idref="c{sorted(chapters).index(name)}"/>' for name in chapters)
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        "<dc:title>El faro</dc:title><dc:creator>Inés Muñoz</dc:creator><dc:creator>Léa</dc:creator></metadata>"
        f"<manifest>{items}</manifest><spine>{order}</spine></package>"
    )
    return zipped(
        {
            "mimetype": detection.EPUB,
            "META-INF/container.xml": CONTAINER,
            "OEBPS/libro.opf": package,
            **{f"OEBPS/{name}": page for name, page in chapters.items()},
            **({"META-INF/encryption.xml": encryption} if encryption else {}),
        }
    )


BOOK = {
    "z uno.xhtml": '<?xml version="1.0"?><html><head><title/></head><body><h1>Capítulo I</h1><p>El mar.</p></body>'
    "</html>",
    "portada.xhtml": "<html><body><img src='x.png'/></body></html>",
    "a dos.xhtml": "<html><body><h1>Capítulo II</h1><p>La lámpara<a id='x'/> arde.</p></body></html>",
}

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


def make_ppt(slides: Sequence[tuple[str, Sequence[str]]], *, token: int = 0xE391C05F) -> bytes:
    """Slides of PowerPoint 97 ([MS-PPT]): a title, and its paragraphs in a text box each."""

    def record(kind: int, *parts: bytes, version: int = 0xF, instance: int = 0) -> bytes:
        body = b"".join(parts)
        return struct.pack("<HHI", version | instance << 4, kind, len(body)) + body

    def text(kind: int, written: str) -> bytes:
        return record(3999, struct.pack("<I", kind), version=0) + record(4000, written.encode("utf-16-le"), version=0)

    outline = b"".join(
        record(1011, struct.pack("<5I", number, 0, 0, 255 + number, 0), version=0) + text(0, title)
        for number, (title, _) in enumerate(slides, start=2)
    )
    parts = [record(1000, record(1001, bytes(40), version=1), record(4080, outline), record(1002, version=0))]
    for _, texts in slides:
        boxes = b"".join(record(0xF004, record(0xF00D, text(4, each))) for each in texts)
        drawing = record(1036, record(0xF002, record(0xF003, boxes)))
        parts.append(record(1006, record(1007, bytes(24), version=2), drawing))
    places = [*accumulate(map(len, parts), initial=0)]
    directory = record(6002, struct.pack(f"<{1 + len(parts)}I", 1 | len(parts) << 20, *places[:-1]), version=0)
    edit = struct.pack("<IHBBIIIIHH", 0, 0, 0, 3, 0, places[-1], 1, len(parts), 1, 0)
    stream = b"".join(parts) + directory + record(4085, edit, version=0)
    user = struct.pack("<IIIHHBBH", 20, token, places[-1] + len(directory), 4, 0x3F4, 3, 0, 0) + b"Ana\0\x08\0\0\0"
    return make_ole({"PowerPoint Document": stream, "Current User": record(4086, user, version=0)})


def make_doc(
    body: str, *, notes: str = "", headers: str = "", is_wide: bool = False, version: int = 0xC1, flags: int = 0x0200
) -> bytes:
    """A file of Word 97 ([MS-DOC]): its texts in two pieces, of which the second stands first in the file."""
    text = body + notes + headers
    charset, size, mark = ("utf-16-le", 2, 0) if is_wide else ("cp1252", 1, 0x40000000)
    middle, begin = len(text) // 2, 0x800
    later = begin + size * (len(text) - middle)
    head = bytearray(begin)
    struct.pack_into("<HH6xH12xII", head, 0, 0xA5EC, version, flags, begin, begin + size * len(text))
    struct.pack_into("<3i", head, 0x4C, len(body), len(notes), len(headers))
    offsets = [later * (1 if is_wide else 2) | mark, begin * (1 if is_wide else 2) | mark]
    pieces = struct.pack("<3I", 0, middle, len(text)) + b"".join(struct.pack("<HIH", 0, each, 0) for each in offsets)
    table = b"\x01\x02\0xx" + b"\x02" + struct.pack("<I", len(pieces)) + pieces
    struct.pack_into("<II", head, 0x1A2, 0, len(table))
    document = bytes(head) + text[middle:].encode(charset) + text[:middle].encode(charset)
    return make_ole({"WordDocument": document.ljust(4096, b"\0"), "1Table" if flags & 0x0200 else "0Table": table})


Tree = Mapping[str, "bytes | Tree"]


def make_ole(tree: Tree) -> bytes:
    """A compound file ([MS-CFB]): streams by their names, and storages of such. Siblings form a chain."""
    sectors, short = _Sectors(512), _Sectors(64)
    entries = [b""]

    def add_siblings(children: Tree) -> int:
        first = len(entries)
        entries.extend([b""] * len(children))
        in_order = sorted(children.items(), key=lambda item: (len(item[0]), item[0].upper()))
        for number, (name, content) in enumerate(in_order, start=first):
            right = number + 1 if number + 1 < first + len(children) else _FREE
            if isinstance(content, bytes):
                begin = (short if len(content) < 4096 else sectors).add(content)
                entries[number] = _entry(name, kind=2, right=right, begin=begin, size=len(content))
            else:
                entries[number] = _entry(name, kind=1, right=right, child=add_siblings(content))
        return first if children else _FREE

    child, stream = add_siblings(tree), b"".join(short.parts)
    entries[0] = _entry("Root Entry", kind=5, child=child, begin=sectors.add(stream), size=len(stream))
    directory, short_table = sectors.add(b"".join(entries)), sectors.add(_numbers(short.following))
    count = -(-len(sectors.following) // 127)
    first = len(sectors.parts)
    table = _numbers([*sectors.following, *[_FAT] * count])
    header = struct.pack(
        "<8s16xHHHHH6x9I109I",
        *(detection._OLE, 0x3E, 3, 0xFFFE, 9, 6, 0, count, directory, 0, 4096),
        *(short_table, -(-len(short.following) // 128), _END_OF_CHAIN, 0),
        *range(first, first + count),
        *[_FREE] * (109 - count),
    )
    return header + b"".join(sectors.parts) + table


class _Sectors:
    """Sectors of a compound file, and of each the one that follows it."""

    def __init__(self, size: int) -> None:
        self.size, self.parts, self.following = size, list[bytes](), list[int]()

    def add(self, content: bytes) -> int:
        begin = len(self.parts)
        self.parts += [content[at : at + self.size].ljust(self.size, b"\0") for at in range(0, len(content), self.size)]
        self.following += [*range(begin + 1, len(self.parts)), *([_END_OF_CHAIN] if len(self.parts) > begin else [])]
        return begin if len(self.parts) > begin else _END_OF_CHAIN


def _numbers(numbers: Sequence[int]) -> bytes:
    """Whole sectors of them."""
    free = -len(numbers) % 128
    return struct.pack(f"<{len(numbers) + free}I", *numbers, *[_FREE] * free)


def _entry(
    name: str, *, kind: int, right: int = _FREE, child: int = _FREE, begin: int = _END_OF_CHAIN, size: int = 0
) -> bytes:
    written = name.encode("utf-16-le") + b"\0\0"
    return struct.pack("<64sHBBIII16xI16xIQ", written, len(written), kind, 1, _FREE, right, child, 0, begin, size)


def make_mail(**changes: Any) -> EmailMessage:
    """A message in two languages' letters, with an HTML body."""
    message = EmailMessage()
    fields = {
        "From": "Inés Muñoz <ines@obra.example>",
        "To": "Léa Lefèvre <lea@chantier.example>, bob@site.example",
        "Subject": "Re: Retraso de la grúa nº 4",
        "Date": "Tue, 05 Mar 2024 10:12:00 +0100",
        "Message-ID": "<b2@obra.example>",
        "In-Reply-To": "<a1@chantier.example>",
    }
    for name, value in (fields | changes).items():
        message[name] = value
    message.set_content("La grúa llega el lunes.")
    message.add_alternative("<p>La grúa llega el <b>lunes</b>.</p>", subtype="html")
    return message


def make_msg(
    texts: Mapping[int, str], *, html: bytes = b"", storages: Mapping[str, Tree] = MappingProxyType({}), head: int = 32
) -> dict[str, "bytes | Tree"]:
    """The tree of an Outlook message ([MS-OXMSG]): `texts` by property, sent at noon of the 5th of March 2024."""
    sent = int((datetime(2024, 3, 5, 12, tzinfo=UTC) - datetime(1601, 1, 1, tzinfo=UTC)).total_seconds() * 10**7)
    return {
        "__properties_version1.0": bytes(head) + struct.pack("<HHIQ", 0x40, 0x39, 6, sent),
        **{f"__substg1.0_{number:04X}001F": text.encode("utf-16-le") for number, text in texts.items()},
        **({"__substg1.0_10130102": html} if html else {}),
        **storages,
    }


def recipient(kind: int, name: str, address: str) -> Tree:
    """A recipient of an Outlook message; kinds: 1 To, 2 Cc."""
    return {
        "__properties_version1.0": bytes(8) + struct.pack("<HHIQ", 3, 0xC15, 6, kind),
        "__substg1.0_3001001F": name.encode("utf-16-le"),
        "__substg1.0_39FE001F": address.encode("utf-16-le"),
    }


def attached(name: str, content: bytes | Tree) -> Tree:
    """An attachment of an Outlook message: a file's bytes, or another message's tree."""
    return {
        "__properties_version1.0": bytes(8),
        "__substg1.0_3707001F": name.encode("utf-16-le"),
        "__substg1.0_37010102" if isinstance(content, bytes) else "__substg1.0_3701000D": content,
    }


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
        "a.ods": make_open_document(detection.ODS, ODS_BODY),
        "a.odp": make_open_document(detection.ODP, ODP_BODY),
        "a.epub": make_epub(BOOK),
        "a.zip": zipped({"b/notas.md": "# Notas\n\nUna cosa.", "a.txt": "Otra cosa."}),
        "a.eml": make_mail().as_bytes(),
        "a.msg": make_ole(make_msg({0x37: "Retraso", 0x1000: "La grúa llega el lunes."})),
        "a.ppt": make_ppt([("Objetivos", ["crecer", "ahorrar más"]), ("Cifras", ["siete"])]),
        "a.json": '[{"cliente": "Muñoz", "total": 3}, {"cliente": "Lefèvre", "total": 4}]'.encode(),
        "a.jsonl": b'{"nivel": "aviso"}\n{"nivel": "error"}\n',
        "a.xml": "<pedido><cliente>Muñoz</cliente><total>3</total></pedido>".encode(),
        "a.rst": "Guía\n====\n\nTexto.\n\nUso\n---\n\nMás texto.\n".encode(),
        "a.org": "* Guía\n** TODO Uso\nTexto.\n".encode(),
        "a.adoc": "= Guía\n\n== Uso\n\nTexto.\n".encode(),
        "a.tex": "\\section{Guía}\nTexto.\n\\subsection*{Uso}\nMás.\n".encode(),
        "a.toml": b"[servidor]\npuerto = 80\n",
        "a.srt": b"1\n00:00:01,000 --> 00:00:02,500\n<i>Hola a</i>\ntodos.\n",
        "a.log": b"2024-03-05 10:12 ERROR disco lleno\n",
    }
