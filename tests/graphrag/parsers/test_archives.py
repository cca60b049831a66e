"""Archives of files, books and OpenDocument; and those that are made to harm."""

import io
import zipfile

import pytest

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import ParsedText
from graphrag.parsers.detection import ODP, ODS
from graphrag.parsers.parsing import parse
from tests.graphrag.parsers.documents import (
    BOOK,
    ODP_BODY,
    ODS_BODY,
    SALES,
    make_epub,
    make_mail,
    make_open_document,
    make_pdf,
    make_xlsx,
    zipped,
)
from tests.graphrag.parsers.isolated import IsolatedParser
from tests.graphrag.parsers.laws import assert_lawful


def read(data: bytes, name: str = "a.zip") -> ParsedText:
    parsed = parse(data, filename=name, limits=ParsingLimits())
    assert_lawful(parsed)
    return parsed


def refusal(data: bytes, name: str = "a.zip", **limits: int) -> UnreadableDocument:
    with pytest.raises(UnreadableDocument) as caught:
        parse(data, filename=name, limits=ParsingLimits(**limits))
    return caught.value


def titles(parsed: ParsedText) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in parsed.headings]


def test_files_of_an_archive_are_sections() -> None:
    """R1.1, R1.3: in the order of their names, each read by its own parser."""
    parsed = read(
        zipped(
            {
                "ventas.xlsx": make_xlsx({"Ventas": SALES}),
                "cartas/carta.eml": make_mail(Subject="Una carta").as_bytes(),
                "__MACOSX/._ventas.xlsx": "x",
                "cartas/.DS_Store": "x",
                "a.txt": "Lo primero.",
                "foto.raw": b"\0\1",
            }
        )
    )
    assert titles(parsed) == [
        (1, "a.txt"),
        (1, "cartas/carta.eml"),
        (2, "Una carta"),
        (1, "ventas.xlsx"),
        (2, "Ventas"),
    ]
    assert parsed.text.startswith("a.txt\n\nLo primero.\n\ncartas/carta.eml\n\nUna carta\n\nFrom: Inés")
    assert [warning.split(":")[0] for warning in parsed.warnings] == ["foto.raw"]


def test_archive_in_an_archive_in_an_archive_is_refused() -> None:
    """Security 9: two are read."""
    one = zipped({"a.txt": "hola"})
    two = zipped({"uno.zip": one})
    assert titles(read(two)) == [(1, "uno.zip"), (2, "a.txt")]
    found = refusal(zipped({"dos.zip": two}))
    assert (found.details["reason"], "dos.zip" in str(found)) == ("nested", True)
    mixed = read(zipped({"dos.zip": two, "b.txt": "sigue"}))
    assert (titles(mixed), len(mixed.warnings)) == ([(1, "b.txt")], 1)


async def test_bombs_in_archives_are_refused(parser: IsolatedParser) -> None:
    """Security 9: by their ratio, at once or packed twice, and by all their bytes."""
    zeros = zipped({"a.txt": b"0" * 50_000_000})
    for data in (zeros, zipped({"dentro.zip": zeros})):
        with pytest.raises(UnreadableDocument) as caught:
            await parser.parse(data, filename="a.zip")
        assert caught.value.details["reason"] == "too_large"
    many = zipped({f"{number}.zip": zipped({"a.txt": "palabras " * 50}) for number in range(9)})
    parsed = parse(many, filename="a.zip", limits=ParsingLimits(archive_bytes=3_000))
    assert 0 < len(parsed.text) < 3_000
    assert all("zip bomb" in warning for warning in parsed.warnings)


def test_pdf_that_is_only_stored_in_an_archive_is_one_of_its_files() -> None:
    """R1.1: its mark stands where a file's own would."""
    pdf = make_pdf([["Una página."]])
    assert titles(read(zipped({"a.pdf": pdf}, stored="a.pdf"))) == [(1, "a.pdf")]


def test_archive_of_too_many_files_says_so() -> None:
    """Security 9"""
    found = refusal(zipped({f"{number}.txt": "hola" for number in range(10_000)}))
    assert (found.details["reason"], "500 files" in str(found)) == ("too_large", True)


