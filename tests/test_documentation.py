"""README.md and docs/: what they point to is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    """Files are there, and so are the headings within them."""
    broken = []
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        is_whole = target.exists() and (not anchor or anchor in anchors(target))
        if not is_whole and not link.startswith(("http://", "https://")):
            broken.append(link)
    assert broken == []


def test_every_page_is_found_from_the_readme() -> None:
    """No page of docs/ is known to CI alone."""
    linked = set(LINK.findall(PAGES[0].read_text(encoding="utf-8")))
    assert {f"docs/{page.name}" for page in PAGES[1:]} <= linked


def test_pictures_are_light() -> None:
    """A page of documentation is loaded by everybody who looks."""
    assert [path.name for path in (ROOT / "docs").glob("*.png") if path.stat().st_size > 250_000] == []
