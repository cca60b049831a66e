"""What of a request of OpenAI's clients is asked of the graph, what is refused, and what is passed over."""

from dataclasses import dataclass

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from agent.state import MOST_MESSAGES
from api.footnotes import without_footnotes
from api.openai_schemas import ChatMessage, CompletionRequest
from graphrag.characters import visible
from graphrag.errors import UnsupportedParameter

MOST_INSTRUCTIONS = 4_000  # characters, as a collection's own system prompt may have
MOST_EARLIER_CHARS = 20_000  # of one message: no prompt shows as much, and finding the topic takes 2 s a million
# What would change the answer of OpenAI's models. Clients send some of it by default, so it is no error.
NOT_USED = (
    "temperature",
    "top_p",
    "max_tokens",
    "max_completion_tokens",
    "stop",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "reasoning_effort",
    "verbosity",
    "prediction",
    "web_search_options",
)


@dataclass(frozen=True, slots=True)
class Asked:
    messages: list[AnyMessage]  # the last is the question
    instructions: str
    warnings: list[str]


def read_request(body: CompletionRequest) -> Asked:
    """Raises UnsupportedParameter."""
    _refuse(body)
    said = [message for message in body.messages if message.role in ("user", "assistant")]
    told = [visible(message.text).strip() for message in body.messages if message.role in ("system", "developer")]
    instructions = "\n\n".join(filter(None, told))
    given = body.model_extra or {}
    warnings = [f"{name} is not used" for name in NOT_USED if given.get(name) not in (None, [], {})]
    if any(message.other_parts for message in said):
        warnings.append("only the text of earlier messages is read")
    if any(message.role in ("tool", "function") for message in body.messages):
        warnings.append("messages of tools are not read")
    if len(instructions) > MOST_INSTRUCTIONS:
        warnings.append(f"system messages of more than {MOST_INSTRUCTIONS} characters are not used")
        instructions = ""
    return Asked(_messages(said[-MOST_MESSAGES:]), instructions, warnings)


def _refuse(body: CompletionRequest) -> None:
    refused = {
        "n": body.n not in (None, 1),
        "tools": bool(body.tools),
        "functions": bool(body.functions),
        "response_format": body.response_format is not None and body.response_format.type != "text",
        "logprobs": bool(body.logprobs),
        "modalities": body.modalities not in (None, [], ["text"]),
    }
    question = next(message for message in reversed(body.messages) if message.role == "user")
    for name in (name for name, is_refused in refused.items() if is_refused):
        raise UnsupportedParameter(f"{name} is not supported here.", param=name)
    for kind in question.other_parts:
        raise UnsupportedParameter("A question is text alone.", param=f"messages.content.{kind}")


def _messages(said: list[ChatMessage]) -> list[AnyMessage]:
    earlier = [(message.role, visible(message.text)) for message in said[:-1]]
    history: list[AnyMessage] = [
        HumanMessage(text[:MOST_EARLIER_CHARS])
        if role == "user"
        else AIMessage(without_footnotes(text)[:MOST_EARLIER_CHARS])
        for role, text in earlier
        if text.strip()
    ]
    return [*history, HumanMessage(said[-1].text)]