def test_archive_without_a_readable_file_says_why() -> None:
    """R1.2"""
    assert refusal(zipped({"a.exe": b"MZ\0"})).details["reason"] == "unsupported"
    assert refusal(zipped({})[:0] or b"PK\x05\x06" + bytes(18)).details["reason"] in {"unsupported", "empty"}
    assert refusal(zipped({"vacío/": ""})).details["reason"] == "empty"
    assert refusal(zipped({"a.txt": " "})).details["reason"] == "empty"


def test_encrypted_archive_says_so() -> None:
    """R1.2"""
    data = bytearray(zipped({"a.txt": "hola"}))
    for header, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.find(header) + flags] |= 1
    assert refusal(bytes(data)).details["reason"] == "encrypted"


def test_names_leave_no_archive_and_keep_their_letters() -> None:
    """Security 9: a name is only a heading. UTF-8 without its flag, and the charset of Windows, are read."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("../../etc/passwd", "hola")
        archive.writestr("año.txt", "sí")
    raw = data.getvalue()
    unmarked = bytearray(raw)
    for header, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = unmarked.rfind(header) if header == b"PK\x01\x02" else unmarked.find(header, 10)
        unmarked[place + flags + 1] &= ~0x08
    western = bytes(unmarked).replace("año.txt".encode(), "a\xa4o.txtx".encode("latin-1"))
    for archive_bytes, name in ((raw, "año.txt"), (bytes(unmarked), "año.txt"), (western, "año.txtx")):
        assert titles(read(archive_bytes)) == [(1, "../../etc/passwd"), (1, name)]


def test_book() -> None:
    """R1.1, R1.3: chapters in reading order, title and authors; «<title/>» hides nothing."""
    parsed = read(make_epub(BOOK), "a.epub")
    assert parsed.text == "Capítulo I\n\nEl mar.\n\nCapítulo II\n\nLa lámpara arde."
    assert titles(parsed) == [(1, "Capítulo I"), (1, "Capítulo II")]
    assert (parsed.title, parsed.authors) == ("El faro", ("Inés Muñoz", "Léa"))


@pytest.mark.parametrize(
    ("method", "is_read"),
    [("http://www.idpf.org/2008/embedding", True), ("http://www.w3.org/2001/04/xmlenc#aes128-cbc", False)],
)
def test_book_that_is_encrypted_says_so(method: str, is_read: bool) -> None:
    """R1.2: obfuscated fonts encrypt no text."""
    data = make_epub(BOOK, encryption=f'<e xmlns="x"><EncryptionMethod Algorithm="{method}"/></e>')
    if is_read:
        assert read(data, "a.epub").headings
    else:
        assert refusal(data, "a.epub").details["reason"] == "encrypted"


def test_spreadsheet_of_open_document() -> None:
    """R1.1, R1.5: cells with their types and references."""
    parsed = read(make_open_document(ODS, ODS_BODY), "a.ods")
    assert parsed.text == "Ventas\nFecha: 2024-01-15; Total: 12.5"
    assert [(place.sheet, place.cells) for place in parsed.locations] == [("Ventas", "A2:B2")]


async def test_spreadsheet_that_repeats_its_cells_without_end_is_refused(parser: IsolatedParser) -> None:
    """Security 9: a million rows of sixteen thousand cells, in a few bytes."""
    cell = '<table:table-cell office:value-type="string" table:number-columns-repeated="16384"><text:p>x</text:p>'
    body = (
        '<office:spreadsheet><table:table table:name="V"><table:table-row table:number-rows-repeated="1048576">'
        f"{cell}</table:table-cell></table:table-row></table:table></office:spreadsheet>"
    )
    with pytest.raises(UnreadableDocument) as caught:
        await parser.parse(make_open_document(ODS, body), filename="a.ods")
    assert caught.value.details["reason"] in {"damaged", "too_large"}


def test_slides_of_open_document() -> None:
    """R1.1, R1.3: titles, lists, notes and tables, with the slides' numbers and without what each repeats."""
    parsed = read(make_open_document(ODP, ODP_BODY), "a.odp")
    slides = [(place.page, parsed.text[place.start_char : place.end_char]) for place in parsed.locations]
    assert slides == [
        (1, "Objetivos\n\ncrecer\nahorrar\n\nhablar despacio"),
        (2, "| Mes | Total |\n| --- | --- |\n| enero | 7 |"),
    ]
    assert titles(parsed) == [(1, "Objetivos")]
    assert (parsed.title, parsed.authors) == ("El acta", ("Inés",))
