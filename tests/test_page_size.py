"""The page stays one that a person reads in an hour, and that a slow connection carries."""

from tests.processes import ROOT

STATIC = ROOT / "api" / "static"
FILES = [path for path in (*STATIC.iterdir(), *(STATIC / "words").iterdir()) if path.is_file()]
MOST_LINES = 2_371
MOST_BYTES = 180_000
COMMENTS = ("//", "/*", "<!--")


def test_the_page_is_small() -> None:
    """R9.1 Its HTML, CSS and scripts, without blank lines and lines of comment; its words are data, and count like all
    of its files in bytes.
    """
    sources = [path for path in FILES if path.suffix in (".html", ".css", ".js")]
    lines = [line.strip() for path in sources for line in path.read_text().splitlines()]
    assert len([line for line in lines if line and not line.startswith(COMMENTS)]) < MOST_LINES
    assert sum(path.stat().st_size for path in FILES) < MOST_BYTES


def test_the_page_loads_nothing_from_elsewhere() -> None:
    """R9.1 No address of another host stands in it, but for the name of SVG's vocabulary."""
    texts = {path.name: path.read_text().replace("http://www.w3.org/2000/svg", "") for path in FILES}
    assert [name for name, text in texts.items() if "://" in text] == []
