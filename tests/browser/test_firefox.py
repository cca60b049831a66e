"""The main story in Firefox: documents are uploaded, a question is answered, a citation is opened in its document."""

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser import firefox
from tests.browser.chromium import Open, expect, playwright_api
from tests.conftest import DEMO, Server, run_server

if TYPE_CHECKING:
    from playwright.async_api import Browser


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not firefox.FIREFOX.exists(), reason=f"{firefox.FIREFOX} is not installed"),
]
BROUGHT = ["yearly-review-2025.md", "audit-entrepot-toulouse.pdf", "ventas-2025.xlsx"]


@pytest.fixture(scope="module")
async def browser(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator["Browser"]:
    program = tmp_path_factory.mktemp("firefox") / "firefox"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{firefox.__file__}" "$@"\n')
    program.chmod(0o755)
    async with playwright_api.async_playwright() as playwright:
        browser = await playwright.firefox.launch(channel="moz-firefox", executable_path=program)
        yield browser
        await browser.close()


@pytest.fixture
def server(make_database: Callable[[], str]) -> Iterator[Server]:
    with run_server(DATABASE_URL=make_database()) as server:
        yield server


async def test_someone_uploads_asks_and_looks_up(server: Server, visit: Open) -> None:
    """R9 In another browser than the other tests': a chain, the lines, the page and the cells that answers cite."""
    visited = await visit(server, width=1280)
    page, passage = visited.page, visited.page.get_by_role("dialog")
    await expect(page.locator("#first-upload")).to_be_visible()
    await page.locator("#files").set_input_files([DEMO / name for name in BROUGHT])
    await expect(page.locator("#documents li")).to_have_count(3)

    turn = await visited.answered("Why did Épicerie Valadour leave?")
    await expect(turn.locator(".chain figure svg text").first).to_be_visible()
    for question, cited, seen in (
        (None, "yearly-review-2025.md · line", "mark"),
        (
            "Quelle note l'entrepôt de Toulouse a-t-il obtenue à l'audit ?",
            "audit-entrepot-toulouse.pdf · page 1",
            ".box",
        ),
        ("¿Cuánto subieron las ventas en diciembre de 2025?", "ventas-2025.xlsx · Ventas 2025!", "td mark"),
    ):
        turn = await visited.answered(question) if question else turn
        await turn.locator(".answer .mark").first.click()
        await expect(page.locator("#passage-place")).to_contain_text(cited)
        await expect(passage.locator(seen).first).to_be_in_viewport()
        await passage.get_by_role("button", name="Close document").click()
        await expect(turn.locator(".answer .mark").first).to_be_focused()

    await page.locator("#documents").get_by_role("button", name=BROUGHT[0]).click()
    await passage.get_by_role("searchbox").fill("Valadour")
    await page.keyboard.press("Enter")
    await expect(passage.locator("mark").first).to_have_text("Valadour")
