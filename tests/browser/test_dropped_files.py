"""Documents on the shelf, in Chromium: uploaded, followed, cancelled, tried again, found, deleted."""

import asyncio
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from uuid import uuid4

import httpx
import pytest

from tests.browser.chromium import IN_CHROMIUM, Open, expect
from tests.conftest import Server, run_server
from tests.graphrag.parsers.documents import make_pdf

if TYPE_CHECKING:
    from playwright.async_api import FilePayload, Locator, Page, Route


pytestmark = IN_CHROMIUM
TEXT = "La caldera se paró porque la válvula estaba obstruida. "
SLOWLY = 50_000  # bytes a second


@pytest.fixture(scope="module")
def server(make_database: Callable[[], str]) -> Iterator[Server]:
    with run_server(DATABASE_URL=make_database()) as server:
        yield server


def file(name: str, data: bytes | str) -> "FilePayload":
    return {"name": name, "mimeType": "", "buffer": data.encode() if isinstance(data, str) else data}


def row(page: "Page", name: str) -> "Locator":
    return page.locator(".scroll li").filter(has_text=name)


async def test_files_are_uploaded_and_followed_to_their_end(
    server: Server, api: httpx.AsyncClient, visit: Open
) -> None:
    """R9.4, R9.3 Into a collection that the first of them makes; what fails says why, in the page's language, and is
    still there after a reload.
    """
    page = (visited := await visit(server, locale="fr-FR")).page
    await expect(page.get_by_label("Collection", exact=True)).to_have_text("Aucune collection")
    await page.locator("#files").set_input_files(
        [
            file("notas.md", TEXT * 20),
            file("chiffré.pdf", make_pdf([["secret"]], password="x")),
            file("programme.exe", b"MZ" + bytes(100)),
        ]
    )
    for _ in range(2):
        await expect(page.locator("#documents li")).to_have_count(1)
        await expect(row(page, "notas.md").locator(".state")).to_have_text("1,1 ko · 1 passage")
        await expect(row(page, "chiffré.pdf").locator(".state")).to_contain_text("protégé par un mot de passe")
        await expect(row(page, "programme.exe").locator(".state")).to_contain_text(
            "Ce type de fichier n'est pas pris en charge."
        )
        await expect(page.locator("#document-count")).to_have_text("(1)")
        await page.reload()
    turn = await visited.answered("Pourquoi la chaudière s'est-elle arrêtée ?")
    await expect(turn.locator(".sources")).to_contain_text("notas.md")

    for name in ("chiffré.pdf", "programme.exe"):
        await expect(row(page, name).get_by_role("button", name="Réessayer")).to_be_hidden()  # it would not help
    await row(page, "programme.exe").get_by_role("button", name="Supprimer").click()
    await page.get_by_role("dialog").get_by_role("button", name="Supprimer").click()
    await expect(row(page, "programme.exe")).to_have_count(0)
    await page.get_by_role("searchbox", name="Rechercher un document").fill("NOT")
    await expect(page.locator(".scroll li")).to_have_count(1)
    assert len((await api.get("/documents")).json()["documents"]) == 2


async def test_a_file_that_is_taken_while_the_list_is_read_stays(
    server: Server, api: httpx.AsyncClient, visit: Open
) -> None:
    """R9.4 What the server said before it had the file does not take it from the page."""
    await api.post("/documents", files={"files": ("notas.md", TEXT)}, data={"collection": "notas"})
    page = (await visit(server)).page
    await expect(row(page, "notas.md").locator(".state")).to_contain_text("1 passage")
    has_answered, may_arrive = asyncio.Event(), asyncio.Event()

    async def hold(route: "Route") -> None:
        response = await route.fetch()
        has_answered.set()
        await asyncio.wait_for(may_arrive.wait(), 240)
        await route.fulfill(response=response)

    await page.route(re.compile("status=error"), hold)
    await page.get_by_role("searchbox", name="Search documents").fill("program")
    await asyncio.wait_for(has_answered.wait(), 90)
    await page.locator("#files").set_input_files([file("program.exe", b"MZ" + bytes(100))])
    state = row(page, "program.exe").locator(".state")
    await expect(state).to_contain_text("This file type isn't supported.")
    async with page.expect_response(re.compile("status=indexed")):
        may_arrive.set()
    await expect(state).to_contain_text("This file type isn't supported.")


async def test_a_document_that_is_indexed_while_the_list_is_read_is_listed_once(
    server: Server, api: httpx.AsyncClient, visit: Open
) -> None:
    """R9.4 It was being processed when the list began to be read, and its stream has not told of the end yet."""
    await api.post("/documents", files={"files": ("notas.md", TEXT)}, data={"collection": "notas"})
    page, may_tell = (await visit(server)).page, asyncio.Event()
    await expect(row(page, "notas.md")).to_have_class("indexed")

    async def remember(route: "Route") -> None:
        response = await route.fetch(url=route.request.url.replace("status=processing", "status=indexed"))
        await route.fulfill(response=response, body=(await response.text()).replace('"indexed"', '"processing"'))

    async def tell_late(route: "Route") -> None:
        await asyncio.wait_for(may_tell.wait(), 240)
        await route.continue_()

    await page.route(re.compile("status=processing"), remember)
    await page.route("**/documents/*/events", tell_late)
    async with page.expect_request_finished(lambda request: "status=indexed" in request.url):
        await page.get_by_role("searchbox", name="Search documents").fill("notas")
    await expect(row(page, "notas.md")).to_have_count(1)
    await expect(row(page, "notas.md")).to_have_class("indexed")
    may_tell.set()
    await expect(page.locator("#document-news")).to_have_text("notas.md: ready")
    await expect(row(page, "notas.md")).to_have_class("indexed")


