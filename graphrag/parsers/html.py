"""HTML through selectolax: what a reader sees of it."""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from graphrag.errors import UnreadableDocument
from graphrag.models import ParsedText
from graphrag.parsers.charset import decode
from graphrag.parsers.detection import HTML
from graphrag.parsers.tables import as_rows
from graphrag.parsers.text_builder import TextBuilder

UNSEEN = (
    "script, style, noscript, template, svg, math annotation, head, nav, iframe, object, [hidden], [aria-hidden=true]"
)
_BLOCKS = frozenset(
    "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer form"
    " header hr html legend li main ol p pre section summary ul caption".split()
)
HEADINGS = {f"h{level}": level for level in range(1, 7)}
_DECLARED = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,40})""", re.IGNORECASE)


def parse_html(data: bytes) -> ParsedText:
    """Raises UnreadableDocument: encoding or empty."""
    declared = _DECLARED.search(data[:4_096])
    tree = LexborHTMLParser(decode(data, declared=declared[1].decode("ascii") if declared else None))
    title = tree.css_first("title")
    name = " ".join(title.text().split()) if title else ""
    author = tree.css_first('meta[name="author" i]')
    for node in tree.css(UNSEEN):
        node.decompose()
    builder = TextBuilder()
    if tree.body is not None:
        _walk(tree.body, builder)
    if not any(character.isalnum() for character in builder.text):
        raise UnreadableDocument("the file holds no text", reason="empty")
    written = (author.attributes.get("content") or "").strip() if author else ""
    return ParsedText(builder.text, HTML, tuple(builder.headings), title=name, authors=(written,) if written else ())


def _walk(root: LexborNode, builder: TextBuilder) -> None:
    line: list[str] = []
    begins = ""

    def end_block() -> None:
        nonlocal begins
        text = "\n".join(" ".join(part.split()) for part in "".join(line).split("\n")).strip()
        line.clear()
        if text:
            builder.add(begins + text, gap="\n" if begins else "\n\n")
            begins = ""

    for node, is_end in _tour(root):
        if node.tag == "-text":
            line.append(node.text_content or "")
        elif node.tag == "br":
            line.append("\n")
        elif node.tag in _BLOCKS:
            end_block()
            begins = "- " if node.tag == "li" and not is_end else ""
        elif node.tag in HEADINGS:
            end_block()
            builder.add(node.text(separator=" "), level=HEADINGS[node.tag])
        elif _is_table(node):
            end_block()
            builder.add("\n".join(as_rows(_cells(node))))
    end_block()


def _tour(root: LexborNode) -> Iterator[tuple[LexborNode, bool]]:
    """Each node, and each block once more at its end; what is read as a whole is not entered. Without recursion: pages
    nest as deep as they like."""
    node = root
    while True:
        yield node, False
        is_whole = node.tag in HEADINGS or _is_table(node)
        if node.first_child is not None and not is_whole:
            node = node.first_child
            continue
        while node.next is None:
            if node == root or node.parent is None:
                return
            node = node.parent
            if node.tag in _BLOCKS:
                yield node, True
            if node == root:
                return
        node = node.next


def _is_table(node: LexborNode) -> bool:
    """Of data: a table around tables only lays the page out."""
    return node.tag == "table" and node.css_first("table table, h1, h2, h3") is None


def _cells(table: LexborNode) -> list[list[str]]:
    return [[cell.text(separator=" ") for cell in row.css("td, th")] for row in table.css("tr")]
