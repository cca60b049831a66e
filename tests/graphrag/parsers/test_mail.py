"""Messages, EML and MSG: fields, bodies and attachments; and those that are made to harm."""

import struct
from email.message import EmailMessage
from typing import Any

import pytest

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import ParsedText
from graphrag.parsers import detection
from graphrag.parsers.mail import _RTF_DICTIONARY
from graphrag.parsers.parsing import parse
from tests.graphrag.parsers.documents import (
    SALES,
    attached,
    make_mail,
    make_msg,
    make_ole,
    make_pdf,
    make_xlsx,
    recipient,
    zipped,
)
from tests.graphrag.parsers.isolated import IsolatedParser
from tests.graphrag.parsers.laws import assert_lawful

HEAD = (
    "Re: Retraso de la grúa nº 4\n\nFrom: Inés Muñoz <ines@obra.example>\n"
    "To: Léa Lefèvre <lea@chantier.example>, bob@site.example\nDate: 2024-03-05 10:12+01:00\n\nLa grúa llega el lunes."
)


def attach(message: EmailMessage, data: bytes, name: str) -> None:
    message.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)


def read(message: EmailMessage | bytes, **limits: Any) -> ParsedText:
    data = message if isinstance(message, bytes) else message.as_bytes()
    parsed = parse(data, filename="a.eml", limits=ParsingLimits(**limits))
    assert_lawful(parsed)
    return parsed


def refusal(message: EmailMessage | bytes, *, filename: str = "a.eml", **limits: Any) -> UnreadableDocument:
    data = message if isinstance(message, bytes) else message.as_bytes()
    with pytest.raises(UnreadableDocument) as caught:
        parse(data, filename=filename, limits=ParsingLimits(**limits))
    return caught.value


def test_message_has_its_fields() -> None:
    """R1.3: subject, sender, recipients, date and thread, as text and as metadata."""
    parsed = read(make_mail())
    assert parsed.text == HEAD
    assert (parsed.title, parsed.authors) == ("Re: Retraso de la grúa nº 4", ("Inés Muñoz",))
    assert parsed.metadata == {
        "message": {
            "from": "Inés Muñoz <ines@obra.example>",
            "to": ["Léa Lefèvre <lea@chantier.example>", "bob@site.example"],
            "date": "2024-03-05T10:12:00+01:00",
            "message_id": ["<b2@obra.example>"],
            "in_reply_to": ["<a1@chantier.example>"],
        }
    }


def test_attachments_are_read_by_their_own_parsers() -> None:
    """R1.1, R1.3: below their names; pages and cells say of what file they are."""
    message = make_mail()
    attach(message, make_xlsx({"Ventas": SALES}), "ventas año.xlsx")
    attach(message, make_pdf([["Hola a todos."]]), "nota.pdf")
    message.add_attachment(make_mail(Subject="La primera"))
    attach(message, b"\0\1\2", "foto.raw")
    parsed = read(message)
    assert [(heading.level, heading.text) for heading in parsed.headings] == [
        (1, "Re: Retraso de la grúa nº 4"),
        (2, "ventas año.xlsx"),
        (3, "Ventas"),
        (2, "nota.pdf"),
        (2, "La primera.eml"),
        (3, "La primera"),
    ]
    places = [(place.file, place.sheet, place.cells, place.page) for place in parsed.locations]
    assert places == [
        ("ventas año.xlsx", "ventas año.xlsx/Ventas", "A2:D2", None),
        ("ventas año.xlsx", "ventas año.xlsx/Ventas", "A3:D3", None),
        ("nota.pdf", "", "", 1),
    ]
    assert [table.sheet for table in parsed.tables] == ["ventas año.xlsx/Ventas"]
    assert [warning.split(":")[0] for warning in parsed.warnings] == ["foto.raw"]


@pytest.mark.parametrize("charset", ["utf-8", "cp1252"])
def test_raw_bytes_in_fields_are_read(charset: str) -> None:
    """R1.3: programs write them though no standard allows it."""
    raw = "From: José <j@x.example>\nSubject: Año\nMIME-Version: 1.0\n\nHola\n".encode(charset)
    parsed = read(raw)
    assert (parsed.title, parsed.text.splitlines()[0]) == ("Año", "Año")


