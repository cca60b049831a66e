"""What is around the answers, in Chromium: colours, the drawer, shortcuts, the connection."""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.browser.chromium import IN_CHROMIUM, Open, expect
from tests.conftest import Server

if TYPE_CHECKING:
    from playwright.async_api import Browser, Response


pytestmark = IN_CHROMIUM
LEAST_BYTES, MOST_BYTES = 50_000, 150_000


async def test_the_chosen_colours_are_kept(demo_server: Server, visit: Open) -> None:
    """R9.1 Before anything is drawn; the system's are those of the person's other programs."""
    page = (await visit(demo_server, color_scheme="dark")).page
    background = "getComputedStyle(document.body).backgroundColor"
    dark = await page.evaluate(background)
    await page.get_by_role("button", name="Light", exact=True).click()
    light = await page.evaluate(background)
    assert dark != light
    await page.add_init_script("addEventListener('DOMContentLoaded', () => { window.first = " + background + "; })")
    await page.reload()
    assert await page.evaluate("window.first") == light
    await expect(page.get_by_role("button", name="Light", exact=True)).to_have_attribute("aria-pressed", "true")
    await page.get_by_role("button", name="System").click()
    assert await page.evaluate(background) == dark


async def test_the_shelf_is_a_column_that_can_be_closed(demo_server: Server, visit: Open) -> None:
    """R9.1 And stays closed at the next visit; a drawer is closed at first whatever was chosen."""
    page = (await visit(demo_server, width=1280)).page
    shelf, toggle = page.locator("#shelf"), page.get_by_role("button", name="Sidebar", exact=True)
    await expect(shelf).to_be_visible()
    await page.get_by_role("button", name="Close sidebar").click()
    await expect(shelf).to_be_hidden()
    await expect(toggle).to_be_focused()
    await expect(toggle).to_have_attribute("aria-expanded", "false")
    await page.reload()
    await expect(shelf).to_be_hidden()
    await toggle.click()
    await expect(shelf).to_be_visible()
    await page.set_viewport_size({"width": 800, "height": 800})
    await expect(shelf).to_be_hidden()


async def test_the_drawer_keeps_the_focus_until_it_is_closed(demo_server: Server, visit: Open) -> None:
    """R9.1 What is behind can't be reached by Tab; Escape, and a tap beside it, close it."""
    page = (await visit(demo_server, width=360)).page
    shelf, toggle = page.locator("#shelf"), page.get_by_role("button", name="Sidebar", exact=True)
    await toggle.click()
    await expect(page.get_by_role("button", name="Close sidebar")).to_be_focused()
    assert await page.evaluate("document.getElementById('desk').inert")
    await page.keyboard.press("Escape")
    await expect(shelf).to_be_hidden()
    await expect(toggle).to_be_focused()
    await toggle.click()
    await page.mouse.click(350, 400)
    await expect(shelf).to_be_hidden()
    assert not await page.evaluate("document.getElementById('desk').inert")
    await toggle.click()
    await page.get_by_role("button", name="New conversation").click()
    await expect(shelf).to_be_hidden()
    await expect(page.locator("#question")).to_be_focused()


async def test_shortcuts_work_where_nobody_types(demo_server: Server, visit: Open) -> None:
    """R9.1 They are shown by "?"; those of a single key can be switched off, for good."""
    page = (await visit(demo_server, width=1280)).page
    box, shelf, dialog = page.locator("#question"), page.locator("#shelf"), page.get_by_role("dialog")
    await page.keyboard.type("s?/n")
    await expect(box).to_have_value("s?/n")
    await expect(dialog).to_be_hidden()
    await page.locator("h1").click()
    await page.keyboard.press("s")
    await expect(shelf).to_be_hidden()
    await page.keyboard.press("s")
    await expect(shelf).to_be_visible()
    await page.keyboard.press("?")
    await expect(dialog).to_contain_text("Keyboard shortcuts")
    await page.keyboard.press("s")
    await expect(shelf).to_be_visible()
    await page.get_by_label("Enable single-key shortcuts").uncheck()
    await page.keyboard.press("Escape")
    for _ in range(2):
        await page.locator("h1").click()
        await page.keyboard.press("/")
        await expect(box).not_to_be_focused()
        await page.keyboard.press("Control+k")
        await expect(box).to_be_focused()
        await page.reload()


async def test_one_can_skip_to_the_question(demo_server: Server, visit: Open) -> None:
    """R9.1 By the first link of the page, which is seen where it has the focus."""
    page = (await visit(demo_server)).page
    await page.locator("#skip").focus()
    await expect(page.locator("#skip")).to_be_in_viewport(ratio=1)
    await page.keyboard.press("Enter")
    await expect(page.locator("#question")).to_be_focused()


async def test_a_lost_connection_is_told_until_it_is_back(demo_server: Server, visit: Open) -> None:
    """R11.1 What was asked for meanwhile comes by itself."""
    visited = await visit(demo_server, locale="fr-FR")
    page = visited.page
    await expect(page.locator("#documents li").first).to_be_visible()
    count = await page.locator("#documents li").count()
    await page.context.set_offline(True)
    await expect(page.locator("#offline")).to_have_text("Connexion au serveur perdue. Reconnexion…")
    async with page.expect_event("requestfailed", lambda request: "livraisons" in request.url):
        await page.get_by_role("searchbox", name="Rechercher un document").fill("livraisons")
    assert await page.locator("#documents li").count() == count
    await page.context.set_offline(False)
    await expect(page.locator("#offline")).to_be_empty()
    await expect(page.locator("#documents li")).to_have_count(2)
    visited.complaints.clear()  # Chromium tells a failed request there


async def test_no_other_host_is_asked_and_the_page_is_light(demo_server: Server, browser: "Browser") -> None:
    """R9.1 All that a first visit loads is less than 150 kB, as it comes over the wire."""
    context = await browser.new_context()  # nothing has been loaded before
    page = await context.new_page()
    received: list[Response] = []
    page.on("response", lambda response: received.append(response))
    await page.goto(demo_server.url, wait_until="networkidle")
    assert {urlsplit(each.url).netloc for each in received} == {urlsplit(demo_server.url).netloc}
    sizes = {each.url: (await each.request.sizes())["responseBodySize"] for each in received}
    await context.close()
    assert len(sizes) > 20
    assert LEAST_BYTES < sum(sizes.values()) < MOST_BYTES, sizes


async def test_no_part_of_the_page_takes_the_words_of_another(demo_server: Server, visit: Open) -> None:
    """R9.1 They share one list for each language."""
    page = (await visit(demo_server)).page
    await page.add_init_script(
        """const assign = Object.assign;
        window.taken = [];
        Object.assign = (target, ...more) => {
            if (target?.welcome) window.taken.push(...more.flatMap(Object.keys).filter((name) => name in target));
            return assign(target, ...more);
        };"""
    )
    await page.reload()
    await expect(page.locator("#welcome p")).not_to_be_empty()
    assert await page.evaluate("window.taken") == []
