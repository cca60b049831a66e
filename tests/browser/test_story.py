"""The whole story in Chromium: someone brings documents, asks in three languages, looks each answer up, comes back.

Pictures of its steps: pytest -m slow tests/browser/test_story.py --screenshots FOLDER
"""

import re
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.api.scripted import ENDLESS, asking
from tests.browser.album import Album
from tests.browser.chromium import IN_CHROMIUM, TEXT, Open, Visit, expect
from tests.browser.wire import Wire
from tests.conftest import DEMO, Server, run_server
from tests.model_server import Body, Fail, ModelServer, Paced, Reply

if TYPE_CHECKING:
    from playwright.async_api import FilePayload, Page


pytestmark = IN_CHROMIUM
BROUGHT = ["audit-entrepot-toulouse.pdf", "ventas-2025.xlsx", "yearly-review-2025.md"]
SALES = "¿Cuánto subieron las ventas en diciembre de 2025?"
AUDIT = "Pourquoi le thermomètre du quai 2 n'était-il plus étalonné ?"
VALADOUR = "Why did Épicerie Valadour leave?"
TOLD = {  # question: [(what its source says, what the model says of it)]
    SALES: [("60.000", "En diciembre de 2025 las ventas subieron un 25 %, de 48.000 a 60.000 euros")],
    AUDIT: [("la neige", "Sa visite du 9 décembre a été annulée à cause de la neige")],
    VALADOUR: [
        ("led to the departure", "Two parts that were not replaced in time ended up causing the recall of Almendrina"),
        ("led to the departure", "The recall cost €48,600 and led to the departure of Épicerie Valadour"),
    ],
}
EXCERPT = re.compile(r'<excerpt number="(\d+)"[^>]*>(.*?)</excerpt>', re.DOTALL)
WATCHING = """() => { window.states = new Set(); window.bars = new Set();
new MutationObserver(() => {
    for (const row of document.querySelectorAll("#under-way li:has(progress:not([hidden]))")) {
        window.states.add(row.querySelector(".state").textContent.split(" ")[0]);
        window.bars.add(row.querySelector(".name").textContent);
    }
}).observe(document.querySelector(".scroll"), {childList: true, subtree: true, attributes: true}) }"""
BUTTON = {"es": "Español", "fr": "Français", "en": "English"}


def tell(body: Body) -> str:
    """What TOLD says, with the number of the first excerpt that holds it."""
    prompt = body["messages"][-1]["content"]
    excerpts = EXCERPT.findall(prompt)
    told = next(told for question, told in TOLD.items() if prompt.endswith(question))
    numbers = [next(number for number, text in excerpts if clue in text) for clue, _ in told]
    return " ".join(f"{sentence} [{number}]." for number, (_, sentence) in zip(numbers, told, strict=True))


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer(default=Reply(tell)) as server:
        yield server


@pytest.fixture
def server(model: ModelServer, make_database: Callable[[], str]) -> Iterator[Server]:
    """Nobody has been here before."""
    with run_server(**asking(model, DATABASE_URL=make_database())) as server:
        yield server


@pytest.fixture
async def wire(server: Server) -> AsyncIterator[Wire]:
    opened = Wire(server)
    yield opened
    await opened.close()


async def test_someone_brings_documents_asks_and_comes_back(
    wire: Wire, model: ModelServer, visit: Open, album: Album, tmp_path: Path
) -> None:
    """R9 Documents, answers in three languages, their places, votes, conversations, and all that goes wrong between."""
    visited = await visit(await wire.open(), locale="es-ES", width=1280)
    await bring_documents(visited.page, album)
    await ask_in_three_languages(visited, album)
    await hear_that_the_model_fails(visited, model, album)
    await vote(visited.page, album)
    await keep_the_conversation(visited.page, album, tmp_path)
    await read_on_after_a_cut(visited, wire, model, album)
    await stop_change_and_compare(visited, model, album)
    await look_at_it_differently(visited.page, album)
    await leave_nothing(visited.page, album)
    told = "ERR_INCOMPLETE_CHUNKED_ENCODING"  # so Chromium calls a cut
    visited.complaints = [text for text in visited.complaints if told not in text]


async def bring_documents(page: "Page", album: Album) -> None:
    """Three are read, each step of it is said; the fourth cannot be, and says why."""
    await expect(page.locator("#welcome p")).to_contain_text("Suba sus primeros documentos")
    await expect(page.locator("#examples")).to_be_hidden()  # they are about the demo's documents
    await album.take(page, "welcome")
    await page.evaluate(WATCHING)
    async with page.expect_file_chooser() as choosing:
        await page.locator("#welcome").get_by_role("button", name="Subir documentos").click()
    await (await choosing.value).set_files([DEMO / name for name in BROUGHT])
    await expect(page.locator("#under-way li").first).to_be_visible()
    await album.take(page, "uploading")
    await expect(page.locator("#documents li")).to_have_count(3)
    await expect(page.locator("#document-count")).to_have_text("(3)")
    await expect(page.locator("#first-upload")).to_be_hidden()
    assert {"Leyendo", "Indexando"} & set(await page.evaluate("[...window.states]"))
    assert set(await page.evaluate("[...window.bars]")) == set(BROUGHT)
    broken: FilePayload = {"name": "roto.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.7\nnothing"}
    await page.locator("#files").set_input_files([broken])
    await expect(page.locator("#under-way .error .state")).not_to_be_empty()
    await album.take(page, "documents")


