"""What is shown of a document beside an answer: its text, a PDF's pages, a table's cells. A real server."""

import io
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pypdfium2 as pdfium
import pytest

from tests.api.expectations import check_error
from tests.api.uploads import finished, upload
from tests.conftest import DEMO, Server
from tests.graphrag.parsers.documents import make_pdf

DIARY = "diario-mantenimiento-2025.md"
AUDIT = "audit-entrepot-toulouse.pdf"
QUOTE = "L'entrepôt obtient la note de 87 sur 100, contre 81 l'an dernier."
LINES = [f"Línea {number}: el horno {number} se revisó." for number in range(1, 2_001)]


@pytest.fixture(scope="module")
def api(demo_server: Server) -> Iterator[httpx.Client]:
    headers = {"Accept-Language": "en"}
    with httpx.Client(base_url=f"{demo_server.url}/api/v1", timeout=60, headers=headers) as client:
        yield client
        client.delete("/collections/views").raise_for_status()


@pytest.fixture(scope="module")
def paths(api: httpx.Client) -> dict[str, str]:
    """Of the demo documents, by filename."""
    known = api.get("/documents", params={"collection": "demo"}).json()["documents"]
    return {document["filename"]: f"/documents/{document['id']}" for document in known}


def made(api: httpx.Client, name: str, data: bytes | str) -> str:
    document = finished(api, upload(api, "views", name, data)["id"])
    assert document["status"] == "indexed", document
    return f"/documents/{document['id']}"


def read(api: httpx.Client, path: str, **asked: Any) -> dict[str, Any]:
    answer = api.get(path, params=asked)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_a_stretch_of_the_text_comes_with_its_surroundings(api: httpx.Client) -> None:
    """R8.3 From a line's beginning to a line's end, with the first one's number, wherever the chunks are cut."""
    text = "\n".join(LINES)
    path = made(api, "líneas.txt", text)
    for number in (1, 2, 700, 2_000):
        start = text.index(f"Línea {number}:")
        asked = {"start_char": start, "end_char": start + len(LINES[number - 1])}
        shown = read(api, f"{path}/text", **asked, before=100, after=60)
        assert shown["content"] == text[shown["start_char"] : shown["end_char"]]
        assert shown["start_char"] <= start < asked["end_char"] <= shown["end_char"]
        lines = shown["content"].split("\n")
        assert lines == LINES[shown["first_line"] - 1 :][: len(lines)]
        assert 1 <= len(lines) <= 5
        assert (shown["length"], shown["filename"], shown["page"]) == (len(text), "líneas.txt", None)
    beginning = read(api, f"{path}/text")
    assert (beginning["start_char"], beginning["first_line"]) == (0, 1)
    assert 1_900 < len(beginning["content"]) <= 2_000
    beyond = read(api, f"{path}/text", start_char=len(text) + 5, before=0)
    assert (beyond["content"], beyond["start_char"]) == ("", len(text))


def test_the_text_is_that_of_the_version_that_is_searched(api: httpx.Client) -> None:
    """R8.3 Its content hash is another one once the file was replaced; a deleted document is not there."""
    path = made(api, "versiones.md", "El horno H2 falló en mayo.")
    before = read(api, f"{path}/text")
    api.put(path, files={"file": ("versiones.md", "El horno H7 funciona.")})
    finished(api, path.rpartition("/")[2])
    after = read(api, f"{path}/text")
    assert (before["content"], after["content"]) == ("El horno H2 falló en mayo.", "El horno H7 funciona.")
    assert before["content_hash"] != after["content_hash"] == api.get(path).json()["content_hash"]
    api.delete(path).raise_for_status()
    check_error(api.get(f"{path}/text"), 404, "document_not_found")


def test_markdown_comes_as_html_too_where_it_is_asked_for(api: httpx.Client) -> None:
    """R8.3 With what was asked for in `mark`, by the offsets of the whole text; of plain text there is none."""
    text = "\n".join([*(f"- Línea {number}" for number in range(500)), "", "## Horno", "", "El horno **H2** 😀 falló."])
    path, plain = made(api, "horno.md", text), made(api, "horno.txt", f"{text}\n\nFin.")
    start = text.index("**H2**")
    asked = {"start_char": start, "end_char": start + len("**H2** 😀"), "before": 30}
    shown = read(api, f"{path}/text", **asked, html=True)
    assert shown["html"] == "<h3>Horno</h3>\n<p>El horno <strong><mark>H2</mark></strong><mark> 😀</mark> falló.</p>\n"
    assert read(api, f"{path}/text", **asked)["html"] is None
    assert read(api, f"{plain}/text", **asked, html=True)["html"] is None


