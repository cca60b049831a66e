"""Statements of an answer: what is checked, and what states nothing of the documents."""

import pytest

from agent.verification.statements import find_statements

TABLE = """\
| Mes | Ventas |
| --- | ---: |
| junio | 120 € [1] |
| Total | 3.150 € [2] |
"""


def texts(answer: str) -> list[str]:
    return [statement.text for statement in find_statements(answer) if statement.states]


def test_the_head_of_a_table_states_nothing() -> None:
    """R8.4 Its rows do, each with its marks, however few words they have."""
    assert texts(TABLE) == ["| junio | 120 € |", "| Total | 3.150 € |"]
    assert [statement.numbers for statement in find_statements(TABLE)] == [(1,), (2,)]


@pytest.mark.parametrize("sign", ["- ", "* ", "• ", "1. ", "2) ", "> ", "> - "])
def test_the_sign_of_an_item_or_a_quotation_is_no_part_of_its_statement(sign: str) -> None:
    """R8.4."""
    assert texts(f"{sign}La bomba se cambió en mayo. [1]\n") == ["La bomba se cambió en mayo."]


def test_formulas_and_code_state_nothing() -> None:
    """R8.4."""
    assert texts("Se suman los meses. [1]\n\n$$ 120 + 30 = 150 $$\n\n```\nx = 1\n```\n") == ["Se suman los meses."]


def test_a_hostile_answer_takes_linear_time() -> None:
    """R8.4 A million signs of tables, formulas and code are read at once."""
    for piece in ("|", "| --- ", "$$ ", "> ", "1. ", "``` ", "|-|\n"):
        list(find_statements(piece * (200_000 // len(piece))))
