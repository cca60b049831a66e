"""Folders, several documents at once, and collections in the sidebar, in Chromium."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.browser.accessibility import assert_accessible
from tests.browser.chromium import IN_CHROMIUM, Open, expect
from tests.conftest import Server, run_server

if TYPE_CHECKING:
    from playwright.async_api import FilePayload

pytestmark = IN_CHROMIUM
TEXT = "La caldera se paró porque la válvula estaba obstruida. "
FILES = {"actas/enero.md": "enero", "actas/2025/enero.md": "febrero", "actas/.oculto.md": "nada"}
NAMES = ["actas - 2025 - enero.md", "actas - enero.md"]


@pytest.fixture(scope="module")
def server(make_database: Callable[[], str]) -> Iterator[Server]:
    with run_server(DATABASE_URL=make_database()) as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder in which a name recurs, with a hidden file."""
    for path, month in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f"{TEXT * 3} Fue en {month}.")
    return tmp_path / "actas"


def file(name: str, text: str) -> "FilePayload":
    return {"name": name, "mimeType": "", "buffer": text.encode()}


async def test_a_folder_is_uploaded_and_its_documents_deleted_together(
    server: Server, api: httpx.AsyncClient, visit: Open, folder: Path
) -> None:
    """R9.4 Chosen or dropped, with its subfolders; the deletion is asked for once, in red."""
    page = (await visit(server, locale="es-ES")).page
    async with page.expect_file_chooser() as choosing:
        await page.get_by_role("button", name="Subir una carpeta").click()
    await (await choosing.value).set_files(folder)
    names = page.locator("#documents .name")
    await expect(names).to_have_count(2)
    assert sorted(await names.all_inner_texts()) == NAMES

    for name in NAMES:
        await page.get_by_role("checkbox", name=name).check()
    await page.get_by_role("button", name="Eliminar (2)").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("¿Eliminar 2 documentos?")
    enter = dialog.get_by_role("button", name="Eliminar")
    assert await enter.evaluate("button => getComputedStyle(button).color") == "rgb(163, 52, 31)"
    await assert_accessible(page, "#prompt, #shelf")
    await enter.click()
    await expect(names).to_have_count(0)
    await expect(page.get_by_role("button", name="Eliminar (2)")).to_be_hidden()
    assert (await api.get("/documents")).json()["documents"] == []

    session = await page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(folder)], "dragOperationsMask": 1}
    for step in ("dragEnter", "dragOver", "drop"):
        await session.send("Input.dispatchDragEvent", {"type": step, "x": 600, "y": 300, "data": data})
    await expect(names).to_have_count(2)
    assert sorted(await names.all_inner_texts()) == NAMES


async def test_the_supported_types_are_those_of_the_service(
    server: Server, api: httpx.AsyncClient, visit: Open
) -> None:
    """R9.4 All of them, as the API lists them."""
    page = (await visit(server)).page
    await page.get_by_text("Supported files").click()
    suffixes = (await api.get("/documents/types")).json()["suffixes"]
    assert {".pdf", ".docx", ".md", ".eml"} <= set(suffixes)
    await expect(page.locator("#types p")).to_have_text(", ".join(suffixes))


async def test_a_document_that_waits_says_its_place(server: Server, visit: Open) -> None:
    """R9.4 In the queue, from 1."""
    page = (await visit(server, locale="fr-FR")).page
    waiting = {"id": None, "filename": "une.txt", "status": "uploaded", "error": None, "same_as": None, "place": 3}
    await page.route("**/api/v1/documents", lambda route: route.fulfill(status=202, json={"documents": [waiting]}))
    await page.locator("#files").set_input_files(file("une.txt", TEXT))
    await expect(page.locator("#under-way .state")).to_have_text("En file d’attente · n° 3")


