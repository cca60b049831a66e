"""READ FIRST. How a question becomes an answer: nodes, edges, and the two places where the way parts."""

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from agent import nodes
from agent.context import Context
from agent.state import Input, State
from graphrag.models import Intent


def choose_sources(state: State, runtime: Runtime[Context]) -> list[str]:
    """Plain chat needs no document; a causal or multi-part question also follows the graph."""
    if not (runtime.context.rag_enabled and runtime.context.services.settings.enabled):
        return ["generate"]
    query = state["query"]
    return ["retrieve", "traverse"] if query.intent is Intent.CAUSAL or query.is_complex else ["retrieve"]


def has_evidence(state: State) -> str:
    return "generate" if state["passages"] else "refuse"


def build_graph() -> CompiledStateGraph[State, Context, Input, State]:
    builder = StateGraph(State, context_schema=Context, input_schema=Input)
    builder.add_node("transform", nodes.transform)
    builder.add_node("retrieve", nodes.retrieve)
    builder.add_node("traverse", nodes.traverse)
    builder.add_node("rerank", nodes.rerank)
    builder.add_node("expand", nodes.expand)
    builder.add_node("generate", nodes.generate)
    builder.add_node("refuse", nodes.refuse)
    builder.add_node("verify", nodes.verify)

    builder.add_edge(START, "transform")
    builder.add_conditional_edges("transform", choose_sources, ["retrieve", "traverse", "generate"])
    builder.add_edge("retrieve", "rerank")
    builder.add_edge("traverse", "rerank")
    builder.add_edge("rerank", "expand")
    builder.add_conditional_edges("expand", has_evidence, ["generate", "refuse"])
    builder.add_edge("generate", "verify")
    builder.add_edge("verify", END)
    builder.add_edge("refuse", END)
    return builder.compile(name="causeway")


graph = build_graph()