def test_a_quote_s_boxes_cover_it_on_its_page(api: httpx.Client, paths: dict[str, str]) -> None:
    """R8.3 They are where pdfium's own search finds the words; the picture has ink in them, and has another page's
    not.
    """
    path = paths[AUDIT]
    page = read(api, f"{path}/pages/1", quote=QUOTE)
    assert (page["page_count"], len(page["boxes"])) == (2, 1)
    (box,) = page["boxes"]
    printed = pdfium.PdfDocument((DEMO / AUDIT).read_bytes())[0]
    width, height = printed.get_size()
    text = printed.get_textpage()
    index, count = text.search(QUOTE).get_next()
    assert text.count_rects(index, count) == 1
    left, bottom, right, top = text.get_rect(0)
    expected = (left / width, 1 - top / height, (right - left) / width, (top - bottom) / height)
    assert tuple(box.values()) == pytest.approx(expected, abs=0.001)

    pixels = decoded(api.get(f"{path}/pages/1/picture", params={"width": 800}).content)
    rows, columns = pixels.shape
    assert (columns, rows) == (800, pytest.approx(800 * height / width, abs=1))
    x, y = round(box["left"] * columns), round(box["top"] * rows)
    inside = pixels[y : y + round(box["height"] * rows), x : x + round(box["width"] * columns)]
    assert 0.05 < (inside < 128).mean() < 0.5
    assert read(api, f"{path}/pages/2", quote=QUOTE)["boxes"] == []


