"""HTML through selectolax: what a reader sees of it."""

import re
from collections.abc import Callable, Iterator
from itertools import chain

from selectolax.lexbor import LexborHTMLParser, LexborNode

from graphrag.config.settings import ParsingLimits
from graphrag.models import ParsedText
from graphrag.parsers.detection import HTML
from graphrag.parsers.text import Cell, TextBuilder, decode, write_table

UNSEEN = (
    "script, style, noscript, template, svg, math annotation, head, nav, iframe, object, [hidden], [aria-hidden=true]"
)
_BLOCKS = frozenset(
    "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer form"
    " header hr html legend li main ol p pre section summary ul caption table tbody thead tfoot tr td th".split()
)
HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LAID_OUT = frozenset({"table", "h1", "h2", "h3"})
_LAYOUT_ROLES = frozenset({"presentation", "none"})
_LAID_OUT_SHARE = 0.2  # of a table's cells hold tables or headings where it lays a page out
_SECTIONS = ("thead", "tbody", "tfoot")  # in the order in which they are shown
_MAX_COLUMNS = 1_000  # of a merged cell. HTML Living Standard, 4.9.11
_DECLARED = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,40})""", re.IGNORECASE)
_INTEGER = re.compile(r"\s*\d{1,9}")
_SPACES = re.compile(r"\s+")


def parse_html(data: bytes, *, limits: ParsingLimits, declared: str | None = None) -> ParsedText:
    """`declared`: the charset that is told beside the page. Raises UnreadableDocument: encoding, too_large or empty."""
    own = _DECLARED.search(data[:4_096])
    text = decode(data, declared=declared or (own[1].decode("ascii") if own else None), limits=limits)
    tree = LexborHTMLParser(text)
    title = tree.css_first("title")
    name = title.text() if title else ""
    author = tree.css_first('meta[name="author" i]')
    written = author.attributes.get("content") if author else None
    for node in tree.css(UNSEEN):
        node.decompose()
    builder = TextBuilder(limits.characters)
    if tree.body is not None:
        _walk(tree.body, builder)
    return builder.parsed(HTML, title=name, authors=(written,) if written else ())


def _walk(root: LexborNode, builder: TextBuilder) -> None:
    line: list[str] = []
    begins = ""
    is_verbatim = False

    def end_block() -> None:
        nonlocal begins
        text = "".join(line)
        if not is_verbatim:
            text = "\n".join(" ".join(part.split()) for part in text.split("\n"))
        line.clear()
        if text.strip():
            builder.add(begins + text, gap="\n" if begins else "\n\n")
            begins = ""

    for node, is_end in _tour(root):
        if node.tag == "-text":
            text = node.text_content or ""
            line.append(text if is_verbatim else _SPACES.sub(" ", text))
        elif node.tag == "br":
            line.append("\n")
        elif node.tag in HEADINGS:
            end_block()
            builder.add(_seen(node), level=HEADINGS[node.tag])
        elif _is_table(node):
            end_block()
            _add_tables(node, builder)
        elif node.tag in _BLOCKS:
            end_block()
            is_verbatim = (is_verbatim or node.tag == "pre") and not (is_end and node.tag == "pre")
            begins = "- " if node.tag == "li" and not is_end else begins if node.tag == "p" and not is_end else ""
    end_block()


def _is_whole(node: LexborNode) -> bool:
    return node.tag in HEADINGS or _is_table(node)


def _tour(root: LexborNode, is_whole: Callable[[LexborNode], bool] = _is_whole) -> Iterator[tuple[LexborNode, bool]]:
    """Yield each node, and each block once more at its end; nodes read as a whole are not entered.

    It is not recursive, because pages nest arbitrarily deep. Nodes are compared by address: «==» would compare their
    content.
    """
    node = root
    while True:
        yield node, False
        if node.first_child is not None and not is_whole(node):
            node = node.first_child
            continue
        while node.next is None or node.mem_id == root.mem_id:
            if node.mem_id == root.mem_id or node.parent is None:
                return
            node = node.parent
            if node.tag in _BLOCKS:
                yield node, True
        node = node.next


def _is_table(node: LexborNode) -> bool:
    """Return whether it is a table of data rather than one that lays out other tables or headings."""
    if node.tag != "table" or node.attributes.get("role") in _LAYOUT_ROLES:
        return False
    if not any(part.tag in _LAID_OUT and part.mem_id != node.mem_id for part in node.traverse()):
        return True
    rows = [_cells(row) for row in chain.from_iterable(_sections(node))]
    cells = list(chain.from_iterable(rows))
    has_headers = any(cell.tag == "th" for cell in cells)
    return max(map(len, rows), default=0) > 1 and (
        has_headers or sum(map(_is_laid_out, cells)) < _LAID_OUT_SHARE * len(cells)
    )


def _is_laid_out(cell: LexborNode) -> bool:
    return any(part.tag in _LAID_OUT for part in cell.traverse())


def _sections(table: LexborNode) -> list[list[LexborNode]]:
    """Return the rows of each section of a table, in the order in which they are shown."""
    sections = sorted(
        (part for part in table.iter() if part.tag in _SECTIONS), key=lambda part: _SECTIONS.index(part.tag)
    )
    return [[row for row in section.iter() if row.tag == "tr"] for section in sections]


def _cells(row: LexborNode) -> list[LexborNode]:
    return [cell for cell in row.iter() if cell.tag in {"td", "th"}]


def _add_tables(outer: LexborNode, builder: TextBuilder) -> None:
    """Add a table and then those in its cells."""
    for table in (outer, *(each for each in outer.css("table") if each.mem_id != outer.mem_id)):
        captions = [_seen(part) for part in table.iter() if part.tag == "caption"]
        rows = [
            [_read(cell, rows=len(section) - place) for cell in _cells(row)]
            for section in _sections(table)
            for place, row in enumerate(section)
        ]
        builder.add("\n".join([*captions, write_table(rows)]))


def _read(cell: LexborNode, *, rows: int) -> Cell:
    """Read a cell; `rows`: how many there are from its own to the end of its section."""
    spans = cell.attributes
    width, height = _span(spans.get("colspan")) or 1, _span(spans.get("rowspan")) or rows
    return Cell(_seen(cell), min(width, _MAX_COLUMNS), min(height, rows), is_header=cell.tag == "th")


def _span(written: str | None) -> int:
    number = _INTEGER.match(written or "1")
    return int(number[0]) if number else 1


def _is_inner(node: LexborNode) -> bool:
    return node.tag == "table"


def _seen(node: LexborNode) -> str:
    """Return the node's text without that of tables in it; only blocks and line breaks separate words, by lines."""
    parts = (_written(part) for part, _ in _tour(node, _is_inner))
    lines = (" ".join(line.split()) for line in "".join(parts).split("\n"))
    return "\n".join(filter(None, lines))


def _written(node: LexborNode) -> str:
    if node.tag == "-text":
        return _SPACES.sub(" ", node.text_content or "")
    return "\n" if node.tag in _BLOCKS or node.tag == "br" else ""
