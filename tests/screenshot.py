"""python -m tests.screenshot: the chat page with an answer over the demo documents, as README.md shows it."""

import asyncio
import tempfile

from tests.browser.chromium import ARGUMENTS, CHROMIUM, Visit, playwright_api
from tests.conftest import DEMO, run_server
from tests.processes import ROOT

QUESTION = "Why did the Christmas tins reach Bristol so late?"
PICTURE = ROOT / "docs" / "chat.png"


async def take(url: str) -> None:
    async with playwright_api.async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        page = await browser.new_page(locale="en-GB", viewport={"width": 1280, "height": 800})
        await page.goto(url)
        await Visit(page).answered(QUESTION)
        await page.screenshot(path=PICTURE)
        await browser.close()


def main() -> None:
    served = ("--collection", "demo", "--ingest", str(DEMO))
    folder = tempfile.TemporaryDirectory(prefix="cw-", dir="/tmp")  # short and open to the embedded server's own user
    with folder as home, run_server(*served, CAUSEWAY_HOME=home) as server:
        asyncio.run(take(server.url))
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
