"""The menu of a conversation and the page of its link, in Chromium."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import docx
import httpx
import pypdfium2
import pytest

from tests.browser.accessibility import assert_accessible
from tests.browser.chromium import IN_CHROMIUM, Open, expect
from tests.conftest import Server, run_server

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = IN_CHROMIUM
QUESTION = "¿Por qué se paró la caldera?"
REASON = "La caldera se paró porque la válvula estaba obstruida (año, Noël, 5 €, A → B, x ≥ 3, «cita»"
QUOTE = f"{REASON}, <b>no</b> y [clic](https://evil.example))."


@pytest.fixture(scope="module")
def server(make_database: Callable[[], str]) -> Iterator[Server]:
    with run_server(DATABASE_URL=make_database()) as server:
        yield server


@pytest.fixture
async def page(server: Server, api: httpx.AsyncClient, visit: Open) -> "Page":
    """Return a page in Spanish with a conversation of one answer."""
    for known in (await api.get("/conversations")).json()["conversations"]:
        await api.delete(f"/conversations/{known['id']}")
    await api.post(
        "/documents", files={"files": ("caldera.txt", f"{QUOTE} Nadie lo vio.")}, data={"collection": "taller"}
    )
    allowed = ["clipboard-read", "clipboard-write"]
    page = (visited := await visit(server, locale="es-ES", permissions=allowed)).page
    await expect(page.locator("#documents li")).to_have_count(1)
    await visited.answered(QUESTION)
    await expect(page.locator("#conversations li")).to_have_count(1)
    return page


async def choose(page: "Page", name: str) -> None:
    await page.locator("#conversations li").hover()
    await page.get_by_role("button", name="Compartir o exportar").click()
    await page.get_by_role("button", name=name, exact=True).click()


async def test_a_link_shows_the_conversation_until_it_is_taken_back(server: Server, page: "Page", visit: Open) -> None:
    """R9.1 The owner is told in a sentence who will see it; who has the link reads answer and quotes, and asks nothing;
    a link that was taken back says so in the reader's language.
    """
    await choose(page, "Copiar enlace")
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("Cualquiera que tenga acceso a este servicio y el enlace")
    await dialog.get_by_role("button", name="Copiar enlace").click()
    await expect(dialog).to_contain_text(f"Enlace copiado: {server.url}/shared#")
    link = await page.evaluate("navigator.clipboard.readText()")
    await dialog.get_by_role("button", name="Cerrar").click()

    reader = (visited := await visit(server, locale="fr-FR")).page
    await reader.goto(link)
    turn = reader.locator(".turn")
    await expect(turn.locator(".question")).to_have_text(QUESTION)
    await expect(turn.locator(".answer")).to_contain_text(REASON)
    await expect(reader.locator(".shared")).to_contain_text("en lecture seule")
    await turn.locator(".mark").first.click()
    await expect(turn.locator(".cited q").first).to_contain_text(QUOTE)
    assert await reader.get_by_role("textbox").count() == 0
    names = [await each.get_attribute("title") for each in await reader.locator("button:visible").all()]
    assert set(filter(None, names)) == {"Copier la réponse"}
    await assert_accessible(reader, "html")

    await choose(page, "Dejar de compartir")
    await dialog.get_by_role("button", name="Dejar de compartir").click()
    await expect(dialog).to_have_count(0)
    await page.get_by_role("button", name="Compartir o exportar").click()
    await expect(page.get_by_role("button", name="Dejar de compartir")).to_be_hidden()
    await reader.reload()
    await expect(reader.locator(".lost")).to_contain_text("Ce lien n'est plus valable.")
    assert ["404" in complaint for complaint in visited.complaints] == [True]
    visited.complaints.clear()


async def test_a_conversation_is_saved_as_word_and_pdf(page: "Page", tmp_path: Path) -> None:
    """R9.1, security 14: both have the quote exactly as it stands in the document; the PDF is what the page prints,
    with the quotes of sources that are closed on it, and without its buttons.
    """
    async with page.expect_download() as downloading:
        await choose(page, "Word")
    download = await downloading.value
    assert download.suggested_filename == "Por qué se paró la caldera.docx"
    await download.save_as(tmp_path / "saved.docx")
    assert any(QUOTE in each.text for each in docx.Document(str(tmp_path / "saved.docx")).paragraphs)

    await page.evaluate("() => { window.print = () => { document.body.dataset.printed = document.title; }; }")
    await page.get_by_role("button", name="Nueva conversación").click()
    await choose(page, "PDF")
    await expect(page.locator("body")).to_have_attribute("data-printed", "Por qué se paró la caldera")
    await page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert await page.title() == "Causeway"
    written = pypdfium2.PdfDocument(io.BytesIO(await page.pdf()))
    text = " ".join("".join(sheet.get_textpage().get_text_range() for sheet in written).split())
    assert [pypdfium2.raw.FPDFPage_GetAnnotCount(sheet) for sheet in written] == [0]  # no links
    for told in (QUESTION, REASON, QUOTE, "caldera.txt", "clic (https://evil.example)"):
        assert told in text, text
    for hidden in ("Nueva conversación", "Enviar", "Nadie lo vio", "Seleccione un número"):
        assert hidden not in text
