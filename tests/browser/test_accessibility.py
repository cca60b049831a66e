"""What axe finds in any view, in Chromium, in three languages, light and dark: nothing. No view is too wide."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.api.uploads import finished, upload
from tests.browser.chromium import IN_CHROMIUM, QUESTION, Open, Visit, expect
from tests.conftest import DEMO, PATIENT, Server, run_server
from tests.graphrag.authentication.provider import providing
from tests.graphrag.parsers.documents import make_xlsx
from tests.model_server import ModelServer

if TYPE_CHECKING:
    from playwright.async_api import FilePayload, Page


pytestmark = IN_CHROMIUM
axe = pytest.importorskip("axe_playwright_python.async_playwright", reason="axe-playwright-python is not installed")
INVOICES: list[list[Any]] = [
    ["Factura", "Importe (€)", "Estado"],
    *([f"F-{n}", n, ("Pagada", "Pendiente")[n % 2]] for n in range(31)),
]
PENDING = "¿Cuánto suman las facturas pendientes?"
AUDIT = "Quelle note l'entrepôt de Toulouse a-t-il obtenue à l'audit ?"
BROKEN: "FilePayload" = {"name": "roto.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.7\nnothing"}
AXE = axe.Axe().axe_script
RULES = {
    "light": {"resultTypes": ["violations"]},
    "dark": {"resultTypes": ["violations"], "runOnly": ["color-contrast", "link-in-text-block"]},  # it is only colours
}
LOOK = """async (rules) => {
  const { state } = await import("/static/state.js");
  const part = document.querySelector("dialog[open]") ?? document;  // what is behind a dialog is inert
  const found = [];
  for (const language of ["es", "fr", "en"]) {
    for (const theme of ["dark", "light"]) {
      state.set("language", language);
      state.set("theme", theme);
      await new Promise(requestAnimationFrame);
      for (const { id, nodes } of (await axe.run(part, rules[theme])).violations) {
        found.push(`${id} in ${language}, ${theme}: ${nodes.map(({ html }) => html.slice(0, 150))}`);
      }
    }
  }
  return found;
}"""


@dataclass
class Inspection:
    """What axe finds on a page that is shown in every language and theme without being built anew."""

    page: "Page"
    found: list[str] = field(default_factory=list)

    async def look(self, view: str) -> None:
        if not await self.page.evaluate("'axe' in window"):
            await self.page.evaluate(AXE)
        self.found += [f"{view}: {found}" for found in await self.page.evaluate(LOOK, RULES)]
        if not await self.page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
            self.found.append(f"{view}: too wide")

    async def press(self, name: str) -> None:
        await self.page.get_by_role("button", name=name, exact=True).first.click()

    async def dialog(self, view: str, name: str) -> None:
        """Look at the dialog that a button of this name opens, and close it."""
        await self.press(name)
        await expect(self.page.get_by_role("dialog")).to_be_visible()
        await self.look(view)
        await self.page.keyboard.press("Escape")
        await expect(self.page.get_by_role("dialog")).to_have_count(0)


@pytest.fixture
def server(make_database: Callable[[], str], tmp_path: Path) -> Iterator[Server]:
    """Nobody has been here before; a language model can be connected."""
    with ModelServer() as model:
        chosen = {"CAUSEWAY_HOME": str(tmp_path), "RAG_MODEL_SERVERS": model.base_url}
        with run_server(DATABASE_URL=make_database(), **chosen) as running:
            yield running


async def test_axe_finds_nothing_in_any_view(server: Server, visit: Open) -> None:
    """R9.1 From the first start over answers, what they cite, every dialog, 320 pixels of width, errors to Studio."""
    visited = await visit(server, width=1280, reduced_motion="reduce")
    page = visited.page
    inspection = Inspection(page)
    await expect(page.locator("#first-upload")).to_be_visible()
    await inspection.look("first start")
    bring_documents(server)
    await page.reload()
    await expect(page.locator("#documents li")).to_have_count(len([*DEMO.iterdir()]) + 1)
    await inspection.look("documents")
    await look_at_answers(visited, inspection)
    await look_at_dialogs(page, inspection)
    await page.set_viewport_size({"width": 320, "height": 640})
    await look_at_a_small_screen(page, inspection)
    await page.set_viewport_size({"width": 1280, "height": 800})
    await look_at_errors(visited, inspection)
    for view in ("", "?view=evaluation", "?view=golden", "?view=causes"):
        await page.goto(f"{server.url}/studio{view}")
        await expect(page.locator("#view > *").first).to_be_visible()
        await inspection.look(f"studio{view}")
    assert inspection.found == []


def bring_documents(server: Server) -> None:
    files = {path.name: path.read_bytes() for path in DEMO.iterdir()} | {
        "facturas.xlsx": make_xlsx({"Facturas": INVOICES})
    }
    with httpx.Client(base_url=f"{server.url}/api/v1", timeout=60) as api:
        for document in [upload(api, "demo", name, data) for name, data in files.items()]:
            assert finished(api, document["id"])["status"] == "indexed"


async def look_at_answers(visited: Visit, inspection: Inspection) -> None:
    """A computed table, a causal chain, and what they and a PDF's answer cite."""
    page = visited.page
    asked = (
        ("sheet", PENDING, ".table table", "td mark"),
        ("text", QUESTION, ".chain figure", "mark"),
        ("PDF page", AUDIT, ".answer .mark", ".box"),
    )
    for number, (view, question, part, seen) in enumerate(asked):
        await expect(page.locator(".turn")).to_have_count(number)  # again, after the last language
        turn = await visited.answered(question)
        await expect(turn.locator(part).first).to_be_visible()
        await turn.locator(".mark").first.click()
        await expect(page.locator("#passage-body").locator(seen).first).to_be_visible()
        await inspection.look(view)
        await page.keyboard.press("Escape")
    for details in await page.locator(".turn summary").all():
        await details.click()
    await page.locator(".of-answer").last.get_by_role("button", name="Not helpful").click()
    await page.locator(".of-question").last.get_by_role("button", name="Edit question").click()
    await inspection.look("answers")
    await page.keyboard.press("Escape")


