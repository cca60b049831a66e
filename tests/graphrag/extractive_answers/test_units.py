"""Units of excerpts: lists, rows, definitions, bodies of questions, front matter; how they are shown."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.extractive_answers.statements import Excerpt
from graphrag.extractive_answers.units import (
    AnswerUnit,
    asks_for_list,
    asks_for_procedure,
    gather_list,
    present_list,
    read_units,
)
from graphrag.models import Span

NUMBERED = "# Reset\n\nTo reset the meter:\n\n1. Open the lid.\n2. Press the red button.\n3. Close the lid.\n"


def read(text: str, language: str = "en", *, start_char: int = 0) -> list[AnswerUnit]:
    return read_units(Excerpt(1, "Notes", text, language, start_char))


def of_kind(units: list[AnswerUnit], kind: str) -> list[str]:
    return [unit.text for unit in units if unit.kind == kind]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("The following are required:\n\n- a passport\n- two photos\n- a form\n", 3),
        ("Il faut :\n* un passeport\n* deux photos\n", 2),
        ("Se acuerda:\naplazar la obra\ncomprar una bomba\navisar al seguro\n", 3),
        ("Needed:\n\n- papers\n  - a passport\n  - a visa\n- money\n", 4),
    ],
)
def test_a_lead_in_and_its_items_are_a_list(text: str, count: int) -> None:
    """R8: a list is quoted whole, beside its items, which know the words of their lead-in."""
    units = read(text)
    (whole,) = [unit for unit in units if unit.kind == "list"]
    assert len(whole.items) == count
    assert of_kind(units, "item") == [item.text for item in whole.items]
    assert all(unit.lead == whole.lead and unit.lead in text for unit in units)


def test_nested_items_know_their_depth() -> None:
    """R8: nested items are shown below the one that they belong to."""
    (whole,) = [unit for unit in read("Needed:\n\n- papers\n  - a visa\n- money\n") if unit.kind == "list"]
    assert [item.depth for item in whole.items] == [0, 1, 0]
    assert "(2):\n\n- papers [1]\n   - a visa [1]\n- money [1]" in present_list("?", [whole], language="en")


@pytest.mark.parametrize(
    "text",
    [
        "## Quelles pièces fournir ?\n\nUne facture suffit.\n",
        "**How long does it take?**\n\nOne bill is enough.\n",
        "¿Qué hay que llevar?\n\nBasta con una factura.\n",
        "Quelles pièces fournir (passeport, visa…) ? :\n\nUne facture suffit.\n",
    ],
)
def test_a_question_is_no_answer_but_its_body_inherits_its_words(text: str) -> None:
    """R8: the body below a question answers it; the bare question never does."""
    question, body, *_ = read(text)
    assert question.kind == "question"
    assert not question.is_answer
    assert body.kind == "body"
    assert body.is_answer
    assert question.text.rstrip(" :\n") in body.inherited


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("If the loss took place abroad\nYou must tell the nearest consulate.\n", "If the loss took place abroad"),
        (
            "1. Presupuesto. Marta explica que el temporal de diciembre levantó parte de la cubierta. La reparación ha "
            "costado 58.400 euros. El seguro paga la mitad, y la otra mitad sale de los repuestos de este año, que "
            "bajan de 62.000 a 41.000 euros, según dijo ella.\n2. Ruegos. No hay.\n",
            "Presupuesto.",
        ),
    ],
)
def test_what_stands_over_sentences_as_their_title_is_a_heading(text: str, heading: str) -> None:
    """R8: a line over its paragraph, and the title that an item begins with, are no answers; what follows inherits."""
    units = read(text)
    assert of_kind(units, "heading") == [heading]
    following = next(unit for unit in units[[unit.kind for unit in units].index("heading") + 1 :] if unit.is_answer)
    assert heading.rstrip(".") in following.inherited


def test_rows_of_markdown_have_their_columns() -> None:
    """R8: each row of a table is a statement, however short; its header and its rule are none."""
    units = read("# Costs\n\n| Item | Sum |\n|---|---|\n| Paint | £150 |\n| Total | £3,150 |\n")
    rows = [unit for unit in units if unit.kind == "row"]
    assert [row.text for row in rows] == ["Item: Paint; Sum: £150", "Item: Total; Sum: £3,150"]
    assert [unit.text for unit in units if unit.is_answer] == [row.text for row in rows]
    shown = present_list("What did it cost?", rows, language="en")
    assert shown == "| Item | Sum |\n|---|---|\n| Paint | £150 [1] |\n| Total | £3,150 [1] |"


def test_rows_of_a_spreadsheet_have_their_columns() -> None:
    """R8: rows of spreadsheets are read as those of Markdown are."""
    text = "Mes: junio; Ventas: 12\nMes: julio; Ventas: 14\n"
    excerpt = Excerpt(2, "Ventas", text, "es", rows=(Span(0, 22), Span(23, 45)), headers=("Mes", "Ventas"))
    units = read_units(excerpt)
    assert [unit.cells for unit in units] == [
        (("Mes", "junio"), ("Ventas", "12")),
        (("Mes", "julio"), ("Ventas", "14")),
    ]


@pytest.mark.parametrize(
    "text", ["**Lead time**: six weeks.", "Délai : six semaines", "Churn — the share of lost users."]
)
def test_a_term_and_its_text_are_a_definition(text: str) -> None:
    """R8: a label and its value stay together."""
    (unit,) = read(text, start_char=500)
    assert unit.kind == "definition"
    assert unit.lead in ("Lead time", "Délai", "Churn")


@pytest.mark.parametrize(
    ("text", "front"),
    [
        ("From: Ida Brook\nTo: Max Hill\nDate: 3 May 2019\n\nThe pump broke in the night.\n", 3),
        ("De : Zoé Lacroix\nÀ : Noé Petit\nDate : 3 mai 2019\n\nLa pompe a cassé dans la nuit.\n", 3),
        ("De: Sol Vega\nPara: Leo Paz\nFecha: 3 de mayo de 2019\n\nLa bomba se rompió de noche.\n", 3),
    ],
)
def test_front_matter_is_flagged(text: str, front: int) -> None:
    """R8: who wrote a document, to whom and when answers no question about its subject."""
    units = read(text)
    assert [unit.kind for unit in units] == ["front_matter"] * front + ["sentence"]
    assert [unit.is_answer for unit in units] == [False] * front + [True]


def test_sentences_without_a_space_between_are_split() -> None:
    """R8: one sentence is quoted where the space after a full stop is missing."""
    assert len(of_kind(read("The pump was repaired on Monday.Then the line started again."), "sentence")) == 2


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which deliveries are late?", True),
        ("¿Qué documentos necesito?", True),
        ("What machines broke in 2025?", True),
        ("Quelles pièces faut-il fournir ?", True),
        ("¿Cuáles son los requisitos?", True),
        ("Which supplier was late?", False),
        ("What is the price?", False),
        ("¿Qué día llegó?", False),
        ("Quel est le prix ?", False),
        ("Who signed the contract?", False),
    ],
)
def test_questions_that_ask_for_lists(question: str, expected: bool) -> None:
    """R8: a question in the plural asks for several things."""
    assert asks_for_list(question) is expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How do I reset the meter?", True),
        ("Comment faire pour m'inscrire ?", True),
        ("Comment renouveler un passeport ?", True),
        ("¿Cómo se cambia el filtro?", True),
        ("¿Cómo puedo pedirlo?", True),
        ("How did it happen?", False),
        ("How long does it take?", False),
        ("Comment s'appelle le maire ?", False),
        ("¿Cómo acabó la reunión?", False),
    ],
)
def test_questions_that_ask_for_procedures(question: str, expected: bool) -> None:
    """R8: a question about how to do something asks for steps."""
    assert asks_for_procedure(question) is expected


def test_a_procedure_is_shown_as_steps() -> None:
    """R8: numbered steps keep their order, each with its mark."""
    (whole,) = [unit for unit in read(NUMBERED) if unit.kind == "list"]
    shown = present_list("How do I reset the meter?", [whole], language="en")
    assert (
        shown == "To reset the meter (3):\n\n1. Open the lid. [1]\n2. Press the red button. [1]\n3. Close the lid. [1]"
    )


def test_a_long_list_is_cut_and_says_so() -> None:
    """R8: an answer stays short and says how much it leaves out."""
    (whole,) = [unit for unit in read("Needed:\n\n" + "- a thing\n" * 15) if unit.kind == "list"]
    shown = present_list("?", [whole], language="fr")
    assert shown.count("[1]") == 12
    assert shown.endswith("… et 3 de plus")


def test_a_list_is_gathered_from_siblings() -> None:
    """R8: sentences of several sections that say the same of other things make a list; weak ones stay out."""
    text = (
        "# Log\n\n## May\n\nThe press broke after a short circuit. Lunch was late.\n\n"
        "## June\n\nThe oven broke in the night.\n\n## July\n\nThe new canteen opened its doors.\n"
    )
    units = read(text)
    scores = [1.0 if "broke" in unit.text else 0.7 if unit.is_answer else 2.0 for unit in units]
    found = gather_list("Which machines broke?", units, scores, language="en", titles={})
    assert [unit.text.split()[1] for unit in found] == ["press", "oven"]


@given(st.text(alphabet="ab .?:|-*#1\n\t—é", max_size=300))
def test_units_lie_within_the_text_and_apart(text: str) -> None:
    """R8: a unit can be cited: its spans lie in the text; but for lists and bodies they do not overlap."""
    units = read(text)
    spans = [span for unit in units if unit.kind not in ("list", "body") for span in unit.spans]
    assert all(0 <= span.start < span.end <= len(text) for unit in units for span in unit.spans)
    assert all(one.end <= other.start for one, other in pairwise(spans))


@pytest.mark.parametrize(
    "text", ["a" * 300_000, "- a\n" * 30_000, "a: b\n" * 30_000, "a? " * 50_000, "| a |\n" * 30_000]
)
def test_reading_is_linear(text: str) -> None:
    """R8: hostile documents do not hold up an answer."""
    begun = time.thread_time()
    read(text)
    assert time.thread_time() - begun < 10
