"""Questions and their answers on the page."""

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.scripted import ENDLESS
from tests.browser.chromium import ASKED, IN_CHROMIUM, QUESTION, SLOW, Open, expect
from tests.conftest import Server
from tests.model_server import ModelServer, Reply
from tests.processes import ROOT

if TYPE_CHECKING:
    from playwright.async_api import Locator, Route


pytestmark = IN_CHROMIUM
GOLDEN = {case["query"]: case for case in json.loads((ROOT / "tests" / "golden" / "demo.json").read_text())}
DOUBTFUL = (
    "The tins were late because the night shift on line L4 was suspended [1]. 9,900 Dorada tins due in Bristol on "
    "20 October arrived on 31 October [1]. Wages in Madagascar doubled overnight."
)
LIST_NUMBER = re.compile(r"^\d+[.)]\s+")  # of a list's item in its document, no part of the sentence


@pytest.mark.parametrize("language", ASKED)
async def test_a_question_is_answered_with_its_sources(demo_server: Server, visit: Open, language: str) -> None:
    """R9.1, R8.3 In the browser's language; a mark opens the quote in its document."""
    locale, question, fact, heading = ASKED[language]
    visited = await visit(demo_server, locale=locale)
    await expect(visited.page.locator("html")).to_have_attribute("lang", language)
    turn = await visited.answered(question)
    await expect(turn.locator(".question")).to_have_text(question)
    await expect(turn.locator(".answer")).to_contain_text(fact)
    await expect(turn.locator(".sources h3")).to_have_text(heading)
    assert await turn.locator("details").count() >= 1
    assert await turn.locator("details[open]").count() == 0

    answer = await turn.locator(".answer").inner_text()
    await turn.locator(".mark").first.click()
    passage = visited.page.locator("#passage")
    await expect(passage.locator("mark").first).to_be_visible()
    quotes = [quote.strip() for quote in await passage.locator("mark").all_inner_texts()]
    assert any(LIST_NUMBER.sub("", quote) in answer for quote in quotes if quote)
    await visited.page.keyboard.press("Escape")
    await expect(turn.locator(".mark").first).to_be_focused()
    await expect(visited.page.locator("#send")).to_be_visible()
    await expect(visited.page.locator("#stop")).to_be_hidden()


async def test_what_the_documents_do_not_say_is_shown_as_such(demo_server: Server, visit: Open) -> None:
    """R8.5 The refusal cites nothing; what was read is not called a source of it."""
    visited = await visit(demo_server, locale="fr-FR")
    turn = await visited.answered("Pourquoi les feuilles des arbres rougissent-elles en automne ?")
    await expect(turn.locator(".answer")).to_have_text(
        "Je n'ai pas trouvé d'information pertinente dans vos documents concernant cette question."
    )
    assert await turn.locator(".mark").count() == 0
    if await turn.locator("details").count():
        await expect(turn.locator(".sources h3")).to_have_text("Sources consultées")


@pytest.mark.parametrize("language", ASKED)
async def test_every_example_question_is_answered_well(demo_server: Server, visit: Open, language: str) -> None:
    """R9.1 What a first visitor clicks on: golden questions, with an expected fact in each answer and a citation."""
    visited = await visit(demo_server, locale=ASKED[language][0])
    await expect(visited.page.locator("#examples button")).to_have_count(3)
    examples = await visited.page.locator("#examples button").all_inner_texts()
    for example in examples:
        case = GOLDEN[example]
        assert case["language"] == language
        await visited.page.goto(demo_server.url)
        await visited.page.get_by_role("button", name=example).click()
        answer = visited.page.locator(".answer")
        await expect(answer).to_have_attribute("aria-busy", "false")
        text = await answer.inner_text()
        assert any(fact in text for fact in case["answer_contains"]), text
        assert await visited.page.locator(".mark").count() >= 1
        await expect(visited.page.locator("#welcome")).to_be_hidden()