async def test_collections_are_made_renamed_and_deleted(server: Server, api: httpx.AsyncClient, visit: Open) -> None:
    """R9.3 A new one begins a new conversation and says how it is filled; its conversations follow its new name; the
    question before it is deleted names how many documents go.
    """
    await api.post("/documents", files={"files": ("una.txt", TEXT)}, data={"collection": "notas"})
    page = (visited := await visit(server, width=1280)).page
    await expect(page.locator("#documents li")).to_have_count(1)
    await visited.answered("¿Por qué se paró la caldera?")
    dialog = page.get_by_role("dialog")
    await page.get_by_role("button", name="Edit collection name").click()
    await expect(dialog).to_contain_text("Collection name")
    await dialog.get_by_role("textbox").fill("calderas")
    await dialog.get_by_role("button", name="Rename").click()
    choice = page.get_by_label("Collection", exact=True)
    await expect(choice).to_have_value("calderas")
    await expect(page.locator("#documents li")).to_have_count(1)
    await expect(page.locator(".turn")).to_have_count(1)
    await expect(page.locator("#conversations li").first).to_have_js_property("collections", ["calderas"])

    await page.get_by_role("button", name="New collection").click()
    await dialog.get_by_role("textbox").fill("vacía")
    await page.keyboard.press("Enter")
    await expect(page.locator(".turn")).to_have_count(0)
    await expect(page.locator("#documents")).to_have_attribute(
        "data-empty", "No documents yet. Upload files or a folder, or drag them here."
    )
    delete = page.get_by_role("button", name="Delete collection")
    await delete.click()
    await expect(dialog).to_contain_text("Delete the collection “vacía” and its 0 documents?")
    await dialog.get_by_role("button", name="Delete").click()
    await expect(choice).to_have_value("calderas")
    await expect(page.locator("#document-count")).to_have_text("(1)")
    await expect(page.locator("#documents li")).to_have_count(1)
    await delete.click()
    await expect(dialog).to_contain_text("Delete the collection “calderas” and its document?")
    await assert_accessible(page, "#prompt, #shelf")
    await dialog.get_by_role("button", name="Delete").click()
    await expect(choice).to_be_disabled()
    assert (await api.get("/collections")).json()["collections"] == []
    visited.complaints = [text for text in visited.complaints if "status of 404" not in text]  # of lists being read


async def test_an_empty_conversation_suggests_questions_of_its_documents(
    server: Server, api: httpx.AsyncClient, visit: Open
) -> None:
    """R9.1 In the document's language; one that is chosen is asked."""
    page = (visited := await visit(server)).page
    text = "El gráfico del día 11 no se revisó hasta abril, ya que el aviso de Mantenimiento llegó el día 12."
    await page.locator("#files").set_input_files(file("horno.md", text))
    question = page.locator("#examples button")
    await expect(question).to_have_text(re.compile("^¿Por qué no se revisó el gráfico"))
    await expect(question).to_have_attribute("lang", "es")
    await question.click()
    await expect((await visited.ended()).locator(".answer")).to_contain_text("aviso")
    await page.get_by_role("button", name="New conversation").click()
    await expect(question).to_be_visible()


async def test_an_answer_is_followed_by_questions_of_its_document(server: Server, visit: Open) -> None:
    """R9.1 Of causes that it has not told; they go when one is asked, and stand under a conversation that is opened."""
    page = (visited := await visit(server)).page
    told = "El gráfico del día 11 no se revisó hasta abril, ya que el aviso de Mantenimiento llegó el día 12."
    other = "La entrega de Oviedo se retrasó tres semanas porque el molde nuevo se rompió durante el montaje."
    await page.locator("#files").set_input_files(file("horno.md", f"{told}\n\n{other}"))
    await expect(page.locator("#examples button")).to_have_count(2)
    await page.locator("#examples button", has_text="gráfico").click()
    await expect((await visited.ended()).locator(".answer")).to_contain_text("aviso")
    following = page.locator("#follow-ups button")
    await expect(following).to_have_text([re.compile("Oviedo")])
    await page.reload()
    await expect(following).to_have_text([re.compile("Oviedo")])
    await following.click()
    await expect(page.locator("#follow-ups")).to_be_hidden()
    await expect((await visited.ended()).locator(".answer")).to_contain_text("molde")
    await expect(page.locator("#follow-ups")).to_be_hidden()  # both have been asked
