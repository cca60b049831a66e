"""READ FIRST. Graph of an answer: its nodes, its edges and its conditional edges, of which the first is the task."""

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from agent import nodes
from agent.context import Context
from agent.node_wrappers import in_span, keep_debug_state, preparing
from agent.state import Input, Output, State
from agent.tasks.last_answer import last_cited
from graphrag.models import Intent
from graphrag.query_transformation.tasks import Task


def find_route(state: State, runtime: Runtime[Context]) -> str:
    """Return what the message asks for: an answer from the documents, or a task of its own."""
    if not runtime.context.searches:
        return "plain chat"
    match state["task"].task:
        case Task.SUMMARISE:
            return "summary"
        case Task.TRANSFORM_ANSWER if last_cited(state["messages"][:-1])[1]:
            return "last answer"
        case Task.SMALL_TALK | Task.ABOUT_CAUSEWAY | Task.CATALOGUE | Task.CANNOT_DO | Task.TRANSFORM_ANSWER:
            return "no search"
    return "with documents"


def is_written(state: State) -> str:
    if state["messages"][-1].type == "ai":
        return "written"
    return "for a model" if state["passages"] else "nothing found"


def needs_traversal(state: State) -> str:
    """Return whether the causal graph is traversed: for causal questions and those of several parts or hops."""
    query = state["query"]
    is_traversed = query.intent is Intent.CAUSAL or query.is_complex or query.is_multi_hop
    return "causal or complex" if is_traversed else "simple"


def build_graph() -> StateGraph[State, Context, Input, Output]:
    builder = StateGraph(State, context_schema=Context, input_schema=Input, output_schema=Output)
    builder.add_node(
        "transform",
        preparing(nodes.transform),
        metadata=node_metadata(
            "Understands the question: its language, intent and parts, and what a follow-up leaves out"
        ),
    )
    builder.add_node(
        "reply",
        in_span(nodes.reply),
        metadata=node_metadata("Small talk, what Causeway is, which documents there are, what it cannot do"),
    )
    builder.add_node(
        "summarise",
        preparing(nodes.summarise),
        metadata=node_metadata("Summarises a document, several or the collection"),
    )
    builder.add_node(
        "recall",
        preparing(nodes.recall),
        metadata=node_metadata("Reads again what the last answer cites, for another form of it"),
    )
    builder.add_node(
        "retrieve",
        preparing(nodes.retrieve),
        metadata=node_metadata("Searches by words and by meaning, and fuses what is found"),
    )
    builder.add_node(
        "rerank",
        preparing(nodes.rerank),
        metadata=node_metadata("Reorders by how well each chunk answers, and follows names to others"),
    )
    builder.add_node(
        "traverse",
        preparing(nodes.traverse),
        metadata=node_metadata("Follows causes and effects through the documents"),
    )
    builder.add_node(
        "expand",
        preparing(nodes.expand),
        metadata=node_metadata(
            "Reads what surrounds each chunk, as much as a prompt holds; asks whole tables what they give"
        ),
    )
    builder.add_node(
        "generate",
        in_span(nodes.generate),
        metadata=node_metadata("Writes the answer from the passages, with citations"),
    )
    builder.add_node("refuse", in_span(nodes.refuse), metadata=node_metadata("Says that the documents hold no answer"))
    builder.add_node(
        "verify",
        in_span(nodes.verify),
        metadata=node_metadata("Checks each statement against the passages that it cites"),
    )

    builder.add_edge(START, "transform")
    builder.add_conditional_edges(
        "transform",
        find_route,
        {
            "with documents": "retrieve",
            "summary": "summarise",
            "last answer": "recall",
            "no search": "reply",
            "plain chat": "generate",
        },
    )
    for task in ("summarise", "recall", "expand"):
        builder.add_conditional_edges(
            task, is_written, {"written": "verify", "for a model": "generate", "nothing found": "refuse"}
        )
    builder.add_edge("reply", END)
    builder.add_edge("retrieve", "rerank")
    builder.add_conditional_edges("rerank", needs_traversal, {"causal or complex": "traverse", "simple": "expand"})
    builder.add_edge("traverse", "expand")
    builder.add_edge("generate", "verify")
    builder.add_edge("verify", END)
    builder.add_edge("refuse", END)
    return builder


def node_metadata(description: str) -> dict[str, Any]:
    """Return a node's metadata, as LangGraph Studio shows them."""
    return {"description": description}


graph: CompiledStateGraph[State, Context, Input, Output] = build_graph().compile(name="causeway")
studio_graph = keep_debug_state(build_graph()).compile(name="causeway")
