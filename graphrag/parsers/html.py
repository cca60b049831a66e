"""HTML through selectolax: what a reader sees of it."""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import ParsedText
from graphrag.parsers.detection import HTML
from graphrag.parsers.text import TextBuilder, as_rows, decode

UNSEEN = (
    "script, style, noscript, template, svg, math annotation, head, nav, iframe, object, [hidden], [aria-hidden=true]"
)
_BLOCKS = frozenset(
    "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer form"
    " header hr html legend li main ol p pre section summary ul caption table tbody thead tfoot tr td th".split()
)
HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LAID_OUT = frozenset({"table", "h1", "h2", "h3"})
_DECLARED = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,40})""", re.IGNORECASE)
_SPACES = re.compile(r"\s+")


def parse_html(data: bytes, *, limits: ParsingLimits) -> ParsedText:
    """Raises UnreadableDocument: encoding, too_large or empty."""
    declared = _DECLARED.search(data[:4_096])
    text = decode(data, declared=declared[1].decode("ascii") if declared else None, limits=limits)
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
    if not any(character.isalnum() for character in builder.text):
        raise UnreadableDocument("the file holds no text", reason="empty")
    return ParsedText(builder.text, HTML, tuple(builder.headings), title=name, authors=(written,) if written else ())


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
            builder.add("\n".join(as_rows(_cells(node))))
        elif node.tag in _BLOCKS:
            end_block()
            is_verbatim = (is_verbatim or node.tag == "pre") and not (is_end and node.tag == "pre")
            begins = "- " if node.tag == "li" and not is_end else begins if node.tag == "p" and not is_end else ""
    end_block()


def _tour(root: LexborNode) -> Iterator[tuple[LexborNode, bool]]:
    """Yield each node, and each block once more at its end; nodes read as a whole are not entered.

    It is not recursive, because pages nest arbitrarily deep. Nodes are compared by address: «==» would compare their
    content.
    """
    node = root
    while True:
        yield node, False
        is_whole = node.tag in HEADINGS or _is_table(node)
        if node.first_child is not None and not is_whole:
            node = node.first_child
            continue
        while node.next is None:
            if node.mem_id == root.mem_id or node.parent is None:
                return
            node = node.parent
            if node.tag in _BLOCKS:
                yield node, True
            if node.mem_id == root.mem_id:
                return
        node = node.next


def _is_table(node: LexborNode) -> bool:
    """Return whether it is a table of data rather than one that lays out other tables or headings."""
    return node.tag == "table" and not any(
        part.tag in _LAID_OUT and part.mem_id != node.mem_id for part in node.traverse()
    )


def _cells(table: LexborNode) -> list[list[str]]:
    return [[_seen(cell) for cell in row.css("td, th")] for row in table.css("tr")]


def _seen(node: LexborNode) -> str:
    """Return the node's text as one line; only blocks and line breaks separate words."""
    parts = (
        part.text_content or "" if part.tag == "-text" else " " if part.tag in _BLOCKS or part.tag == "br" else ""
        for part in node.traverse(include_text=True)
    )
    return " ".join("".join(parts).split())
