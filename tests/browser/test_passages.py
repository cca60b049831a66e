"""The passage in its document that a citation opens, in Chromium."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.api.uploads import finished, upload
from tests.browser.accessibility import assert_accessible
from tests.browser.chromium import IN_CHROMIUM, Open, Visit, expect
from tests.conftest import DEMO, Server

if TYPE_CHECKING:
    from playwright.async_api import Locator


pytestmark = IN_CHROMIUM
AUDIT = ("fr", "demo", "Quelle note l'entrepôt de Toulouse a-t-il obtenue à l'audit ?")
SALES = ("es", "demo", "¿Cuánto subieron las ventas en diciembre de 2025?")
TINS = ("en", "demo", "Why did the Christmas tins reach Bristol so late?")
HOSTILE = "El 😀 <img src=x onerror='window.hacked=1'> de <b>Zurrapandilla</b> costó 7 € & se rompió."
OPEN = """async ([citations, sources, index]) => {
  const { openPassage } = await import("/static/passage.js");
  const trigger = document.querySelector("#examples button");
  openPassage(citations, index, { sources: new Map(sources.map((source) => [source.number, source])), trigger });
}"""


@pytest.fixture(scope="module")
def api(demo_server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{demo_server.url}/api/v1", timeout=60) as client:
        yield client
        client.delete("/collections/passages")  # of tests that were chosen there may be none


def asked(api: httpx.Client, question: tuple[str, str, str]) -> dict[str, Any]:
    language, collection, text = question
    answer = api.post("/chat", json={"message": text, "collection": collection}, headers={"Accept-Language": language})
    assert answer.json()["citations"], answer.text
    return dict(answer.json())


def stored(api: httpx.Client, name: str, text: str) -> str:
    document = finished(api, upload(api, "passages", name, text)["id"])
    assert document["status"] == "indexed"
    return f"/documents/{document['id']}"


def replace(api: httpx.Client, path: str, text: str) -> None:
    api.put(path, files={"file": ("hostil.md", text)}).raise_for_status()
    assert finished(api, path.rpartition("/")[2])["status"] == "indexed"


def delete(api: httpx.Client, path: str) -> None:
    api.delete(path).raise_for_status()


def is_same_file(found: Path, expected: Path) -> bool:
    return found.read_bytes() == expected.read_bytes()


async def opened(visited: Visit, answer: dict[str, Any], index: int = 0) -> "Locator":
    await expect(visited.page.locator("#examples button").first).to_be_visible()  # which gets the focus back
    await visited.page.evaluate(OPEN, [answer["citations"], answer["sources"], index])
    dialog = visited.page.get_by_role("dialog")
    await expect(dialog.locator("#passage-body > :not(.opening)").first).to_be_visible()
    return dialog


async def test_a_pdf_is_opened_at_the_page_with_the_quote_marked(
    demo_server: Server, api: httpx.Client, visit: Open
) -> None:
    """R8.3, R9.1 The boxes lie on the page's picture where the quote's ink is; its text is there for who can't see."""
    answer = asked(api, AUDIT)
    visited = await visit(demo_server, locale="fr-FR", width=1280)
    dialog = await opened(visited, answer)
    await expect(dialog.get_by_role("heading")).to_have_text("Audit d'hygiène de l'entrepôt de Toulouse")
    await expect(dialog.get_by_role("status")).to_have_text("audit-entrepot-toulouse.pdf · page 1")
    await expect(dialog.get_by_role("img", name="page 1 sur 2")).to_be_in_viewport()
    await expect(dialog.locator(".box")).to_be_in_viewport()
    share = await visited.page.evaluate(INK_IN_BOX)
    assert 0.02 < share < 0.2  # one line of a page of some twenty
    await dialog.get_by_text("Texte du passage").click()
    await expect(dialog.locator("li mark")).to_have_text(answer["citations"][0]["quote"])
    await dialog.get_by_role("button", name="Page suivante").press("Enter")
    await expect(dialog.get_by_role("img", name="page 2 sur 2")).to_be_visible()
    await expect(dialog.locator(".box")).to_have_count(0)
    await expect(dialog.get_by_role("button", name="Page précédente")).to_be_visible()


