"""Pictures of the page for who wants to look at a story's steps: pytest --screenshots FOLDER."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import Page


@dataclass
class Album:
    folder: Path | None  # None: nobody wants to look
    taken: int = 0

    async def take(self, page: "Page", name: str) -> None:
        """In both colours; Playwright makes the folder."""
        if self.folder is None:
            return
        self.taken += 1
        for scheme in ("light", "dark"):
            await page.emulate_media(color_scheme=scheme)
            await page.screenshot(path=self.folder / f"{self.taken:02}-{name}-{scheme}.png")
        await page.emulate_media(color_scheme="light")
