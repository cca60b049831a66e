"""Answers as HTML: what a page may show of what a model or a document wrote."""

import re
from collections.abc import Iterator
from html import unescape
from itertools import count
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from api.schemas.rendering import excerpt_to_html, to_html
from graphrag.models import Span
from graphrag.models.ingestion import DocumentExcerpt
from graphrag.parsers import detection
from tests.conftest import Server
from tests.factories import make_document

HARMLESS = {"p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a", "span"}
HARMLESS |= {"table", "thead", "tbody", "tr", "th", "td", "h3", "h4", "h5", "h6"}
ATTRIBUTES = {
    "class",
    "data-statement",
    "data-number",
    "data-citation",
    "href",
    "title",
    "target",
    "rel",
    "start",
    "align",
}
CLASSES = {"statement", "supported", "partly", "unsupported", "mark"}
INLINE = (
    "Word|año |\U0001f37a|[1]|[2]|[7]|**|*|~~|`|\\|&amp;|&lt;|<|>|<script>|<b onclick=x>|style=|\t|\x00|\x0c|\ue000"
)
LINKS = "[a](https://a.example)|](javascript:x)|![a](b.png)|<https://a.example>"
BLOCKS = ["\n", "\n\n", "\r\n", "```", "# ", "- ", "1. ", "> ", "|", "|-|-|\n", "    ", "---", "[1]: /x"]
PIECES = st.sampled_from([*INLINE.split("|"), *LINKS.split("|"), *BLOCKS])
WORDS = st.sampled_from("Word|año| |**|*|\n\n|- |[1]|`año` |# |\U0001f37a|.".split("|"))
MARKDOWN = st.lists(PIECES, max_size=30).map("".join)


def told(answer: str, *edges: int, statuses: str = "spu", numbers: tuple[int, ...] = (1, 2)) -> dict[str, Any]:
    """The details of an answer: statements between each two edges, a citation for each mark."""
    names = {"s": "supported", "p": "partly", "u": "unsupported"}
    ordered = sorted(min(edge, len(answer)) for edge in edges)
    spans = [(start, end) for start, end in zip(ordered[::2], ordered[1::2], strict=False) if start < end]
    return {
        "sources": [{"number": number} for number in numbers],
        "citations": [{"number": int(mark)} for mark in re.findall(r"\[([12])\]", answer)],
        "statements": [
            {"start": start, "end": end, "status": names[statuses[index % len(statuses)]]}
            for index, (start, end) in enumerate(spans)
        ],
    }


def parse(html: str) -> ElementTree.Element:
    """As XML, so that what is not well-formed is an error."""
    for name in ("br", "hr"):
        html = html.replace(f"<{name}>", f"<{name}/>")
    return ElementTree.fromstring(f"<div>{html.replace('&nbsp;', '&#160;')}</div>")


def texts(root: ElementTree.Element, statement: int) -> list[str]:
    return ["".join(each.itertext()) for each in root.iterfind(f".//span[@data-statement='{statement}']")]


def letters(text: str) -> str:
    return re.sub(r"[^a-zñA-Z\U0001f37a]", "", text)


@given(MARKDOWN, st.lists(st.integers(0, 200), max_size=12))
@example("**Bold.**[1] *more* [2](javascript:x)", [0, 9, 13, 20])
@example("| a | b |\n|-|-|\n| c [1] | d |\n", [0, 12, 18, 40])
@example("[1]: /x\n\nText [1]\n---\n", [0, 5, 7, 30])
@example("![[1]](x) <script>alert([2])</script>", [2, 30])
def test_whatever_a_model_writes_is_well_formed_and_harmless(answer: str, edges: list[int]) -> None:
    """Security 14 For any Markdown and any statements: known elements alone, no handler, no style, no address but the
    web's; R8.3 every mark that the Markdown does not hold in code is there, in order, with its citation.
    """
    root = parse(to_html(answer, told(answer, *edges)).replace("\x0c", ""))  # which XML doesn't know
    for element in list(root.iter())[1:]:
        assert element.tag in HARMLESS
        assert set(element.attrib) <= ATTRIBUTES
        assert set(element.get("class", "").split()) <= CLASSES
        assert re.match(r"https?://|mailto:", element.get("href", "https://"))
        assert element.tag != "a" or element.get("rel") == "noopener noreferrer nofollow"
    marks = root.findall(".//span[@class='mark']")
    places = [int(mark.attrib["data-citation"]) for mark in marks]
    assert places == sorted(set(places))
    written = re.findall(r"\[([12])\]", answer)
    assert [mark.get("data-number") for mark in marks] == [written[place - 1] for place in places]
    if not re.search(r"[`\\\t]|\x00", answer):
        assert len(marks) == len(written)
    for statement in root.iterfind(".//span[@data-statement]"):
        assert statement.find(".//span") is None


