"""Chromium, and a page that is visited with it as a person does."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.model_server import Reply

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page


CHROMIUM = Path("/usr/bin/chromium")
IN_CHROMIUM = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"{CHROMIUM} is not installed"),
]
playwright_api = pytest.importorskip("playwright.async_api", reason="playwright is not installed")
expect = playwright_api.expect
PATIENCE_MS = 90_000  # several browsers and servers share two cores
expect.set_options(timeout=PATIENCE_MS)

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
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
TEXT = "The tins were late because the night shift on line L4 was suspended [1]."
SLOW = Reply(TEXT, delay_seconds_per_token=0.1)


@dataclass
class Visit:
    """A page with what went wrong on it."""

    page: "Page"
    complaints: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

    async def ask(self, question: str) -> "Locator":
        """The turn, as soon as it is there."""
        turns = self.page.locator(".turn")
        before = await turns.count()
        await self.page.get_by_role("textbox").fill(question)
        await self.page.keyboard.press("Enter")
        await expect(turns).to_have_count(before + 1)
        return turns.last

    async def ended(self) -> "Locator":
        """The last turn, whatever its answer was asked for by."""
        turn = self.page.locator(".turn").last
        await expect(turn.locator(".of-answer")).to_be_visible()
        return turn

    async def answered(self, question: str) -> "Locator":
        turn = await self.ask(question)
        await expect(turn.locator(".answer")).to_have_attribute("aria-busy", "false")
        return turn


Open = Callable[..., Awaitable[Visit]]
