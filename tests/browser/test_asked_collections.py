"""Several collections asked at once on the page, in Chromium."""

import json
from collections.abc import Callable, Iterator

import pytest

from graphrag.models import LOCAL_OWNER
from tests.agent.two_collections import fill
from tests.browser.accessibility import assert_accessible
from tests.browser.album import Album
from tests.browser.chromium import IN_CHROMIUM, Open, expect
from tests.conftest import Server, run_server, with_services

pytestmark = IN_CHROMIUM
QUESTION = "¿Por qué se cerró el puente de Arenal y cuánto costó la reparación del puente de Arenal?"


@pytest.fixture(scope="module")
def server(make_database: Callable[[], str]) -> Iterator[Server]:
    database = make_database()
    with_services(database, lambda services: fill(services, LOCAL_OWNER))
    with run_server(DATABASE_URL=database) as server:
        yield server


async def test_several_collections_are_chosen_and_asked(server: Server, visit: Open, album: Album) -> None:
    """R9.1, R8.7 The question box says which; sources name theirs; the conversation and the next visit keep them."""
    page = (visited := await visit(server)).page
    asked = page.get_by_title("Collections to ask")
    await expect(asked).to_have_text("accounts")
    await asked.click()
    dialog = page.get_by_role("dialog", name="Collections to ask")
    await dialog.get_by_label("works").check()
    await assert_accessible(page, "html")
    await album.take(page, "choices")
    await dialog.get_by_role("button", name="Close").click()
    await expect(asked).to_have_text("accounts, works")

    sent = []
    page.on("request", lambda request: sent.append(request) if request.url.endswith("/chat/stream") else None)
    turn = await visited.answered(QUESTION)
    body = json.loads(sent[-1].post_data)
    assert (body["collections"], "collection" in body) == (["accounts", "works"], False)
    names = set(await turn.locator(".sources .filename").all_inner_texts())
    assert {"works · puente.md", "accounts · facturas.md"} <= names
    await album.take(page, "sources")

    await page.reload()
    await expect(asked).to_have_text("accounts, works")
    await expect(page.locator(".sources .filename").filter(has_text="works · puente.md")).to_have_count(1)
    await page.get_by_label("Collection", exact=True).select_option("works")  # whose documents are shown is asked alone
    await expect(asked).to_have_text("works")
    await page.get_by_role("button", name="New conversation").click()
    await page.locator("#conversations a").first.click()
    await expect(asked).to_have_text("accounts, works")


async def test_all_or_another_one_are_chosen(server: Server, visit: Open) -> None:
    """R9.1 Of several that are left out again, the last one is asked, and its documents are shown."""
    page = (visited := await visit(server)).page
    asked = page.get_by_title("Collections to ask")
    await asked.click()
    dialog = page.get_by_role("dialog", name="Collections to ask")
    await dialog.get_by_role("button", name="All").click()
    await expect(asked).to_have_text("accounts, works")
    await dialog.get_by_label("accounts").uncheck()
    await expect(page.get_by_label("Collection", exact=True)).to_have_value("works")
    await expect(dialog.get_by_label("works")).to_be_checked()
    await dialog.get_by_role("button", name="Close").click()
    await expect(asked).to_have_text("works")
    turn = await visited.answered("¿Por qué se cerró el puente de Arenal?")
    names = await turn.locator(".sources .filename").all_inner_texts()
    assert "puente.md" in names
    assert not [name for name in names if "·" in name]
