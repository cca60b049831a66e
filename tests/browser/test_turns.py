"""What a person does with a question and its answer: ask again, change, compare, rate, copy, come back to it."""

import asyncio
import re
from typing import TYPE_CHECKING, Any

from tests.browser.chromium import ASKED, IN_CHROMIUM, QUESTION, Open, expect
from tests.conftest import Server
from tests.model_server import ModelServer, Reply

if TYPE_CHECKING:
    from playwright.async_api import Route


pytestmark = IN_CHROMIUM
MARKDOWN = """## Tins

The night shift was **suspended** [1]:

| Tins | Days late |
|------|----------:|
| 6,500 Dorada tins [1] | 11 |

1. *First* `H2`
2. <b>Second</b>
"""


async def test_markdown_is_shown_as_what_it_means(model_backed: Server, model: ModelServer, visit: Open) -> None:
    """R8.9 Headings below the page's, tables, lists, marks within them; HTML is none."""
    model.script(Reply(MARKDOWN))
    visited = await visit(model_backed)
    answer = (await visited.answered(QUESTION)).locator(".answer")
    await expect(answer.locator("h3")).to_have_text("Tins")
    await expect(answer.locator("strong")).to_have_text("suspended")
    await expect(answer.locator("td")).to_have_text(["6,500 Dorada tins 1", "11"])
    await expect(answer.locator("td .mark, p .mark")).to_have_count(2)
    await expect(answer.locator("ol li")).to_have_text(["First H2", re.compile("Second")])
    await expect(answer.locator("b")).to_have_count(0)


async def test_an_answer_is_made_again_and_a_question_changed(demo_server: Server, visit: Open) -> None:
    """R9.1 Versions stand side by side, each can be gone on with; the focus stays where one chooses."""
    visited = await visit(demo_server)
    page = visited.page
    turn = await visited.answered(QUESTION)
    await turn.get_by_role("button", name="Regenerate").click()
    await expect(page.locator(".of-answer .versions")).to_have_text("‹2/2›")
    await expect(page.locator(".turn")).to_have_count(1)

    await page.get_by_role("button", name="Edit question").click()
    box = page.locator(".editing textarea")
    await expect(box).to_have_value(QUESTION)
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="Edit question")).to_be_focused()
    await page.keyboard.press("Enter")
    await box.fill("When was lot A-2517 recalled?")
    await page.locator(".editing").get_by_role("button", name="Send").click()
    turn = await visited.ended()
    await expect(turn.locator(".question")).to_have_text("When was lot A-2517 recalled?")
    await expect(turn.locator(".of-question .versions")).to_have_text("‹2/2›")

    await turn.locator(".of-question").get_by_role("button", name="Previous version").click()
    await expect(page.locator(".turn .question")).to_have_text(QUESTION)
    await expect(page.locator(".of-question").get_by_role("button", name="Next version")).to_be_focused()
    turn = await visited.answered("and when did they arrive?")
    await expect(turn.locator(".answer")).to_contain_text("arrived on 31 October")  # the tins, not the lot
    await expect(page.locator(".turn").first.locator(".question")).to_have_text(QUESTION)


async def test_a_thumb_down_says_why_and_is_taken_back(demo_server: Server, visit: Open) -> None:
    """R9.6 For the answer with a reason and a comment, for a citation too; both are there after a reload."""
    visited = await visit(demo_server, locale="fr-FR")
    page = visited.page
    turn = await visited.answered(ASKED["fr"][1])
    votes = turn.locator(".of-answer .votes")
    bad = votes.get_by_role("button", name="Pas utile")
    await bad.click()
    await votes.get_by_role("combobox", name="Motif").select_option("Incomplète")
    await votes.get_by_role("textbox", name="Commentaire (facultatif)").fill("Sans la date.")
    await page.keyboard.press("Enter")
    await expect(bad).to_be_focused()
    await expect(votes.locator(".said")).to_have_text("Merci pour votre avis.")
    cited = turn.locator(".cited .votes").first
    await turn.locator(".sources details:has(.cited .votes) summary").first.click()
    await cited.get_by_role("button", name="Utile", exact=True).click()
    await expect(cited.get_by_role("button", name="Utile", exact=True)).to_have_attribute("aria-pressed", "true")
    conversation = page.url.partition("#c=")[2]
    assert rated(demo_server, conversation) == {(0, -1, "Incomplète: Sans la date."), (1, 1, "")}

    await page.reload()
    await expect(page.locator(".of-answer [aria-pressed=true]")).to_have_accessible_name("Pas utile")
    await expect(page.locator(".cited [aria-pressed=true]")).to_have_count(1)
    await page.locator(".of-answer [aria-pressed=true]").click()
    await expect(page.locator(".of-answer .votes .said")).to_have_text("Avis supprimé.")
    assert rated(demo_server, conversation) == {(1, 1, "")}


