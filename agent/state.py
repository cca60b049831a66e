"""State of the graph. Messages and the question are stored with the thread; stage outputs are not."""

import operator
from typing import Annotated, cast

from langchain_core.messages import AnyMessage
from langgraph.channels import UntrackedValue
from langgraph.graph.message import Messages, add_messages
from pydantic import Field
from typing_extensions import TypedDict

from agent.verification.checking import Verification
from graphrag.config.settings import RetrievalConfig
from graphrag.errors import InvalidQuestion
from graphrag.models import Collection, Hit, Passage, TransformedQuery
from graphrag.models.graph import CausalPath
from graphrag.query_transformation.tasks import TaskReading
from graphrag.table_queries.answers import ComputedAnswer

NO_MESSAGES = 'Send the question as messages: {"messages": [{"role": "user", "content": "…"}]}'
MAX_MESSAGES = 100  # the latest, in a thread: each checkpoint holds them all anew, and no prompt shows as many


def add_to_recent(known: list[AnyMessage], new: list[AnyMessage]) -> list[AnyMessage]:
    """Raise InvalidQuestion for what is no list of messages."""
    try:
        messages = cast(list[AnyMessage], add_messages(cast(Messages, known), cast(Messages, new)))
    except (NotImplementedError, ValueError) as exc:
        raise InvalidQuestion(NO_MESSAGES, reason="empty") from exc
    return messages[-MAX_MESSAGES:]


class Input(TypedDict):
    messages: Annotated[list[AnyMessage], add_to_recent]


class Output(TypedDict, total=False):
    """The answer: what of its state a run returns."""

    messages: Annotated[list[AnyMessage], add_to_recent]
    question: Annotated[str, Field(description="As the person wrote it")]
    query: Annotated[TransformedQuery, Field(description="What was understood of the question"), UntrackedValue]
    verification: Annotated[
        Verification,
        Field(description="The answer, its citations, and what the passages say to each statement"),
        UntrackedValue,
    ]
    structured: Annotated[
        Verification,
        Field(description="The answer as JSON, where a schema was given, and what the passages say to its texts"),
        UntrackedValue,
    ]
    passages: Annotated[
        list[Passage], Field(description="Passages for the prompt: evidence with its context"), UntrackedValue
    ]
    paths: Annotated[list[CausalPath], Field(description="Chains of causes and effects"), UntrackedValue]
    computed: Annotated[
        ComputedAnswer | None, Field(description="Answer that was computed from whole tables"), UntrackedValue
    ]
    chat_model: Annotated[str | None, Field(description="Name of the model that wrote the answer"), UntrackedValue]
    warnings: Annotated[list[str], Field(description="What the person is to know of the answer"), UntrackedValue]
    degraded: Annotated[
        list[str], Field(description="Stages that failed in this turn, without which it was answered"), operator.add
    ]


class State(Output, total=False):
    task: Annotated[TaskReading, Field(description="What the message asks Causeway to do"), UntrackedValue]
    collections: Annotated[tuple[Collection, ...], Field(description="Collections that are searched"), UntrackedValue]
    config: Annotated[RetrievalConfig, Field(description="Settings of the search"), UntrackedValue]
    candidates: Annotated[list[Hit], Field(description="Chunks that were found, the best first"), UntrackedValue]
    files: Annotated[tuple[str, ...], Field(description="Files that the question names"), UntrackedValue]
    evidence: Annotated[list[Hit], Field(description="The chunks that are read"), UntrackedValue]
