"""What the nodes hand to each other. Messages and the question are kept with the thread; stage outputs are not."""

import operator
from typing import Annotated, cast

from langchain_core.messages import AnyMessage
from langgraph.channels import UntrackedValue
from langgraph.graph.message import Messages, add_messages
from typing_extensions import TypedDict

from agent.verification.checking import Verification
from graphrag.graph_models import CausalPath
from graphrag.models import Collection, Hit, Passage, TransformedQuery
from graphrag.settings import RetrievalConfig

MOST_MESSAGES = 100  # the latest, in a thread: each checkpoint holds them all anew, and no prompt shows as many


def add_to_recent(known: list[AnyMessage], new: list[AnyMessage]) -> list[AnyMessage]:
    return cast(list[AnyMessage], add_messages(cast(Messages, known), cast(Messages, new)))[-MOST_MESSAGES:]


class Input(TypedDict):
    messages: Annotated[list[AnyMessage], add_to_recent]


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_to_recent]
    question: str  # as the person wrote it
    query: Annotated[TransformedQuery, UntrackedValue]
    collection: Annotated[Collection, UntrackedValue]
    config: Annotated[RetrievalConfig, UntrackedValue]
    candidates: Annotated[list[Hit], UntrackedValue]
    files: Annotated[tuple[str, ...], UntrackedValue]  # that the question names
    warnings: Annotated[list[str], UntrackedValue]
    paths: Annotated[list[CausalPath], UntrackedValue]
    evidence: Annotated[list[Hit], UntrackedValue]
    passages: Annotated[list[Passage], UntrackedValue]
    chat_model: Annotated[str | None, UntrackedValue]  # that wrote the answer, by name
    verification: Annotated[Verification, UntrackedValue]
    degraded: Annotated[list[str], operator.add]  # the stages that failed and were done without, this turn
