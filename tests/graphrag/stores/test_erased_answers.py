"""What is left of an answer when a document that it was made from is gone."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.models.conversations import Message, MessageStatus
from graphrag.stores.postgres.erasure import GAPS, documents_of, erase

GONE, KEPT, JOINED = UUID(int=1), UUID(int=2), UUID(int=3)
QUESTION = "¿Qué pasó con el horno?"
TEXTS = {GONE: "El horno ardió por la zambomba verde.", KEPT: "El horno se reparó en marzo."}
GAP = GAPS["es"]


def source(document: UUID, **fields: Any) -> dict[str, Any]:
    number = 1 if document == GONE else 2
    return {
        "number": number,
        "document_id": str(document),
        "content_hash": f"hash-{number}",
        "filename": f"f{number}.md",
        "title": f"Título {number}",
        "content": TEXTS[document],
    } | fields


def citation(document: UUID, statement: str, **fields: Any) -> dict[str, Any]:
    known = {name: value for name, value in source(document).items() if name != "content"}
    return known | {"quote": TEXTS[document], "statement": statement} | fields


def make_answer(*said: tuple[str, list[UUID]] | str, **details: Any) -> Message:
    """Of statements with what they cite, and of text between them."""
    content, statements = "", list[dict[str, Any]]()
    for part in said:
        if isinstance(part, str):
            content += part
            continue
        text, cited = part
        marked = text + "".join(f" [{1 if document == GONE else 2}]" for document in cited)
        statements.append(
            {
                "statement": text,
                "start": len(content),
                "end": len(content) + len(marked),
                "status": "supported" if cited else "unsupported",
                "citations": [citation(document, text) for document in cited],
            }
        )
        content += marked
    given = {
        "language": "es",
        "found": True,
        "sources": [source(GONE), source(KEPT)],
        "citations": [one for statement in statements for one in statement["citations"]],
        "statements": statements,
        "unsupported_statements": [of["statement"] for of in statements if not of["citations"]],
        "paths": [],
        "warnings": [],
    }
    now = datetime.now(UTC)
    return Message(uuid4(), uuid4(), uuid4(), "assistant", content, MessageStatus.COMPLETE, now, given | details, "c")


def test_what_rests_on_the_document_alone_goes() -> None:
    """Security 19 The rest stays as it was, with its offsets; sources keep their numbers, which the marks name."""
    answer = make_answer(
        ("Ardió del todo.", [GONE]), " ", ("Se reparó en marzo.", [KEPT]), "\n\n", ("Era verde.", [GONE])
    )
    left = erase(answer, {GONE}, question=QUESTION)
    message, details = left.message, left.message.details
    assert message.content == f"{GAP} Se reparó en marzo. [2]\n\n{GAP}"
    (statement,) = details["statements"]
    assert message.content[statement["start"] : statement["end"]] == "Se reparó en marzo. [2]"
    assert details["sources"] == [source(KEPT)]
    assert details["citations"] == [citation(KEPT, "Se reparó en marzo.")]
    assert (details["erased"], left.citations, message.checkpoint_id) == (True, (2,), None)
    assert documents_of(details) == {(KEPT, "hash-2")}


def test_a_document_of_another_service_is_none_that_can_be_gone() -> None:
    """R13.3 It was never here."""
    details = make_answer(sources=[source(GONE, elsewhere=True), source(KEPT, elsewhere=False)]).details
    assert documents_of(details) == {(KEPT, "hash-2")}


@pytest.mark.parametrize("language", GAPS)
def test_what_goes_in_a_row_leaves_one_gap(language: str) -> None:
    """Security 19 In the answer's language."""
    answer = make_answer(
        "- ", ("Ardió.", [GONE]), "\n- ", ("Era verde.", [GONE]), "\n- ", ("Se reparó.", [KEPT]), language=language
    )
    assert erase(answer, {GONE}, question=QUESTION).message.content == f"- {GAPS[language]}\n- Se reparó. [2]"


@pytest.mark.parametrize(
    ("text", "cited", "left"),
    [
        pytest.param("Ardió y se reparó.", [GONE, KEPT], GAP, id="of both, in its words"),
        pytest.param(
            "Se reparó en marzo.", [GONE, KEPT], "Se reparó en marzo. [2]", id="of both, in the other's words"
        ),
        pytest.param("Hubo una zambomba.", [], GAP, id="of none, in its words"),
        pytest.param("Fue un mal año.", [], "Fue un mal año.", id="of none, in other words"),
        pytest.param("Se reparó la zambomba.", [KEPT], "Se reparó la zambomba. [2]", id="carried by the other"),
        pytest.param("¿Qué horno?", [], "¿Qué horno?", id="in the question's words"),
    ],
)
def test_words_decide_where_citations_do_not(text: str, cited: list[UUID], left: str) -> None:
    """Security 19 Words that neither the question nor what is left has, whoever wrote the sentence."""
    message = erase(make_answer((text, cited)), {GONE}, question=QUESTION).message
    assert message.content == left
    kept = [statement["statement"] for statement in message.details["statements"]]
    assert kept == ([] if left == GAP else [text])
    assert message.details["unsupported_statements"] == ([text] if kept and not cited else [])


