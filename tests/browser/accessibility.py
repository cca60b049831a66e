"""What axe finds on a page."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.async_api import Page

axe = pytest.importorskip("axe_playwright_python.async_playwright", reason="axe-playwright-python is not installed")
AXE = axe.Axe().axe_script
LOOK = """async ([part, scheme]) =>
  (await axe.run(part, { resultTypes: ["violations"] })).violations.map(
    ({ id, nodes }) => `${id}, ${scheme}: ${nodes.map(({ html }) => html.slice(0, 150))}`,
  )"""


async def load_axe(page: "Page") -> None:
    """Once for each document: reading it takes long."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE)


async def assert_accessible(page: "Page", part: str) -> None:
    """Axe finds nothing in this part of the page, light and dark."""
    await load_axe(page)
    found = []
    for scheme in ("dark", "light"):
        await page.emulate_media(color_scheme=scheme)
        found += await page.evaluate(LOOK, [part, scheme])
    assert found == []
