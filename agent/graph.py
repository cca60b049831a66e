"""READ FIRST. How a question becomes an answer: nodes, edges, and the three places where the way parts."""

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from agent import nodes
from agent.context import Context
from agent.node_spans import in_span
from agent.preparation import preparing
from agent.state import Input, State
from graphrag.models import Intent


def searches(state: State, runtime: Runtime[Context]) -> str:
    """Plain chat needs no document."""
    is_on = runtime.context.rag_enabled and runtime.context.services.settings.enabled
    return "retrieve" if is_on else "generate"


def follows_causes(state: State) -> str:
    """A causal question, or one of several parts or hops, also follows the causal graph, from what was found on."""
    query = state["query"]
    return "traverse" if query.intent is Intent.CAUSAL or query.is_complex or query.is_multi_hop else "expand"


def has_evidence(state: State) -> str:
    return "generate" if state["passages"] else "refuse"


def build_graph() -> CompiledStateGraph[State, Context, Input, State]:
    builder = StateGraph(State, context_schema=Context, input_schema=Input)
    builder.add_node("transform", preparing(nodes.transform))
    builder.add_node("retrieve", preparing(nodes.retrieve))
    builder.add_node("rerank", preparing(nodes.rerank))
    builder.add_node("traverse", preparing(nodes.traverse))
    builder.add_node("expand", preparing(nodes.expand))
    builder.add_node("generate", in_span(nodes.generate))
    builder.add_node("refuse", in_span(nodes.refuse))
    builder.add_node("verify", in_span(nodes.verify))

    builder.add_edge(START, "transform")
    builder.add_conditional_edges("transform", searches, ["retrieve", "generate"])
    builder.add_edge("retrieve", "rerank")
    builder.add_conditional_edges("rerank", follows_causes, ["traverse", "expand"])
    builder.add_edge("traverse", "expand")
    builder.add_conditional_edges("expand", has_evidence, ["generate", "refuse"])
    builder.add_edge("generate", "verify")
    builder.add_edge("verify", END)
    builder.add_edge("refuse", END)
    return builder.compile(name="causeway")


graph = build_graph()