@given(st.lists(WORDS, max_size=30))
@example(["# ", "Word", "[1]", "**", "año", "**"])
def test_no_word_is_lost_and_statements_hold_their_words(pieces: list[str]) -> None:
    """R8.4 The text without marks is kept; each word stands in the statement whose span holds it."""
    answer = "".join(pieces)
    half = len(answer) // 2
    root = parse(to_html(answer, told(answer, 0, half, half, len(answer))))
    assert letters("".join(root.itertext())) == letters(answer)
    for index, span in enumerate([answer[:half], answer[half:]] if half else [answer]):
        shown = texts(root, index)
        if "`" not in answer:  # code is in one statement, whole
            assert letters("".join(shown)) == letters(span)


@pytest.mark.parametrize(
    ("answer", "html"),
    [
        ("2 * 3 < 7 & so on", "<p>2 * 3 &lt; 7 &amp; so on</p>\n"),
        ("## A\n### B\n###### C\n# D", "<h3>A</h3>\n<h4>B</h4>\n<h5>C</h5>\n<h3>D</h3>\n"),
        ("one\ntwo", "<p>one<br>\ntwo</p>\n"),
        ("    indented", "<p>indented</p>\n"),
        ("Total\n-----", "<p>Total</p>\n<hr>\n"),
        ("see evil.example and www.evil.example", "<p>see evil.example and www.evil.example</p>\n"),
        ("[here](/api/documents)", '<p><a target="_blank" rel="noopener noreferrer nofollow">here</a></p>\n'),
        ("a[0] [9] ![plan [1]](plan.png)", '<p>a[0] [9] plan <span class="mark" data-number="1">[1]</span></p>\n'),
        ("|a|\n|-:|\n|1|", None),
    ],
)
def test_markdown_as_people_write_it(answer: str, html: str | None) -> None:
    """R8.9 What quoted documents hold without meaning Markdown is text; an answer's headings are below the page's."""
    shown = to_html(answer, {"sources": [{"number": 1}]})
    if html is None:
        assert '<td align="right">1</td>' in shown
    else:
        assert shown == html


def test_a_statement_goes_across_markup_and_blocks() -> None:
    """R8.4 It is as many elements as it needs; what is implied is no mark's citation."""
    answer = "- **The seal [1]** was\n- worn. It `leaks`. [2]"
    end = answer.index(" It")
    details = told(answer, 2, end, end + 1, len(answer), statuses="pu")
    details["citations"] = [{"number": 1}, {"number": 2, "implied": True}, {"number": 2}]
    root = parse(to_html(answer, details))
    assert texts(root, 0) == ["The seal ", " was", "worn."]
    assert texts(root, 1) == ["It ", "leaks", ". "]
    assert {each.get("class") for each in root.iterfind(".//span[@data-statement='0']")} == {"statement partly"}
    assert [each.get("data-citation") for each in root.iterfind(".//span[@class='mark']")] == ["1", "3"]


FRAGMENTS = 'w|ww |www w |**|*|~~|`|[w](w)|![w](ww)|![](w)|[**w**](<w> "w")|[](w)|&amp;|\\*|<img src=w>|\n|\n\n'
BLOCKS_OF_W = [
    "# ",
    "\n\n    w\n      w\n",
    "- w\n",
    "1. ",
    "> ",
    "```w\nw\n\nww\n```\n",
    "\n\n|w|w|\n|-|-|\n|w|ww|\n\n",
]
DOCUMENT = st.lists(st.sampled_from([*FRAGMENTS.split("|"), *BLOCKS_OF_W]), max_size=20).map("".join)


def excerpt(text: str, media_type: str = detection.MARKDOWN) -> DocumentExcerpt:
    """Return an excerpt that begins at the document's character 7."""
    document = make_document(media_type=media_type)
    return DocumentExcerpt(document, text, 7, 7 + len(text), len(text) + 7, first_line=1, location=None)


def rendered(text: str, quote: str, media_type: str = detection.MARKDOWN) -> str | None:
    start = 7 + text.index(quote)
    return excerpt_to_html(excerpt(text, media_type), Span(start, start + len(quote)))


