"""`causeway ask`: an answer with its citations."""

from contextlib import aclosing
from typing import Any

from langchain_core.messages import HumanMessage

from agent.context import Context
from agent.graph import graph
from agent.output.events import stream_answer
from api.cli.terminal import CollectionOption, JsonOption, err, out, print_json, run
from graphrag.query_transformation.transformation import check_question
from graphrag.services import Services


def ask(question: str, collection: CollectionOption = None, as_json: JsonOption = False) -> None:
    """Answer a question, then list its citations."""
    run(lambda services: _ask(services, question, collection, as_json=as_json))


async def _ask(services: Services, question: str, name: str | None, *, as_json: bool) -> None:
    check_question(question, max_chars=services.settings.search.max_question_chars)
    opened = await services.collections.open(services.owner, name)
    done: dict[str, Any] = {}
    context = Context(collection=name, owner_id=opened.owner_id, opened=opened, services=services)
    events = stream_answer(graph, [HumanMessage(question)], context)
    async with aclosing(events) as stream:
        async for event in stream:
            if event["event"] == "token" and not as_json:
                out.file.write(event["data"]["text"])
                out.file.flush()
            done = event["data"]
    if as_json:
        print_json(done)
        return
    out.print()
    if chain := _told_chain(done):
        out.print(chain, style="cyan", highlight=False)
    for citation in done["citations"]:
        quote = " ".join(citation["quote"].split())
        out.print(
            f"[{citation['number']}] {citation['filename']}{_place(citation)}, {citation['status']}: {quote}",
            style="dim",
            highlight=False,
        )
    for message in done["degraded_messages"]:
        err.print(message, style="yellow")


def _told_chain(done: dict[str, Any]) -> str:
    """«A → B [1] → C [2]»: the best causal chain of which the answer cites a sentence of every link."""
    for path in done["paths"]:
        if all(any(_is_of(citation, edge) for citation in done["citations"]) for edge in path["edges"]):
            first, *names = [" ".join(name.split()) for name in path["entities"]]
            steps = [f" → {name} [{edge['source']}]" for name, edge in zip(names, path["edges"], strict=True)]
            return "".join([first, *steps])
    return ""


def _is_of(citation: dict[str, Any], edge: dict[str, Any]) -> bool:
    is_inside = citation["start_char"] < edge["end_char"] and edge["start_char"] < citation["end_char"]
    return is_inside and bool(citation["number"] == edge["source"])


def _place(citation: dict[str, Any]) -> str:
    """« p. 3», « Ventas!C12 (+25 % frente al mes anterior)»."""
    page = f" p. {citation['page']}" if citation["page"] else ""
    cells = "!".join(part for part in (citation["sheet"], citation["cell"]) if part)
    trend = f" ({citation['trend']})" if citation["trend"] else ""
    return f"{page}{' ' if cells else ''}{cells}{trend}"
