"""Pictures of the page for who wants to look at a story's steps: pytest --screenshots FOLDER."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import Page


@dataclass
class Album:
    folder: Path | None  # None: nobody wants to look
    prefix: str = ""
    taken: list[str] = field(default_factory=list)

    async def take(self, page: "Page", name: str) -> None:
        if self.folder is None:
            return
        self.taken.append(name)
        for scheme in ("light", "dark"):
            await page.emulate_media(color_scheme=scheme)
            await page.screenshot(path=self.folder / f"{self.prefix}{len(self.taken):02}-{name}-{scheme}.png")
        await page.emulate_media(color_scheme="light")
