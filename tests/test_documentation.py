"""README.md and docs/: what they point to is there."""

import re
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

from tests.test_architecture import LAYERS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"(?:\]\(|src(?:set)?=\")([^)\s\"]+)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FUNCTION = re.compile(r"`([\w/]+)\.py:([\w.]+)`")  # as docs/architecture.md names them
REQUIREMENT = re.compile(r"\b(?:R\d+(?:\.\d+)*|P\d+)\b")
DOCSTRING = re.compile(r'^\s*"""(.*?)"""', re.MULTILINE | re.DOTALL)
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
    assert [path.name for path in (ROOT / "docs").glob("*.png") if path.stat().st_size > 150_000] == []


def test_every_requirement_that_tests_cite_is_listed() -> None:
    """A citation such as R8.3 is a line of docs/requirements.md, and R9 one of its headings."""
    page = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- \*\*(\S+)\*\* \S", page, re.MULTILINE) + re.findall(r"^## (R\d+) ", page, re.MULTILINE)
    assert len(listed) == len(set(listed))
    cited = set[str]()
    for path in (ROOT / "tests").rglob("*.py"):
        for docstring in DOCSTRING.findall(path.read_text(encoding="utf-8")):
            cited |= set(REQUIREMENT.findall(docstring))
    assert len(cited) > 60
    assert cited - set(listed) == set()


def test_every_function_that_the_architecture_names_exists() -> None:
    """Modules and functions keep the names by which docs/architecture.md leads to them."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = FUNCTION.findall(page)
    assert len(named) > 60
    for module, function in named:
        found = import_module(module.replace("/", ".").removesuffix(".__init__"))
        assert callable(attrgetter(function)(found)), f"{module}.py:{function}"
    paths = re.findall(r"`((?:api|agent|graphrag|tests)/[\w/.]*)`", page)
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_architecture_describes_every_package() -> None:
    """Each folder of modules has its line in docs/architecture.md, or its parts have."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    described = re.findall(r"`((?:api|agent|graphrag)/(?:\w+/)*)`", page)
    folders = {path.parent for package in ("api", "agent", "graphrag") for path in (ROOT / package).glob("*/*.py")}
    names = {f"{folder.relative_to(ROOT).as_posix()}/" for folder in folders}
    assert {name for name in names if not any(one.startswith(name) for one in described)} == set()


def test_the_architecture_draws_the_layers_in_their_order() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    picture = page[page.index("```mermaid") : page.index("## Packages")]
    drawn = dict.fromkeys(name for name in re.findall(r"\w+", picture) if name in LAYERS)
    assert tuple(drawn) == LAYERS