INK_IN_BOX = """() => {
  const canvas = document.querySelector("#passage canvas");
  const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
  const drawn = copy.getContext("2d", { willReadFrequently: true });
  drawn.drawImage(canvas, 0, 0);
  const ink = (x, y, width, height) => {
    const { data } = drawn.getImageData(x, y, width, height);
    let dark = 0;
    for (let place = 0; place < data.length; place += 4) dark += data[place] < 128;
    return dark;
  };
  const scale = canvas.width / canvas.clientWidth;
  const [page, box] = [canvas, document.querySelector("#passage .box")].map((part) => part.getBoundingClientRect());
  const inBox = ink((box.x - page.x) * scale, (box.y - page.y) * scale, box.width * scale, box.height * scale);
  return inBox / ink(0, 0, canvas.width, canvas.height);
}"""


async def test_a_sheet_is_opened_at_the_cited_cells(demo_server: Server, api: httpx.Client, visit: Open) -> None:
    """R8.3, R8.6 With its headers, the letters of its columns and the numbers of its rows; on a small screen too."""
    visited = await visit(demo_server, locale="es-ES", width=360)
    dialog = await opened(visited, asked(api, SALES))
    await expect(dialog.get_by_role("status")).to_have_text("ventas-2025.xlsx · Ventas 2025!B13:B14")
    await expect(dialog.locator("td mark")).to_have_text(["48000", "60000"])
    await expect(dialog.locator("td mark").first).to_be_in_viewport()
    await expect(dialog.get_by_role("columnheader")).to_have_text(["A", "B", "C", "Mes", "Ventas (€)", "Pedidos"])
    await expect(dialog.get_by_role("row").filter(has_text="60000").get_by_role("rowheader")).to_have_text("14")
    assert await visited.page.evaluate("document.documentElement.scrollWidth") <= 360


async def test_all_of_it_can_be_done_with_keys(demo_server: Server, api: httpx.Client, visit: Open) -> None:
    """R9.1 From citation to citation of the answer, around its end; closed, the focus is where it was."""
    answer = asked(api, TINS)
    count = len(answer["citations"])
    assert count > 1
    visited = await visit(demo_server)
    dialog = await opened(visited, answer)
    for key, place in (*(("ArrowRight", place) for place in (*range(1, count), 0)), ("ArrowLeft", count - 1)):
        await visited.page.keyboard.press(key)
        citation = answer["citations"][place]
        await expect(dialog.locator("#passage-count")).to_have_text(f"{place + 1}/{count}")
        await expect(dialog.locator("mark")).to_have_text(citation["quote"])
        await expect(dialog.locator("mark").first).to_be_in_viewport()
    await visited.page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    await expect(visited.page.locator("#examples button").first).to_be_focused()


async def test_a_long_text_is_read_on_from_the_quote(demo_server: Server, api: httpx.Client, visit: Open) -> None:
    """R8.3 Lines have their numbers; what comes before moves nothing away from under the eyes."""
    lines = [f"Nota {number}: la prensa {number} siguió en marcha sin novedad." for number in range(1, 401)]
    lines[249] = "La Zurrapandilla se paró porque se quemó el fusible."
    stored(api, "larga.txt", "\n".join(lines))
    answer = asked(api, ("es", "passages", "¿Por qué se paró la Zurrapandilla?"))
    visited = await visit(demo_server, locale="es-ES")
    dialog = await opened(visited, answer)
    mark, items = dialog.locator("li mark"), dialog.locator("li")
    await expect(mark).to_have_text(lines[249])
    await expect(mark).to_be_in_viewport()
    button = dialog.get_by_role("button", name="Mostrar texto anterior")
    await button.scroll_into_view_if_needed()
    before = await mark.bounding_box()
    shown = await items.count()
    await button.press("Enter")
    await expect(items.nth(shown)).to_be_attached()
    after = await mark.bounding_box()
    assert before
    assert after
    assert after["y"] == pytest.approx(before["y"], abs=2)
    first = await dialog.locator("ol").evaluate("list => list.start")
    assert (await items.first.inner_text(), await items.nth(250 - first).inner_text()) == (lines[first - 1], lines[249])
    await expect(dialog.get_by_role("status")).to_have_text("larga.txt · línea 250")
    await expect(button).to_be_focused()


