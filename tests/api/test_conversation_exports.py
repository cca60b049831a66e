"""Conversations as Markdown and Word files: hostile text stays text, whatever the language and the format."""

import io
import re
import sys
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import docx
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from api.schemas.conversations import ConversationWithMessages, MessageOut
from api.schemas.exports import language_of, to_docx, to_markdown
from graphrag.errors import ExportUnavailable
from tests.conftest import Server

NOW = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
HOSTILE = [
    "![x](https://evil.example/leak.png) and [click](https://evil.example)",
    "<script>alert(1)</script> <img src=x onerror=alert(1)> &lt;b&gt; &amp;",
    "**loud** `code` ~~gone~~ a|b x^2 $y$ [^1]: note [ref]: https://evil.example",
    '=HYPERLINK("https://evil.example") { HYPERLINK "https://evil.example" } DDEAUTO c:\\windows cmd',
    "</w:t></w:r><w:r><w:instrText>INCLUDEPICTURE</w:instrText></w:r>",
    "año, Noël, 5 €, A → B, x ≥ 3, «cita», Ωμέγα, Жук, 日本語, العربية, 🙂",
]
WORDS_OF = {
    "es": ("Pregunta", "Respuesta", "Fuentes"),
    "fr": ("Question", "Réponse", "Sources"),
    "en": ("Question", "Answer", "Sources"),
}
# Of a Word file's parts, what does something when the file is opened or clicked.
ACTIVE = re.compile(r"<w:(hyperlink|instrText|fldSimple|fldChar|object|altChunk|drawing|pict)\b|TargetMode=.External")


def message(role: Any, content: str, **details: Any) -> MessageOut:
    return MessageOut(
        id=uuid4(),
        parent_id=None,
        role=role,
        content=content,
        answer_html=None,
        status="complete",
        created_at=NOW,
        details=details,
        versions=[],
        feedback=[],
    )


def conversation(*messages: MessageOut, title: str = "Tema") -> ConversationWithMessages:
    return ConversationWithMessages(
        id=UUID(int=1),
        title=title,
        collection=None,
        collections=[],
        created_at=NOW,
        updated_at=NOW,
        is_shared=False,
        messages=list(messages),
    )


def quoting(text: str, language: str = "es") -> ConversationWithMessages:
    """Everything that comes from a document, a model or a person has this text."""
    citation = {"number": 1, "sentence": f"Line 4: {text}", "filename": f"{text}.pdf"}
    noted = {"citations": [citation], "warnings": [text], "unsupported_statements": [text]}
    answer = message("assistant", "Sí [1].", language=language, **noted)
    return conversation(message("user", text), answer, title=text)


def paragraphs(written: bytes) -> list[str]:
    return [paragraph.text for paragraph in docx.Document(io.BytesIO(written)).paragraphs]


def check_inactive(written: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(written)) as file:
        for name in file.namelist():
            if name.endswith((".xml", ".rels")):
                assert not ACTIVE.search(file.read(name).decode()), name


@pytest.mark.parametrize("language", WORDS_OF)
@pytest.mark.parametrize("text", HOSTILE)
def test_a_word_file_says_exactly_what_was_said(text: str, language: str) -> None:
    """R9.1, security 14: title, question, answer, warnings, quote and file, in the conversation's language."""
    written = to_docx(quoting(text, language), language)
    check_inactive(written)
    title, _, question, asked, answer, said, warning, unsupported, sources, source = paragraphs(written)
    assert (title, asked, said, warning) == (text, text, "Sí [1].", text)
    assert unsupported.endswith(f": {text}")
    assert source == f"[1] Line 4: {text} ({text}.pdf)"
    assert (question.split(" · ")[0], answer.split(" · ")[0], sources) == WORDS_OF[language]
    properties = docx.Document(io.BytesIO(written)).core_properties
    assert (properties.title, properties.author, properties.language) == (text, "", language)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_markdown_file_shows_a_document_s_words_as_they_stand(text: str) -> None:
    """R9.1, security 14: no image, link, HTML or formula comes of them."""
    told = to_markdown(quoting(text), "es")
    (source,) = [line for line in told.splitlines() if line.startswith("- [1]")]
    warning, _ = [line for line in told.splitlines() if line.startswith("*")]
    for line, shown in ((source[2:], f"[1] Line 4: {text} ({text}.pdf)"), (warning.strip("*"), text)):
        rendered = MarkdownIt("gfm-like").disable("linkify").parseInline(line)[0].children or []
        assert {token.type for token in rendered} == {"text"}
        assert "".join(token.content for token in rendered) == shown


def test_links_of_an_answer_are_text() -> None:
    """R9.1, security 14: a document may have put them there."""
    said = "See [this](https://a.example) ![x](https://b.example)."
    told = to_markdown(conversation(message("assistant", said)), "en")
    assert f"<p>{said}</p>" in MarkdownIt("gfm-like").disable("linkify").render(told)


