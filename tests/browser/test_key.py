"""The page of a service that asks for a key, in Chromium."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.services import open_services
from tests.api.identities import Keys, make_keys_in
from tests.browser.chromium import IN_CHROMIUM, Open, expect
from tests.conftest import DEMO, Server, run_server

if TYPE_CHECKING:
    from playwright.async_api import Page


pytestmark = IN_CHROMIUM
QUESTION = "When did Harrowmere's goods-in check catch the mistake?"


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    return make_database()


@pytest.fixture(scope="module")
def keys(database: str) -> Keys:
    return make_keys_in(database)


@pytest.fixture(scope="module")
def server(database: str, keys: Keys) -> Iterator[Server]:
    arguments = ("--collection", "demo", "--ingest", str(DEMO / "label-error-soleada.md"))
    with run_server(*arguments, DATABASE_URL=database, RAG_AUTH="api_key", RAG_OWNER=keys.owner_a) as server:
        yield server


@pytest.fixture
async def page(server: Server, visit: Open) -> AsyncIterator["Page"]:
    visited = await visit(server, locale="fr-FR", width=1280)
    yield visited.page
    visited.complaints.clear()  # Chromium tells there what was refused


async def revoke(database: str, keys: Keys) -> None:
    services = open_services(Settings.from_environment(database_url=SecretStr(database)))
    await services.authentication.api_keys.revoke(keys.owner_a, keys.a.split("_")[1])
    await services.close()


async def test_the_page_asks_for_a_key_and_forgets_one_that_is_refused(page: "Page", database: str, keys: Keys) -> None:
    """Security 7: asked for once a tab, sent with every request, dropped when it holds no more."""
    dialog, box, answers = (
        page.get_by_role("dialog"),
        page.get_by_label("Clé d’accès", exact=True),
        page.locator(".answer"),
    )

    async def ask() -> None:
        await page.locator("#question").fill(QUESTION)
        await page.keyboard.press("Enter")

    await expect(dialog).to_be_hidden()
    await expect(page.locator("#locked")).to_contain_text("Saisissez votre clé d’accès")
    await ask()
    await expect(dialog).to_contain_text("Saisissez votre clé d’accès")
    for key in (keys.revoked_of_a, keys.unknown):  # refused: asked for again, and nothing of it stays
        await box.fill(key)
        await page.keyboard.press("Enter")
        await expect(box).to_have_value("")
        await expect(dialog).to_contain_text("Cette clé n’est pas valide")
        assert await page.evaluate("sessionStorage.getItem('apiKey')") is None
    await box.fill(f" {keys.a} ")
    await page.get_by_role("button", name="Continuer").click()
    await expect(dialog).to_be_hidden()
    await expect(answers.last).to_have_attribute("aria-busy", "false")
    await expect(page.locator(".mark").first).to_be_visible()
    await expect(page.locator("#locked")).to_be_hidden()
    await expect(page.locator("#documents li")).to_have_count(1)

    await page.reload()
    await expect(page.locator(".mark").first).to_be_visible()  # without being asked again
    assert await page.evaluate("Object.values(localStorage).join() + document.cookie") == ""

    await revoke(database, keys)
    await ask()
    await expect(dialog).to_be_visible()
    assert await page.evaluate("sessionStorage.getItem('apiKey')") is None
    await page.get_by_role("button", name="Annuler").click()
    await expect(page.locator(".notes .error")).to_contain_text("Il manque une clé valide")
    await ask()
    await expect(dialog).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.locator(".notes .error")).to_have_count(2)


async def test_the_shelf_asks_for_a_key_by_a_button(page: "Page", keys: Keys) -> None:
    """Security 7: not by itself; once it is given, the lists are there."""
    await page.get_by_role("button", name="Saisir la clé").click()
    await page.get_by_label("Clé d’accès", exact=True).fill(keys.b)
    await page.get_by_role("button", name="Continuer").click()
    await expect(page.locator("#locked")).to_be_hidden()
    await expect(page.locator("#collection")).to_be_disabled()  # of b, who has none


async def test_a_new_owner_is_told_how_to_begin(page: "Page", keys: Keys) -> None:
    """R9.1 Without a collection: the page offers an upload, which makes one; a question is answered with that."""
    await page.evaluate("key => sessionStorage.setItem('apiKey', key)", keys.b)
    await page.reload()
    await expect(page.locator("#welcome")).to_contain_text("Importez vos premiers documents")
    async with page.expect_file_chooser() as choosing:
        await page.locator("#first-upload").click()
    await page.locator("#question").fill(QUESTION)
    await page.keyboard.press("Enter")
    await expect(page.locator(".notes .error")).to_contain_text("Importez les premiers")
    await (await choosing.value).set_files(DEMO / "label-error-soleada.md")
    await expect(page.locator("#documents li")).to_have_count(1)
    await expect(page.locator("#collection")).to_have_value("demo")
    await expect(page.locator("#welcome > p")).to_have_text(
        "Interrogez vos documents. Chaque réponse cite ses sources."
    )