async def test_another_version_is_not_marked(demo_server: Server, api: httpx.Client, visit: Open) -> None:
    """R8.3 A document that was replaced or deleted since: that is said, with what the answer was made from. What a
    document wrote is text.
    """
    path = stored(api, "hostil.md", HOSTILE)
    answer = asked(api, ("en", "passages", "¿Cuánto costó la Zurrapandilla?"))
    index = next(place for place, cited in enumerate(answer["citations"]) if cited["filename"] == "hostil.md")
    visited = await visit(demo_server)
    dialog = await opened(visited, answer, index)
    await expect(dialog.locator("p mark")).to_have_text(HOSTILE)
    await expect(dialog.locator("img, b")).to_have_count(0)
    await visited.page.keyboard.press("Escape")

    replace(api, path, HOSTILE.replace("7 €", "9 €"))
    await opened(visited, answer, index)
    await expect(dialog.get_by_role("alert")).to_contain_text("has changed since this answer")
    await expect(dialog.get_by_role("alert")).to_be_in_viewport()
    await expect(dialog.locator("blockquote mark")).to_have_text(HOSTILE)
    await visited.page.keyboard.press("Escape")

    delete(api, path)
    await opened(visited, answer, index)
    await expect(dialog.get_by_role("alert")).to_contain_text("has been deleted")
    await expect(dialog.locator("blockquote mark")).to_have_text(HOSTILE)
    assert all("404" in complaint for complaint in visited.complaints)
    visited.complaints.clear()


async def test_a_document_of_another_service_is_shown_as_it_was_found(
    demo_server: Server, api: httpx.Client, visit: Open
) -> None:
    """R13.3, R8.3 It can't be opened here: that is said, with what the answer was made from."""
    answer = asked(api, AUDIT)
    for source in answer["sources"]:
        source["elsewhere"] = True
    visited = await visit(demo_server)
    dialog = await opened(visited, answer)
    await expect(dialog.get_by_role("alert")).to_contain_text("stored in another service")
    await expect(dialog.locator("blockquote mark")).to_have_text(answer["citations"][0]["quote"])


async def test_the_original_is_downloaded(demo_server: Server, api: httpx.Client, visit: Open) -> None:
    """R9.1 The very file that was uploaded, under its name."""
    visited = await visit(demo_server)
    dialog = await opened(visited, asked(api, AUDIT))
    async with visited.page.expect_download() as waiting:
        await dialog.get_by_role("button", name="Download original").click()
    download = await waiting.value
    assert download.suggested_filename == "audit-entrepot-toulouse.pdf"
    assert is_same_file(await download.path(), DEMO / download.suggested_filename)


async def test_markdown_is_rendered_with_the_quote_marked(demo_server: Server, api: httpx.Client, visit: Open) -> None:
    """R8.3 Across its markup, exactly; its links leave the page without telling it, or are text."""
    text = (
        "# La Matraca\n\n## Costes\n\n- La **Matraca** costó *9 €* según [el acta](https://example.com/acta).\n"
        "- [Otra](javascript:alert(1))\n\n| Pieza | Precio |\n|---|--:|\n| Muelle | 3 € |\n\n```\nparar()\n```\n"
    )
    stored(api, "matraca.md", text)
    answer = asked(api, ("es", "passages", "¿Cuánto costó la Matraca?"))
    index = next(place for place, cited in enumerate(answer["citations"]) if cited["filename"] == "matraca.md")
    visited = await visit(demo_server, locale="es-ES")
    dialog = await opened(visited, answer, index)
    await expect(dialog.get_by_role("heading", level=4)).to_have_text("Costes")
    await expect(dialog.locator("li").first).to_have_text("La Matraca costó 9 € según el acta.")
    marked = "".join(await dialog.locator("mark").all_text_contents())
    assert marked == "La Matraca costó 9 € según el acta."
    link = dialog.get_by_role("link")
    await expect(link).to_have_attribute("href", "https://example.com/acta")
    await expect(link).to_have_attribute("rel", "noopener noreferrer nofollow")
    await expect(dialog.locator("li").last).to_have_text("[Otra](javascript:alert(1))")
    await expect(dialog.get_by_role("columnheader")).to_have_text(["Pieza", "Precio"])
    await expect(dialog.locator("pre code")).to_have_text("parar()")


async def test_everybody_can_read_it(demo_server: Server, api: httpx.Client, visit: Open) -> None:
    """R9.1 Names, roles and contrast of what is shown of a PDF, a sheet and a text."""
    visited = await visit(demo_server, locale="fr-FR", width=360, reduced_motion="reduce")
    for question in (AUDIT, SALES, TINS):
        await opened(visited, asked(api, question))
        await assert_accessible(visited.page, "#passage")
        await visited.page.keyboard.press("Escape")
