"""Marks in an answer: none that cites nothing comes through, and each that stays is checked against its passage."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent.verification.checking import verify
from agent.verification.statements import MarkFilter, StatementStream, find_statements
from agent.verification.support import Support
from graphrag.models import Passage
from tests.factories import make_document

KNOWN = 2
MARK = re.compile(r"\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]")
BRIDGE = """# Informe del puente de Arenal

El puente de Arenal se cerró el 3 de mayo de 2024 tras la riada. La reparación costó 9.240 euros y duró seis semanas.
El caudal subió 3,5 metros en una noche.
"""
BOILER = "The boiler must be serviced every twelve months. Call the fitter when the red lamp blinks."

tame_pieces = st.sampled_from(
    ["[1]", "[2]", "[9]", "[0]", "[1, 9]", "[2;1]", "[9,12]", " ", "\n", ". ", "palabra", " Otra", "[2024]", "[x]", "7"]
)
wild_pieces = st.one_of(tame_pieces, st.sampled_from(["[", "]", "[[", ", ", "1", "9", "[9", "9]"]))
tame_texts = st.lists(tame_pieces, max_size=20).map("".join)
wild_texts = st.lists(wild_pieces, max_size=20).map("".join)


def make_passage(content: str, *, start: int = 0, language: str = "es") -> Passage:
    document = make_document(language=language)
    return Passage(document, 0, start, start + len(content), content, ((start, start + len(content)),), score=0.9)


def passages() -> list[Passage]:
    return [make_passage(BRIDGE), make_passage(BOILER, language="en")]


def numbers(text: str) -> list[int]:
    return [int(number) for inside in MARK.findall(text) for number in re.findall(r"\d+", inside)]


def known_numbers(text: str) -> list[int]:
    return [number for number in numbers(text) if 1 <= number <= KNOWN]


def stream(tokens: Sequence[str]) -> str:
    marks = MarkFilter(KNOWN)
    return "".join([*(marks.feed(token) for token in tokens), marks.flush()])


class Streamed:
    """An answer that streams, and what of it is cited so far."""

    def __init__(self) -> None:
        self._marks, self._statements = MarkFilter(KNOWN), StatementStream()

    def feed(self, token: str) -> None:
        self._marks.feed(token)
        self._statements.read(self._marks.text)

    def flush(self) -> None:
        self._marks.flush()
        self._statements.read(self._marks.text)
        self._statements.close()

    def cited(self) -> list[tuple[str, int]]:
        known = [*self._statements.finished, *([self._statements.open] if self._statements.open else [])]
        return [(statement.text, number) for statement in known for number in statement.numbers]


def cut(text: str, places: Sequence[int]) -> list[str]:
    """The text in tokens; some of them are empty."""
    cuts = sorted(place % (len(text) + 1) for place in places)
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@settings(deadline=None)
@given(wild_texts, st.lists(st.integers(0, 1_000), max_size=12))
@example("el caudal [9[9]] subió", [3, 12])
@example("a\n", [1])
def test_an_answer_in_tokens_is_cleaned_like_the_whole_one(text: str, places: list[int]) -> None:
    """R8.4 However the model cuts its text, the reader gets what verify makes of the whole."""
    assert stream(cut(text, places)) == verify(text, passages()).answer


@settings(deadline=None)
@given(wild_texts, st.lists(st.integers(0, 1_000), max_size=12))
@example("[9[9]]", [2])
@example("[[9]9]", [])
@example("[9[8],1]", [])
@example("[1[9]]", [])
def test_no_unknown_mark_leaves_the_filter(text: str, places: list[int]) -> None:
    """R8.4 Not even one that only comes to be where another was removed."""
    assert all(1 <= number <= KNOWN for number in numbers(stream(cut(text, places))))


@settings(deadline=None)
@given(wild_texts, st.lists(st.integers(0, 1_000), max_size=12))
@example("[[1]]", [1])
def test_known_marks_are_never_lost(text: str, places: list[int]) -> None:
    """R8.4 Each known number of each mark stays, in its order."""
    assert numbers(stream(cut(text, places))) == known_numbers(text)


@settings(deadline=None)
@given(tame_texts, st.lists(st.integers(0, 1_000), max_size=12))
def test_only_marks_are_touched(text: str, places: list[int]) -> None:
    """R8.4 Every other character stays, but for the space before a mark."""
    assert unmarked(stream(cut(text, places))) == unmarked(text)


def unmarked(text: str) -> str:
    return "".join(MARK.sub("", text).split())


@settings(deadline=None)
@given(wild_texts)
def test_no_text_waits_longer_than_a_mark_needs(text: str) -> None:
    """R8.9 What is held back while streaming is at most a space and the beginning of a mark."""
    marks = MarkFilter(KNOWN)
    marks.feed(text)
    assert re.fullmatch(r"\s?\n?(\[[\d\s,;\[\]]*)?", marks.flush())


@settings(deadline=None)
@given(wild_texts, st.lists(st.integers(0, 1_000), max_size=12))
@example("[1] El puente se cerró [2].", [3, 20])
@example("El puente se cerró.\n\n[1]", [22])
def test_what_is_cited_so_far_only_grows(text: str, places: list[int]) -> None:
    """R8.3 A citation that was announced while streaming is not taken back nor moved."""
    marks = Streamed()
    seen: list[int] = []
    for token in cut(text, places):
        marks.feed(token)
        cited = [number for _, number in marks.cited()]
        assert cited[: len(seen)] == seen
        seen = cited
    marks.flush()
    cited = [number for _, number in marks.cited()]
    assert cited[: len(seen)] == seen
    assert cited == [citation.number for citation in verify(text, passages()).citations]


def test_cited_gives_statement_and_number_in_order() -> None:
    """R8.3 A mark is cited once it is closed, with the statement that it ends."""
    marks = Streamed()
    marks.feed("El puente se cerró [2")
    assert marks.cited() == []
    marks.feed("]. La caldera [9]")
    assert marks.cited() == [("El puente se cerró.", 2)]
    marks.feed(" avisa [1][2].")
    marks.flush()
    assert marks.cited() == [("El puente se cerró.", 2), ("La caldera avisa.", 1), ("La caldera avisa.", 2)]


@pytest.mark.parametrize(
    ("answer", "clean", "removed"),
    [
        ("El puente se cerró [9].", "El puente se cerró.", (9,)),
        ("El puente se cerró [1][9].", "El puente se cerró [1].", (9,)),
        ("El puente se cerró [3, 1, 0].", "El puente se cerró [1].", (3, 0)),
        ("El puente se cerró.[7]", "El puente se cerró.", (7,)),
        ("En [2024] se cerró el puente [1].", "En [2024] se cerró el puente [1].", ()),
    ],
)
def test_unknown_marks_are_removed_and_counted(answer: str, clean: str, removed: tuple[int, ...]) -> None:
    """R8.4 unknown → removed and logged; what is in brackets but no mark stays."""
    checked = verify(answer, passages())
    assert (checked.answer, checked.removed_marks) == (clean, removed)
    assert len(checked.citations) == clean.count("[1]")


@pytest.mark.parametrize("mark", ["[1, 2]", "[1,2]", "[1; 2]", "[1 , 2]", "[1,\n2]"])
def test_a_mark_of_several_numbers_becomes_several_marks(mark: str) -> None:
    """R8.3 One form of mark for every client: [1, 2] → [1][2]."""
    checked = verify(f"El puente se cerró {mark}.", passages())
    assert checked.answer == "El puente se cerró [1][2]."
    assert [citation.number for citation in checked.citations] == [1, 2]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Se cerró [1]. Costó mucho [2].", [("Se cerró.", [1]), ("Costó mucho.", [2])]),
        ("Se cerró. [1] Costó mucho. [2]", [("Se cerró.", [1]), ("Costó mucho.", [2])]),
        ("Se cerró.[1][2] Costó mucho.", [("Se cerró.", [1, 2]), ("Costó mucho.", [])]),
        ("¡Se cerró! [1] ¿Costó mucho? [2]", [("¡Se cerró!", [1]), ("¿Costó mucho?", [2])]),
        ("Tiene vitamina C. [1] Costó mucho. [2]", [("Tiene vitamina C.", [1]), ("Costó mucho.", [2])]),
        ("Se cerró (dos veces.) [1] Costó. [2]", [("Se cerró (dos veces.)", [1]), ("Costó.", [2])]),
        ("« La route est fermée. » [1] Elle a coûté. [2]", [("« La route est fermée. »", [1]), ("Elle a coûté.", [2])]),
        ("« La route est fermée. » [1]", [("« La route est fermée. »", [1])]),
        ("El Sr. López [1] vino ayer. Fin. [2]", [("El Sr. López vino ayer.", [1]), ("Fin.", [2])]),
        ("- El puente [1]\n- La caldera [2]", [("El puente", [1]), ("La caldera", [2])]),
        ("Se cerró.\n\n[1]", [("Se cerró.", [1])]),
        ("Se cerró.\n\n[1]\n\nCostó mucho. [2]", [("Se cerró.", [1]), ("Costó mucho.", [2])]),
        ("[1] Se cerró.", [("Se cerró.", [1])]),
        ("[1]\n\nSe cerró.", [("Se cerró.", [1])]),
    ],
)
def test_a_mark_belongs_to_the_statement_it_ends(answer: str, expected: list[tuple[str, list[int]]]) -> None:
    """R8.3, R8.4 Before the full stop, after it, below the paragraph: models write all of these."""
    assert [(each.text, list(each.numbers)) for each in find_statements(answer)] == expected


def test_one_citation_a_mark_in_order() -> None:
    """R8.3 Each names its document, passage and the sentence that carries the statement."""
    given_passages = passages()
    checked = verify(
        "La reparación costó 9.240 euros [1]. The boiler must be serviced every twelve months [2]."
        " El puente de Arenal se cerró tras la riada [1].",
        given_passages,
    )
    assert [citation.number for citation in checked.citations] == [1, 2, 1]
    assert [citation.document_id for citation in checked.citations] == [
        given_passages[number - 1].document.id for number in (1, 2, 1)
    ]
    assert [citation.quote for citation in checked.citations] == [
        "La reparación costó 9.240 euros y duró seis semanas.",
        "The boiler must be serviced every twelve months.",
        "El puente de Arenal se cerró el 3 de mayo de 2024 tras la riada.",
    ]
    assert {citation.status for citation in checked.citations} == {Support.SUPPORTED}
    assert checked.unsupported_statements == ()


sentences = st.sampled_from(
    [
        "# Informe",
        "El puente se cerró.",
        "Costó 9.240 euros",
        "- una lista\n",
        "| a | b |",
        "«¡Ya!» dijo.",
        "\n\n",
        "  ",
    ]
)


@settings(deadline=None)
@given(
    before=st.text(alphabet="aé\n ", max_size=30),
    parts=st.lists(st.tuples(sentences, st.sampled_from([" ", "\n", "\n\n", ""])), min_size=1, max_size=8),
    statement=st.sampled_from(["El puente se cerró", "Costó 9.240 euros", "dijo ya", "otra cosa", "7", "¿?"]),
)
def test_the_quote_is_the_text_at_its_offsets(before: str, parts: list[tuple[str, str]], statement: str) -> None:
    """R8.3 quote, offsets: an exact substring of the document and of the passage, without space around it."""
    content = "".join(text + space for text, space in parts)
    passage = make_passage(content, start=len(before))
    for citation in verify(f"{statement} [1].", [passage]).citations:
        assert (before + content)[citation.start_char : citation.end_char] == citation.quote
        assert passage.start_char <= citation.start_char <= citation.end_char <= passage.end_char
        assert citation.quote == citation.quote.strip()
        assert citation.quote or not content.strip()


@pytest.mark.parametrize(
    ("statement", "status"),
    [
        ("El puente de Arenal se cerró el 3 de mayo de 2024 tras la riada", Support.SUPPORTED),
        ("Tras la riada de mayo se cerró el puente; la reparación costó 9.240 euros", Support.SUPPORTED),
        ("La reparación del puente costó 9.420 euros", Support.PARTLY),
        ("El puente de Arenal se cerró el 4 de mayo de 2024 tras la riada", Support.PARTLY),
        ("El caudal subió 35 metros en una noche", Support.PARTLY),
        ("El puente se cerró por una huelga de transportistas", Support.PARTLY),
        ("El alcalde inauguró la piscina municipal", Support.UNSUPPORTED),
        ("El alcalde inauguró una piscina cubierta junto al puente", Support.UNSUPPORTED),
        ("El alcalde inauguró 12 piscinas con la riada", Support.UNSUPPORTED),
    ],
)
def test_how_far_a_passage_carries_a_statement(statement: str, status: Support) -> None:
    """R8.4 Supported, partly (a changed number, half of the words), unsupported (from nowhere)."""
    checked = verify(f"{statement} [1].", passages())
    assert [citation.status for citation in checked.citations] == [status]
    assert checked.unsupported_statements == ((f"{statement}.",) if status is Support.UNSUPPORTED else ())


@pytest.mark.parametrize("number", ["9.240", "9,240", "9 240", "9\u00a0240", "9\u202f240", "9240", "9.240,00"])
def test_a_number_is_the_same_however_it_is_separated(number: str) -> None:
    """R8.4 The answer's language writes thousands its own way."""
    (citation,) = verify(f"La reparación costó {number} euros [1].", passages()).citations
    assert citation.status is Support.SUPPORTED


