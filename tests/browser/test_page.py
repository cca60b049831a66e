"""The chat page in Chromium, as a person uses it."""

import re

import pytest

from tests.browser.chromium import ASKED, IN_CHROMIUM, QUESTION, Open, expect
from tests.conftest import Server
from tests.model_server import ModelServer, Reply

pytestmark = IN_CHROMIUM
HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script> & "¿Por qué?" [1](javascript:hacked)'
HOSTILE_ANSWER = (
    '<img src=x onerror="window.hacked=1"> ![picture](https://evil.example/x.png) <b>bold</b> [1]. '
    "See [here](https://evil.example) or <a href='https://evil.example'>there</a> [1]."
)


async def test_the_chosen_language_is_kept(demo_server: Server, visit: Open) -> None:
    """R9 The buttons say which is chosen; the next visit begins in it; errors come in it too."""
    visited = await visit(demo_server, locale="de-DE")
    page = visited.page
    await expect(page.locator("html")).to_have_attribute("lang", "es")
    await expect(page.locator("#welcome p")).to_contain_text("Pregunte a sus documentos.")
    await page.get_by_role("button", name="Français").click()
    await expect(page.get_by_role("button", name="Français")).to_have_attribute("aria-pressed", "true")
    await expect(page.get_by_role("button", name="Español")).to_have_attribute("aria-pressed", "false")
    await page.reload()
    await expect(page.locator("html")).to_have_attribute("lang", "fr")
    await expect(page.locator("#send")).to_have_text("Envoyer")
    visited.complaints.clear()
    turn = await visited.answered("x" * 4001)
    await expect(turn.locator(".error")).to_have_text("La question est trop longue : 4000 caractères au maximum.")
    await expect(turn.locator(".notes")).to_contain_text(re.compile("ID de la requête: [0-9a-f]{32}"))
    visited.complaints = [text for text in visited.complaints if "status of 400" not in text]  # Chromium's own


async def test_a_question_is_shown_as_text(demo_server: Server, visit: Open) -> None:
    """Security 14: what looks like HTML, script or a link is none."""
    visited = await visit(demo_server)
    turn = await visited.answered(HOSTILE)
    await expect(turn.locator(".question")).to_have_text(HOSTILE)
    assert await turn.locator("img, script, a").count() == 0
    assert await visited.page.evaluate("window.hacked") is None


async def test_an_answer_is_shown_as_text(model_backed: Server, model: ModelServer, visit: Open) -> None:
    """Security 14: nor what a model wrote; no image is fetched, no link can be clicked; marks still work."""
    model.script(Reply(HOSTILE_ANSWER))
    visited = await visit(model_backed)
    turn = await visited.answered(QUESTION)
    await expect(turn.locator(".answer")).to_contain_text("bold 1. See here or there 1.")
    assert await turn.locator("img, a, b, script").count() == 0
    assert await turn.locator(".mark").count() == 2
    assert await visited.page.evaluate("window.hacked") is None


async def test_a_script_on_the_page_would_not_run(demo_server: Server, visit: Open) -> None:
    """Security 14: the content security policy is in force, not only sent."""
    visited = await visit(demo_server)
    await visited.page.evaluate(
        "const s = document.createElement('script'); s.textContent = 'window.hacked = 1'; document.body.append(s)"
    )
    assert await visited.page.evaluate("window.hacked") is None
    assert any("Content Security Policy" in text for text in visited.complaints)
    visited.complaints.clear()


@pytest.mark.parametrize("language", ASKED)
async def test_a_narrow_screen_is_wide_enough(demo_server: Server, visit: Open, language: str) -> None:
    """R9.1 360 pixels: nothing is scrolled sideways, not even for one endless word."""
    visited = await visit(demo_server, locale=ASKED[language][0], width=360)
    page = visited.page

    async def fits() -> bool:
        return bool(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))

    assert await fits()
    turn = await visited.answered(ASKED[language][1])
    for summary in await turn.locator("summary").all():
        await summary.click()
    assert await fits()
    await visited.answered("Almendrinagalleta" * 20)
    await page.get_by_role("textbox").fill("Almendrinagalleta" * 20)
    assert await fits()
    for button in ("#send", "#languages [lang=en]"):
        await expect(page.locator(button)).to_be_in_viewport(ratio=1)


async def test_the_keyboard_is_enough(demo_server: Server, visit: Open) -> None:
    """R9.1 The box has the focus at first; Shift+Enter is a new line; all that opens does so by Enter."""
    visited = await visit(demo_server)
    page = visited.page
    box = page.get_by_role("textbox")
    await expect(box).to_be_focused()
    await page.keyboard.type("Why did the Christmas tins")
    await page.keyboard.press("Shift+Enter")
    await page.keyboard.type("reach Bristol so late?")
    await expect(box).to_have_value("Why did the Christmas tins\nreach Bristol so late?")
    await page.keyboard.press("Enter")
    turn = page.locator(".turn")
    await expect(turn.locator(".answer")).to_have_attribute("aria-busy", "false")
    await expect(box).to_have_value("")
    await expect(box).to_be_focused()
    await turn.locator(".mark").first.focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(turn.locator(".mark").first).to_be_focused()
    for part in (".made", ".checks", ".sources details"):
        await turn.locator(f"{part} summary").first.focus()
        await page.keyboard.press("Enter")
        await expect(turn.locator(part).first).to_have_attribute("open", "")


async def test_the_documentation_works_in_the_browser(demo_server: Server, visit: Open) -> None:
    """R9 /docs draws every operation from our own files."""
    visited = await visit(demo_server)
    await visited.page.goto(f"{demo_server.url}/docs")
    await expect(visited.page.locator(".opblock-summary-path").first).to_be_visible()
    assert await visited.page.locator(".opblock").count() >= 4