async def look_at_dialogs(page: "Page", inspection: Inspection) -> None:
    """A document with its search, filters, the connection of a model, the questions of the sidebar, its help."""
    await inspection.press("diario-mantenimiento-2025.md")
    await expect(page.locator("#passage-body h3").first).to_be_visible()
    await inspection.look("document")
    await inspection.press("Ask about this document")
    await page.locator("#conversations a").first.press("F2")
    await inspection.look("renaming")
    await page.keyboard.press("Escape")
    for name in (
        "Filter",
        "Model: none",
        "New collection",
        "Edit collection name",
        "Delete collection",
        "Keyboard shortcuts",
    ):
        await inspection.dialog(name, name)
    await page.locator("#documents").get_by_role("checkbox").first.check()
    await inspection.dialog("deletion of documents", "Delete (1)")
    await page.locator("#conversations li").hover()
    await inspection.dialog("deletion of a conversation", "Delete")


async def look_at_a_small_screen(page: "Page", inspection: Inspection) -> None:
    await inspection.look("answers, 320 pixels")
    await inspection.press("Sidebar")
    await inspection.look("sidebar, 320 pixels")
    await inspection.press("Close sidebar")
    for name in ("Filter", "Model: none"):
        await inspection.dialog(f"{name}, 320 pixels", name)
    await page.locator(".chain .mark").first.click()
    await expect(page.locator("#passage-body mark").first).to_be_visible()
    await inspection.look("text, 320 pixels")
    await page.keyboard.press("Escape")


async def look_at_errors(visited: Visit, inspection: Inspection) -> None:
    """A file that can't be read, a filter that lets nothing through, no connection."""
    page = visited.page
    await page.locator("#files").set_input_files([BROKEN])
    await expect(page.locator("#under-way .error .state")).not_to_be_empty()
    await page.locator("#find-conversation").fill("nothing like it")
    await page.evaluate("document.getElementById('notice').showPopover()")
    await page.context.set_offline(True)
    await expect(page.locator("#offline")).not_to_be_empty()
    await visited.ask(QUESTION)
    await expect(page.locator(".notes .error")).to_be_visible()
    await inspection.look("errors")
    await page.context.set_offline(False)
    await expect(page.locator("#offline")).to_be_empty()
    visited.complaints.clear()  # Chromium tells failed requests there


async def test_axe_finds_nothing_where_one_signs_in(make_database: Callable[[], str], visit: Open) -> None:
    """R9.1, security 7: the request for a key or a sign-in, its dialog, a refused sign-in, who has signed in."""
    with providing() as provider:
        environment = PATIENT | provider.environment
        with run_server(DATABASE_URL=make_database(), RAG_AUTH="api_key", **environment) as server:
            visited = await visit(server, width=1280)
            page = visited.page
            inspection = Inspection(page)
            await expect(page.locator("#locked a")).to_be_visible()
            await inspection.look("locked")
            await inspection.dialog("key", "Enter key")
            for name in ("nobody", "ana"):
                await page.get_by_role("link", name="Sign in").click()
                await page.get_by_label("Name").fill(name)
                await page.get_by_role("button", name="Sign in").click()
                await expect(page.locator("#notice" if name == "nobody" else "#session")).to_be_visible()
                await inspection.look(f"signed in as {name}")
            visited.complaints.clear()  # Chromium tells there what was refused
            visited.hosts.discard(urlsplit(provider.issuer).netloc)
            assert inspection.found == []
