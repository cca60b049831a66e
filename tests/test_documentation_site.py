"""The documentation as a site: it holds the references of the code, and loads nothing from elsewhere."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from graphrag import protocols
from tests.processes import ROOT
from tests.security.operations import document

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="needs the extra docs"),
]
LOADED = "script[src], img[src], iframe[src], source[src], link[href]"
ELSEWHERE = re.compile(r"(?:https?:)?//")
IN_STYLES = re.compile(r"""(?:url\(|@import)\s*["']?(?:https?:)?//""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    return folder


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    """Security 7: who reads it without a network sees all of it, and nobody is told that it is read."""
    pages, styles = [*site.rglob("*.html")], [*site.rglob("*.css")]
    assert len(pages) > 15
    assert styles
    for page in pages:
        for tag in LexborHTMLParser(page.read_text(encoding="utf-8")).css(LOADED):
            address = tag.attributes.get("src") or tag.attributes.get("href") or ""
            assert not ELSEWHERE.match(address), (page.name, address)
        assert 'class="mermaid"' not in page.read_text(encoding="utf-8")  # which the theme would fetch a library for
    for style in styles:
        assert not IN_STYLES.search(style.read_text(encoding="utf-8")), style.name


def text_of(page: Path) -> str:
    body = LexborHTMLParser(page.read_text(encoding="utf-8")).body
    return body.text() if body else ""


def test_no_page_is_heavy(site: Path) -> None:
    """A page that a browser needs seconds to draw is not read."""
    assert [page for page in site.rglob("*.html") if page.stat().st_size > 400_000] == []


def test_every_operation_and_every_plug_is_described(site: Path) -> None:
    """R11.2 Made from the code, and found by the search."""
    shown = "".join(text_of(page) for page in site.glob("http/*/index.html"))
    operations = {f"{method.upper()} {path}" for path, found in document()["paths"].items() for method in found}
    assert {operation for operation in operations if operation not in shown} == set()
    python = LexborHTMLParser((site / "python-reference" / "index.html").read_text(encoding="utf-8"))
    plugs = [name for name, value in vars(protocols).items() if getattr(value, "_is_protocol", False)]
    ids = {node.attributes["id"] for node in python.css("[id]")}
    assert {f"graphrag.protocols.{name}" for name in plugs if name != "Protocol"} <= ids
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    assert any("reciprocal" in entry["text"].lower() for entry in index["docs"])