def test_broken_fields_and_charsets_lose_nothing_else() -> None:
    """R1.3"""
    raw = (
        b"From: =?x-none?B?////?= <a@b\nTo: ;;,\nDate: yesterday\nSubject: =?utf-8?Q?Hola=\nMIME-Version: 1.0\n"
        b"Content-Type: text/plain; charset=x-none\n\nLleg\xf3 el barco, se\xf1ora.\n"
    )
    parsed = read(raw)
    assert "Llegó el barco, señora." in parsed.text


def test_plain_text_where_html_says_nothing() -> None:
    """R1.3"""
    message = EmailMessage()
    message["Subject"] = "Uno"
    message.set_content("El texto.")
    message.add_alternative("<p> </p>", subtype="html")
    assert read(b"MIME-Version: 1.0\n" + message.as_bytes()).text == "Uno\n\nEl texto."


def test_pictures_and_signatures_in_the_text_are_no_attachments() -> None:
    """R1.3"""
    message = make_mail()
    html = message.get_payload(1)
    assert isinstance(html, EmailMessage)
    html.add_related(b"\x89PNG", "image", "png", cid="<logo>", disposition="inline")
    message.add_attachment(b"x", maintype="application", subtype="pkcs7-signature", filename="smime.p7s")
    parsed = read(message)
    assert (parsed.text, parsed.warnings) == (HEAD, ())


def test_a_message_that_attaches_itself_ends() -> None:
    """Security 9: at the depth that is allowed; what is above stays."""
    message = make_mail(Subject="nivel 0")
    for level in range(1, 6):
        outer = make_mail(Subject=f"nivel {level}")
        outer.add_attachment(message)
        message = outer
    parsed = read(message)
    titles = [heading.text for heading in parsed.headings if not heading.text.endswith(".eml")]
    assert titles == ["nivel 5", "nivel 4", "nivel 3"]
    assert "nest more than 2 deep" in parsed.warnings[0]


def test_a_message_nested_ten_thousand_times_is_refused() -> None:
    """Security 9"""
    nested = b"Subject: x\nMIME-Version: 1.0\nContent-Type: message/rfc822\n\n" * 10_000 + b"Subject: fin\n\nhola\n"
    assert refusal(nested).details["reason"] in {"damaged", "nested"}


def test_names_are_cut_but_their_endings_count() -> None:
    """R1.1: a file's type is told by its whole name; a subject of any length is a name too."""
    message = make_mail()
    attach(message, b"a;b\n1;2\n3;4\n", "x" * 300 + ".csv")
    message.add_attachment(make_mail(Subject="y" * 3_000))
    parsed = read(message)
    assert [table.headers for table in parsed.tables] == [("a", "b")]
    assert [len(heading.text) for heading in parsed.headings] == [len(parsed.title), 200, 200, 1_000]


def test_ten_thousand_attachments_are_refused() -> None:
    """Security 9: by their number, which the error tells."""
    part = b'--b\nContent-Disposition: attachment; filename="a.txt"\n\nhola\n'
    head = b"Subject: x\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
    found = refusal(head + part * 10_000 + b"--b--\n")
    assert (found.details["reason"], "2,000 parts" in str(found)) == ("too_large", True)
    few = refusal(head + part * 4 + b"--b--\n", inner_files=3)
    assert (few.details["reason"], "3 files" in str(few)) == ("too_large", True)


def test_attachments_of_attachments_share_the_limit() -> None:
    """Security 9"""
    message = make_mail()
    for name in ("a.zip", "b.zip"):
        attach(message, zipped({f"{n}.txt": "hola" for n in range(3)}), name)
    assert len(read(message, inner_files=8).headings) == 9
    assert any("more than 7 files" in warning for warning in read(message, inner_files=7).warnings)


def test_message_that_only_carries_a_file() -> None:
    """R1.2: its text is the file's; where that can't be read, so is the message."""
    for content, name, reason in ((b"Hola.", "a.txt", ""), (b"MZ\0", "a.exe", "unsupported"), (b"", "", "empty")):
        message = EmailMessage()
        message["From"] = "ines@obra.example"
        if name:
            attach(message, content, name)
        data = b"MIME-Version: 1.0\n" + message.as_bytes()
        if reason:
            assert refusal(data).details["reason"] == reason
        else:
            assert read(data).text == "From: ines@obra.example\n\na.txt\n\nHola."


@pytest.mark.parametrize(
    "kind", ['application/pkcs7-mime; smime-type="enveloped-data"', 'multipart/encrypted; boundary="b"']
)
def test_encrypted_message_says_so(kind: str) -> None:
    """R1.2"""
    raw = f"Subject: x\nMIME-Version: 1.0\nContent-Type: {kind}\n\nMIAGCSq\n".encode()
    assert refusal(raw).details["reason"] == "encrypted"


