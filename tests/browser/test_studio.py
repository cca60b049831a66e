"""The page for developers in Chromium: two configurations side by side, evaluations, golden cases."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from tests.browser.chromium import IN_CHROMIUM, Open, Visit, expect
from tests.conftest import Server, run_server
from tests.processes import ROOT

if TYPE_CHECKING:
    from playwright.async_api import Locator, Route


pytestmark = IN_CHROMIUM
QUESTION = "Why did the Christmas tins reach Bristol so late?"
NONSENSE = '<img src=x onerror="window.hacked=1">'
CASES = json.loads((ROOT / "tests" / "golden" / "demo.json").read_text())[:6]


@pytest.fixture(scope="module")
def server(make_demo_database: Callable[[], str]) -> Iterator[Server]:
    """With golden cases, which nobody has measured."""
    with run_server("--collection", "demo", DATABASE_URL=make_demo_database()) as server:
        with server.client() as client:
            assert client.post("/api/golden-cases/import", json={"collection": "demo", "cases": CASES}).is_success
        yield server


async def opened(visit: Open, server: Server, address: str = "", **options: object) -> Visit:
    return await visit(server, f"/studio{address}", **options)


def side(visited: Visit, name: str) -> "Locator":
    return visited.page.get_by_role("region", name=f"Configuration {name}")


async def test_two_configurations_are_seen_side_by_side(server: Server, visit: Open) -> None:
    """R4.10, R11.2 Each stage's ranking and time, what moves from one to the other, a chunk's text on demand."""
    visited = await opened(visit, server)
    await expect(visited.page.get_by_role("status")).to_contain_text("Ask a question")
    second = visited.page.get_by_role("group", name="Configuration B")
    await second.get_by_text("Search options").click()
    await second.locator("[name=strategy]").select_option("fulltext")
    await second.get_by_label("Number of results").fill("5")
    await visited.page.get_by_role("textbox", name="Ask a question").fill(QUESTION)
    await visited.page.get_by_role("button", name="Search", exact=True).click()
    await expect(visited.page.get_by_role("status")).to_contain_text("strategy auto → fulltext")
    a, b = side(visited, "A"), side(visited, "B")
    await expect(a.locator("details[open] .hits > li")).to_have_count(10)
    await expect(b.locator("details[open] .hits > li")).to_have_count(5)
    assert await a.locator(".move.gone").count() >= 5
    await expect(a.get_by_text("vectors", exact=True).first).to_be_visible()
    await expect(b.locator("summary", has_text="after reranking")).to_have_count(0)
    assert {"query analysis", "full text", "total search"} <= set(await b.locator(".bars dt").all_inner_texts())
    assert float(await b.locator(".bars rect").first.get_attribute("width") or 0) > 0
    first = b.locator(".hits > li").first
    await expect(first.locator("blockquote")).to_be_hidden()
    await first.locator("summary").click()
    await expect(first.locator("blockquote")).to_contain_text("tins")


async def test_the_address_brings_the_question_and_the_configurations_back(server: Server, visit: Open) -> None:
    """R4.10 What was compared can be sent to somebody; a stranger's address does nothing but search."""
    b = {"retrieval": {"top_k": 3, "nonsense": 1}, "filters": {"language": ["fr"]}}
    visited = await opened(visit, server, f"?question={quote(QUESTION)}&a={quote(NONSENSE)}&b={quote(json.dumps(b))}")
    await expect(side(visited, "B").locator("details[open] .hits > li")).to_have_count(3)
    await expect(side(visited, "A").locator("details[open] .hits > li")).to_have_count(10)
    kept = parse_qs(urlsplit(visited.page.url).query)
    assert kept["question"] == [QUESTION]
    assert json.loads(kept["b"][0]) == {
        "collection": "demo",
        "retrieval": {"top_k": 3},
        "filters": {"language": ["fr"]},
    }
    await visited.page.goto(f"{server.url}/studio?question={quote(NONSENSE)}")
    await expect(visited.page.get_by_role("textbox", name="Ask a question")).to_have_value(NONSENSE)
    await expect(side(visited, "A").locator(".bars dt").first).to_be_visible()
    assert await visited.page.evaluate("window.hacked") is None


async def test_both_configurations_answer_with_checked_statements(server: Server, visit: Open) -> None:
    """R8.4 Each statement with its verdict and the quote that carries it; no conversation is kept of it."""
    visited = await opened(visit, server, f"?question={quote(QUESTION)}")
    await visited.page.get_by_role("button", name="Search and answer").click()
    for name in "AB":
        statements = side(visited, name).locator(".statements > li")
        await expect(statements.first).to_contain_text("supported")
        await expect(side(visited, name).locator(".answer .text")).to_contain_text("night shift on line L4")
        await expect(statements.locator("q").first).to_be_visible()
    with server.client() as client:
        assert client.get("/api/conversations").json()["conversations"] == []


