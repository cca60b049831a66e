"""Pages and cells as they are shown of files that mean no harm, and of those that do."""

import json
import random
import struct
from typing import Any

import pytest

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.ingestion.isolation import Sandbox
from graphrag.ingestion.wire import read_request, read_view, written_request, written_view
from graphrag.models.ingestion import NO_CELLS, CellsRequest, CellsView, PageRequest, PageView, View, ViewRequest
from graphrag.parsers.pdf import MOST_BOXES, MOST_PIXELS
from tests.graphrag.parsers.documents import make_pdf, make_xlsx
from tests.graphrag.parsers.test_hostile_files import NESTED

SPLIT = [
    ["La prensa se paró porque el fluido de la mani-", "obra se había acabado, dijo la jefa, y la causa de que na-"],
    ["die lo viera fue la avería del indicador. Fin."],
]
# A page that is drawn in a page, ten of each in each: ten thousand million pictures of nothing.
LEVELS = 10


def bomb() -> bytes:
    """A PDF whose page draws a form ten times, which draws a form ten times, …"""
    draws = b" ".join(b"/F Do" for _ in range(10))
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>"]
    objects.append(b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</XObject<</F 5 0 R>>>>>>")
    objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(draws), draws))
    for level in range(LEVELS):
        inner = draws if level < LEVELS - 1 else b"0 0 m 9 9 l S"
        form = b"<</Type/XObject/Subtype/Form/BBox[0 0 99 99]/Resources<</XObject<</F %d 0 R>>>>/Length %d>>"
        objects.append(form % (level + 6, len(inner)) + b"stream\n" + inner + b"\nendstream")
    return written_pdf(objects)


def written_pdf(objects: list[bytes]) -> bytes:
    body = b"".join(b"%d 0 obj%s endobj\n" % (number, made) for number, made in enumerate(objects, start=1))
    return b"%PDF-1.7\n" + body + b"trailer<</Root 1 0 R/Size %d>>" % (len(objects) + 1)


