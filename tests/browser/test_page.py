"""The chat page in Chromium, as a person uses it."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.api.scripted import ENDLESS
from tests.browser.chromium import IN_CHROMIUM, SLOW, Open, expect
from tests.conftest import Server
from tests.model_server import CutStream, ModelServer, Reply
from tests.processes import ROOT

if TYPE_CHECKING:
    from playwright.async_api import Route

pytestmark = IN_CHROMIUM
GOLDEN = {case["query"]: case for case in json.loads((ROOT / "tests" / "golden" / "demo.json").read_text())}
ASKED = {
    "es": ("es-MX", "¿Cuánto cobra de más al mes quien está habilitado en varias líneas?", "85 € al mes", "Fuentes"),
    "fr": (
        "fr-CA",
        "Combien nous a-t-on fait payer pour le détour et l'attente du camion de beurre ?",
        "1 120 €",
        "Sources",
    ),
    "en": ("en-GB", "Why did the Christmas tins reach Bristol so late?", "suspended for three weeks", "Sources"),
}
QUESTION = ASKED["en"][1]
HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script> & "¿Por qué?" [1](javascript:hacked)'
HOSTILE_ANSWER = (
    '<img src=x onerror="window.hacked=1"> ![picture](https://evil.example/x.png) <b>bold</b> [1]. '
    "See [here](https://evil.example) or <a href='https://evil.example'>there</a> [1]."
)
LIST_NUMBER = re.compile(r"^\d+[.)]\s+")  # of a list's item in its document, no part of the sentence


@pytest.mark.parametrize("language", ASKED)
async def test_a_question_is_answered_with_its_sources(demo_server: Server, visit: Open, language: str) -> None:
    """R9.1, R8.3 In the browser's language; a mark opens its source at the quote."""
    locale, question, fact, heading = ASKED[language]
    visited = await visit(demo_server, locale=locale)
    await expect(visited.page.locator("html")).to_have_attribute("lang", language)
    turn = await visited.answered(question)
    await expect(turn.locator(".question")).to_have_text(question)
    await expect(turn.locator(".answer")).to_contain_text(fact)
    await expect(turn.locator(".sources h3")).to_have_text(heading)
    assert await turn.locator("details").count() >= 1
    assert await turn.locator("details[open]").count() == 0

    mark = turn.locator(".mark").first
    number = await mark.inner_text()
    await mark.click()
    opened = turn.locator("details[open]")
    await expect(opened).to_have_count(1)
    await expect(opened.locator(".number")).to_have_text(number)
    quotes = await opened.locator("mark").all_inner_texts()
    answer = await turn.locator(".answer").inner_text()
    assert quotes
    assert any(LIST_NUMBER.sub("", quote.strip()) in answer for quote in quotes)
    await expect(opened.locator("mark").first).to_be_in_viewport()
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
        await expect(turn.locator(".sources h3")).to_have_text("Passages consultés")


@pytest.mark.parametrize("language", ASKED)
async def test_every_example_question_is_answered_well(demo_server: Server, visit: Open, language: str) -> None:
    """R9.1 What a first visitor clicks on: golden questions, with an expected fact in each answer and a citation."""
    visited = await visit(demo_server, locale=ASKED[language][0])
    examples = await visited.page.locator("#examples button").all_inner_texts()
    assert len(set(examples)) == 3
    for example in examples:
        case = GOLDEN[example]
        assert case["language"] == language
        await visited.page.reload()
        await visited.page.get_by_role("button", name=example).click()
        answer = visited.page.locator(".answer")
        await expect(answer).to_have_attribute("aria-busy", "false", timeout=15_000)
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
    await expect(turn.locator(".notes")).to_contain_text(re.compile("Référence: [0-9a-f]{32}"))
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


async def test_a_causal_chain_is_shown_as_steps(demo_server: Server, visit: Open) -> None:
    """R7.2 From the cause to the effect, each step with the source that states it; names are text; nothing at all where
    the answer does not cite every link.
    """
    visited = await visit(demo_server)
    done = answer_with_chain(["<img src=x onerror=hacked=1>", "pressure fell", "the oven [9] swung"])

    async def fulfil(route: "Route") -> None:
        body = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in done)
        await route.fulfill(content_type="text/event-stream", body=body)

    await visited.page.route("**/api/chat/stream", fulfil)
    turn = await visited.answered(QUESTION)
    steps = turn.locator(".chain li")
    assert await steps.all_inner_texts() == ["<img src=x onerror=hacked=1>", "pressure fell1", "the oven [9] swung2"]
    await expect(turn.locator(".chain h3")).to_have_text("Causal chain")
    assert await turn.locator("img").count() == 0
    chain, sources = await turn.locator(".chain").bounding_box(), await turn.locator(".sources").bounding_box()
    assert chain
    assert sources
    assert chain["y"] < sources["y"]
    await steps.nth(2).locator(".mark").click()
    await expect(turn.locator("details[open] mark")).to_have_text("Low pressure made the oven swing.")

    done[-1][1]["citations"][0]["start_char"] = 36  # another sentence of that source
    await expect((await visited.answered(QUESTION)).locator(".chain")).to_be_hidden()
    done[-1][1].update(paths=[])
    await expect((await visited.answered(QUESTION)).locator(".chain")).to_be_hidden()


