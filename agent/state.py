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
from graphrag.models import Collection, Hit, Passage, TransformedQuery
from graphrag.models.graph import CausalPath
from graphrag.query_transformation.tasks import TaskReading
from graphrag.table_queries.answers import ComputedAnswer

MAX_MESSAGES = 100  # the latest, in a thread: each checkpoint holds them all anew, and no prompt shows as many


def add_to_recent(known: list[AnyMessage], new: list[AnyMessage]) -> list[AnyMessage]:
    return cast(list[AnyMessage], add_messages(cast(Messages, known), cast(Messages, new)))[-MAX_MESSAGES:]


class Input(TypedDict):
    messages: Annotated[list[AnyMessage], add_to_recent]


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_to_recent]
    question: Annotated[str, Field(description="As the person wrote it")]
    task: Annotated[TaskReading, Field(description="What the message asks Causeway to do"), UntrackedValue]
    query: Annotated[TransformedQuery, Field(description="What was understood of the question"), UntrackedValue]
    collection: Annotated[Collection, Field(description="Collection that is searched"), UntrackedValue]
    config: Annotated[RetrievalConfig, Field(description="Settings of the search"), UntrackedValue]
    candidates: Annotated[list[Hit], Field(description="Chunks that were found, the best first"), UntrackedValue]
    files: Annotated[tuple[str, ...], Field(description="Files that the question names"), UntrackedValue]
    warnings: Annotated[list[str], Field(description="What the person is to know of the answer"), UntrackedValue]
    paths: Annotated[list[CausalPath], Field(description="Chains of causes and effects"), UntrackedValue]
    evidence: Annotated[list[Hit], Field(description="The chunks that are read"), UntrackedValue]
    passages: Annotated[
        list[Passage], Field(description="Passages for the prompt: evidence with its context"), UntrackedValue
    ]
    computed: Annotated[
        ComputedAnswer | None, Field(description="Answer that was computed from whole tables"), UntrackedValue
    ]
    chat_model: Annotated[str | None, Field(description="Name of the model that wrote the answer"), UntrackedValue]
    verification: Annotated[Verification, Field(description="What the passages say to each statement"), UntrackedValue]
    degraded: Annotated[
        list[str], Field(description="Stages that failed in this turn, without which it was answered"), operator.add
    ]
