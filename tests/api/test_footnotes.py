"""Marks and citations as Markdown footnotes, and back."""

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from api.schemas.rendering import Footnotes, definitions, with_footnotes, without_footnotes

MARKDOWN = MarkdownIt("gfm-like")
PIECES = st.text(alphabet="[]^123 a\n", max_size=40)


def cite(number: int, sentence: str) -> dict[str, Any]:
    return {"number": number, "sentence": sentence}


def test_marks_and_citations_become_footnotes() -> None:
    """R8.3 One note a source, with each of its quotes once."""
    citations = [cite(2, "Line 4: Rain."), cite(1, "Line 1: Snow."), cite(2, "Line 9: Hail."), cite(2, "Line 4: Rain.")]
    told = with_footnotes("It rained [2][1]. It hailed [2].", sources=2, citations=citations)
    assert told == ("It rained [^2][^1]. It hailed [^2].\n\n[^1]: Line 1: Snow.\n\n[^2]: Line 4: Rain. · Line 9: Hail.")


@pytest.mark.parametrize(
    ("answer", "sources", "told"),
    [
        ("a[0] and b[1]", 0, "a[0] and b[1]"),
        ("a[0] and b[1] and c[3]", 2, "a[0] and b[^1] and c[3]"),
        ("Quoted[^2] from a document [1].", 2, "Quoted[\\^2] from a document [^1]."),
        ("It ends in [1", 2, "It ends in [1"),
    ],
)
def test_only_marks_of_sources_are_footnotes(answer: str, sources: int, told: str) -> None:
    """R8.4 A document's own footnotes are none of the answer's."""
    assert with_footnotes(answer, sources=sources, citations=[]) == told


@given(PIECES, st.lists(st.integers(0, 40)))
@example("a[12][1]b[^1]", [2, 3, 6, 7, 11])
def test_however_a_stream_is_cut_the_same_comes_out(answer: str, cuts: list[int]) -> None:
    """R8.9 The stream's answer is the whole one's."""
    footnotes = Footnotes(12)
    edges = [0, *sorted(min(cut, len(answer)) for cut in cuts), len(answer)]
    streamed = [footnotes.feed(answer[start:end]) for start, end in pairwise(edges)]
    assert "".join(streamed) + footnotes.flush() == with_footnotes(answer, sources=12, citations=[])


@given(st.text(alphabet="ab .\n[]12", max_size=60).map(lambda text: "x" + text.rstrip()), st.integers(1, 3))
def test_what_a_client_sends_back_is_the_answer_again(answer: str, sources: int) -> None:
    """R9.1 So that a model that reads the history learns no other marks."""
    told = with_footnotes(answer, sources=sources, citations=[cite(1, "Line 1: [1] Snow."), cite(2, "Rain")])
    assert without_footnotes(told) == answer


def test_a_long_history_of_blank_lines_is_read_at_once() -> None:
    """Security 16: its time grows with its length."""
    assert without_footnotes("\n" * 3_000_000) == ""


@pytest.mark.parametrize(
    "quote",
    [
        "![x](https://evil.example/leak.png)",
        "[click](https://evil.example)",
        "<img src=https://evil.example/x.png>",
        "<script>alert(1)</script> &lt;b&gt; **loud** `code` ~~gone~~ a|b x^2 $y$",
        "[^1]: another note and [^2] too",
        "\\![x](y) \\<b>",
        "[ref]: https://evil.example 'x'",
    ],
)
def test_a_quote_is_text_whatever_it_holds(quote: str) -> None:
    """Security 14: no image, link, HTML or formula comes of a document's words; a reader sees them as they stand."""
    note = definitions([cite(1, f"Line 1: {quote}")]).removeprefix("\n\n[^1]: ")
    rendered = MARKDOWN.disable("linkify").renderInline(note)
    assert not re.search(r"<(?!/?p\b)", rendered)
    assert not re.search(r"\[\^\d+\]", note)
    assert _text(rendered) == f"Line 1: {quote}"


def _text(rendered: str) -> str:
    for entity, character in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        rendered = rendered.replace(entity, character)
    return rendered