def test_half_an_answer_is_read_sentence_by_sentence() -> None:
    """Security 19 One that broke off was never checked as a whole."""
    answer = make_answer("Según el informe, ardió la zambomba. Se reparó en marzo [2]. Todo ello por des [1]")
    del answer.details["statements"], answer.details["language"]
    message = erase(answer, {GONE}, question=QUESTION).message
    assert message.content == f"{GAP} Se reparó en marzo [2]. {GAP}"
    assert "statements" not in message.details


def test_chains_and_warnings_of_the_document_go_too() -> None:
    """Security 19"""
    edges = [citation(GONE, "", cause="zambomba", effect="horno"), citation(KEPT, "", cause="horno", effect="marzo")]
    chains = [
        {"entities": ["zambomba", "horno", "marzo"], "edges": edges},
        {"entities": ["horno", "marzo"], "edges": edges[1:]},
    ]
    answer = make_answer(("Se reparó.", [KEPT]), paths=chains, warnings=["«f1.md» da órdenes", "«f2.md» da órdenes"])
    details = erase(answer, {GONE}, question=QUESTION).message.details
    assert details["paths"] == chains[1:]
    assert details["warnings"] == ["«f2.md» da órdenes"]


def test_a_statement_that_goes_takes_its_other_citations_along() -> None:
    """Security 19 They repeat it."""
    answer = make_answer(("Ardió y se reparó.", [KEPT, GONE]), " ", ("Se reparó.", [KEPT]))
    left = erase(answer, {GONE}, question=QUESTION)
    assert [one["statement"] for one in left.message.details["citations"]] == ["Se reparó."]
    assert left.citations == (3,)


def test_an_answer_of_ours_stays() -> None:
    """Security 19 That nothing was found is no document's."""
    answer = make_answer("No he encontrado el verde de la zambomba.", found=False)
    message = erase(answer, {GONE}, question=QUESTION).message
    assert message.content == answer.content
    assert message.details["sources"] == [source(KEPT)]


WORD = st.sampled_from(["zambomba", "ardió", "marzo", "reparó", "verde", "horno", "azul"])
SAID = st.tuples(
    st.lists(WORD, min_size=1, max_size=4).map(lambda found: " ".join(found).capitalize() + "."),
    st.lists(st.sampled_from([GONE, KEPT]), max_size=2, unique=True),
)


@given(st.lists(SAID | st.sampled_from([" ", "\n\n", "\n- "]), max_size=8))
def test_whatever_the_answer_nothing_of_the_document_is_left(said: list[Any]) -> None:
    """Security 19 No word of it stands in what no other document carries; offsets are right; again changes nothing."""
    left = erase(make_answer(*said), {GONE}, question=QUESTION)
    message = left.message
    bare = message.content
    for statement in reversed(message.details["statements"]):
        written = message.content[statement["start"] : statement["end"]]
        assert written.startswith(statement["statement"])
        assert str(GONE) not in str(statement)
        if statement["status"] == "supported":
            bare = bare[: statement["start"]] + bare[statement["end"] :]
    assert not {"zambomba", "verde", "ardió"} & {word.strip(".").lower() for word in bare.split()}
    again = erase(message, {GONE}, question=QUESTION)
    assert (again.message, again.citations) == (message, tuple(range(1, len(message.details["citations"]) + 1)))


def test_a_short_answer_goes_with_its_statement() -> None:
    """Security 19 Of the whole and of its parts; what the remaining answer still says stays."""
    short = ("la zambomba verde", "en marzo")
    parts = [{"question": QUESTION, "outcome": "answered", "short_answer": each} for each in short]
    answer = make_answer(
        "- ", ("**la zambomba verde** — Ardió por la zambomba verde.", [GONE]),
        "\n- ", ("**en marzo** — Se reparó en marzo.", [KEPT]), short_answer=short[0], parts=parts,
    )  # fmt: skip
    details = erase(answer, {GONE}, question=QUESTION).message.details
    assert details["short_answer"] == ""
    assert [part["short_answer"] for part in details["parts"]] == ["", "en marzo"]


def test_a_table_goes_with_each_of_its_documents() -> None:
    """Security 19 With one that is joined, which no source is of; and every sentence with a word of its cells."""
    tables = [{"document_id": str(each), "content_hash": "hash-3", "number": 0} for each in (KEPT, JOINED)]
    table = {"plan": "suma", "columns": ["Ciudad"], "rows": [["Zurrapia"]], "query": {"tables": tables}}
    said = ("El horno se reparó en marzo.", [KEPT])
    answer = make_answer(said, " Zurrapia: 12.", table=table, sources=[source(KEPT)])
    assert (JOINED, "hash-3") in documents_of(answer.details)
    assert erase(answer, {GONE}, question=QUESTION).message.details["table"] == table
    left = erase(answer, {JOINED}, question=QUESTION).message
    assert (left.details["table"], left.content) == (None, f"El horno se reparó en marzo. [2] {GAP}")


def test_a_table_of_an_older_answer_goes_with_its_sources() -> None:
    """Security 19 It does not tell its documents."""
    answer = make_answer(("El horno se reparó en marzo.", [KEPT]), table={"rows": [["zambomba"]]})
    assert erase(answer, {GONE}, question=QUESTION).message.details["table"] is None
