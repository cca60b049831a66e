"""What of a client's messages is read."""

from typing import Any

from langchain_core.messages import AIMessage, HumanMessage

from agent.state import MAX_MESSAGES
from api.openai.answers import MOST_EARLIER_CHARS, OpenAIQuestion, read_request
from api.openai.schemas import CompletionRequest


def read(*messages: tuple[str, Any]) -> OpenAIQuestion:
    asked = [{"role": role, "content": content} for role, content in messages]
    return read_request(CompletionRequest.model_validate({"model": "demo", "messages": asked}))


def test_the_last_of_a_long_chat_are_read() -> None:
    """R8.1 A client sends a chat whole, however long it has become."""
    chat = [("user" if number % 2 == 0 else "assistant", f"message {number}") for number in range(1_001)]
    asked = read(("system", "Be brief."), *chat)
    assert len(asked.messages) == MAX_MESSAGES
    assert (asked.messages[0].text, asked.messages[-1].text) == ("message 901", "message 1000")
    assert isinstance(asked.messages[0], AIMessage)
    assert asked.instructions == "Be brief."


def test_earlier_messages_are_cut_and_cleaned() -> None:
    """Security 16: what is not shown to the model costs no time; R8.1 an empty one is none."""
    asked = read(("user", "a\u202eb\0" + "x" * 1_000_000), ("assistant", None), ("assistant", " "), ("user", "Why?"))
    first, question = asked.messages
    assert first.text == "ab" + "x" * (MOST_EARLIER_CHARS - 2)
    assert question == HumanMessage("Why?")


def test_the_question_is_checked_as_it_stands() -> None:
    """R9 Nothing is taken out of it before: what is wrong with it is told."""
    assert read(("user", "a\0b")).messages == [HumanMessage("a\0b")]
