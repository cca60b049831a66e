"""A newcomer connects a language model on the page, in Chromium."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.browser.accessibility import assert_accessible
from tests.browser.chromium import IN_CHROMIUM, QUESTION, Open, expect
from tests.conftest import PATIENT, Server, run_server
from tests.model_server import Body, Fail, ModelServer, Reply
from tests.processes import unused_port

pytestmark = IN_CHROMIUM
PAUSE_MS = 3000  # between two searches of the dialog for servers
WRITTEN = "The tins were late because the night shift on line L4 was suspended"
HINT = {
    "en-GB": "This answer quotes your documents. Connect a language model to get written answers.",
    "es-ES": "Esta respuesta cita sus documentos. Conecte un modelo de lenguaje para obtener respuestas redactadas.",
    "fr-FR": "Cette réponse cite vos documents. Connectez un modèle de langage pour obtenir des réponses rédigées.",
}


def tell(body: Body) -> str:
    return f"{WRITTEN} [1]." if "<excerpt" in body["messages"][-1]["content"] else "It is Paris."


@pytest.fixture
def found() -> Iterator[ModelServer]:
    with ModelServer(default=Reply(tell)) as server:
        yield server


@pytest.fixture
def server(found: ModelServer, make_demo_database: Callable[[], str], tmp_path: Path) -> Iterator[Server]:
    """Nobody has chosen a model; one answers at an address that is looked at."""
    environment = {
        **PATIENT,
        "CAUSEWAY_HOME": str(tmp_path),
        "DATABASE_URL": make_demo_database(),
        "RAG_MODEL_SERVERS": found.base_url,
    }
    with run_server("--collection", "demo", **environment) as running:
        yield running


async def test_a_newcomer_connects_the_model_that_was_found(server: Server, found: ModelServer, visit: Open) -> None:
    """R8.8, R9.1 Start, answer, connect, ask again: the model's answer, with its name; then neither."""
    visited = await visit(server)
    page, dialog = visited.page, visited.page.get_by_role("dialog")
    await expect(page.locator("#model")).to_have_text("Model: none")
    turn = await visited.answered(QUESTION)
    await expect(turn.locator(".made summary")).to_contain_text("document excerpts, no AI model")
    await expect(turn.locator(".hint")).to_contain_text(HINT["en-GB"])

    await turn.get_by_role("button", name="Connect a language model").click()
    await expect(dialog.get_by_role("combobox")).to_have_value("scripted")
    await dialog.get_by_role("button", name="Try").first.click()
    await expect(dialog.locator(".said").first).to_contain_text("It works: first word after")
    await dialog.locator("summary").click()
    await assert_accessible(page, "dialog.models")
    await dialog.get_by_role("button", name="Use").first.click()
    await expect(dialog).to_have_count(0)
    await expect(page.locator("#model")).to_have_text("Model: local:scripted")
    await expect(page.get_by_role("textbox", name="Ask a question")).to_be_focused()

    turn = await visited.answered(QUESTION)
    await expect(turn.locator(".answer")).to_contain_text(WRITTEN)
    await expect(turn.locator(".made summary")).to_contain_text("local:scripted")
    found.default = Fail(503)
    turn = await visited.answered("How many people work in Toulouse?")
    await expect(turn.locator(".notes")).to_contain_text("The language model did not respond")
    await expect(page.locator(".hint")).to_have_count(1)

    await page.locator("#model").click()
    await dialog.get_by_role("button", name="Disconnect").click()
    await expect(page.locator("#model")).to_have_text("Model: none")


async def test_a_server_that_starts_while_the_dialog_is_open_appears(
    make_demo_database: Callable[[], str], tmp_path: Path, visit: Open
) -> None:
    """R8.8, R9.1 Without a reload, and beside what the person has typed meanwhile; a closed dialog looks no more."""
    port = unused_port()
    environment = {"RAG_MODEL_SERVERS": f"http://127.0.0.1:{port}/v1", "DATABASE_URL": make_demo_database()}
    with run_server("--collection", "demo", CAUSEWAY_HOME=str(tmp_path), **environment) as server:
        visited = await visit(server)
        page, dialog = visited.page, visited.page.get_by_role("dialog")
        searches: list[str] = []
        page.on("request", lambda request: searches.append(request.url) if request.url.endswith("/models") else None)
        await page.clock.install()  # the pause between two searches is skipped
        await page.locator("#model").click()
        await expect(dialog.get_by_role("status").first).to_contain_text("No model found on this computer yet")
        await dialog.locator("summary").click()
        await dialog.get_by_role("textbox", name="Model").fill("llama3.2")

        with ModelServer(port=port):
            await page.clock.fast_forward(PAUSE_MS)
            await expect(dialog.get_by_role("combobox")).to_have_value("scripted")
            await expect(dialog.get_by_role("status").first).to_be_empty()
        async with page.expect_response("**/models"):
            await page.clock.fast_forward(PAUSE_MS)
        await expect(dialog.get_by_role("combobox")).to_have_count(1)
        await expect(dialog.get_by_role("textbox", name="Model")).to_have_value("llama3.2")

        await page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)
        before = len(searches)
        await page.clock.fast_forward(PAUSE_MS)
        await expect(page.locator("#model")).to_have_text("Model: none")
        assert len(searches) == before > 1


async def test_what_cannot_be_used_is_said_in_the_dialog(server: Server, found: ModelServer, visit: Open) -> None:
    """R8.8, R11.1 Where it was tried: a model that needs a key, an address that is not asked, no word of sense."""
    visited = await visit(server, width=360)
    page, dialog = visited.page, visited.page.get_by_role("dialog")
    await page.locator("#model").click()
    said = dialog.locator(".said.error")
    for behaviour, sentence in ((Fail(401), "needs a key"), (Reply("lorem ipsum"), "but not to the question")):
        found.default = behaviour
        await dialog.get_by_role("button", name="Try").first.click()
        await expect(said).to_contain_text(sentence)
    await dialog.locator("summary").click()
    await dialog.get_by_role("textbox", name="Address").fill("http://192.0.2.1/v1")
    await dialog.get_by_role("textbox", name="Model").fill("llama3.2")
    await dialog.get_by_role("button", name="Use").last.click()
    await expect(said.last).to_contain_text("Nothing is sent to “http://192.0.2.1/v1”")
    assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await expect(page.locator("#model")).to_have_text("Model: none")
    visited.complaints = [text for text in visited.complaints if "status of" not in text]  # Chromium's own


@pytest.mark.parametrize("locale", HINT)
async def test_the_hint_comes_once(demo_server: Server, visit: Open, locale: str) -> None:
    """R9.1 In the page's language, under the first answer of the documents' own words."""
    visited = await visit(demo_server, locale=locale)
    await expect((await visited.answered(QUESTION)).locator(".hint")).to_contain_text(HINT[locale])
    await visited.answered(QUESTION)
    await expect(visited.page.locator(".hint")).to_have_count(1)
