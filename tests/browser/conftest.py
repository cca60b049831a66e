"""A browser for all tests of a process, and visits that are watched."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.api.scripted import asking
from tests.browser.album import Album
from tests.browser.chromium import ARGUMENTS, CHROMIUM, PATIENCE_MS, SLOW, Open, Visit, playwright_api
from tests.conftest import Server, run_server
from tests.model_server import ModelServer

if TYPE_CHECKING:
    from playwright.async_api import Browser


@pytest.fixture
async def api(server: Server) -> AsyncIterator[httpx.AsyncClient]:
    """Nothing is there when a test begins."""
    async with httpx.AsyncClient(base_url=f"{server.url}/api/v1", timeout=120) as client:
        for kept in (await client.get("/collections")).json()["collections"]:
            await client.delete(f"/collections/{kept['name']}")
        yield client


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator["Browser"]:
    async with playwright_api.async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield browser
        await browser.close()


@pytest.fixture
async def visit(browser: "Browser") -> AsyncIterator[Open]:
    """Opens the page of a server; at the end of each visit nothing was logged and no other host was asked."""
    visits: list[tuple[Visit, str]] = []
    async with AsyncExitStack() as stack:

        async def open_page(
            server: Server, path: str = "", *, locale: str = "en-GB", width: int = 1000, **options: Any
        ) -> Visit:
            context = await browser.new_context(locale=locale, viewport={"width": width, "height": 800}, **options)
            context.set_default_timeout(PATIENCE_MS)
            stack.push_async_callback(context.close)
            opened = Visit(await context.new_page())
            opened.page.on("console", lambda message: opened.complaints.append(message.text))
            opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
            context.on("request", lambda request: opened.hosts.add(urlsplit(request.url).netloc))
            visits.append((opened, urlsplit(server.url).netloc))
            await opened.page.goto(f"{server.url}{path}")
            return opened

        yield open_page
        for opened, own in visits:
            assert opened.complaints == []
            assert opened.hosts == {own}


@pytest.fixture
def album(request: pytest.FixtureRequest) -> Album:
    folder = request.config.getoption("--screenshots")
    return Album(Path(folder) if folder else None)


@pytest.fixture(scope="session")
def scripted_model() -> Iterator[ModelServer]:
    with ModelServer(default=SLOW) as server:
        yield server


@pytest.fixture
def model(scripted_model: ModelServer) -> Iterator[ModelServer]:
    """What one test has scripted is not the next one's."""
    yield scripted_model
    scripted_model.settle()


@pytest.fixture(scope="session")
def model_backed(scripted_model: ModelServer, make_demo_database: Callable[[], str]) -> Iterator[Server]:
    """The demo documents, answered by the scripted model."""
    with run_server("--collection", "demo", **asking(scripted_model, DATABASE_URL=make_demo_database())) as server:
        yield server
