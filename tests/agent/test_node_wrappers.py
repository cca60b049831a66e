"""The graph as LangGraph Studio runs it: stopped before any node, it goes on with all that came before."""

import json
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import MemorySaver
from langgraph.errors import InvalidUpdateError
from langgraph.graph.state import CompiledStateGraph
from pydantic import TypeAdapter

from agent.context import Context
from agent.conversation.threads import SERIALIZER
from agent.graph import studio_graph
from agent.state import Output
from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.models import Collection, Passage
from graphrag.services import Services
from graphrag.testing.in_memory_store import InMemoryStore
from tests.agent.library import open_library

CAUSE = {"messages": [HumanMessage("¿Por qué se cerró el puente de Arenal?")]}
NODES = ["transform", "retrieve", "rerank", "traverse", "expand", "generate", "verify"]
STATE = ["query", "collections", "config", "evidence", "passages", "paths", "verification", "degraded"]
PLACE = RunnableConfig(configurable={"thread_id": "one"})


@pytest.fixture
async def library(registry: EmbeddingRegistry) -> Services:
    return await open_library(registry, store=InMemoryStore())


@pytest.fixture
def graph() -> CompiledStateGraph[Any, Context, Any, Any]:
    """What a checkpoint holds of ours is plain values: this serializer makes no others."""
    return studio_graph.copy(update={"checkpointer": MemorySaver(serde=SERIALIZER)})


async def stop_before(name: str, graph: CompiledStateGraph[Any, Context, Any, Any], services: Services) -> Any:
    await graph.ainvoke(CAUSE, PLACE, context=Context(services=services), interrupt_before=[name])
    return (await graph.aget_state(PLACE)).values


@pytest.mark.parametrize("name", NODES)
async def test_a_stop_changes_nothing(
    library: Services, graph: CompiledStateGraph[Any, Context, Any, Any], name: str
) -> None:
    """R8.9"""
    await stop_before(name, graph, library)
    assert (await graph.aget_state(PLACE)).next == (name,)
    went_on = await graph.ainvoke(None, PLACE, context=Context(services=library), output_keys=STATE)
    whole = await studio_graph.ainvoke(CAUSE, context=Context(services=library), output_keys=STATE)
    for key in STATE:
        assert went_on[key] == whole[key], key


async def test_what_a_person_edits_is_read_as_what_it_is(
    library: Services, graph: CompiledStateGraph[Any, Context, Any, Any]
) -> None:
    """R8.4 Studio sends JSON."""
    values = await stop_before("generate", graph, library)
    first = json.loads(TypeAdapter(list[Passage]).dump_json(values["passages"][:1]))
    await graph.aupdate_state(PLACE, {"passages": first}, as_node="expand")
    state = await graph.ainvoke(None, PLACE, context=Context(services=library))
    assert state["passages"] == values["passages"][:1]
    with pytest.raises(InvalidUpdateError, match="passages"):
        await graph.aupdate_state(PLACE, {"passages": [{"content": "made up"}]}, as_node="expand")


async def test_nobody_writes_a_collection_into_the_state(
    library: Services, graph: CompiledStateGraph[Any, Context, Any, Any]
) -> None:
    """Security 7: whose is searched is found out from who asks."""
    values = await stop_before("rerank", graph, library)
    foreign = json.loads(TypeAdapter(Collection).dump_json(values["collections"][0])) | {"owner_id": "somebody else"}
    with pytest.raises(InvalidUpdateError, match="context's to say"):
        await graph.aupdate_state(PLACE, {"collections": [foreign]}, as_node="retrieve")


async def test_a_checkpoint_holds_nothing_of_what_was_only_found(
    library: Services, graph: CompiledStateGraph[Any, Context, Any, Any]
) -> None:
    """R9.1 The candidates would be three quarters of its bytes."""
    await graph.ainvoke(CAUSE, PLACE, context=Context(services=library))
    checkpoints = [checkpoint.values async for checkpoint in graph.aget_state_history(PLACE)]
    assert len(checkpoints) == len(NODES) + 2
    assert not any("candidates" in values for values in checkpoints)
    assert checkpoints[0]["evidence"]


async def test_a_run_returns_the_answer(library: Services) -> None:
    """R8.4 What a caller needs of the state, not how the answer came about."""
    returned = await studio_graph.ainvoke(CAUSE, context=Context(services=library))
    assert returned["verification"].citations
    assert set(returned) == set(Output.__annotations__) - {"structured"}  # nobody asked for JSON