@given(st.text())
def test_any_text_can_be_written(text: str) -> None:
    """Security 10: what XML can't hold becomes a replacement character, and the file can be opened."""
    assert len(paragraphs(to_docx(quoting(text), "fr"))) == 10
    assert to_markdown(quoting(text), "fr").encode(errors="replace")


ANSWER = """Two **bold _both_** [site](https://a.example/x) [1]

- one
  - deeper

2. second
3. third

| Month | Sum |
|---|--:|
| May | 5 € |

```
x = 1
```

> quoted
next ![picture](https://a.example/y.png)"""


def test_an_answer_s_markdown_is_formatted() -> None:
    """R9.1 Lists, tables, emphasis and code as Word's own; a link is its text and its address."""
    written = to_docx(conversation(message("assistant", ANSWER)), "en")
    check_inactive(written)
    document = docx.Document(io.BytesIO(written))
    told = [(paragraph.style.name if paragraph.style else "", paragraph.text) for paragraph in document.paragraphs[3:]]
    assert told == [
        ("Normal", "Two bold both site (https://a.example/x) [1]"),
        ("List Bullet", "one"),
        ("List Bullet 2", "deeper"),
        ("List", "2. second"),
        ("List", "3. third"),
        ("macro", "x = 1"),
        ("Quote", "quoted\nnext picture"),
    ]
    runs = {run.text: (run.bold, run.italic) for run in document.paragraphs[3].runs}
    assert (runs["bold "], runs["both"]) == ((True, None), (True, True))
    (table,) = document.tables
    assert [[cell.text for cell in row.cells] for row in table.rows] == [["Month", "Sum"], ["May", "5 €"]]


def test_what_was_found_wrong_is_exported_too() -> None:
    """R9.1 An answer that broke off, one that has lost a document, a statement that no source supports."""
    broken = message("assistant", "Half", erased=True, unsupported_statements=["It rained."])
    broken.status = "interrupted"
    told = to_markdown(conversation(message("user", "Why?"), broken, title=""), "en")
    for note in (
        "The answer was interrupted.",
        "A document used in this answer has been deleted.",
        "No source supports this sentence: It rained.",
    ):
        assert f"*{note}*" in told.splitlines()
    assert told.startswith("# Conversation\n")


def test_the_language_is_that_of_the_last_answer() -> None:
    """R9.1"""
    said = [message("assistant", "x", language=language) for language in ("es", "fr")]
    assert language_of(conversation(*said, message("user", "?"))) == "fr"
    assert language_of(conversation(message("assistant", "x", language="de"))) is None


def test_what_word_files_need_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """R11.1 Without the extra the rest works."""
    monkeypatch.setitem(sys.modules, "docx", None)
    with pytest.raises(ExportUnavailable, match="make install WITH=docx"):
        to_docx(quoting("x"), "es")
    assert to_markdown(quoting("x"), "es")


@pytest.fixture(scope="module")
def client(demo_server: Server) -> Iterator[httpx.Client]:
    with demo_server.client() as client:
        yield client


def test_a_conversation_or_an_answer_is_downloaded(client: httpx.Client) -> None:
    """R9.1 As a Word file with its quotes; `scope=answer` is one answer with its question."""
    first = client.post("/api/chat", json={"message": "Why did the Christmas tins reach Bristol so late?"}).json()
    asked = {"message": "¿Cuánto cobra de más al mes quien está habilitado en varias líneas?"}
    second = client.post("/api/chat", json=asked | {"conversation_id": first["conversation_id"]}).json()
    path = f"/api/v1/conversations/{first['conversation_id']}/export"
    whole = client.get(path, params={"format": "docx"})
    assert whole.headers["content-type"].endswith("wordprocessingml.document")
    assert whole.headers["content-disposition"].endswith(f'-{first["conversation_id"]}.docx"')
    text = "\n".join(paragraphs(whole.content))
    for answer in (first, second):
        cited = answer["citations"][0]
        assert f"[{cited['number']}] {' '.join(cited['sentence'].split())} ({cited['filename']})" in text
    for place in (first["message_id"], first["parent_id"]):
        of_first = client.get(path, params={"format": "docx", "scope": "answer", "message_id": place})
        headings = [line.split(" · ")[0] for line in paragraphs(of_first.content) if " · " in line]
        assert headings == ["Question", "Answer"]
    last = client.get(path, params={"scope": "answer"}).text
    assert asked["message"] in last
    assert first["answer"] not in last
    empty = client.post("/api/v1/conversations", json={}).json()["id"]
    assert client.get(f"/api/v1/conversations/{empty}/export", params={"scope": "answer"}).text.startswith("# ")
