"""The last answer in another form, from its text and the passages that it cites."""

from collections.abc import Sequence

import pytest

from agent.tasks.last_answer import rewrite
from graphrag.models import Passage
from tests.factories import make_document

TEXT = (
    "El informe es de mayo. El puente de Arenal se cerró el 3 de mayo. La riada dañó dos pilares. "
    "La reparación costó 9.240 euros. La pagó el concejo."
)


def passages(*texts: str) -> list[Passage]:
    return [Passage(make_document(), 0, 0, len(text), text, ((0, len(text)),), 1.0) for text in texts]


ANSWER = "**9.240 euros** — La reparación costó 9.240 euros. [3] La riada dañó dos pilares. [3]"


@pytest.mark.parametrize(
    ("form", "written"),
    [
        ("shorter", "**9.240 euros** [1]"),
        ("list", "- La reparación costó 9.240 euros. [1]\n- La riada dañó dos pilares. [1]"),
    ],
)
def test_an_answer_is_shortened_or_listed(form: str, written: str) -> None:
    """R6.3 Its marks get the numbers that its passages have now."""
    assert rewrite(ANSWER, form, passages(TEXT), {3: 1}, "es") == written


def test_more_is_told_from_around_each_statement() -> None:
    """R6.3."""
    longer = rewrite("La riada dañó dos pilares. [1]", "longer", passages(TEXT), {1: 1}, "es")
    assert longer.startswith(
        "El puente de Arenal se cerró el 3 de mayo. La riada dañó dos pilares. La reparación costó"
    )


@pytest.mark.parametrize(
    ("answer", "lines"),
    [
        (
            "- Mes: junio; Ventas: 120. [1]\n- Mes: julio; Ventas: 90. [2]",
            ["| Mes | Ventas |", "| --- | --- |", "| junio | 120 [1] |", "| julio | 90 [2] |"],
        ),
        (
            "- Junio: se vendieron 120 cajas. [1]\n- Julio: se vendieron 90 cajas. [2]",
            [
                "|  | Lo que dicen los documentos |",
                "| --- | --- |",
                "| Junio | se vendieron 120 cajas. [1] |",
                "| Julio | se vendieron 90 cajas. [2] |",
            ],
        ),
        (
            "La riada dañó dos pilares. [1]",
            ["| Lo que dicen los documentos |", "| --- |", "| La riada dañó dos pilares. [1] |"],
        ),
    ],
)
def test_an_answer_becomes_a_table(answer: str, lines: Sequence[str]) -> None:
    """R6.3 Rows under their headers, labelled lines in two columns, other statements in one."""
    assert rewrite(answer, "table", passages(TEXT, TEXT), {1: 1, 2: 2}, "es").splitlines() == lines


def test_what_its_passages_no_longer_hold_is_left_out() -> None:
    """R6.3 A document that was deleted since is not quoted again."""
    assert (
        rewrite("Uno es verdad. [1] Otro se borró. [2]", "list", passages(TEXT), {1: 1}, "es") == "- Uno es verdad. [1]"
    )
    assert rewrite("Otro se borró. [2]", "list", passages(TEXT), {1: 1}, "es") == ""