async def test_what_the_api_refuses_is_told_in_its_words(server: Server, visit: Open) -> None:
    """R9 In the reader's language, and the page can still be used."""
    wrong = {"filters": {"created_from": "never"}}
    visited = await opened(visit, server, f"?question={quote(QUESTION)}&b={quote(json.dumps(wrong))}", locale="fr-FR")
    await expect(side(visited, "A").locator("details[open] .hits > li")).to_have_count(10)
    await visited.page.get_by_role("group", name="Configuration B").get_by_text("Filtres").click()
    await visited.page.get_by_label("Nom de fichier").last.fill("x" * 10 + "\x7f")
    await visited.page.get_by_role("button", name="Rechercher", exact=True).click()
    await expect(visited.page.get_by_role("alert")).to_contain_text("filename")
    assert [complaint for complaint in visited.complaints if "400" not in complaint] == []
    visited.complaints.clear()  # Chromium logs each refusal
    await visited.page.get_by_label("Nom de fichier").last.fill("")
    await visited.page.get_by_role("button", name="Rechercher", exact=True).click()
    await expect(visited.page.get_by_role("alert")).to_be_hidden()


async def test_the_causal_graph_is_walked(server: Server, visit: Open) -> None:
    """R7.3 Searched by words, filtered, from one entity to the next; each relation opens its quote."""
    visited = await opened(visit, server, "?view=causes")
    page = visited.page
    await page.get_by_role("searchbox", name="Cause or effect").fill("condensation")
    await page.get_by_role("button", name="Search", exact=True).click()
    entities = page.locator(".entities .entity")
    await expect(entities.filter(has_text=re.compile("^la condensation devant"))).to_be_visible()
    await entities.get_by_text("la condensation devant la chambre froide CF2").click()
    chosen = page.locator(".graph > section").last
    await expect(chosen.get_by_role("heading", name="la condensation devant")).to_be_focused()
    effect = chosen.locator("li").filter(has_text="le quai 3 était justement")
    await effect.locator("summary").click()
    await expect(effect.locator("blockquote")).to_contain_text("condensation devant la chambre froide CF2")
    await effect.locator(".entity").click()
    await expect(chosen.get_by_role("heading", level=2)).to_contain_text("le quai 3 était justement")
    await expect(chosen.locator("li").first).to_contain_text("la condensation devant")
    before = await entities.count()
    await page.get_by_label("Document").select_option("registre-reclamations-clients.md")
    assert 0 < await entities.count() < before
    assert all(len(label) <= 90 for label in await entities.all_inner_texts())
    address = page.url
    await page.goto(address)
    await expect(chosen.get_by_role("heading", level=2)).to_contain_text("le quai 3 était justement")


async def test_the_causal_graph_fits(server: Server, visit: Open) -> None:
    """R9.1 As wide as the window, wherever it is begun."""
    page = (await opened(visit, server, "?view=causes", locale="es-ES")).page
    for width in (320, 1280):
        await page.set_viewport_size({"width": width, "height": 800})
        await page.reload()
        await expect(page.locator(".entities .entity").first).to_be_visible()
        await page.locator(".entities .entity").first.click()
        assert await page.evaluate("document.documentElement.scrollWidth") <= width


async def test_evaluations_are_run_looked_into_and_compared(server: Server, visit: Open) -> None:
    """R10.4, R10.2 Ordered with a configuration, watched, seen by category, compared with significance, deleted."""
    visited = await opened(visit, server, "?view=evaluation")
    page = visited.page
    await expect(page.get_by_text("No evaluations of this collection yet")).to_be_visible()
    rows = page.locator("#runs tbody tr")
    for name, weight in (("by words", "0"), ("by meaning", "1")):
        await page.get_by_label("Name", exact=True).fill(name)
        if not await page.get_by_label("Vector weight").is_visible():
            await page.get_by_text("Search options").click()
        await page.get_by_label("Vector weight").fill(weight)
        await page.get_by_label("Also evaluate answers").uncheck()
        await page.get_by_role("button", name="Run evaluation", exact=True).click()
        await expect(rows.filter(has_text=name)).to_contain_text("completed")
    await expect(page.locator("#trend polyline")).to_have_count(2)
    await expect(page.locator("#trend .gate")).to_contain_text("6 questions")
    await rows.filter(has_text="by words").get_by_role("button", name="Open").click()
    await expect(page.locator("#detail h2")).to_be_focused()
    await expect(page.locator("#detail")).to_contain_text("vector_weight: 0")
    await expect(page.locator("#detail thead")).to_contain_text("factual")
    await expect(page.get_by_label("Baseline").locator("option:checked")).to_contain_text("by words")
    await page.get_by_role("button", name="Compare", exact=True).click()
    await expect(page.locator("#comparison")).to_contain_text("vector_weight: 0 → 1")
    await expect(page.locator("#comparison tbody tr", has_text="mrr@10")).to_contain_text("too few questions")
    async with page.expect_download() as downloading:
        await rows.first.get_by_role("button", name="Download report").click()
    assert "<html" in (await (await downloading.value).path()).read_text()
    page.on("dialog", lambda dialog: dialog.accept())
    await rows.filter(has_text="by words").get_by_role("button", name="Delete").click()
    await expect(rows).to_have_count(1)


