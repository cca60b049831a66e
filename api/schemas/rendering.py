"""Markdown of answers and of documents as safe HTML; an answer's citations as footnotes."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.helpers import parseLinkDestination, parseLinkTitle
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from agent.output.events import Event
from graphrag.models import Span
from graphrag.models.ingestion import DocumentExcerpt
from graphrag.parsers.detection import DOC, DOCX, EML, EPUB, HTML, MARKDOWN, MSG, ODP, ODT, PPT, PPTX, RTF

_MARK = re.compile(r"\[(\d{1,3})\]")
_LINE_END = re.compile(r"\r\n?|\n")  # markdown-it's
_INDENT = re.compile(r"^[ \t]", re.MULTILINE)  # of code, or of columns, which would be lost
_ABOVE = 2  # levels of headings that a page has above those of an answer or a document
_LEAVES = ("text", "text_special", "code_inline", "mark")
_BUILT = frozenset({HTML, DOCX, DOC, ODT, RTF, EPUB, PPTX, PPT, ODP, EML, MSG})  # write lists, tables

_CLEANER = nh3.Cleaner(
    tags={"p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a", "span", "mark"}
    | {"table", "thead", "tbody", "tr", "th", "td", "h3", "h4", "h5", "h6"},
    attributes={
        "a": {"href", "title"},
        "ol": {"start"},
        "span": {"data-statement", "data-number", "data-citation"},
        "th": {"align"},
        "td": {"align"},
    },
    allowed_classes={"span": {"statement", "supported", "partly", "unsupported", "mark"}},
    url_schemes={"http", "https", "mailto"},
    url_relative="deny",
    link_rel="noopener noreferrer nofollow",
    set_tag_attribute_values={"a": {"target": "_blank"}},
)


@dataclass(slots=True)
class _Source:
    """The Markdown that is rendered, whose statements and marks are known by their offsets.

    A statement without a status is a quote.
    """

    text: str
    statements: Sequence[Mapping[str, Any]]
    numbers: frozenset[int] = frozenset()  # of an answer's sources
    cited: Sequence[int] = ()  # by mark: its place in the list of citations, from 1
    marks: list[int] = field(init=False)
    lines: list[int] = field(init=False)
    at: int = 0
    end: int = 0  # of the block that is looked at
    is_exact: bool = True  # every text was found in its block

    def __post_init__(self) -> None:
        self.marks = [found.start() for found in _MARK.finditer(self.text) if int(found[1]) in self.numbers]
        self.lines = [0, *(found.end() for found in _LINE_END.finditer(self.text)), len(self.text)]

    def enter(self, lines: Sequence[int]) -> None:
        """A block of [first, last) lines. Cells of a table have those of their row."""
        self.at = max(self.at, self.lines[lines[0]])
        self.end = self.lines[min(lines[1], len(self.lines) - 1)]

    def find(self, written: str) -> int:
        """Return the position of the text; the current one if the source writes it otherwise."""
        found = self.text.find(written, self.at, self.end)
        if found < 0:
            self.is_exact = False
            return self.at
        self.at = found + len(written)
        return found

    def skip_target(self) -> None:
        """Pass the target of a link or an image: (address "title")."""
        target = parseLinkDestination(self.text, self._past_spaces(self.find("](") + 2), self.end)
        title = parseLinkTitle(self.text, self._past_spaces(target.pos), self.end)
        self.at = title.pos if title.ok else max(target.pos, self.at)

    def _past_spaces(self, at: int) -> int:
        while self.text[at : at + 1].isspace():
            at += 1
        return at

    def pieces(self, start: int, end: int) -> Iterator[tuple[int | None, int, int]]:
        """[start, end) by the statements that it belongs to, None between them."""
        for index in range(bisect_right(self.statements, start, key=lambda each: each["end"]), len(self.statements)):
            statement = self.statements[index]
            if statement["start"] >= end:
                break
            if start < statement["start"]:
                yield None, start, statement["start"]
            yield index, max(start, statement["start"]), min(end, statement["end"])
            start = min(end, statement["end"])
        if start < end:
            yield None, start, end

    def citation_of(self, mark: int) -> int | None:
        return self.cited[bisect_left(self.marks, mark)] if len(self.cited) == len(self.marks) else None


def to_html(answer: str, details: Mapping[str, Any]) -> str:
    """Render an answer as HTML; `details` are the other fields of its `done` event.

    Text of a statement is in `span.statement[data-statement]`, by its index; a mark [n] is
    `span.mark[data-number][data-citation]`, by the citation's place in the list, from 1.
    """
    citations = details.get("citations", ())
    read = _Source(
        text=answer,
        statements=details.get("statements", ()),
        numbers=frozenset(source["number"] for source in details.get("sources", ())),
        cited=[place for place, cited in enumerate(citations, start=1) if cited["number"] and not cited.get("implied")],
    )
    return _CLEANER.clean(_MARKDOWN.render(answer, {"source": read}))


def excerpt_to_html(excerpt: DocumentExcerpt, span: Span) -> str | None:
    """Render an excerpt of a Markdown document, or of one whose lists and tables are Markdown; the span is in `mark`.

    None for other formats, and where it is not certain what belongs to the span, or nothing of it is shown.
    """
    media_type, text = excerpt.document.media_type, excerpt.content
    is_built = media_type in _BUILT and not _INDENT.search(text)
    if media_type != MARKDOWN and not is_built:
        return None
    quote = {"start": span.start - excerpt.start_char, "end": span.end - excerpt.start_char}
    read = _Source(text, [quote])
    html = (_BUILT_MARKDOWN if is_built else _WRITTEN_MARKDOWN).render(text, {"source": read})
    return _CLEANER.clean(html) if read.is_exact and "<mark>" in html else None


async def with_html(events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
    """`done` with the answer's HTML too."""
    async with aclosing(events) as parts:
        async for event in parts:
            if event["event"] == "done":
                event["data"]["answer_html"] = to_html(event["data"]["answer"], event["data"])
            yield event