def decoded(picture: bytes) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The green of a PNG's pixels, whose rows are not filtered."""
    size, packed, place = (0, 0), b"", 8
    while place < len(picture):
        (length,), kind = struct.unpack_from("!I", picture, place), picture[place + 4 : place + 8]
        body = picture[place + 8 : place + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack_from("!I", picture, place + 8 + length)[0]
        size = struct.unpack_from("!2I", body) if kind == b"IHDR" else size
        packed += body if kind == b"IDAT" else b""
        place += 12 + length
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(size[1], 1 + 3 * size[0])
    return rows[:, 2::3]


def test_what_a_citation_says_finds_its_page(api: httpx.Client, paths: dict[str, str]) -> None:
    """R8.3 From the offsets of an answer to the page, and to boxes on it."""
    asked = {"message": "Quelle note l'entrepôt de Toulouse a-t-il obtenue à l'audit ?", "collection": "demo"}
    answer = api.post("/chat", json=asked).json()
    citation = next(citation for citation in answer["citations"] if citation["filename"] == AUDIT)
    offsets = {name: citation[name] for name in ("start_char", "end_char")}
    text = read(api, f"{paths[AUDIT]}/text", **offsets, before=0, after=0)
    assert text["content"] == citation["quote"]
    assert text["page"] == citation["page"]
    assert read(api, f"{paths[AUDIT]}/pages/{text['page']}", quote=citation["quote"])["boxes"]


def test_a_picture_that_is_known_is_not_drawn_again(api: httpx.Client, paths: dict[str, str]) -> None:
    """R9.4 Its tag is of the file, the page and the width."""
    address = f"{paths[AUDIT]}/pages/2/picture"
    first = api.get(address)
    assert (first.headers["content-type"], first.headers["cache-control"]) == ("image/png", "private, no-cache")
    known = {"If-None-Match": first.headers["etag"]}
    again = api.get(address, headers=known)
    assert (again.status_code, again.content) == (304, b"")
    assert api.get(address, headers=known, params={"width": 300}).status_code == 200


def test_cells_come_with_their_headers_and_the_rows_around(api: httpx.Client, paths: dict[str, str]) -> None:
    """R8.3 Rows have the numbers that they have in the file, columns their letters."""
    shown = read(api, f"{paths['ventas-2025.xlsx']}/cells", sheet="Ventas 2025", cells="B7:B8", around=1)
    assert shown["columns"] == ["A", "B", "C"]
    assert shown["headers"] == ["Mes", "Ventas (€)", "Pedidos"]
    workbook = read(api, f"{paths['ventas-2025.xlsx']}/text")["content"]
    assert [row["number"] for row in shown["rows"]] == [6, 7, 8, 9]
    for row in shown["rows"]:
        month, sales, orders = row["values"]
        assert f"Mes: {month}; Ventas (€): {sales}; Pedidos: {orders}" in workbook
    path = made(api, "tabla.csv", "Cliente;Total\nMuñoz;3\n\nLefèvre;4\n")
    table = read(api, f"{path}/cells", cells="B2")
    assert table["rows"] == [{"number": 2, "values": ["Muñoz", "3"]}, {"number": 4, "values": ["Lefèvre", "4"]}]
    assert read(api, f"{path}/cells", cells="B200", around=0)["rows"] == []
    assert read(api, f"{path}/cells", sheet="Otra")["rows"] == []


def test_what_can_t_be_shown_is_told(api: httpx.Client, paths: dict[str, str]) -> None:
    """R9.4 A page that is not there, a document without pages or cells, parameters beyond their bounds."""
    error = check_error(api.get(f"{paths[AUDIT]}/pages/3"), 404, "page_not_found")
    assert error["details"] == {"page": 3, "page_count": 2}
    for path in ("pages/1", "pages/1/picture", "cells"):
        error = check_error(api.get(f"{paths[DIARY]}/{path}"), 409, "view_unavailable")
        assert f"{paths[DIARY]}/text" in error["message"]
    check_error(api.get(f"{paths[AUDIT]}/cells"), 409, "view_unavailable")
    refused = (
        "pages/0",
        "pages/1/picture?width=5000",
        "pages/1?quote=" + "x" * 20_001,
        "cells?cells=B0",
        "text?before=-1",
    )
    for path in refused:
        check_error(api.get(f"{paths[AUDIT]}/{path}"), 422, "invalid_request")


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_boxes_are_where_the_page_shows_the_quote(api: httpx.Client, rotation: int) -> None:
    """R8.3 Also on a page that is turned, and cut to a part of its paper."""
    document = pdfium.PdfDocument(make_pdf([["Arriba", "El retén se rompió.", "Abajo"]]))
    document[0].set_rotation(rotation)
    document[0].set_cropbox(50, 600, 450, 800)
    path = made(api, f"girado-{rotation}.pdf", saved(document))
    (box,) = read(api, f"{path}/pages/1", quote="El retén se rompió.")["boxes"]
    pixels = decoded(api.get(f"{path}/pages/1/picture", params={"width": 600}).content)
    rows, columns = pixels.shape
    top, left = int(box["top"] * rows), int(box["left"] * columns)
    bottom, right = int((box["top"] + box["height"]) * rows) + 1, int((box["left"] + box["width"]) * columns) + 1
    dark = np.argwhere(pixels < 128)
    inside = ((dark >= (top, left)) & (dark <= (bottom, right))).all(axis=1).mean()
    assert 0.4 < inside < 0.9  # the ink of one of the three lines, which is the longest


def saved(document: pdfium.PdfDocument) -> bytes:
    data = io.BytesIO()
    document.save(data)
    return data.getvalue()


def test_questions_that_a_document_answers_are_listed(api: httpx.Client, paths: dict[str, str]) -> None:
    """R9.1 each with the sentence that answers it; none of a document in a language without rules for them."""
    listed = read(api, f"{paths[DIARY]}/questions")
    assert listed["language"] == "es"
    assert 0 < len(listed["questions"]) <= 3
    text = read(api, f"{paths[DIARY]}/text", end_char=20_000)["content"]
    for question in listed["questions"]:
        assert question["text"].startswith("¿Por qué")
        assert question["quote"] in text
    assert len(read(api, f"{paths[DIARY]}/questions", limit=1)["questions"]) == 1
    foreign = made(api, "deutsch.txt", "Der Ofen fiel aus, weil die Dichtung der Tür gebrochen war. " * 5)
    assert read(api, f"{foreign}/questions")["questions"] == []
