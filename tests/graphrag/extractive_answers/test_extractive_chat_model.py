"""The chat model without a model: a brief in, an answer out, at once or in tokens."""

from datetime import date

import pytest
from langchain_core.messages import HumanMessage

from graphrag.extractive_answers.chat_model import ExtractiveChatModel, brief
from graphrag.extractive_answers.statements import Excerpt

ANSWER = "La reparación costó 1.250 euros. [1]"


def briefed(text: str) -> HumanMessage:
    return HumanMessage(
        "¿Cuánto costó la reparación?",
        additional_kwargs=brief(
            "¿Cuánto costó la reparación?",
            language="es",
            parts=(),
            excerpts=[Excerpt(1, "Informe", text, "es")],
            not_found="Nada.",
            lead="Dicen:",
            no_part="Sin respuesta: {part}.",
            today=date(2026, 1, 29),
        ),
    )


async def test_what_is_streamed_is_what_is_answered() -> None:
    """R8.8, R8.9 Token by token, in the loop or outside it."""
    model, messages = ExtractiveChatModel(), [briefed("La reparación costó 1.250 euros. Duró tres días.")]
    pieces = [chunk.text async for chunk in model.astream(messages)]
    assert len(pieces) > 3
    assert "".join(pieces) == "".join(chunk.text for chunk in model.stream(messages)) == ANSWER
    assert model.invoke(messages).text == (await model.ainvoke(messages)).text == ANSWER


def test_nothing_that_answers_is_said_as_told() -> None:
    """R8.5"""
    assert ExtractiveChatModel().invoke([briefed("La boda fue ayer.")]).text == "Nada."


def test_a_prompt_without_a_brief_is_a_mistake() -> None:
    """R8.8 It reads no words of a prompt."""
    with pytest.raises(ValueError, match="brief"):
        ExtractiveChatModel().invoke([HumanMessage("¿Cuánto costó la reparación?")])
