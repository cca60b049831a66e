"""What an answer's text says of its outcome, whoever wrote it."""

import pytest

from agent.messages import say
from agent.output.outcomes import Outcome, describe_outcome, read_outcome, read_short_answer
from graphrag.query_transformation.transformation import transform

LANGUAGES = ("es", "fr", "en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_three_outcomes_are_told_apart(language: str) -> None:
    """R8.5."""
    assert read_outcome(say("not_found", language), language) is Outcome.NONE
    assert read_outcome(say("empty_collection", language), language) is Outcome.NONE
    assert read_outcome(f"{say('closest', language)}\n- El puente se cerró. [1]", language) is Outcome.CLOSEST
    assert read_outcome("El puente se cerró en mayo. [1]", language) is Outcome.ANSWERED


@pytest.mark.parametrize(
    ("answer", "short"),
    [
        ("**9.240 euros** — La reparación costó 9.240 euros. [1]", "9.240 euros"),
        ("**Paul Lemaire** [2]", "Paul Lemaire"),
        ("**Paul Lemaire.**\n\nLe directeur est Paul Lemaire. [2]", "Paul Lemaire"),
        ("**May 3, 2024 [1]** — The bridge was closed on May 3, 2024. [1]", "May 3, 2024"),
        ("La reparación costó **9.240 euros**. [1]", ""),
        ("**Bold words** open this sentence. [1]", ""),
        ("", ""),
    ],
)
def test_the_short_answer_is_the_bold_text_that_opens_an_answer(answer: str, short: str) -> None:
    """R8.1 Without marks; bold words within a sentence are none."""
    assert read_short_answer(answer) == short


def test_parts_have_outcomes_of_their_own() -> None:
    """R6.3."""
    query = transform("¿Cuánto costó la reparación y quién la pagó?")
    assert query.is_complex
    lines = ["- Cuánto costó la reparación: **9.240 euros** — Costó 9.240 euros. [1]"]
    lines.append(f"- {say('no_part', 'es').format(part='quién la pagó')}")
    told = describe_outcome("\n".join(lines), query)
    assert [(part["outcome"], part["short_answer"]) for part in told["parts"]] == [
        ("answered", "9.240 euros"),
        ("none", ""),
    ]
    assert told["outcome"] == "answered"


def test_the_parts_of_prose_share_its_outcome() -> None:
    """R6.3 A chat model may answer several parts in one paragraph."""
    query = transform("¿Cuánto costó la reparación y quién la pagó?")
    told = describe_outcome("La reparación costó 9.240 euros y la pagó el concejo. [1]", query)
    assert [part["outcome"] for part in told["parts"]] == ["answered", "answered"]