async def test_a_bad_question_is_looked_into_with_one_click(server: Server, visit: Open) -> None:
    """R10.2 From an evaluation's worst questions to their search, with the evaluation's configuration."""
    with server.client() as client:
        order = {"collection": "demo", "answers": False, "retrieval": {"strategy": "semantic", "rerank": False}}
        run = client.post("/api/evaluations", json=order).json()["id"]
    visited = await opened(visit, server, "?view=evaluation")
    await expect(visited.page.locator("#runs tbody tr").first).to_contain_text("completed")
    await visited.page.goto(f"{server.url}/studio?view=evaluation&run={run}")
    link = visited.page.locator("#detail .worst a").first
    question = await link.inner_text()
    await link.click()
    await expect(visited.page.get_by_role("textbox", name="Ask a question")).to_have_value(question)
    given = json.loads(parse_qs(urlsplit(visited.page.url).query)["a"][0])
    assert given == {"collection": "demo", "retrieval": {"strategy": "semantic", "rerank": False}}
    await expect(side(visited, "A").locator(".hits > li").first).to_be_visible()


async def test_proposals_become_golden_cases(server: Server, visit: Open) -> None:
    """R10.1 Accepted with what a person changes of them, rejected, a case changed and deleted: by keyboard too."""
    visited = await opened(visit, server, "?view=golden")
    page = visited.page
    await expect(page.get_by_text("No suggestions yet.")).to_be_visible()
    await page.get_by_role("button", name="Suggest cases").click()
    proposals = page.locator("section").first.locator(".case")
    await expect(proposals).to_have_count(10)
    await proposals.first.locator("summary").focus()
    await page.keyboard.press("Enter")
    await proposals.first.get_by_label("Expected answer").fill("As a person says it.")
    await proposals.first.get_by_role("button", name="Accept").click()
    await expect(proposals).to_have_count(9)
    await expect(proposals.first.locator("summary")).to_be_focused()
    await page.keyboard.press("Enter")
    await proposals.first.get_by_role("button", name="Reject").click()
    await expect(proposals).to_have_count(8)
    await page.reload()
    cases = page.locator("section").last.locator(".case")
    await expect(cases).to_have_count(len(CASES) + 1)
    await cases.last.locator("summary").click()
    await expect(cases.last.get_by_label("Expected answer")).to_have_value("As a person says it.")
    await cases.last.get_by_label("Difficulty").select_option("hard")
    await cases.last.get_by_role("button", name="Save").click()
    await expect(cases.last).to_contain_text("Saved")
    page.on("dialog", lambda dialog: dialog.accept())
    await cases.last.get_by_role("button", name="Delete").click()
    await expect(cases).to_have_count(len(CASES))


@pytest.mark.parametrize("view", ["", "?view=evaluation", "?view=golden"])
async def test_it_fits_a_telephone_in_every_language(server: Server, visit: Open, view: str) -> None:
    """R9 At 360 pixels nothing lies beside the page; each language has all its words."""
    visited = await opened(visit, server, view, width=360)
    for language in ("es", "fr", "en"):
        await (
            visited.page.get_by_role("button", name=language, exact=True)
            .or_(visited.page.locator(f"#languages [lang={language}]"))
            .first.click()
        )
        await expect(visited.page.locator("main button").first).to_be_visible()
        assert await visited.page.evaluate("document.documentElement.scrollWidth") <= 360
        assert "undefined" not in await visited.page.locator("body").inner_text()


@pytest.mark.parametrize(("view", "asked"), [("?question=horno", 2), ("?view=evaluation", 1)])
async def test_a_view_that_another_replaces_while_it_loads_stays_away(
    server: Server, visit: Open, view: str, asked: int
) -> None:
    """R9 The first language's options come when the second's are still on their way. `asked`: requests of a view."""
    page = (await opened(visit, server, view)).page
    await expect(page.locator("main fieldset")).to_have_count(asked)
    arrived: list[Route] = []
    are_there = asyncio.Event()

    async def hold(route: "Route") -> None:
        arrived.append(route)
        if len(arrived) == 2 * asked:
            are_there.set()

    await page.route(re.compile("retrieval-options"), hold)
    await page.evaluate("['fr', 'es'].forEach((name) => document.querySelector(`#languages [value=${name}]`).click())")
    await asyncio.wait_for(are_there.wait(), 90)
    for routes in (arrived[:asked], arrived[asked:]):
        for route in routes:
            async with page.expect_response(route.request.url):
                await route.continue_()
        await page.evaluate("new Promise((done) => setTimeout(done))")  # what follows from it in the page
    await expect(page.locator("main fieldset").first).to_contain_text("Colección")
    await expect(page.locator("main fieldset")).to_have_count(asked)


async def test_the_chat_page_leads_to_how_its_answer_was_found(server: Server, visit: Open) -> None:
    """R11.2 The last question is searched for with every stage shown."""
    visited = await visit(server)
    await visited.answered(QUESTION)
    await visited.page.get_by_role("link", name="Studio").click()
    await expect(visited.page.get_by_role("textbox", name="Ask a question")).to_have_value(QUESTION)
    await expect(side(visited, "A").locator("details[open] .hits > li")).to_have_count(10)