def sized(width: int, height: int) -> bytes:
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 %d %d]>>" % (width, height)
    return written_pdf([b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>", page])


async def page(sandbox: Sandbox, data: bytes, request: PageRequest) -> PageView:
    view = await sandbox.view(data, request, filename="a.pdf")
    assert isinstance(view, PageView)
    return view


async def reason(sandbox: Sandbox, data: bytes, request: ViewRequest, *, filename: str = "a.pdf") -> str:
    with pytest.raises(UnreadableDocument) as caught:
        await sandbox.view(data, request, filename=filename)
    return str(caught.value.details["reason"])


async def test_a_quote_is_found_however_its_lines_are_broken(sandbox: Sandbox) -> None:
    """R8.3 Hyphens, line ends and accents; of one that goes on on the next page, the part that is on each."""
    data = make_pdf(SPLIT)
    (one, other) = (await page(sandbox, data, PageRequest(1, quote="el fluido de la maniobra se había acabado"))).boxes
    assert one.top < other.top
    assert one.left > other.left == pytest.approx(72 / 595, abs=0.01)
    quote = "y la causa de que nadie lo viera fue la avería del indicador."
    (tail,) = (await page(sandbox, data, PageRequest(1, quote=quote))).boxes
    (head,) = (await page(sandbox, data, PageRequest(2, quote=quote))).boxes
    assert tail.left > 0.3
    assert head.left == pytest.approx(72 / 595, abs=0.01)
    for absent in ("la causa de otra cosa", "", "…", "x" * 4_000):
        assert not (await page(sandbox, data, PageRequest(2, quote=absent))).boxes


async def test_a_quote_that_stands_there_often_is_marked_everywhere(sandbox: Sandbox) -> None:
    """R8.3 But not without end."""
    data = make_pdf([["ja ja"] * 3, ["no " * 30] * 20])
    assert len((await page(sandbox, data, PageRequest(1, quote="ja"))).boxes) == 6
    assert len((await page(sandbox, data, PageRequest(2, quote="no"))).boxes) == MOST_BOXES


@pytest.mark.parametrize(("width", "height"), [(14_400, 14_400), (3, 14_400), (14_400, 3), (1, 1), (595, 842)])
async def test_a_picture_has_its_bounds(sandbox: Sandbox, width: int, height: int) -> None:
    """Security 9: whatever size a page says it has."""
    view = await page(sandbox, sized(width, height), PageRequest(1, width=1_600))
    columns, rows = struct.unpack_from("!2I", view.picture, 16)
    assert 1 <= columns <= 1_601
    assert rows >= 1
    assert columns * rows <= MOST_PIXELS * 1.01


async def test_a_page_that_is_not_there_has_no_size(sandbox: Sandbox) -> None:
    """R8.3"""
    for number in (0, -1, 3, 10**12):
        assert await page(sandbox, make_pdf(SPLIT), PageRequest(number, width=500)) == PageView(2)


async def test_what_can_t_be_drawn_is_refused() -> None:
    """Security 9: encrypted, torn, nested and random files, and one that would be drawn for years."""
    sandbox = Sandbox(ParsingLimits(seconds=1))
    good = make_pdf(SPLIT)
    assert await reason(sandbox, make_pdf(SPLIT, password="x"), PageRequest(1, 500)) == "encrypted"
    for data in (b"", NESTED["a.pdf"], random.Random(5).randbytes(5_000), b"%PDF-1.7\n" + good[-300:]):
        assert await reason(sandbox, data, PageRequest(1, 500, "fluido")) == "damaged"
    assert await reason(sandbox, bomb(), PageRequest(1, 500)) in {"timeout", "damaged"}
    assert await reason(sandbox, b"PK\3\4 no", CellsRequest("", "A1"), filename="a.xlsx") == "damaged"
    assert (await page(sandbox, good, PageRequest(1, 500))).picture
    sandbox.close()


async def test_cells_are_those_of_their_table(sandbox: Sandbox) -> None:
    """R8.3 Wherever it begins; and of cells that are in none."""
    rows: list[list[Any]] = [
        ["Título"],
        [None, "Mes", "Total"],
        [None, "enero", 3],
        [None, "febrero", 4],
        [],
        ["Cliente"],
        ["Muñoz"],
    ]
    data = make_xlsx({"Uno": rows, "Dos": [["a", "b"], [1, 2]]})

    async def shown(sheet: str, cells: str, around: int = 0) -> CellsView:
        view = await sandbox.view(data, CellsRequest(sheet, cells, around), filename="a.xlsx")
        assert isinstance(view, CellsView)
        return view

    view = await shown("Uno", "C4", 1)
    assert [row.number for row in view.rows] == [3, 4]
    places = dict(zip(view.columns, zip(view.headers, view.rows[-1].values, strict=False), strict=True))
    assert (places["B"], places["C"]) == (("Mes", "febrero"), ("Total", "4"))
    assert (await shown("Dos", "B2")).rows[0].values == ("1", "2")
    for sheet, cells in (("Uno", "A1"), ("Tres", "A1"), ("Dos", "A9"), ("Dos", "")):
        assert await shown(sheet, cells) == NO_CELLS


VIEWS: list[View] = [CellsView(("A",), ("Mes",), ()), PageView(2, 595.0, 842.0, (), b"\x89PNG\r\n\x1a\n...")]


@pytest.mark.parametrize("view", VIEWS)
def test_views_arrive_as_they_were(view: View) -> None:
    """Security 9"""
    assert read_view(*written_view(view)) == view


@pytest.mark.parametrize("request_", [PageRequest(1, 500, "«ñ»"), CellsRequest("Hoja", "A1:B2", 3)])
def test_requests_arrive_as_they_were(request_: ViewRequest) -> None:
    """R8.3"""
    assert read_request(written_request(request_)) == request_


@pytest.mark.parametrize(
    ("payload", "picture"),
    [
        (b"", b""),
        (b"T{}", b""),
        (b"Vnull", b""),
        (b"V" + json.dumps({"page_count": "many"}).encode(), b""),
        (b"V" + json.dumps({"page_count": 1, "boxes": [[1, 2]]}).encode(), b""),
        (b'V{"page_count": 1}', b"<svg onload=alert(1)>"),
    ],
)
def test_nothing_but_views_is_taken(payload: bytes, picture: bytes) -> None:
    """Security 9: from a process that somebody took over."""
    with pytest.raises(ValueError, match=r"validation|kind"):
        read_view(payload, picture)
