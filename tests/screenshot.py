"""python -m tests.screenshot: the chat page over the demo documents, as README.md and docs/ show it, light and dark."""

import asyncio
import io
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PIL import Image

from tests.browser.chromium import ARGUMENTS, CHROMIUM, Visit, expect, playwright_api
from tests.conftest import DEMO, run_default_server
from tests.processes import ROOT

if TYPE_CHECKING:
    from playwright.async_api import Page


WHY = "Why did the Christmas tins reach Bristol so late?"
OF_A_PDF = "Quelle note l'entrepôt de Toulouse a-t-il obtenue à l'audit ?"
COLOURS = 128  # of a picture: a third of its size, and no difference that is seen


async def take(url: str) -> list[Path]:
    async with playwright_api.async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        page = await browser.new_page(locale="en-GB", viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
        await page.goto(url)
        visit = Visit(page)
        await visit.answered(WHY)
        taken = await keep(page, "chat")
        turn = await visit.answered(OF_A_PDF)
        await turn.locator(".answer .mark").first.click()
        await expect(page.get_by_role("dialog").locator(".box")).to_be_in_viewport()
        taken += await keep(page, "passage")
        await browser.close()
        return taken


async def keep(page: "Page", name: str) -> list[Path]:
    pictures: dict[Literal["light", "dark"], Path] = {
        "light": ROOT / "docs" / f"{name}.png",
        "dark": ROOT / "docs" / f"{name}-dark.png",
    }
    for theme, path in pictures.items():
        await page.emulate_media(color_scheme=theme)
        picture = Image.open(io.BytesIO(await page.screenshot())).convert("RGB")
        picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    return [*pictures.values()]


def main() -> None:
    served = ("--collection", "demo", "--ingest", str(DEMO))
    folder = tempfile.TemporaryDirectory(prefix="cw-", dir="/tmp")  # short and open to the embedded server's own user
    with folder as home, run_default_server(*served, CAUSEWAY_HOME=home) as server:
        taken = asyncio.run(take(server.url))
    for picture in taken:
        print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
