"""The shelf beside the answers, in Chromium: conversations, collections, filters."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import httpx
import pytest

from tests.browser.chromium import IN_CHROMIUM, Open, expect
from tests.conftest import Server, run_server

if TYPE_CHECKING:
    from playwright.async_api import Route

pytestmark = IN_CHROMIUM
LISTED = re.compile(r"/conversations(\?|$)")
PAGE = 50  # entries, as the API gives them
# At once, as it comes about on a busy machine: the next question is asked before the dialog says that it is closed.
CLOSE_AND_DELETE = """() => {
    document.querySelector("dialog[open]").close();
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "Delete", bubbles: true }));
}"""
TEXTS = {
    "caldera.md": "La caldera se paró porque la válvula estaba obstruida.",
    "chaudiere.txt": "La chaudière s'est arrêtée parce que la vanne était bouchée.",
    "boiler.txt": "The boiler stopped because the valve was blocked.",
}


@pytest.fixture(scope="module")
def server(make_database: Callable[[], str]) -> Iterator[Server]:
    with run_server("--collection", "notas", DATABASE_URL=make_database()) as server:
        yield server


@pytest.fixture
async def api(server: Server) -> AsyncIterator[httpx.AsyncClient]:
    """Nothing is there when a test begins."""
    async with httpx.AsyncClient(base_url=f"{server.url}/api/v1", timeout=120) as client:
        for kept in (await client.get("/conversations", params={"limit": 200})).json()["conversations"]:
            await client.delete(f"/conversations/{kept['id']}")
        for kept in (await client.get("/collections")).json()["collections"]:
            await client.delete(f"/collections/{kept['name']}")
        yield client


async def converse(api: httpx.AsyncClient, *titles: str) -> list[str]:
    return [(await api.post("/conversations", json={"title": title})).json()["id"] for title in titles]


async def fill(api: httpx.AsyncClient, collection: str) -> None:
    files = [("files", (name, text.encode())) for name, text in TEXTS.items()]
    await api.post("/documents", files=files, data={"collection": collection})
    for _ in range(600):
        kept = (await api.get(f"/collections/{collection}/facets")).json()
        if kept["document_count"] == len(TEXTS):
            return
        await asyncio.sleep(0.1)
    raise AssertionError(kept)


async def test_conversations_are_listed_as_one_scrolls(server: Server, api: httpx.AsyncClient, visit: Open) -> None:
    """R9.1 The latest first, a page at a time; and found by a part of their titles."""
    titles = [f"Conversation {number}" for number in range(PAGE + 7)]
    await converse(api, *titles)
    page = (await visit(server)).page
    links = page.locator("#conversations a")
    await expect(links).to_have_count(PAGE)
    await links.last.scroll_into_view_if_needed()
    await expect(links).to_have_count(len(titles))
    assert await links.all_inner_texts() == titles[::-1]
    await page.get_by_role("searchbox", name="Search conversations").fill("ation 4")
    await expect(links).to_have_count(11)
    await page.get_by_role("searchbox", name="Search conversations").fill("nothing")
    await expect(links).to_have_count(0)


async def test_a_list_that_arrives_while_a_name_is_typed_waits_for_it(
    server: Server, api: httpx.AsyncClient, visit: Open
) -> None:
    """R9.1 The field stays under the typing, the name arrives whole, and the list is then read again."""
    await converse(api, "Boilers")
    page = (await visit(server)).page
    titles = page.locator("#conversations a")
    await expect(titles).to_have_text(["Boilers"])
    typing = asyncio.Event()

    async def hold(route: "Route") -> None:
        await typing.wait()
        await route.continue_()

    await page.route(LISTED, hold)
    await page.evaluate("import('/static/state.js').then(({ state }) => state.emit('answered', {}))")
    await page.get_by_role("button", name="Rename").click()
    await page.keyboard.type("Boilers a")
    async with page.expect_response(LISTED) as response:
        typing.set()
    await (await response.value).finished()
    await page.keyboard.type("nd valves")
    await converse(api, "Pumps")
    await page.keyboard.press("Enter")
    await expect(titles).to_have_text(["Pumps", "Boilers and valves"])


async def test_a_conversation_is_chosen_renamed_and_deleted_by_keyboard(
    server: Server, api: httpx.AsyncClient, visit: Open
) -> None:
    """R9.1 Arrows, Enter, F2, Delete; who cancels changes nothing; the focus goes on to the next one."""
    oldest, middle, latest = await converse(api, "First", "Second", "Third")
    page = (await visit(server, locale="fr-FR")).page
    row = {name: page.locator(f'[data-id="{name}"] a') for name in (oldest, middle, latest)}
    await row[latest].focus()
    await page.keyboard.press("ArrowDown")
    await expect(row[middle]).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(row[middle]).to_have_attribute("aria-current", "true")
    await expect(page.locator("[aria-current]")).to_have_count(1)

    await row[middle].focus()
    for keys, title in ((("Escape",), "Second"), (("Enter",), "Retenue")):
        await page.keyboard.press("F2")
        await page.keyboard.type("Retenue")
        await page.keyboard.press(*keys)
        await expect(row[middle]).to_have_text(title)
        await expect(row[middle]).to_be_focused()
    assert (await api.get(f"/conversations/{middle}")).json()["title"] == "Retenue"

    await page.keyboard.press("Delete")
    await expect(page.get_by_role("dialog")).to_contain_text("Supprimer la conversation « Retenue » ?")
    await page.keyboard.press("Escape")
    await expect(row[middle]).to_be_focused()
    await page.keyboard.press("Delete")
    await page.evaluate(CLOSE_AND_DELETE)
    await page.get_by_role("dialog").get_by_role("button", name="Supprimer").click()
    await expect(row[middle]).to_have_count(0)
    await expect(row[oldest]).to_be_focused()
    assert (await api.get(f"/conversations/{middle}")).status_code == 404
    await expect(page.locator("[aria-current]")).to_have_count(0)


async def test_a_conversation_is_saved_as_markdown(
    server: Server, api: httpx.AsyncClient, visit: Open, tmp_path: Path
) -> None:
    """R9.1 Under its title, without what no file's name may hold."""
    await fill(api, "notas")
    page = (visited := await visit(server)).page
    await visited.answered("Why did the boiler stop?")
    await page.get_by_role("button", name="New conversation").click()
    link = page.locator("#conversations a")
    await expect(link).to_have_text("Why did the boiler stop")
    await link.hover()
    await page.get_by_role("button", name="Share or export").click()
    async with page.expect_download() as downloading:
        await page.get_by_role("button", name="Markdown").click()
    download = await downloading.value
    assert download.suggested_filename == "Why did the boiler stop.md"
    await download.save_as(tmp_path / "saved.md")
    assert "the valve was blocked" in (tmp_path / "saved.md").read_text()