@pytest.mark.parametrize(
    ("number", "status"), [("3,5", Support.SUPPORTED), ("3.5", Support.SUPPORTED), ("35", Support.PARTLY)]
)
def test_a_decimal_comma_is_no_separator_of_thousands(number: str, status: Support) -> None:
    """R8.4 3,5 metres are 3.5 metres and not 35."""
    (citation,) = verify(f"El caudal subió {number} metros [1].", passages()).citations
    assert citation.status is status


def test_numbers_side_by_side_are_two() -> None:
    """R8.4 «En 2024 123 personas» holds 2024 and 123."""
    passage = make_passage("Había 123 personas en la plaza en 2024.")
    (citation,) = verify("En 2024 123 personas en la plaza [1].", [passage]).citations
    assert citation.status is Support.SUPPORTED


def test_a_heading_is_not_quoted_where_a_sentence_says_it() -> None:
    """R8.3 The passage begins with a Markdown heading that shares as many words as the sentence."""
    (citation,) = verify("Informe del puente de Arenal: se cerró [1].", passages()).citations
    assert citation.quote == "El puente de Arenal se cerró el 3 de mayo de 2024 tras la riada."


def test_a_statement_without_a_mark_gets_the_passage_that_carries_it() -> None:
    """R8.4 Beside its own marks: the answer's marks stay as they are."""
    checked = verify("El puente se cerró [1]. La reparación costó 9.240 euros.", passages())
    assert checked.unsupported_statements == ()
    assert [citation.statement for citation in checked.citations] == ["El puente se cerró"]
    (implied,) = checked.statements[1].citations
    assert (implied.implied, implied.number) == (True, 1)
    assert implied.quote == "La reparación costó 9.240 euros y duró seis semanas."