def marked_letters(html: str) -> Iterator[tuple[str, bool]]:
    """Yield the letters that are seen, in order, and whether each is in a `mark`."""
    is_marked = False
    for tag, text in re.findall(r"(<[^>]*>)|([^<]+)", html):
        is_marked = tag == "<mark>" or (is_marked and tag != "</mark>")
        yield from ((letter, is_marked) for letter in unescape(text) if letter.isalpha())


@given(DOCUMENT, st.integers(0, 100), st.integers(1, 60))
@example("[w](w)w", 6, 1)
@example("```w\nw\n```\nw", 5, 1)
def test_what_is_marked_of_a_document_is_the_quote(text: str, start: int, length: int) -> None:
    """R8.3 Every letter of it that is seen, and no other, however often its words recur, where nobody sees them too."""
    span = Span(7 + start, 7 + start + length)
    others = map(chr, count(0x4E00))
    distinct = "".join(next(others) if letter == "w" else letter for letter in text)
    told_apart, alike = excerpt_to_html(excerpt(distinct), span), excerpt_to_html(excerpt(text), span)
    if told_apart is None or alike is None:
        assert told_apart == alike
        return
    seen = list(marked_letters(told_apart))
    assert [letter in distinct[start : start + length] for letter, _ in seen if letter > "z"] == [
        is_marked for letter, is_marked in seen if letter > "z"
    ]
    assert [is_marked for _, is_marked in marked_letters(alike)] == [is_marked for _, is_marked in seen]


@given(MARKDOWN, st.sampled_from([detection.MARKDOWN, detection.DOCX]))
def test_whatever_a_document_holds_is_harmless(text: str, media_type: str) -> None:
    """Security 14 Known elements alone, no handler, no style, no address but the web's."""
    text = f"Word {text}"
    html = rendered(text, "Word", media_type)
    for element in list(parse((html or "").replace("\x0c", "")).iter())[1:]:
        assert element.tag in {*HARMLESS, "mark"}
        assert set(element.attrib) <= ATTRIBUTES
        assert re.match(r"https?://|mailto:", element.get("href", "https://"))


@pytest.mark.parametrize(
    ("text", "quote", "media_type", "html"),
    [
        (
            "## A\n\nOne **two** three.",
            "One **two",
            detection.MARKDOWN,
            "<h3>A</h3>\n<p><mark>One </mark><strong><mark>two</mark></strong> three.</p>\n",
        ),
        ("- *A*\n- B", "*A*", detection.DOCX, "<ul>\n<li><mark>*A*</mark></li>\n<li>B</li>\n</ul>\n"),
        ("[here](javascript:x) we are", "we", detection.MARKDOWN, "<p>[here](javascript:x) <mark>we</mark> are</p>\n"),
        ("    a\n      b\n", "b", detection.MARKDOWN, "<pre><code>a\n  <mark>b</mark>\n</code></pre>\n"),
        ("One", "One", detection.PLAIN, None),
        ("One\n  two", "One", detection.DOCX, None),
        ("[One](/two)", "two", detection.MARKDOWN, None),
        ("| a |\n|---|\n| b \\| c |", "c", detection.MARKDOWN, None),
        ("left\n```\none", "one", detection.MARKDOWN, None),
    ],
)
def test_a_document_is_rendered_where_the_quote_is_certain(
    text: str, quote: str, media_type: str, html: str | None
) -> None:
    """R8.3 As its parser writes it; not where the quote isn't seen, or the source writes it otherwise."""
    assert rendered(text, quote, media_type) == html


def test_every_door_gives_the_same_html(demo_server: Server) -> None:
    """R9.1 The stream's last event, the answer at once, and what was kept of it; a question has none."""
    question = {"message": "Quelles livraisons sont en retard ?"}
    with demo_server.client() as client:
        answered = client.post("/api/chat", json=question).json()
        streamed = client.post("/api/chat/stream", json=question).text
        asked, kept = read_messages(client, answered["conversation_id"])
    html = answered["answer_html"]
    assert html.startswith('<ul>\n<li><span class="statement supported" data-statement="0">Commande: E-105')
    assert html.count('class="mark"') == len(answered["citations"])
    assert f'"answer_html": {_json(html)}' in streamed
    assert (asked["answer_html"], kept["answer_html"]) == (None, html)


def read_messages(client: httpx.Client, conversation: str) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = client.get(f"/api/conversations/{conversation}/messages").json()["messages"]
    return messages


def _json(text: str) -> str:
    return '"' + text.replace('"', '\\"').replace("\n", "\\n") + '"'