async def ask_in_three_languages(visited: Visit, album: Album) -> None:
    """A citation is opened at the cells, on the page's picture, at the lines; a chain shows what each link rests on."""
    page = visited.page
    passage, place = page.locator("#passage"), page.locator("#passage-place")
    turn = await visited.answered(SALES)
    await album.take(page, "answer-es")
    await turn.locator(".answer .mark").first.click()
    await expect(place).to_contain_text("ventas-2025.xlsx")
    await expect(passage.locator("td mark").first).to_be_in_viewport()
    await album.take(page, "sheet")
    await page.keyboard.press("Escape")

    await page.get_by_role("button", name=BUTTON["fr"]).click()
    await expect(page.locator(".turn .checks summary")).to_contain_text("Citations vérifiées")
    turn = await visited.answered(AUDIT)
    await turn.locator(".answer .mark").first.click()
    await expect(place).to_have_text(re.compile(r"audit-entrepot-toulouse\.pdf · page \d"))
    await expect(passage.get_by_role("img")).to_be_visible()
    await expect(passage.locator(".box").first).to_be_in_viewport()
    await album.take(page, "pdf")
    await passage.get_by_role("button", name="Fermer le document").click()

    await page.get_by_role("button", name=BUTTON["en"]).click()
    await expect(page.locator(".turn .checks summary")).to_contain_text(["Quotes verified", "Quotes verified"])
    turn = await visited.answered(VALADOUR)
    chain = turn.locator(".chain figure").first
    await expect(chain.locator("svg text").first).to_be_visible()
    await chain.locator(".mark").first.hover()
    await expect(chain.locator("figcaption")).to_contain_text("Two parts that were not replaced in time")
    await chain.locator(".mark").last.focus()
    await expect(chain.locator("figcaption")).to_contain_text("led to the departure of Épicerie Valadour")
    await album.take(page, "chain")
    await chain.locator(".mark").last.click()
    await expect(place).to_have_text(re.compile(r"yearly-review-2025\.md · lines? \d+"))
    await expect(passage.locator("mark").first).to_be_in_viewport()
    await album.take(page, "lines")
    await page.keyboard.press("Escape")
    await expect(chain.locator(".mark").last).to_be_focused()


async def hear_that_the_model_fails(visited: Visit, model: ModelServer, album: Album) -> None:
    """The answer is then made of the documents' own sentences, and says so."""
    model.default = Fail(500)
    turn = await visited.answered("How many people work in Toulouse?")
    await expect(turn.locator(".notes")).to_contain_text(
        "The language model did not respond: the answer quotes sentences of the documents."
    )
    await expect(turn.locator(".answer")).to_contain_text("21 in Toulouse")
    await expect(turn.locator(".made summary")).to_contain_text("document excerpts, no AI model")
    model.default = Reply(tell)
    await album.take(visited.page, "degraded")


async def vote(page: "Page", album: Album) -> None:
    turn = page.locator(".turn").last
    votes = turn.locator(".of-answer .votes")
    await votes.get_by_role("button", name="Not helpful").click()
    await votes.get_by_role("combobox", name="Reason").select_option("Incomplete")
    await votes.get_by_role("textbox", name="Comment (optional)").fill("Since when?")
    await turn.locator(".sources details:has(.cited .votes) summary").first.click()
    cited = turn.locator(".cited .votes").first
    await cited.get_by_role("button", name="Not helpful").click()
    await cited.get_by_role("combobox", name="Reason").select_option("Wrong source")
    await cited.scroll_into_view_if_needed()
    await album.take(page, "votes")
    for form in (votes, cited):
        await form.get_by_role("button", name="Send").click()
        await expect(form.locator(".said")).to_have_text("Thanks for your feedback.")