def test_a_statement_that_nothing_carries_is_flagged() -> None:
    """R8.4 unsupported statement → flagged, with or without a mark."""
    checked = verify("El alcalde inauguró la piscina. La reparación costó 9.240 euros [1].", passages())
    assert checked.unsupported_statements == ("El alcalde inauguró la piscina.",)
    assert (checked.statements[0].citations, len(checked.citations)) == ((), 1)


def test_one_passage_is_enough_to_carry_a_statement() -> None:
    """R8.4 Two marks, one of them right: the statement is not flagged, the wrong citation is."""
    checked = verify("La reparación costó 9.240 euros [1][2].", passages())
    assert [citation.status for citation in checked.citations] == [Support.SUPPORTED, Support.UNSUPPORTED]
    assert checked.unsupported_statements == ()


def test_an_answer_of_nothing_but_marks_states_nothing() -> None:
    """R8.4 No statement, no citation, nothing to flag."""
    checked = verify("[1]", passages())
    assert (checked.citations, checked.unsupported_statements) == ((), ())


def test_quotation_in_another_language_is_supported() -> None:
    """R8.4 word for word holds in every language, also after a lead of ours."""
    statement = (
        "The documents, in another language, say: El puente de Arenal se cerró el 3 de mayo de 2024 tras la riada. [1]"
    )
    (citation,) = verify(statement, passages()).citations
    assert (citation.status, citation.score) == (Support.SUPPORTED, 1.0)


def test_nothing_is_a_mark_where_nothing_can_be_cited() -> None:
    """R8.10 plain chat keeps its subscripts."""
    marks = MarkFilter(0)
    assert marks.feed("x = a[0] + b[1]") + marks.flush() == "x = a[0] + b[1]"