async def test_a_collection_is_made_chosen_and_deleted(server: Server, api: httpx.AsyncClient, visit: Open) -> None:
    """R9.3 The chosen one is asked, and is still chosen at the next visit; what is taken is told."""
    await fill(api, "notas")
    page = (visited := await visit(server)).page
    choice, count = page.get_by_label("Collection", exact=True), page.locator("#document-count")
    await expect(choice).to_have_value("notas")
    await expect(count).to_have_text("(3)")
    name = f"Más & más? {uuid4().hex[:6]}"
    for given in (name, name):
        await page.get_by_role("button", name="New collection").click()
        await page.get_by_role("textbox", name="Collection name").fill(given)
        await page.keyboard.press("Enter")
        await expect(choice).to_have_value(name)
        await expect(count).to_have_text("(0)")
    await expect(page.get_by_role("alert")).to_contain_text(name)  # there is one of that name already
    visited.complaints = [text for text in visited.complaints if "status of 409" not in text]  # Chromium's own

    await page.reload()
    await expect(choice).to_have_value(name)
    turn = await visited.answered("Why did the boiler stop?")
    await expect(turn.locator(".answer")).to_contain_text("There are no documents here yet")
    await choice.select_option("notas")
    turn = await visited.answered("Why did the boiler stop?")
    await expect(turn.locator(".answer")).to_contain_text("the valve was blocked")

    await choice.select_option(name)
    await page.wait_for_load_state("networkidle")  # what is still asked of a collection that is gone is not found
    await page.get_by_role("button", name="Delete collection").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(choice).to_have_value("notas")
    assert [each["name"] for each in (await api.get("/collections")).json()["collections"]] == ["notas"]


async def test_a_question_is_about_the_documents_that_are_chosen(
    server: Server, api: httpx.AsyncClient, visit: Open
) -> None:
    """R9.2 Only what tells the documents apart can be chosen; a chip takes it away."""
    await fill(api, "notas")
    page = (visited := await visit(server)).page
    await page.get_by_role("button", name="Filter", exact=True).click()
    dialog = page.get_by_role("dialog")
    assert [label.split("\n")[0] for label in await dialog.locator("label").all_inner_texts()] == [
        "Language",
        "Type",
        "File",
    ]
    assert await dialog.get_by_label("Type").locator("option").all_inner_texts() == ["Add…", "md", "txt"]
    await dialog.get_by_label("Type").select_option("txt")
    await dialog.get_by_label("Language").select_option(label="French")
    await dialog.get_by_role("button", name="Close").click()
    chips = page.locator(".chip")
    assert [chip.strip(" ×") for chip in await chips.all_inner_texts()] == ["Type · txt", "Language · French"]

    asked = []
    page.on("request", lambda request: asked.append(request) if request.url.endswith("/chat/stream") else None)
    turn = await visited.answered("Why did the boiler stop?")
    await expect(turn.locator(".filename, .title").filter(has_text="boiler")).to_have_count(0)
    body = json.loads(asked[-1].post_data)
    assert (body["collection"], body["filters"]) == ("notas", {"document_type": ["txt"], "language": ["fr"]})
    for chip in ("Language · French", "Type · txt"):
        await page.get_by_role("button", name=f"Remove filter {chip}").click()
    await expect(chips).to_have_count(0)
    await visited.answered("Why did the boiler stop?")
    assert "filters" not in json.loads(asked[-1].post_data)