def _read_mark(state: StateInline, silent: bool) -> bool:
    """[1] of a known source, which is never the text of a link."""
    found = _MARK.match(state.src, state.pos)
    if not found or int(found[1]) not in state.env["source"].numbers:
        return False
    if not silent:
        state.push("mark", "span", 0).content = found[0]
    state.pos = found.end()
    return True


def _divide(state: StateCore) -> None:
    """Text at the edges of statements; headings below those of the page, and what no policy of a page forbids."""
    source: _Source = state.env["source"]
    above: list[str] = []  # the headings that a text stands under, by their levels in the source
    for token in state.tokens:
        if token.map:
            source.enter(token.map)
        if token.type == "heading_open":
            above = [level for level in above if level < token.tag] + [token.tag]
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(len(above) + _ABOVE, 6)}"  # no level is left out
        if style := token.attrs.pop("style", ""):
            token.attrs["align"] = str(style).removeprefix("text-align:")
        if token.type in ("fence", "code_block"):
            token.children = [*_lines(token, source)]
        elif token.children:
            token.children = [part for child in token.children for part in _parts(child, source)]


def _lines(code: Token, source: _Source) -> Iterator[Token]:
    assert code.map is not None
    if code.type == "fence":
        first, last = code.map
        source.at = source.lines[first + 1]  # below the name of its language
        source.is_exact &= source.text[source.lines[last - 1] : source.end].strip(" >\n").startswith(code.markup)
    for line in code.content.splitlines(keepends=True):
        yield from _pieces(line, source.find(line.rstrip("\n")), source)


def _parts(token: Token, source: _Source) -> Iterator[Token]:
    if token.type == "image":  # none is fetched: its words stand for it
        source.find("![")
        for child in token.children or ():
            yield from _parts(child, source)
        source.skip_target()
        return
    if token.type not in _LEAVES:
        if token.type == "link_open":
            source.find("<" if token.markup else "[")
        elif token.type == "link_close" and not token.markup:
            source.skip_target()
        yield token
        return
    start = source.find(token.markup if token.type == "text_special" else token.content)
    if token.type == "mark":
        token.attrs = {"class": "mark", "data-number": token.content[1:-1]}
        if place := source.citation_of(start):
            token.attrs["data-citation"] = place
        yield token
    elif token.type == "code_inline":
        yield Token("code_open", "code", 1)
        yield from _pieces(token.content, start, source)
        yield Token("code_close", "code", -1)
    else:
        yield from _pieces(token.content, start, source)