async def test_a_question_goes_on_with_the_one_before(demo_server: Server, visit: Open) -> None:
    """R6.3 On the page too: what is left out is what was asked about."""
    visited = await visit(demo_server, locale="en-GB")
    await visited.answered(QUESTION)
    turn = await visited.answered("and when did they arrive?")
    await expect(turn.locator(".answer")).to_contain_text("arrived on 31 October")
    with demo_server.client() as client:
        latest = client.get("/api/conversations").json()["conversations"][0]
        messages = client.get(f"/api/conversations/{latest['id']}").json()["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant"]
    assert messages[2]["content"] == "and when did they arrive?"


async def test_the_answer_grows_while_it_is_written(model_backed: Server, model: ModelServer, visit: Open) -> None:
    """R8.9 Word by word, with the stage above it until the end; sources are there before the answer is whole."""
    model.script(SLOW)
    visited = await visit(model_backed)
    await visited.page.evaluate(
        """() => { window.lengths = new Set(); window.early = 0;
        new MutationObserver(() => {
            const answer = document.querySelector('.answer');
            if (!answer) return;
            window.lengths.add(answer.textContent.length);
            if (answer.ariaBusy === 'true' && answer.textContent.length < 20)
                window.early = Math.max(window.early, document.querySelectorAll('details').length);
        }).observe(document.body, {childList: true, subtree: true, characterData: true}) }"""
    )
    turn = await visited.ask(QUESTION)
    await expect(turn.locator(".stages li").last).to_have_text("Writing the answer…")
    await expect(turn.locator(".answer")).to_have_attribute("aria-busy", "false")
    await expect(turn.locator(".made summary")).to_have_text(re.compile(r"^\d.* s · openai:scripted$"))
    assert len(await visited.page.evaluate("[...window.lengths]")) > 8
    assert await visited.page.evaluate("window.early") >= 1
    await expect(turn.locator(".answer")).to_contain_text("The tins were late because the night shift on line L4")


async def test_while_an_answer_is_written_no_other_is_asked_for(
    model_backed: Server, model: ModelServer, visit: Open
) -> None:
    """R8.9 Enter waits; the typed question stays in the box."""
    model.script(ENDLESS)
    visited = await visit(model_backed)
    turn = await visited.ask(QUESTION)
    await expect(turn.locator(".answer")).to_contain_text("word")  # else the next test's question would get these words
    box = visited.page.get_by_role("textbox")
    await box.fill("And then?")
    await visited.page.keyboard.press("Enter")
    await expect(box).to_have_value("And then?")
    await expect(visited.page.locator(".turn")).to_have_count(1)
    await visited.page.get_by_role("button", name="Stop").click()
    await expect(visited.page.locator("#stop")).to_be_hidden()


async def test_each_statement_shows_how_far_it_is_supported(
    model_backed: Server, model: ModelServer, visit: Open
) -> None:
    """R8.4 Where it stands, and in a list with its score and the reason."""
    model.script(Reply(DOUBTFUL))
    visited = await visit(model_backed)
    turn = await visited.answered(QUESTION)
    await expect(turn.locator(".checks summary")).to_have_text("Quotes verified: 1 of 3")
    doubtful = turn.locator(".answer .statement:not(.supported)")
    titles = [await each.get_attribute("title") for each in await doubtful.all()]
    assert titles[0] == "Partly supported by the source"
    assert titles[-1] == "No supporting source"
    assert "Wages in Madagascar" in await doubtful.last.inner_text()
    await turn.locator(".checks summary").click()
    told = await turn.locator(".checks .verdict").all_inner_texts()
    assert re.fullmatch(r"Supported · \d+ %", told[0])
    assert re.fullmatch(r"Partly supported by the source · \d+ % · different number", told[1])
    assert told[2].startswith("No supporting source · 0 %")
    await expect(turn.locator(".answer .mark").nth(1)).to_have_accessible_name(
        "Source 1. Partly supported by the source"
    )