def answer_with_chain(entities: list[str]) -> list[tuple[str, dict[str, Any]]]:
    """The stream of an answer over two sources, of which each states a link."""
    texts = ["The seal was worn, so pressure fell.", "It was cold. Low pressure made the oven swing. It was late."]
    sources = [
        {"number": number, "title": f"Report {number}", "filename": "r.md", "content": text, "language": "en"}
        for number, text in enumerate(texts, start=1)
    ]
    places = [{"quote": texts[0], "start_char": 0, "end_char": 36}]
    places += [{"quote": "Low pressure made the oven swing.", "start_char": 13, "end_char": 46}]
    edges: list[dict[str, Any]] = [{"source": number, **place} for number, place in enumerate(places, start=1)]
    citations = [
        {"number": edge["source"], "status": "supported", **place} for edge, place in zip(edges, places, strict=True)
    ]
    path = {"entities": entities, "edges": edges, "score": 0.9}
    answer = "The seal was worn, so pressure fell. [1] Low pressure made the oven swing. [2]"
    return [
        ("sources", {"sources": sources, "paths": [path]}),
        ("token", {"text": answer}),
        *(("citation", citation) for citation in citations),
        ("done", {"answer": answer, "citations": citations, "sources": sources, "paths": [path], "found": True}),
    ]


async def test_a_script_on_the_page_would_not_run(demo_server: Server, visit: Open) -> None:
    """Security 14: the content security policy is in force, not only sent."""
    visited = await visit(demo_server)
    await visited.page.evaluate(
        "const s = document.createElement('script'); s.textContent = 'window.hacked = 1'; document.body.append(s)"
    )
    assert await visited.page.evaluate("window.hacked") is None
    assert any("Content Security Policy" in text for text in visited.complaints)
    visited.complaints.clear()


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
    await expect(turn.locator(".stage")).to_have_text("Writing the answer…")
    await expect(turn.locator(".answer")).to_have_attribute("aria-busy", "false", timeout=15_000)
    await expect(turn.locator(".stage")).to_have_count(0)
    assert len(await visited.page.evaluate("[...window.lengths]")) > 8
    assert await visited.page.evaluate("window.early") >= 1
    await expect(turn.locator(".answer")).to_contain_text("The tins were late because the night shift on line L4")


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
    for _ in range(500):  # the service is told at once; a busy machine tells the model later
        if model.disconnects > before:
            break
        await visited.page.wait_for_timeout(20)
    assert model.disconnects == before + 1
    model.script(Reply("Late because of the accident [1]."))
    second = await visited.answered(QUESTION)
    await expect(second.locator(".answer")).to_contain_text("Late because of the accident")


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


async def test_a_cut_answer_keeps_its_words_and_says_so(model_backed: Server, model: ModelServer, visit: Open) -> None:
    """Security 17: the error in the page's language with its reference, below what came."""
    model.script(CutStream(6, "The tins were late because the night shift was suspended."))
    visited = await visit(model_backed)
    turn = await visited.answered(QUESTION)
    await expect(turn.locator(".answer")).to_contain_text("The tins were late")
    await expect(turn.locator(".error")).to_have_text("The model stopped in mid-answer. Ask again.")
    await expect(turn.locator(".notes")).to_contain_text(re.compile("Reference: [0-9a-f]{32}"))


async def test_a_lost_connection_is_told(demo_server: Server, visit: Open) -> None:
    """R11.1 In words, not as a spinner that never ends."""
    visited = await visit(demo_server)
    await visited.page.context.set_offline(True)
    turn = await visited.answered(QUESTION)
    await expect(turn.locator(".error")).to_have_text(
        "The server could not be reached. Check the connection and ask again."
    )
    assert visited.complaints
    visited.complaints.clear()  # Chromium tells a failed request there
    await visited.page.context.set_offline(False)
    await expect((await visited.answered(QUESTION)).locator(".mark").first).to_be_visible()