OUTLOOK = {0x37: "Retraso", 0x1000: "En texto.", 0xC1A: "Inés Muñoz", 0x5D01: "ines@obra.example", 0x1035: "<b2@x>"}
PEOPLE = {
    "__recip_version1.0_#00000000": recipient(1, "Léa", "lea@chantier.example"),
    "__recip_version1.0_#00000001": recipient(2, "Bob", "bob@site.example"),
}


async def test_outlook_message(parser: IsolatedParser) -> None:
    """R1.1, R1.3: fields, recipients, attachments, and messages in it."""
    files = {
        "__attach_version1.0_#00000000": attached("ventas.csv", b"Cliente;Total\nAna;3\nLuis;4\n"),
        "__attach_version1.0_#00000001": attached("dentro", make_msg({0x37: "Antes", 0x1000: "Lo de antes."}, head=24)),
    }
    data = make_ole(make_msg(OUTLOOK, html=b"<p>En <b>HTML</b>.</p>", storages=PEOPLE | files))
    parsed = await parser.parse(data, filename="a.msg")
    assert_lawful(parsed)
    assert parsed.text == (
        "Retraso\n\nFrom: Inés Muñoz <ines@obra.example>\nTo: Léa <lea@chantier.example>\nCc: Bob <bob@site.example>\n"
        "Date: 2024-03-05 12:00+00:00\n\nEn HTML.\n\nventas.csv\n\nCliente: Ana; Total: 3\nCliente: Luis; Total: 4\n\n"
        "dentro.msg\n\nAntes\n\nDate: 2024-03-05 12:00+00:00\n\nLo de antes."
    )
    assert (parsed.title, parsed.authors) == ("Retraso", ("Inés Muñoz",))
    assert parsed.metadata["message"]["message_id"] == ["<b2@x>"]


def compressed_rtf(letters: bytes, *, reference: tuple[int, int]) -> bytes:
    """`letters` as they are, then what `reference` (offset, length) repeats, then the end. [MS-OXRTFCP]"""
    assert len(letters) == 7
    before = len(_RTF_DICTIONARY)
    offset, length = reference
    after = before + len(letters) + length
    packed = (
        b"\x80" + letters + (offset << 4 | length - 2).to_bytes(2, "big") + b"\x01" + (after << 4).to_bytes(2, "big")
    )
    return struct.pack("<IIII", len(packed) + 12, len(letters) + length, 0x75465A4C, 0) + packed


def test_outlook_body_of_compressed_rtf() -> None:
    """R1.3: where there is no other: what it refers to stands in the dictionary or in the text before."""
    start = _RTF_DICTIONARY.index(b"{\\rtf1\\ansi")
    rtf = struct.pack("<IIII", 40, 28, 0x414C454D, 0) + b"{\\rtf1\\ansi Lleg\\'f3 hoy.\\par}"
    tree = make_msg({0x37: "x"}) | {"__substg1.0_10090102": rtf}
    assert "Llegó hoy." in parse(make_ole(tree), filename="a.msg", limits=ParsingLimits()).text
    from graphrag.parsers.mail import _unpacked_rtf

    assert _unpacked_rtf(compressed_rtf(b"hola a ", reference=(start, 11)), 1_000) == b"hola a {\\rtf1\\ansi"
    again = len(_RTF_DICTIONARY)  # seven letters, repeated while they are written
    assert _unpacked_rtf(compressed_rtf(b"hola a ", reference=(again, 16)), 1_000) == b"hola a hola a hola a ho"


def test_many_attachments_of_outlook_are_refused() -> None:
    """Security 9"""
    files = {f"__attach_version1.0_#{number:08X}": attached("a.txt", b"hola") for number in range(800)}
    found = refusal(make_ole(make_msg(OUTLOOK, storages=files)), filename="a.msg")
    assert (found.details["reason"], "500 files" in str(found)) == ("too_large", True)


def test_text_that_looks_like_a_message_is_text() -> None:
    """R1.1: only a field that programs write makes one of a text."""
    note = b"From: the desk\nSubject: a note\n\nIt rains.\n"
    assert detection.detect(note, filename="a.txt") == detection.PLAIN
    assert detection.detect(note, filename="a.eml") == detection.EML
    assert detection.detect(b"Message-ID: <x>\n" + note, filename="a.txt") == detection.EML
