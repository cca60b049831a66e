"""An answer's Markdown as safe HTML, and its citations as footnotes."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from agent.output.events import Event

_MARK = re.compile(r"\[(\d{1,3})\]")
_LINE_END = re.compile(r"\r\n?|\n")  # markdown-it's
_ABOVE = 2  # levels of headings that a page has above an answer's own
_LEAVES = ("text", "text_special", "code_inline", "mark")

_CLEANER = nh3.Cleaner(
    tags={"p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a", "span"}
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
class _RenderedAnswer:
    """The state of rendering an answer, whose statements and marks are known by their offsets."""

    text: str
    statements: Sequence[Mapping[str, Any]]
    numbers: frozenset[int]  # of its sources
    cited: Sequence[int]  # by mark: its place in the list of citations, from 1
    marks: list[int] = field(init=False)
    lines: list[int] = field(init=False)
    at: int = 0
    end: int = 0  # of the block that is looked at

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
            return self.at
        self.at = found + len(written)
        return found

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
    read = _RenderedAnswer(
        text=answer,
        statements=details.get("statements", ()),
        numbers=frozenset(source["number"] for source in details.get("sources", ())),
        cited=[place for place, cited in enumerate(citations, start=1) if cited["number"] and not cited.get("implied")],
    )
    return _CLEANER.clean(_MARKDOWN.render(answer, {"answer": read}))


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
    if not found or int(found[1]) not in state.env["answer"].numbers:
        return False
    if not silent:
        state.push("mark", "span", 0).content = found[0]
    state.pos = found.end()
    return True


def _divide(state: StateCore) -> None:
    """Text at the edges of statements; headings below those of the page, and what no policy of a page forbids."""
    answer: _RenderedAnswer = state.env["answer"]
    for token in state.tokens:
        if token.map:
            answer.enter(token.map)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + _ABOVE, 6)}"
        if style := token.attrs.pop("style", ""):
            token.attrs["align"] = str(style).removeprefix("text-align:")
        if token.children:
            token.children = [part for child in token.children for part in _parts(child, answer)]


def _parts(token: Token, answer: _RenderedAnswer) -> Iterator[Token]:
    if token.type == "image":  # none is fetched: its words stand for it
        for child in token.children or ():
            yield from _parts(child, answer)
        return
    if token.type not in _LEAVES:
        yield token
        return
    start = answer.find(token.markup if token.type == "text_special" else token.content)
    if token.type == "mark":
        token.attrs = {"class": "mark", "data-number": token.content[1:-1]}
        if place := answer.citation_of(start):
            token.attrs["data-citation"] = place
        yield token
    elif token.type == "text":
        for index, first, last in answer.pieces(start, start + len(token.content)):
            text = token.content[first - start : last - start]
            yield from _in_statement(Token("text", "", 0, content=text), index, answer)
    else:
        index = next(answer.pieces(start, start + 1))[0]
        token.type = "text" if token.type == "text_special" else token.type
        yield from _in_statement(token, index, answer)


def _in_statement(token: Token, index: int | None, answer: _RenderedAnswer) -> Iterator[Token]:
    if index is None:
        yield token
        return
    classes = f"statement {answer.statements[index]['status']}"
    yield Token("statement_open", "span", 1, attrs={"class": classes, "data-statement": index})
    yield token
    yield Token("statement_close", "span", -1)


def _show_mark(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return f"<span{renderer.renderAttrs(tokens[index])}>{tokens[index].content}</span>"


def _make_markdown() -> MarkdownIt:
    """Return a parser of CommonMark with tables.

    Syntax that a quoted document may contain without meaning it is text: indents, lines of dashes below a text,
    reference definitions.
    """
    made = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    made.disable(["code", "lheading", "reference", "html_block", "html_inline", "text_join"])
    made.inline.ruler.before("link", "mark", _read_mark)
    made.core.ruler.push("divide", _divide)
    made.add_render_rule("mark", _show_mark)
    return made


_MARKDOWN = _make_markdown()


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
    return "".join(
        f"\n\n[^{number}]: {' · '.join(map(_escaped, sentences))}" for number, sentences in sentences_by_source.items()
    )


def with_footnotes(answer: str, *, sources: int, citations: Sequence[Mapping[str, Any]]) -> str:
    marks = Footnotes(sources)
    return marks.feed(answer) + marks.flush() + definitions(citations)


def without_footnotes(answer: str) -> str:
    """Remove the footnotes, which a client sends back with the next question."""
    lines = answer.split("\n")
    while lines and (not lines[-1].strip() or _DEFINITION.match(lines[-1])):
        lines.pop()
    return _REFERENCE.sub(r"[\1]", "\n".join(lines))


def _escaped(sentence: str) -> str:
    return sentence.translate(_ESCAPED)
