"""python -m tests.screenshot: the chat page over the demo documents, as README.md shows it."""

import asyncio
import tempfile

from tests.browser.chromium import ARGUMENTS, CHROMIUM, Visit, expect, playwright_api
from tests.conftest import DEMO, run_server
from tests.processes import ROOT

WHY = "Why did the Christmas tins reach Bristol so late?"
OF_A_PDF = "Quelle note l'entrepôt de Toulouse a-t-il obtenue à l'audit ?"
ANSWER, PASSAGE = ROOT / "docs" / "chat.png", ROOT / "docs" / "passage.png"


async def take(url: str) -> None:
    async with playwright_api.async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        page = await browser.new_page(locale="en-GB", viewport={"width": 1280, "height": 800})
        await page.goto(url)
        visit = Visit(page)
        await visit.answered(WHY)
        await page.screenshot(path=ANSWER)
        turn = await visit.answered(OF_A_PDF)
        await turn.locator(".answer .mark").first.click()
        await expect(page.get_by_role("dialog").locator(".box")).to_be_in_viewport()
        await page.screenshot(path=PASSAGE)
        await browser.close()


def main() -> None:
    served = ("--collection", "demo", "--ingest", str(DEMO))
    folder = tempfile.TemporaryDirectory(prefix="cw-", dir="/tmp")  # short and open to the embedded server's own user
    with folder as home, run_server(*served, CAUSEWAY_HOME=home) as server:
        asyncio.run(take(server.url))
    for picture in (ANSWER, PASSAGE):
        print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