async def test_dropped_files_are_uploaded_and_known_ones_are_told(
    server: Server, api: httpx.AsyncClient, visit: Open
) -> None:
    """R9.4 Wherever they fall."""
    page = (await visit(server)).page
    for said in ("0.1 kB · 1 passage", "Already in this collection"):
        dropped = await page.evaluate_handle(
            "text => { const data = new DataTransfer(); data.items.add(new File([text], 'drop.txt')); return data; }",
            TEXT,
        )
        await page.dispatch_event("main", "dragover", {"dataTransfer": dropped})
        assert await page.evaluate("document.body.dataset.drop") == "Drop files here"
        await page.dispatch_event("main", "drop", {"dataTransfer": dropped})
        assert await page.evaluate("document.body.dataset.drop") is None
        await expect(row(page, "drop.txt").first.locator(".state")).to_contain_text(said)
    assert len((await api.get("/documents")).json()["documents"]) == 1


async def test_an_upload_shows_its_bytes_and_can_be_cancelled(
    server: Server, api: httpx.AsyncClient, visit: Open
) -> None:
    """R9.4 Nothing of a cancelled one arrives."""
    page = (await visit(server)).page
    network = await page.context.new_cdp_session(page)
    limits = {"offline": False, "latency": 0, "downloadThroughput": -1}
    await network.send("Network.emulateNetworkConditions", limits | {"uploadThroughput": SLOWLY})
    await page.locator("#files").set_input_files([file("largo.txt", TEXT * 20_000)])
    upload = row(page, "largo.txt")
    await expect(upload.locator(".state")).to_contain_text("Uploading")
    assert 0 < float(await upload.locator("progress").get_attribute("value") or 0) < 1
    await upload.get_by_role("button", name="Cancel").click()
    await expect(upload).to_have_count(0)
    assert (await api.get("/collections")).json()["collections"] == []


async def test_a_document_that_is_being_read_can_be_cancelled(
    server: Server, api: httpx.AsyncClient, visit: Open
) -> None:
    """R9.4 Also one that was on its way before the page was loaded; its cause says so, and it can be tried again."""
    page = (await visit(server, locale="es-ES")).page
    text = "\n\n".join(f"Párrafo {number}. El lote {uuid4()} se retiró porque {TEXT}" for number in range(12_000))
    await page.locator("#files").set_input_files([file("largo.txt", text)])
    document = row(page, "largo.txt")
    await expect(document).to_have_class("processing")
    await page.reload()
    await expect(document).to_have_class("processing")
    await document.get_by_role("button", name="Cancelar").click()
    await expect(document.locator(".state")).to_have_text("Cancelado.")
    await expect(document.get_by_role("button", name="Reintentar")).to_be_visible()
    assert [each["status"] for each in (await api.get("/documents")).json()["documents"]] == ["error"]


async def test_an_upload_whose_answer_got_lost_is_sent_again(
    server: Server, api: httpx.AsyncClient, visit: Open
) -> None:
    """R9.4, R11.1 With the same key, so it is taken once; meanwhile the page says that it tries."""
    visited = await visit(server)
    page, keys = visited.page, []

    async def lose_the_first(route: "Route") -> None:
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) > 1:
            return await route.continue_()
        await route.fetch()
        await route.abort()

    await page.route("**/api/v1/documents", lose_the_first)
    await page.locator("#files").set_input_files([file("una.txt", TEXT)])
    await expect(page.locator("#offline")).to_have_text("No connection to the server. Reconnecting…")
    await expect(row(page, "una.txt")).to_have_class("indexed")
    await expect(page.locator("#offline")).to_be_empty()
    assert len(keys) == 2
    assert len(set(keys)) == 1
    visited.complaints = [text for text in visited.complaints if "ERR_FAILED" not in text]  # Chromium's own


async def test_files_that_are_kept_for_later_are_told_as_such(server: Server, visit: Open) -> None:
    """R9.4 Where the database is away: in the server's words."""
    page = (await visit(server)).page
    kept = {"id": None, "filename": "guardada.txt", "status": "uploaded", "error": None, "same_as": None}
    said = {"documents": [kept], "indexing": "unavailable", "message": "It is kept and will be indexed later."}
    await page.route("**/api/v1/documents", lambda route: route.fulfill(status=202, json=said))
    await page.locator("#files").set_input_files([file("guardada.txt", TEXT)])
    await expect(row(page, "guardada.txt").locator(".state")).to_have_text(said["message"])
    await expect(row(page, "guardada.txt").get_by_role("button")).to_have_count(0)


async def test_what_the_server_refuses_is_told_and_can_be_sent_again(
    server: Server, api: httpx.AsyncClient, visit: Open
) -> None:
    """R9.4 A refused file stays on the shelf, with the reason."""
    visited = await visit(server, locale="es-ES")
    page = visited.page
    refused = {"error": {"message": "El disco está lleno."}}
    await page.route("**/api/v1/documents", lambda route: route.fulfill(status=507, json=refused), times=1)
    await page.locator("#files").set_input_files([file("rechazada.txt", TEXT)])
    await expect(row(page, "rechazada.txt").locator(".state")).to_have_text("El disco está lleno.")
    await row(page, "rechazada.txt").get_by_role("button", name="Reintentar").click()
    await expect(row(page, "rechazada.txt")).to_have_class("indexed")
    visited.complaints = [text for text in visited.complaints if "status of 507" not in text]  # Chromium's own
