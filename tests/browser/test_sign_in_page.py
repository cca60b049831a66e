"""Sign-in by an OpenID provider, in Chromium."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from api.middleware.authentication import SESSION_COOKIE
from tests.browser.chromium import IN_CHROMIUM, PATIENCE_MS, expect
from tests.conftest import DEMO, Server, run_server
from tests.graphrag.authentication.provider import OpenIdProvider, providing

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page


pytestmark = IN_CHROMIUM
QUESTION = "When did Harrowmere's goods-in check catch the mistake?"


@pytest.fixture(scope="module")
def provider() -> Iterator[OpenIdProvider]:
    with providing() as provider:
        yield provider


@pytest.fixture(scope="module")
def server(provider: OpenIdProvider, make_database: Callable[[], str]) -> Iterator[Server]:
    with run_server(DATABASE_URL=make_database(), RAG_AUTH="api_key", **provider.environment) as server:
        yield server


@pytest.fixture
async def context(browser: "Browser") -> AsyncIterator["BrowserContext"]:
    context = await browser.new_context(locale="en-GB", viewport={"width": 1200, "height": 800})
    context.set_default_timeout(PATIENCE_MS)
    yield context
    await context.close()


async def sign_in(page: "Page", name: str) -> None:
    await page.get_by_role("link", name="Sign in").last.click()
    await page.get_by_label("Name").fill(name)
    await page.get_by_role("button", name="Sign in").click()


async def test_a_person_signs_in_asks_and_signs_out(server: Server, context: "BrowserContext") -> None:
    """R9.1, security 7: no script sees the session; its end is told; the question is there after signing in again."""
    page = await context.new_page()
    question, session = page.locator("#question"), page.locator("#session")
    await page.goto(server.url)
    await expect(session).to_be_hidden()
    await sign_in(page, "nobody")
    await expect(page.locator("#notice")).to_contain_text("Sign-in failed")
    await expect(page).to_have_url(f"{server.url}/")
    await sign_in(page, "ana")
    await expect(session).to_contain_text("Ana")
    await expect(page.locator("#locked")).to_be_hidden()
    assert await page.evaluate("document.cookie") == ""

    async with page.expect_file_chooser() as choosing:
        await page.locator("#first-upload").click()
    await (await choosing.value).set_files(DEMO / "label-error-soleada.md")
    await expect(page.locator("#documents li")).to_have_count(1)
    await question.fill(QUESTION)
    await page.keyboard.press("Enter")
    await expect(page.locator(".mark").first).to_be_visible()

    await context.add_cookies([{"name": SESSION_COOKIE, "value": "cws_over", "url": server.url}])
    await question.fill("And who found it?")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog")).to_contain_text("Your session has ended")
    await sign_in(page, "ana")
    await expect(session).to_contain_text("Ana")
    await expect(question).to_have_value("And who found it?")
    await expect(page.locator(".turn")).to_have_count(1)  # of the same conversation
    await question.press("Enter")
    await expect(page.locator(".turn")).to_have_count(2)
    await expect(page.locator(".answer").last).to_have_attribute("aria-busy", "false")
    await page.reload()
    await expect(question).to_have_value("")

    await page.goto(f"{server.url}/studio")
    await page.get_by_role("button", name="Sign out").click()
    await expect(page.get_by_role("dialog").get_by_role("link", name="Sign in")).to_be_visible()
    assert await context.cookies() == []
    await sign_in(page, "bea")
    await expect(page).to_have_url(f"{server.url}/studio")
    await expect(session).to_contain_text("Bea")
    await page.goto(server.url)
    await expect(page.locator("#welcome")).to_contain_text("Upload your first documents")
    await expect(page.locator("#conversations li")).to_have_count(0)
