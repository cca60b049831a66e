"""The table of a computed answer on the page, in Chromium: rows and groups, their sources, the chart, the download."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.api.uploads import finished, upload
from tests.browser.accessibility import assert_accessible
from tests.browser.album import Album
from tests.browser.chromium import IN_CHROMIUM, Open, Visit, expect
from tests.conftest import Server
from tests.graphrag.parsers.documents import make_xlsx

pytestmark = IN_CHROMIUM
COLLECTION = "tablas"
CLIENTS = ("Talleres Gómez", "Óptica Lledó", "<b>Panadería</b> Sol")
HEADERS = ["Factura", "Cliente", "Fecha", "Importe (€)", "Estado", "Comercial", "Provincia", "Almacén"]
ROWS = [
    [f"F-{n}", CLIENTS[n % 3], f"2025-{n % 4 + 1:02}-10", n, ("Pagada", "Pendiente")[n % 2], "Ana", "Burgos", "Sur"]
    for n in range(101, 161)
]
PENDING = "¿Cuánto suman las facturas pendientes?"
BY_CLIENT = "¿Cuánto hemos facturado por cliente?"
BY_MONTH = "¿Cuánto hemos facturado por mes?"


@pytest.fixture(scope="module")
def tables(demo_server: Server) -> Iterator[Server]:
    with httpx.Client(base_url=f"{demo_server.url}/api/v1", timeout=60) as api:
        stored = upload(api, COLLECTION, "facturas.xlsx", make_xlsx({"Facturas": [HEADERS, *ROWS]}))
        assert finished(api, stored["id"])["status"] == "indexed"
        yield demo_server
        api.delete(f"/collections/{COLLECTION}").raise_for_status()


async def open_collection(visit: Open, server: Server, **options: int) -> Visit:
    visited = await visit(server, locale="es-ES", **options)
    await visited.page.evaluate(f"localStorage.collection = '{COLLECTION}'")
    await visited.page.reload()
    await expect(visited.page.locator("#collection")).to_have_value(COLLECTION)
    return visited


async def test_rows_are_a_table_and_open_their_cells(tables: Server, visit: Open, album: Album) -> None:
    """R8.3, R9.1 The first ten with their headers instead of the answer's list; a mark opens the sheet at the row."""
    visited = await open_collection(visit, tables)
    turn = await visited.answered(PENDING)
    await expect(turn.locator(".answer")).to_have_text(
        "3.900 € — suma de «Importe (€)» donde Estado = Pendiente (30 de 60 filas)."
    )
    table = turn.get_by_role("table", name="suma de «Importe (€)» donde Estado = Pendiente (30 de 60 filas)")
    await expect(table.get_by_role("columnheader")).to_have_text(["Fuente", *HEADERS])
    await expect(table.get_by_role("rowheader")).to_have_text([f"F-{n}" for n in range(101, 121, 2)])
    await expect(table.locator("b")).to_have_count(0)
    await expect(turn.locator(".table p")).to_contain_text("Primeras 10 de 30 filas")
    await expect(turn.locator(".checks summary")).to_have_text("Citas verificadas: 11 de 11")
    await album.take(visited.page, "rows")
    await table.get_by_role("button", name="Fuente 3: F-105").press("Enter")
    dialog = visited.page.get_by_role("dialog")
    await expect(dialog.get_by_role("status")).to_have_text("facturas.xlsx · Facturas!A6:H6")
    await expect(dialog.locator("td mark")).to_have_text([str(cell) for cell in ROWS[4]])
    await expect(dialog.locator("#passage-count")).to_have_text("3/10")
    await visited.page.keyboard.press("ArrowRight")
    await expect(dialog.locator("td mark").first).to_have_text("F-107")


async def test_groups_are_drawn(tables: Server, visit: Open, album: Album) -> None:
    """R9.1 Bars, a line for what follows in time; as wide as there is room, and the table says the same."""
    visited = await open_collection(visit, tables, width=360)
    for question, shape, count in ((BY_CLIENT, "rect", 3), (BY_MONTH, "circle", 4)):
        turn = await visited.answered(question)
        chart = turn.locator(".table svg[aria-hidden=true]")
        await expect(chart.locator(shape)).to_have_count(count)
        await expect(turn.get_by_role("rowheader")).to_have_count(count)
        room = await turn.evaluate("turn => turn.clientWidth")
        widths = await chart.locator("text, rect, circle").evaluate_all(
            "all => all.map((one) => one.getBoundingClientRect().right)"
        )
        assert max(widths) <= room + 17
        assert await visited.page.evaluate("document.documentElement.scrollWidth") <= 360
        await album.take(visited.page, shape)


async def test_bars_are_as_long_as_their_values(tables: Server, visit: Open) -> None:
    """R9.1 Also below zero, from one line."""
    visited = await open_collection(visit, tables)
    bars = await visited.page.evaluate("""async () => {
      const { showTable } = await import("/static/table.js");
      const section = document.createElement("div");
      document.querySelector("main").append(section);
      section.className = "table";
      const rows = [["Pan", "30 €"], ["Té", "-10 €"]];
      const table = { plan: "suma", columns: ["Producto", "suma"], rows, values: [30, -10], row_count: 9 };
      showTable(section, { answer: "", table }, { element: section, sources: new Map() });
      return [...section.querySelectorAll("rect")].map((bar) => ["x", "width"].map((name) => bar.getAttribute(name)));
    }""")
    assert bars == [["25%", "75%"], ["0%", "25%"]]


async def test_a_wide_table_scrolls_by_itself(tables: Server, visit: Open) -> None:
    """R9.1 On a small screen, by keyboard too; axe finds nothing in either colour."""
    visited = await open_collection(visit, tables, width=360)
    turn = await visited.answered(PENDING)
    assert await visited.page.evaluate("document.documentElement.scrollWidth") <= 360
    box = turn.locator(".sheet")
    await box.focus()
    before = await box.evaluate("box => box.scrollLeft")
    for _ in range(5):
        await visited.page.keyboard.press("ArrowRight")
    await visited.page.wait_for_function("(before) => document.querySelector('.sheet').scrollLeft > before", arg=before)
    await assert_accessible(visited.page, ".turn")


async def test_all_rows_are_downloaded(tables: Server, visit: Open, tmp_path: Path) -> None:
    """R9.1 Of a loaded conversation as well."""
    visited = await open_collection(visit, tables)
    await visited.answered(PENDING)
    await visited.page.reload()
    async with visited.page.expect_download() as started:
        await visited.page.get_by_role("button", name="Descargar CSV").click()
    download = await started.value
    assert download.suggested_filename == "Tabla.csv"
    await download.save_as(tmp_path / "tabla.csv")
    assert len((tmp_path / "tabla.csv").read_text("utf-8-sig").splitlines()) == 31
