"""Hooks of MkDocs: the pages that come from elsewhere, and links that lead out of the site."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from openapidocs.mk.v3 import OpenAPIV3DocumentationHandler

from api.app import create_app
from graphrag.config.settings import Settings
from graphrag.services import open_services

ROOT = Path(__file__).parents[1]
OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]+\)")  # files of the project, which the site does not hold
PICTURE = re.compile(r'<picture>\n<source [^>]*srcset="([^"]+)">\n<img alt="([^"]+)" src="([^"]+)">\n</picture>')
SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
PYTHON = ("graphrag.protocols", "graphrag.langchain")


def on_config(config: MkDocsConfig) -> None:
    """Add the pages of the HTTP reference to the navigation."""
    assert config.nav is not None
    config.nav.append({"HTTP reference": list(_http_reference())})


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the README as the home page, and the references, made from the code."""
    pages = {
        "index.md": _read_readme(),
        "python-reference.md": "\n\n".join(["# Python reference", *(f"::: {name}" for name in PYTHON)]),
        **_http_reference(),
    }
    for path, content in pages.items():
        files.append(File.generated(config, path, content=content))


def on_page_markdown(markdown: str, **_: Any) -> str:
    return OUTSIDE.sub(r"\1", _by_theme(markdown).replace("](../README.md", "](index.md"))


def _by_theme(markdown: str) -> str:
    """Return the text with pictures of both themes as the site's theme shows them, which a reader can switch."""
    return PICTURE.sub(r"![\2](\3#only-light)![\2](\1#only-dark)", markdown)


def _read_readme() -> str:
    """Return the README with its links as a page in docs/ would have them."""
    text = _by_theme((ROOT / "README.md").read_text(encoding="utf-8"))
    return re.sub(r"\]\((?!https?:|#|docs/)", "](../", text).replace("](docs/", "](")


@cache
def _http_reference() -> dict[str, str]:
    """Return the pages of the service's OpenAPI document, one for each tag, and one for the schemas."""
    described = create_app(open_services(Settings())).openapi()
    for operation in (operation for path in described["paths"].values() for operation in path.values()):
        answers = operation["responses"].items()  # errors are alike everywhere: api.md has them
        operation["responses"] = {status: answer for status, answer in answers if status < "400"}
    return dict(_pages(OpenAPIV3DocumentationHandler(described, style="MARKDOWN").write()))


def _pages(text: str) -> Iterator[tuple[str, str]]:
    _, *parts = SECTION.split(text)
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        if title != "Tags":
            body = body.replace("### ", "## ").replace("## Response", "### Response")
            yield f"http/{title.lower().replace(' ', '-')}.md", f"# {title.capitalize()}\n{body}"
