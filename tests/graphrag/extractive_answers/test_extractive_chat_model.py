"""The chat model without a model: an answer's prompt in, an answer out, at once or in tokens."""

from datetime import date

import pytest
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from graphrag.extractive_answers.chat_model import ExtractiveChatModel
from graphrag.extractive_answers.composition import OWN_SENTENCES
from graphrag.extractive_answers.prompt_format import AnswerPrompt, QuestionAnalysis, date_line, render_prompt
from graphrag.extractive_answers.statements import Excerpt
from graphrag.models import Intent
from tests.answering import unsure_answers as unsure_answers

pytestmark = pytest.mark.usefixtures("unsure_answers")

ANSWER = "**1.250 euros** — La reparación costó 1.250 euros. [1]"
QUESTION = "¿Cuánto costó la reparación?"
PLAIN = QuestionAnalysis()


def prompt_with(
    *texts: str, question: str = QUESTION, analysis: QuestionAnalysis = PLAIN, language: str = "es"
) -> list[BaseMessage]:
    excerpts = tuple(Excerpt(number, "Informe", text, "es") for number, text in enumerate(texts, start=1))
    rules = f"Responde.\n\n{date_line(language, date(2026, 1, 29))}"
    return [SystemMessage(rules), HumanMessage(render_prompt(AnswerPrompt(question, analysis, excerpts)))]


def answer(messages: list[BaseMessage]) -> str:
    return ExtractiveChatModel().invoke(messages).text


async def test_what_is_streamed_is_what_is_answered() -> None:
    """R8.8, R8.9 Token by token, in the loop or outside it."""
    model, messages = ExtractiveChatModel(), prompt_with("La reparación costó 1.250 euros. Duró tres días.")
    pieces = [chunk.text async for chunk in model.astream(messages)]
    assert len(pieces) > 3
    assert "".join(pieces) == "".join(chunk.text for chunk in model.stream(messages)) == ANSWER
    assert model.invoke(messages).text == (await model.ainvoke(messages)).text == ANSWER


@pytest.mark.parametrize("language", OWN_SENTENCES)
def test_nothing_that_answers_is_said_in_the_language_of_the_prompt(language: str) -> None:
    """R8.5"""
    assert answer(prompt_with("Los patos migran en otoño.", language=language)) == OWN_SENTENCES[language].not_found


def test_only_the_words_of_the_messages_are_read() -> None:
    """R8.8 It knows no more than any model: messages that went through JSON get the same answer."""
    messages = prompt_with("La reparación costó 1.250 euros.")
    copies = [type(message)(str(message.content)) for message in messages]
    assert answer(copies) == answer(messages) == ANSWER


def test_a_follow_up_is_answered_as_it_is_worded_alone() -> None:
    """R6.3 The history is not read."""
    analysis = QuestionAnalysis(standalone=QUESTION)
    assert answer(prompt_with("La reparación costó 1.250 euros.", question="¿Y cuánto?", analysis=analysis)) == ANSWER


def test_each_part_is_answered() -> None:
    """R8.4 Those that the prompt names."""
    parts = ("¿Cuánto costó la reparación?", "¿Quién pintó la valla azul?")
    texts = "La reparación costó 1.250 euros.", "La valla azul la pintó Ruiz."
    question = "¿Cuánto costó la reparación y quién pintó la valla azul?"
    said = answer(prompt_with(*texts, question=question, analysis=QuestionAnalysis(parts=parts)))
    assert [line.rpartition(" ")[2] for line in said.splitlines()] == ["[1]", "[2]"]


def test_a_comparison_tells_what_its_parts_differ_by() -> None:
    """R8.4 The intent is read from the prompt."""
    parts = ("¿Cuánto costó el puente de Arenal?", "¿Cuánto costó el puente de Olmos?")
    texts = "El puente de Arenal costó 900 euros.", "El puente de Olmos costó 400 euros."
    question = "¿Qué costó más, el puente de Arenal o el puente de Olmos?"
    analysis = QuestionAnalysis(Intent.COMPARATIVE, parts=parts)
    said = answer(prompt_with(*texts, question=question, analysis=analysis))
    assert len(said.splitlines()) == 3
    assert "500" in said.splitlines()[-1]


def test_messages_without_a_date_are_no_prompt_of_an_answer() -> None:
    """R8.8 Another task's prompt is refused, not answered with nonsense."""
    with pytest.raises(ValueError, match="prompts of answers"):
        ExtractiveChatModel().invoke([HumanMessage(QUESTION)])


def test_a_question_without_documents_is_told_what_to_configure() -> None:
    """R8.10"""
    messages = [SystemMessage(date_line("fr", date(2026, 1, 29))), HumanMessage("Bonjour")]
    assert answer(messages) == OWN_SENTENCES["fr"].no_chat_model
