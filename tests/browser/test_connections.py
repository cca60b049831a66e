"""Answers that are stopped, cut off, or read on after the connection or the page was gone."""

import asyncio
import re
from collections.abc import AsyncIterator

import pytest

from tests.api.scripted import ENDLESS, wait_for_disconnects
from tests.browser.chromium import IN_CHROMIUM, QUESTION, TEXT, Open, expect
from tests.browser.wire import Wire
from tests.conftest import Server
from tests.model_server import CutStream, ModelServer, Paced, Reply

pytestmark = IN_CHROMIUM


async def test_stop_ends_the_answer_and_the_model_s_work(model_backed: Server, model: ModelServer, visit: Open) -> None:
    """Security 18: what was written stays; the next question can be asked at once."""
    model.script(ENDLESS)
    before = model.disconnects
    visited = await visit(model_backed)
    turn = await visited.ask(QUESTION)
    await expect(turn.locator(".answer")).to_contain_text("word word word")
    await expect(visited.page.locator("#send")).to_be_hidden()
    await visited.page.get_by_role("button", name="Stop").click()
    await expect(turn.locator(".notes")).to_have_text("Answer stopped.")
    await expect(turn.locator(".answer")).to_have_attribute("aria-busy", "false")
    await expect(turn.locator(".answer")).to_contain_text("word word word")
    await expect(visited.page.locator("#send")).to_be_visible()
    await asyncio.to_thread(wait_for_disconnects, model, before + 1)
    model.script(Reply("Late because of the accident [1]."))
    second = await visited.answered(QUESTION)
    await expect(second.locator(".answer")).to_contain_text("Late because of the accident")


async def test_a_cut_answer_keeps_its_words_and_says_so(model_backed: Server, model: ModelServer, visit: Open) -> None:
    """Security 17: the error in the page's language with its reference, below what came."""
    model.script(CutStream(6, "The tins were late because the night shift was suspended."))
    visited = await visit(model_backed)
    turn = await visited.answered(QUESTION)
    await expect(turn.locator(".answer")).to_contain_text("The tins were late")
    await expect(turn.locator(".error")).to_have_text(
        "The model stopped in the middle of the answer. Ask the question again."
    )
    await expect(turn.locator(".notes")).to_contain_text(re.compile("Request ID: [0-9a-f]{32}"))


async def test_a_lost_connection_is_told(demo_server: Server, visit: Open) -> None:
    """R11.1 In words, not as a spinner that never ends."""
    visited = await visit(demo_server)
    await visited.page.context.set_offline(True)
    turn = await visited.answered(QUESTION)
    await expect(turn.locator(".error")).to_have_text("Can’t reach the server. Check your connection and try again.")
    await visited.page.context.set_offline(False)
    await expect((await visited.answered(QUESTION)).locator(".mark").first).to_be_visible()
    # Chromium and the page tell there what failed, some of it late.
    assert visited.complaints
    visited.complaints[:] = [told for told in visited.complaints if not re.search("DISCONNECTED|Failed to fetch", told)]


@pytest.fixture
async def wire(model_backed: Server) -> AsyncIterator[Wire]:
    opened = Wire(model_backed)
    yield opened
    await opened.close()


async def test_an_answer_survives_a_cut_connection(wire: Wire, model: ModelServer, visit: Open) -> None:
    """R8.9 Twice cut off in mid-answer: it is resumed, every word is there once, and the model was asked once."""
    answer = Paced(TEXT)
    model.script(answer)
    asked = len(model.requests)
    visited = await visit(await wire.open())
    turn = await visited.ask(QUESTION)
    for words, read in (("The tins were", "The tins were late because the "), ("because the night", TEXT)):
        await expect(turn.locator(".answer")).to_contain_text(words)
        wire.cut()
        answer.receive(read)
    await expect(turn.locator(".answer")).to_have_attribute("aria-busy", "false")
    shown = await turn.locator(".answer").inner_text()
    assert shown.split() == "The tins were late because the night shift on line L4 was suspended 1.".split()
    await expect(turn.locator(".error")).to_have_count(0)
    assert len(model.requests) == asked + 1
    assert visited.complaints
    visited.complaints.clear()  # Chromium tells a cut connection there


async def test_a_connection_that_stays_cut_is_told(wire: Wire, model: ModelServer, visit: Open) -> None:
    """R11.1 After some tries; the words that came stay, and the model is stopped."""
    model.script(ENDLESS)
    before = model.disconnects
    visited = await visit(await wire.open())
    turn = await visited.ask(QUESTION)
    await expect(turn.locator(".answer")).to_contain_text("word word word")
    await wire.close()
    await expect(turn.locator(".error")).to_have_text("Can’t reach the server. Check your connection and try again.")
    await expect(turn.locator(".answer")).to_contain_text("word word word")
    assert model.disconnects == before + 1
    assert visited.complaints
    visited.complaints.clear()


async def test_a_reload_in_mid_answer_reads_on(model_backed: Server, model: ModelServer, visit: Open) -> None:
    """R8.9 The page that comes back shows the same answer, whole; the model was asked once."""
    answer = Paced(TEXT)
    model.script(answer)
    asked = len(model.requests)
    visited = await visit(model_backed)
    turn = await visited.ask(QUESTION)
    await expect(turn.locator(".answer")).to_contain_text("The tins were")
    await visited.page.reload()
    turn = visited.page.locator(".turn")
    await expect(turn.locator(".question")).to_have_text(QUESTION)
    await expect(visited.page.locator("#stop")).to_be_visible()
    answer.receive(TEXT)
    await expect(turn.locator(".answer")).to_have_attribute("aria-busy", "false")
    await expect(turn.locator(".answer")).to_have_text(re.compile("The tins were late .* was suspended ?1."))
    await expect(turn.locator(".error")).to_have_count(0)
    assert len(model.requests) == asked + 1
    assert await visited.page.evaluate("Object.keys(sessionStorage).join()") == ""


async def test_an_answer_goes_on_behind_another_conversation(
    model_backed: Server, model: ModelServer, visit: Open
) -> None:
    """R9.1 Whoever comes back to it finds it growing, or whole."""
    model.script(ENDLESS)
    visited = await visit(model_backed)
    turn = await visited.ask(QUESTION)
    await expect(turn.locator(".answer")).to_contain_text("word word")
    address = visited.page.url
    await visited.page.evaluate("location.hash = ''")
    await expect(visited.page.locator("#welcome")).to_be_visible()
    await expect(visited.page.locator("#send")).to_be_visible()
    await visited.page.go_back()
    await expect(visited.page.locator(".turn .answer")).to_contain_text("word word word")
    assert visited.page.url == address
    await visited.page.get_by_role("button", name="Stop").click()
    await expect(visited.page.locator(".notes")).to_have_text("Answer stopped.")