async def keep_the_conversation(page: "Page", album: Album, folder: Path) -> None:
    """Under a name of its own it is found again, as it was, and can be saved."""
    row = page.locator("#conversations li")
    await row.hover()
    await row.get_by_role("button", name="Rename").click()
    await page.keyboard.type("Sales, audit and Valadour")
    await page.keyboard.press("Enter")
    await expect(row.locator("a")).to_have_text("Sales, audit and Valadour")
    search = page.get_by_role("searchbox", name="Search conversations")
    await search.fill("nothing like it")
    await expect(row).to_have_count(0)
    assert await empty(page, "#conversations") == '"No results"'
    await album.take(page, "nothing-found")
    await search.fill("AUDIT")
    await expect(row).to_have_count(1)

    parts = (".question", ".answer", ".checks summary", ".made summary", ".sources summary", ".notes")
    before = [await page.locator(f".turn {part}").all_inner_texts() for part in parts]
    await page.reload()
    await expect(page.locator(".turn")).to_have_count(4)
    await expect(page.locator(".of-answer [aria-pressed=true]")).to_have_accessible_name("Not helpful")
    await expect(page.locator(".cited [aria-pressed=true]")).to_have_count(1)
    assert [await page.locator(f".turn {part}").all_inner_texts() for part in parts] == before
    await album.take(page, "come-back")

    await row.hover()
    await row.get_by_role("button", name="Share or export").click()
    async with page.expect_download() as downloading:
        await page.get_by_role("button", name="Markdown").click()
    await (await downloading.value).save_as(folder / "saved.md")
    saved = (folder / "saved.md").read_text()
    assert all(question in saved for question in (SALES, AUDIT, VALADOUR))


async def read_on_after_a_cut(visited: Visit, wire: Wire, model: ModelServer, album: Album) -> None:
    """Every word is there once."""
    await visited.page.get_by_role("button", name="New conversation").click()
    answer = Paced(TEXT, lead=7)
    model.script(answer)
    turn = await visited.ask(VALADOUR)
    await expect(turn.locator(".answer")).to_contain_text("because the night")
    await album.take(visited.page, "writing")
    wire.cut()
    answer.receive(TEXT)
    await expect(turn.locator(".answer")).to_have_attribute("aria-busy", "false")
    assert (await turn.locator(".answer").inner_text()).split() == re.sub(r"\[(\d)\]", r"\1", TEXT).split()
    await expect(turn.locator(".error")).to_have_count(0)


async def stop_change_and_compare(visited: Visit, model: ModelServer, album: Album) -> None:
    """What was written stays; the question is changed, answered again; both versions are there."""
    page = visited.page
    model.script(ENDLESS)
    turn = await visited.ask(VALADOUR)
    await expect(turn.locator(".answer")).to_contain_text("word word word")
    await page.get_by_role("button", name="Stop").click()
    await expect(turn.locator(".notes")).to_have_text("Answer stopped.")
    await album.take(page, "stopped")

    await turn.get_by_role("button", name="Edit question").click()
    await turn.locator(".editing textarea").fill(AUDIT)
    await album.take(page, "editing")
    await turn.get_by_role("button", name="Send", exact=True).click()
    turn = await visited.ended()
    await expect(turn.locator(".answer")).to_contain_text("à cause de la neige")
    await turn.get_by_role("button", name="Regenerate").click()
    turn = await visited.ended()
    await expect(turn.locator(".of-answer .versions")).to_have_text("‹2/2›")
    await album.take(page, "versions")
    await turn.locator(".of-question").get_by_role("button", name="Previous version").click()
    await expect(page.locator(".turn").last.locator(".question")).to_have_text(VALADOUR)
    await expect(page.locator(".turn").last.locator(".answer")).to_contain_text("word word word")


async def look_at_it_differently(page: "Page", album: Album) -> None:
    """In the dark, in each language, on a small screen; the choice is kept."""
    await page.get_by_role("button", name="Dark", exact=True).click()
    for language, name in BUTTON.items():
        await page.get_by_role("button", name=name).click()
        await expect(page.locator("html")).to_have_attribute("lang", language)
        await expect(page.locator(".turn").last.locator(".question")).to_be_visible()
    await page.reload()
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    await expect(page.locator("html")).to_have_attribute("lang", "en")
    await page.set_viewport_size({"width": 360, "height": 740})
    await expect(page.locator("#shelf")).to_be_hidden()
    await page.get_by_role("button", name="Sidebar", exact=True).click()
    await page.locator("#conversations a").last.click()
    await expect(page.locator(".turn")).to_have_count(4)
    await expect(page.locator("#shelf")).to_be_hidden()
    assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    await album.take(page, "small")
    await page.set_viewport_size({"width": 1280, "height": 800})


async def leave_nothing(page: "Page", album: Album) -> None:
    """Conversations and documents are deleted, each after a question."""
    rows = page.locator("#conversations li")
    for left in (1, 0):
        await rows.first.hover()
        await rows.first.get_by_role("button", name="Delete").click()
        await album.take(page, f"delete-{left}")
        await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        await expect(rows).to_have_count(left)
    await expect(page.locator("#welcome")).to_be_visible()
    await page.get_by_role("button", name="Delete collection").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.locator(".scroll li")).to_have_count(0)
    assert await empty(page, "#conversations") == '"No conversations yet"'
    assert await empty(page, "#documents") == '"No documents yet. Upload files or a folder, or drag them here."'
    await album.take(page, "nothing-left")


async def empty(page: "Page", shelf: str) -> str:
    """What is said where nothing is listed."""
    said: str = await page.evaluate(f"getComputedStyle(document.querySelector('{shelf}'), '::before').content")
    return said