class Wire:
    """Between page and server; it can be cut."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._connections: set[asyncio.StreamWriter] = set()

    async def open(self) -> Server:
        """The server as it is reached through the wire."""
        self._listener = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        port = self._listener.sockets[0].getsockname()[1]
        return Server(f"http://127.0.0.1:{port}", self._server.process)

    def cut(self) -> None:
        for writer in self._connections:
            writer.transport.abort()

    async def close(self) -> None:
        self._listener.close()
        self.cut()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", urlsplit(self._server.url).port)
        self._connections |= {writer, far_writer}
        await asyncio.gather(self._carry(reader, far_writer), self._carry(far_reader, writer))
        self._connections -= {writer, far_writer}

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                writer.write(data)
        writer.close()


@pytest.fixture
async def wire(model_backed: Server) -> AsyncIterator[Wire]:
    opened = Wire(model_backed)
    yield opened
    await opened.close()


async def test_an_answer_survives_a_cut_connection(wire: Wire, model: ModelServer, visit: Open) -> None:
    """R8.9 Twice cut off in mid-answer: it is resumed, every word is there once, and the model was asked once."""
    model.script(SLOW)
    asked = len(model.requests)
    visited = await visit(await wire.open())
    turn = await visited.ask(QUESTION)
    for words in ("The tins", "because the night"):
        await expect(turn.locator(".answer")).to_contain_text(words)
        wire.cut()
    await expect(turn.locator(".answer")).to_have_attribute("aria-busy", "false", timeout=15_000)
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
    await expect(turn.locator(".error")).to_have_text(
        "The server could not be reached. Check the connection and ask again.", timeout=30_000
    )
    await expect(turn.locator(".answer")).to_contain_text("word word word")
    assert model.disconnects == before + 1
    assert visited.complaints
    visited.complaints.clear()


async def test_what_no_source_supports_is_flagged(demo_server: Server, visit: Open) -> None:
    """R8.4 A statement without a source, where it stands, and not as a source; also where the answer is cut off."""
    visited = await visit(demo_server)
    texts = ["It is \U0001f37a time.", "The seal was worn. [1]", "So it leaked."]
    answer = " ".join(texts)
    flag = {"number": None, "statement": texts[2], "status": "unsupported", "score": 0.0, "reasons": ["overlap"]}
    verdicts = [("supported", []), ("partly", [{"number": 1}]), ("unsupported", [])]
    starts = [0, len(texts[0]) + 1, len(texts[0]) + len(texts[1]) + 2]
    statements = [
        {"start": start, "end": start + len(text), "status": status, "citations": cited}
        for text, start, (status, cited) in zip(texts, starts, verdicts, strict=True)
    ]
    events: list[tuple[str, dict[str, Any]]] = [
        ("sources", {"sources": [], "paths": []}),
        ("token", {"text": answer}),
        ("citation", flag),
        ("done", {"answer": answer, "citations": [], "statements": statements, "sources": [], "found": True}),
    ]

    async def fulfil(route: "Route") -> None:
        body = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
        await route.fulfill(content_type="text/event-stream", body=body)

    await visited.page.route("**/api/chat/stream", fulfil)
    turn = await visited.answered(QUESTION)
    flagged = turn.locator(".statement")
    assert await flagged.all_inner_texts() == texts[1:]
    assert [await each.get_attribute("title") for each in await flagged.all()] == [
        "The source supports this sentence of the answer only in part",
        "No source supports this sentence of the answer",
    ]
    assert await turn.locator(".answer").inner_text() == answer
    events[-1] = ("error", {"error": {"message": "It broke off."}, "partial_answer": answer})
    turn = await visited.answered(QUESTION)
    await expect(turn.locator(".notes")).to_contain_text(
        f"No source supports this sentence of the answer: “{texts[2]}”"
    )


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
    """R9.1 The box has the focus at first; Shift+Enter is a new line; a mark and its source work by Enter."""
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
    await expect(turn.locator(".answer")).to_have_attribute("aria-busy", "false", timeout=15_000)
    await expect(box).to_have_value("")
    await expect(box).to_be_focused()
    await turn.locator(".mark").first.focus()
    await page.keyboard.press("Enter")
    await expect(turn.locator("details[open]")).to_have_count(1)
    await expect(turn.locator("details[open] summary")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(turn.locator("details[open]")).to_have_count(0)


async def test_nothing_is_asked_with_an_empty_box(demo_server: Server, visit: Open) -> None:
    """R9.1 Spaces are no question."""
    visited = await visit(demo_server)
    await visited.page.get_by_role("textbox").fill("   ")
    await visited.page.keyboard.press("Enter")
    await visited.page.get_by_role("button", name="Send").click()
    await expect(visited.page.locator(".turn")).to_have_count(0)
    await expect(visited.page.locator("#welcome")).to_be_visible()


async def test_the_documentation_works_in_the_browser(demo_server: Server, visit: Open) -> None:
    """R9 /docs draws every operation from our own files."""
    visited = await visit(demo_server)
    await visited.page.goto(f"{demo_server.url}/docs")
    await expect(visited.page.locator(".opblock-summary-path").first).to_be_visible(timeout=15_000)
    assert await visited.page.locator(".opblock").count() >= 4