def rated(server: Server, conversation: str) -> set[tuple[int, int, str]]:
    with server.client() as client:
        listed: list[dict[str, Any]] = client.get("/api/feedback", params={"conversation_id": conversation}).json()[
            "feedback"
        ]
    return {(one["citation"], one["rating"], one["comment"]) for one in listed}


async def test_an_answer_is_copied_with_its_footnotes(demo_server: Server, visit: Open) -> None:
    """R8.3 As Markdown: each mark a footnote, each footnote the citation as a person reads it."""
    visited = await visit(demo_server)
    await visited.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    turn = await visited.answered(QUESTION)
    await turn.get_by_role("button", name="Copy answer").click()
    await expect(turn.locator(".of-answer > .said")).to_have_text("Copied")
    copied = await visited.page.evaluate("navigator.clipboard.readText()")
    answer, *notes = copied.split("\n\n")
    assert re.search(r"arrived on 31 October\. \[\^\d\]", answer)
    assert {note.split(":")[0] for note in notes} == set(re.findall(r"\[\^\d\]", answer))
    with demo_server.client() as client:
        kept = client.get(f"/api/conversations/{visited.page.url.partition('#c=')[2]}").json()["messages"][1]
    assert all(citation["sentence"] in copied for citation in kept["details"]["citations"])


async def test_a_conversation_is_shown_again(demo_server: Server, visit: Open) -> None:
    """R9.1 By its address, as it was when it was answered; in the language that is chosen; one that is gone is told."""
    visited = await visit(demo_server)
    page = visited.page
    await visited.answered(QUESTION)
    turn = await visited.answered("and when did they arrive?")
    parts = (".answer", ".checks summary", ".made summary", ".sources")
    before = [await turn.locator(part).inner_text() for part in parts]
    await page.reload()
    turn = page.locator(".turn").nth(1)
    assert [await turn.locator(part).inner_text() for part in parts] == before
    await expect(page.locator("#welcome")).to_be_hidden()
    await page.get_by_role("button", name="Español").click()
    await expect(page.locator(".turn").nth(1).locator(".checks summary")).to_contain_text("Citas verificadas")

    conversation = page.url.partition("#c=")[2]
    with demo_server.client() as client:
        assert client.delete(f"/api/conversations/{conversation}").status_code == 204
    turn = await visited.answered("and then?")
    await expect(turn.locator(".error")).to_contain_text("conversación")
    turn = await visited.answered(QUESTION)  # begins another
    assert conversation not in page.url
    await page.goto(f"{demo_server.url}/#c={conversation}")
    await expect(page.locator(".lost")).to_contain_text("conversación")
    assert visited.complaints
    visited.complaints.clear()  # Chromium's own: the status


async def test_what_is_asked_early_comes_after_the_conversation(demo_server: Server, visit: Open) -> None:
    """R9.1 Its turns are still on their way: the question waits for them, and goes on with the last one."""
    page = (visited := await visit(demo_server)).page
    await visited.answered(QUESTION)
    released = asyncio.Event()

    async def hold(route: "Route") -> None:
        await released.wait()
        await route.continue_()

    await page.route("**/api/conversations/*", hold)
    await page.reload()
    await page.get_by_role("textbox").fill("and when did they arrive?")
    await page.keyboard.press("Enter")
    released.set()
    await expect(page.locator(".question")).to_have_text([QUESTION, "and when did they arrive?"])
    await expect(page.locator(".turn").last.locator(".answer")).to_contain_text("arrived on 31 October")


async def test_turns_are_loaded_once_however_often_they_are_asked_for(demo_server: Server, visit: Open) -> None:
    """R8.9 The languages are tried in quick succession: each loads the turns again."""
    page = (visited := await visit(demo_server)).page
    await visited.answered(QUESTION)
    await page.evaluate(
        """async () => {
          const { state } = await import("/static/state.js");
          for (const language of ["es", "fr", "en", "es", "en"]) state.set("language", language);
        }"""
    )
    await page.wait_for_load_state("networkidle")
    await expect(page.locator(".turn")).to_have_count(1)
