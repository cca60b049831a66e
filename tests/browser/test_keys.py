"""A story in Chromium without a pointer."""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.chromium import IN_CHROMIUM, Open, Visit, expect
from tests.conftest import DEMO, Server, run_server

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page


pytestmark = IN_CHROMIUM
BROUGHT = "yearly-review-2025.md"
QUESTION = "Why did Épicerie Valadour leave?"


@pytest.fixture
def server(make_database: Callable[[], str]) -> Iterator[Server]:
    with run_server(DATABASE_URL=make_database()) as server:
        yield server


async def test_keys_alone_are_enough(server: Server, visit: Open) -> None:
    """R9.1 No pointer is needed: all is reached by Tab, or has a key of its own; the focus is never lost."""
    visited = await visit(server, width=1280)
    page = visited.page
    await bring_a_document(page)
    await look_up(visited)
    await vote_and_change(visited)
    await keep_and_delete(page)


async def reach(page: "Page", element: "Locator") -> None:
    """As often as it takes, once around the page at most."""
    for _ in range(120):
        if await element.evaluate("each => each === document.activeElement"):
            return
        await page.keyboard.press("Tab")
    raise AssertionError(f"Tab never comes to {element}")


async def press(page: "Page", element: "Locator", key: str = "Enter") -> None:
    await reach(page, element)
    await page.keyboard.press(key)


async def bring_a_document(page: "Page") -> None:
    await expect(page.get_by_role("textbox", name="Ask a question")).to_be_focused()
    async with page.expect_file_chooser() as choosing:
        await press(page, page.locator("#upload"))
    await (await choosing.value).set_files(DEMO / BROUGHT)
    await expect(page.locator("#documents li")).to_have_count(1)
    await expect(page.locator("#document-news")).to_have_text(f"{BROUGHT}: ready")


async def look_up(visited: Visit) -> None:
    """The answer's marks and those of its chain; each gives the focus back."""
    page = visited.page
    await page.keyboard.press("Control+k")
    await page.keyboard.type(QUESTION)
    await page.keyboard.press("Enter")
    turn = await visited.ended()
    await expect(page.get_by_role("textbox", name="Ask a question")).to_be_focused()
    for mark in (turn.locator(".answer .mark").first, turn.locator(".chain .mark").last):
        await press(page, mark)
        await expect(page.locator("#passage-body")).to_be_focused()
        await expect(page.locator("#passage-count")).to_have_text(re.compile(r"\d/\d"))
        before = await page.locator("#passage-count").inner_text()
        await page.keyboard.press("ArrowRight")
        await expect(page.locator("#passage-count")).not_to_have_text(before)
        await page.keyboard.press("Escape")
        await expect(mark).to_be_focused()
    await expect(turn.locator(".chain figcaption").first).to_contain_text("led to the departure")


async def vote_and_change(visited: Visit) -> None:
    page = visited.page
    turn = page.locator(".turn").last
    votes = turn.locator(".of-answer .votes")
    bad = votes.get_by_role("button", name="Not helpful")
    await press(page, bad, "Space")
    await expect(votes.get_by_role("combobox")).to_be_visible()
    await reach(page, votes.get_by_role("combobox"))
    await page.keyboard.press("ArrowDown")
    await reach(page, votes.get_by_role("textbox"))
    await page.keyboard.type("Says who?")
    await page.keyboard.press("Enter")
    await expect(bad).to_be_focused()
    await press(page, turn.get_by_role("button", name="Regenerate"))
    turn = await visited.ended()
    await expect(turn.locator(".of-answer .versions")).to_have_text("‹2/2›")
    await press(page, turn.locator(".of-answer").get_by_role("button", name="Previous version"))
    await expect(page.locator(".of-answer .versions")).to_have_text("‹1/2›")
    await expect(page.locator(".of-answer [aria-pressed=true]")).to_have_accessible_name("Not helpful")
    assert await page.locator(".of-answer input").input_value() == "Incorrect: Says who?"


async def keep_and_delete(page: "Page") -> None:
    """Its name, the language, the colours; then each is gone, after a question that Tab answers."""
    row = page.locator("#conversations a")
    await press(page, row, "F2")
    await page.keyboard.type("By keys")
    await page.keyboard.press("Enter")
    await expect(row).to_have_text("By keys")
    await press(page, page.get_by_role("button", name="Dark", exact=True), "Space")
    await press(page, page.get_by_role("button", name="Français"), "Space")
    await expect(page.locator("html")).to_have_attribute("lang", "fr")
    await expect(row).to_have_text("By keys")
    await press(page, row, "Delete")
    await press(page, page.get_by_role("dialog").get_by_role("button", name="Supprimer"))
    await expect(row).to_have_count(0)
    await expect(page.locator("#welcome")).to_be_visible()
    await expect(page.get_by_role("searchbox", name="Rechercher une conversation")).to_be_focused()
    await press(page, page.locator("#documents").get_by_role("button", name="Supprimer"))
    await press(page, page.get_by_role("dialog").get_by_role("button", name="Supprimer"))
    await expect(page.get_by_role("searchbox", name="Rechercher un document")).to_be_focused()
    await press(page, page.get_by_role("button", name="Supprimer la collection"))
    await press(page, page.get_by_role("dialog").get_by_role("button", name="Supprimer"))
    await expect(page.locator("#first-upload")).to_be_visible()
    await expect(page.get_by_role("button", name="Nouvelle collection")).to_be_focused()
