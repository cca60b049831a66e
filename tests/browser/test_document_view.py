"""A document that is opened from the sidebar, in Chromium: read, searched, asked about."""

from typing import TYPE_CHECKING

import httpx

from tests.api.uploads import finished, upload
from tests.browser.accessibility import assert_accessible
from tests.browser.chromium import IN_CHROMIUM, Open, expect
from tests.conftest import Server

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page


pytestmark = IN_CHROMIUM


async def opened(page: "Page", name: str) -> "Locator":
    await page.locator("#documents").get_by_role("button", name=name).click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.locator("#passage-body > :not(.opening)").first).to_be_visible()
    return dialog


async def test_a_text_is_read_searched_and_asked_about(demo_server: Server, visit: Open) -> None:
    """R9.1, R9.4 Its words are found where they stand, or what is near in meaning; the next question is about the text
    that is selected, and asked of this document alone.
    """
    visited = await visit(demo_server, locale="es-ES", width=1280)
    page = visited.page
    dialog = await opened(page, "informe-calidad-horno-h2.md")
    await expect(dialog.locator(".summary")).to_contain_text("7 fragmentos · español · ")
    await expect(dialog.get_by_role("heading", name="Motivo del informe", exact=True)).to_be_visible()
    await expect(dialog.get_by_role("row").filter(has_text="A-2517")).to_contain_text("Vendido, retirado después")
    await expect(dialog.locator("#passage-body")).not_to_contain_text("# ")
    await expect(dialog.locator("mark")).to_have_count(0)
    await expect(dialog.get_by_role("button", name="Copiar cita")).to_be_hidden()

    search = dialog.get_by_role("searchbox", name="Buscar en este documento")
    await search.fill("HORNO")
    await search.press("Enter")
    await expect(dialog.locator("mark")).to_have_text("horno", ignore_case=True)
    await expect(dialog.locator("mark")).to_be_in_viewport()
    await expect(dialog.locator("#passage-count")).to_contain_text("1/")
    await search.fill("¿Por qué no fue la almendra?")
    await search.press("Enter")
    await expect(dialog.locator("mark").filter(has_text="almendra").first).to_be_visible()

    line = dialog.locator("#passage-body p").filter(has_text="H2").first
    text = (await line.inner_text()).strip()
    await line.click(click_count=3)
    await dialog.get_by_role("button", name="Preguntar sobre la selección").click()
    await expect(dialog).to_be_hidden()
    box = page.get_by_role("textbox")
    await expect(box).to_be_focused()
    await expect(box).to_have_value(f"«{text}» ")
    await expect(page.locator(".chip")).to_contain_text("informe-calidad-horno-h2.md")
    turn = await visited.answered("¿Por qué falló el horno?")
    names = await turn.locator(".sources .filename").all_inner_texts()
    assert set(names) == {"informe-calidad-horno-h2.md"}


async def test_a_long_text_is_read_to_its_end(demo_server: Server, visit: Open) -> None:
    """R9.1 A stretch at a time, on and back again."""
    lines = "\n".join(f"Line {number} of a long document." for number in range(1, 1_501))
    with httpx.Client(base_url=f"{demo_server.url}/api/v1", timeout=60) as api:
        assert finished(api, upload(api, "long", "long.txt", lines)["id"])["status"] == "indexed"
    page = (await visit(demo_server)).page
    await page.get_by_label("Collection", exact=True).select_option("long")
    dialog = await opened(page, "long.txt")
    await expect(dialog.locator("li").first).to_have_text("Line 1 of a long document.")
    later = dialog.get_by_role("button", name="Show following text")
    shown = 0
    while await later.count():
        shown += await dialog.locator("li:not(:empty)").count()
        first = await dialog.locator("li").first.inner_text()
        await later.press("Enter")
        await expect(dialog.locator("li").first).not_to_have_text(first)
    await expect(dialog.locator("li:not(:empty)").last).to_have_text("Line 1500 of a long document.")
    assert shown + await dialog.locator("li:not(:empty)").count() == 1_500
    await dialog.get_by_role("button", name="Show previous text").click()
    await expect(dialog.locator("li").first).to_contain_text("of a long document.")


async def test_pages_and_sheets_are_shown_as_for_citations(demo_server: Server, visit: Open) -> None:
    """R8.3, R9.1 With nothing marked, on a small screen, from within the drawer; axe finds nothing in either colour."""
    page = (await visit(demo_server, locale="fr-FR", width=360)).page
    for name, seen in (
        ("audit-entrepot-toulouse.pdf", "2 pages · 5 passages · français"),
        ("ventas-2025.xlsx", "espagnol"),
    ):
        await page.get_by_role("button", name="Barre latérale", exact=True).click()
        dialog = await opened(page, name)
        await expect(dialog.locator(".summary")).to_contain_text(seen)
        await expect(dialog.locator("canvas, table")).to_be_visible()
        await expect(dialog.locator("mark, .box")).to_have_count(0)
        await assert_accessible(page, "#passage")
        await dialog.get_by_role("button", name="Poser une question sur ce document").click()
        await expect(page.get_by_role("textbox")).to_be_focused()
        await expect(page.locator(".chip")).to_contain_text(name)