async def test_a_causal_chain_is_shown_as_steps(demo_server: Server, visit: Open) -> None:
    """R7.2 From the cause to the effect, each step with the source that states it; names are text; nothing at all where
    the answer does not cite every link.
    """
    visited = await visit(demo_server)
    names = ["<img src=x onerror=hacked=1>", "pressure fell", "the oven [9] swung"]
    done = answer_with_chain(names)

    async def fulfil(route: "Route") -> None:
        body = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in done)
        await route.fulfill(content_type="text/event-stream", body=body)

    await visited.page.route("**/api/chat/stream", fulfil)
    turn = await visited.answered(QUESTION)
    chain = turn.locator(".chain")
    figure = chain.locator("figure").first
    assert await figure.locator("ol li").all_inner_texts() == names
    assert " ".join(await figure.locator("svg text").all_text_contents()) == " ".join(names)
    await expect(chain.locator("h3")).to_have_text("Causal chain")
    assert await turn.locator("img").count() == 0
    marks, quote = figure.locator(".mark"), figure.locator("figcaption")
    assert await marks.all_inner_texts() == ["1", "2"]
    await marks.first.focus()
    await expect(quote).to_have_text("“The seal was worn, so pressure fell.”")
    await marks.last.hover()
    await expect(quote).to_have_text("“Low pressure made the oven swing.”")
    await expect(marks.last).to_have_accessible_name(
        "Source 2: pressure fell → the oven [9] swung. “Low pressure made the oven swing.”"
    )
    tops = [await top_left(mark) for mark in await marks.all()]
    await visited.page.set_viewport_size({"width": 360, "height": 800})  # then they stand below one another
    await expect(figure.locator("svg")).to_have_attribute("width", "328")
    lefts = [await top_left(mark) for mark in await marks.all()]
    assert (tops[0][0], lefts[0][1]) == (tops[1][0], lefts[1][1])
    await expect(chain.locator("details summary")).to_have_text("1 more chain")

    done[-1][1]["citations"][0]["start_char"] = 36  # another sentence of that source
    await expect((await visited.answered(QUESTION)).locator(".chain")).to_be_hidden()
    done[-1][1].update(paths=[])
    await expect((await visited.answered(QUESTION)).locator(".chain")).to_be_hidden()


async def top_left(element: "Locator") -> tuple[float, float]:
    box = await element.bounding_box()
    assert box
    return box["y"], box["x"]


def answer_with_chain(entities: list[str]) -> list[tuple[str, dict[str, Any]]]:
    """The stream of an answer over two sources, of which each states a link."""
    texts = ["The seal was worn, so pressure fell.", "It was cold. Low pressure made the oven swing. It was late."]
    sources = [
        {"number": number, "title": f"Report {number}", "filename": "r.md", "content": text, "language": "en"}
        for number, text in enumerate(texts, start=1)
    ]
    places = [{"quote": texts[0], "start_char": 0, "end_char": 36}]
    places += [{"quote": "Low pressure made the oven swing.", "start_char": 13, "end_char": 46}]
    edges: list[dict[str, Any]] = [
        {"source": number, "cause": entities[number - 1], "effect": entities[number], **place}
        for number, place in enumerate(places, start=1)
    ]
    citations = [
        {"number": edge["source"], "status": "supported", **place} for edge, place in zip(edges, places, strict=True)
    ]
    path = {"entities": entities, "edges": edges, "score": 0.9}
    answer = "The seal was worn, so pressure fell. [1] Low pressure made the oven swing. [2]"
    return [
        ("sources", {"sources": sources, "paths": [path]}),
        ("token", {"text": answer}),
        *(("citation", citation) for citation in citations),
        ("done", {"answer": answer, "citations": citations, "sources": sources, "paths": [path, path], "found": True}),
    ]


async def test_nothing_is_asked_with_an_empty_box(demo_server: Server, visit: Open) -> None:
    """R9.1 Spaces are no question."""
    visited = await visit(demo_server)
    await visited.page.get_by_role("textbox").fill("   ")
    await visited.page.keyboard.press("Enter")
    await visited.page.get_by_role("button", name="Send").click()
    await expect(visited.page.locator(".turn")).to_have_count(0)
    await expect(visited.page.locator("#welcome")).to_be_visible()