def _pieces(text: str, start: int, source: _Source) -> Iterator[Token]:
    """Yield a text that stands at `start`, divided at the edges of statements."""
    for index, first, last in source.pieces(start, start + len(text)):
        piece = Token("text", "", 0, content=text[first - start : last - start])
        if index is None:
            yield piece
            continue
        status = source.statements[index].get("status")
        tag = "span" if status else "mark"
        opening = Token("statement_open", tag, 1)
        if status:
            opening.attrs = {"class": f"statement {status}", "data-statement": index}
        yield opening
        yield piece
        yield Token("statement_close", tag, -1)


def _show_code(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return f"<pre><code>{renderer.renderInline(tokens[index].children, options, env)}</code></pre>\n"


def _show_mark(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return f"<span{renderer.renderAttrs(tokens[index])}>{tokens[index].content}</span>"


def make_markdown(*without: str) -> MarkdownIt:
    """Return a parser of CommonMark with tables, without some of its rules.

    Syntax that a document may contain without meaning it is text: lines of dashes below a text, reference definitions.
    """
    made = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    return made.disable(["lheading", "reference", "html_block", "html_inline", *without])


def _make_renderer(*without: str) -> MarkdownIt:
    made = make_markdown("text_join", *without)
    made.inline.ruler.before("link", "mark", _read_mark)
    made.core.ruler.push("divide", _divide)
    made.add_render_rule("mark", _show_mark)
    made.add_render_rule("fence", _show_code)
    made.add_render_rule("code_block", _show_code)
    return made


_MARKDOWN = _make_renderer("code")
_WRITTEN_MARKDOWN = _make_renderer()  # of documents
_BUILT_MARKDOWN = _make_renderer(
    *("heading", "fence", "code", "blockquote", "hr"),
    *("emphasis", "strikethrough", "backticks", "link", "image", "autolink", "escape", "entity"),
)


_FOOTNOTE_MARK = re.compile(r"\[(?:\^|(\d{1,3})\])")
_UNFINISHED = re.compile(r"\[\d{0,3}$")
_REFERENCE = re.compile(r"\[\^(\d{1,3})\]")
_DEFINITION = re.compile(r"\[\^\d{1,3}\]: ")
# What a quote may hold that a renderer would act upon. Brackets as entities: clients read `\[` as a formula.
_ESCAPED = str.maketrans(
    {"&": "&amp;", "<": "&lt;", "[": "&#91;", "\0": "�"} | {character: f"\\{character}" for character in "\\`*_~|^$"}
)


class Footnotes:
    """Takes an answer as it streams and turns its marks [1] into [^1]; so many sources are known.

    Where there is no source, nothing is a mark: a[0] stays.
    """

    def __init__(self, known: int = 0) -> None:
        self.known = known
        self._held = ""

    def feed(self, text: str) -> str:
        if not self.known:
            return text
        held = self._held + text
        unfinished = _UNFINISHED.search(held)
        end = unfinished.start() if unfinished else len(held)
        self._held = held[end:]
        return _FOOTNOTE_MARK.sub(self._reference, held[:end])

    def flush(self) -> str:
        held, self._held = self._held, ""
        return held

    def _reference(self, match: re.Match[str]) -> str:
        if match[1] is None:  # a document's own footnote, which is none of ours
            return "[\\^"
        return f"[^{match[1]}]" if 1 <= int(match[1]) <= self.known else match[0]


def definitions(citations: Sequence[Mapping[str, Any]]) -> str:
    """Return the footnotes below the answer: the places of each cited source's quotes, and the quotes."""
    sentences_by_source: dict[int, dict[str, None]] = {}
    for citation in sorted(citations, key=lambda citation: int(citation["number"])):
        sentences_by_source.setdefault(citation["number"], {})[citation["sentence"]] = None
    quoted = {number: " · ".join(map(escape_markdown, sentences)) for number, sentences in sentences_by_source.items()}
    return "".join(f"\n\n[^{number}]: {sentences}" for number, sentences in quoted.items())


def with_footnotes(answer: str, *, sources: int, citations: Sequence[Mapping[str, Any]]) -> str:
    marks = Footnotes(sources)
    return marks.feed(answer) + marks.flush() + definitions(citations)


def without_footnotes(answer: str) -> str:
    """Remove the footnotes, which a client sends back with the next question."""
    lines = answer.split("\n")
    while lines and (not lines[-1].strip() or _DEFINITION.match(lines[-1])):
        lines.pop()
    return _REFERENCE.sub(r"[\1]", "\n".join(lines))


def escape_markdown(text: str) -> str:
    return text.translate(_ESCAPED)
