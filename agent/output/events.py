"""Events of a streamed answer, and the notice of a slow model."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import fields, replace
from typing import Any, TypedDict, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage
from langgraph.graph.state import CompiledStateGraph

from agent.chains import describe_paths
from agent.context import Context
from agent.messages import say
from agent.output.backpressure import MAX_EVENTS_AHEAD, Backpressure
from agent.output.outcomes import Outcome, describe_outcome, read_outcome
from agent.verification.checking import CheckedStatement, Citation, Verification, reference, sentence
from graphrag.linguistics.periods import trend_in
from graphrag.llm.chat_models import EXTRACTIVE
from graphrag.llm.resilient_chat_model import ResilientChatModel
from graphrag.models import Passage, SourceLocation
from graphrag.models.graph import CausalPath
from graphrag.observability.request_context import collect_timings, note
from graphrag.observability.telemetry import count_degraded, measure_first_token, stage
from graphrag.query_transformation.tasks import Task
from graphrag.resilience.deadline import lacks_time, seconds_left
from graphrag.table_queries.answers import ComputedAnswer
from graphrag.table_queries.exports import describe_query


class Event(TypedDict):
    event: str
    data: dict[str, Any]  # JSON values only


def status_event(stage_name: str, message: str) -> Event:
    return {"event": "status", "data": {"stage": stage_name, "message": message}}


def sources_event(passages: Sequence[Passage], paths: Sequence[CausalPath]) -> Event:
    return {
        "event": "sources",
        "data": {"sources": describe_sources(passages), "paths": describe_paths(paths, passages)},
    }


def token_event(text: str) -> Event:
    return {"event": "token", "data": {"text": text}}


def citation_event(citation: Citation, *, language: str) -> Event:
    return {"event": "citation", "data": describe_citation(citation, language=language)}


def flag_event(statement: CheckedStatement) -> Event:
    """Flag a statement that has no mark, and that no passage supports."""
    return {"event": "citation", "data": {"number": None} | _describe_verdict(statement)}


def describe_sources(passages: Sequence[Passage]) -> list[dict[str, Any]]:
    return [
        {
            "number": number,
            "document_id": str(passage.document.id),
            "collection": passage.collection,
            "filename": passage.document.filename,
            "title": passage.document.title,
            "language": passage.document.language,
            "chunk_index": passage.chunk_index,
            "content_hash": passage.document.content_hash,
            "elsewhere": passage.document.is_elsewhere,
            "start_char": passage.start_char,
            "end_char": passage.end_char,
            "content": passage.content,
            "score": round(passage.score, 4),
        }
        for number, passage in enumerate(passages, start=1)
    ]


def describe_citation(citation: Citation, *, language: str) -> dict[str, Any]:
    values = {field.name: getattr(citation, field.name) for field in fields(citation) if field.name != "location"}
    return (
        values
        | {"document_id": str(citation.document_id), "reasons": list(citation.reasons)}
        | {"reference": reference(citation), "sentence": sentence(citation, language)}
        | describe_location(citation.location, language=language)
    )


def describe_statement(statement: CheckedStatement, *, language: str) -> dict[str, Any]:
    cited = [describe_citation(citation, language=language) for citation in statement.citations]
    return _describe_verdict(statement) | {"start": statement.start, "end": statement.end, "citations": cited}


def _describe_verdict(statement: CheckedStatement) -> dict[str, Any]:
    return {
        "statement": statement.text,
        "status": statement.status,
        "score": statement.score,
        "reasons": list(statement.reasons),
    }


def describe_location(location: SourceLocation | None, *, language: str) -> dict[str, Any]:
    """Describe a location; the trend in the language of the question."""
    time = location.temporal if location else None
    return {
        "page": location.page if location else None,
        "sheet": (location and location.sheet) or None,
        "cell": (location and location.cells) or None,
        "file": (location and location.file) or None,
        "recognized": location.is_recognized if location else None,
        "date": time.date.isoformat() if time else None,
        "trend": (time and trend_in(time, language)) or None,
    }


async def stream_answer(
    graph: CompiledStateGraph[Any, Context, Any, Any], messages: Sequence[AnyMessage], context: Context
) -> AsyncGenerator[Event, None]:
    """Yield every event of one answer; the last is `done`. Closing it stops the graph and the model call.

    Raises CausewayError.
    """
    timings, backpressure = collect_timings(), Backpressure(MAX_EVENTS_AHEAD)
    state: dict[str, Any] = {}
    started, is_silent = time.perf_counter(), True
    with stage("total"):
        parts = graph.astream(
            {"messages": list(messages)},
            context=replace(context, backpressure=backpressure),
            stream_mode=["custom", "values"],
            durability="exit" if graph.checkpointer else None,  # a thread is written to once, at the end
        )
        async with aclosing(cast(AsyncGenerator[tuple[str, Any], None], parts)) as stream:
            async for mode, payload in stream:
                if mode == "custom":
                    if is_silent and payload["event"] == "token":
                        is_silent = False
                        measure_first_token(started)
                    yield payload
                    backpressure.count_read()
                else:
                    state = payload
    done = describe_answer(state, timings)
    _note(done)
    yield {"event": "done", "data": done}


def _note(done: dict[str, Any]) -> None:
    count_degraded(done["degraded"])
    note(
        task=done["task"],
        outcome=done["outcome"],
        model=done["chat_model"],
        sources=len(done["sources"]),
        cited=len(done["citations"]),
        unsupported=len(done["unsupported_statements"]),
        warnings=len(done["warnings"]),
    )


async def answer(
    graph: CompiledStateGraph[Any, Context, Any, Any], messages: Sequence[AnyMessage], context: Context
) -> dict[str, Any]:
    """Return the data of `done`. Raise CausewayError where the answer failed."""
    return await last_of(stream_answer(graph, messages, context))


async def last_of(events: AsyncGenerator[Event, None]) -> dict[str, Any]:
    """Return the data of the last event."""
    data: dict[str, Any] = {}
    async with aclosing(events) as parts:
        async for event in parts:
            data = event["data"]
    return data


def describe_answer(state: dict[str, Any], timings: dict[str, float]) -> dict[str, Any]:
    answered: Verification = state["verification"]
    verification: Verification = state.get("structured") or answered
    query, passages = state["query"], state["passages"]
    used = {citation.number for citation in verification.citations}
    degraded = list(dict.fromkeys([*state["degraded"], *lacks_time()]))
    return {
        "answer": verification.answer,
        "citations": [describe_citation(citation, language=query.language) for citation in verification.citations],
        "statements": [describe_statement(each, language=query.language) for each in verification.statements],
        "sources": describe_sources(passages),
        "paths": describe_paths(state["paths"], passages),
        "degraded": degraded,
        "degraded_messages": [_tell_degraded(name, state) for name in degraded],
        "warnings": state["warnings"],
        "unsupported_statements": list(verification.unsupported_statements),
        "task": state["task"].task.value,
        **describe_outcome(answered.answer, query, is_summary=state["task"].task is Task.SUMMARISE),
        "table": _describe_table(state.get("computed"), passages),
        "found": read_outcome(answered.answer, query.language) is not Outcome.NONE,
        "reliability": round(len(used) / len(passages), 3) if passages else 0.0,
        "language": query.language,
        "intent": query.intent.value,
        "chat_model": state["chat_model"],
        "timings_ms": timings,
        **({"is_json": True} if "structured" in state else {}),
    }


def _describe_table(computed: ComputedAnswer | None, passages: Sequence[Passage]) -> dict[str, Any] | None:
    """Describe the table with the source of each row; a model is shown the first rows alone."""
    if computed is None:
        return None
    numbers = {(each.document.id, each.start_char): number for number, each in enumerate(passages, start=1)}
    return {
        "plan": computed.plan,
        "columns": list(computed.headers),
        "rows": [list(row) for row in computed.rows],
        "sources": [numbers.get((row.document.id, row.start_char)) for row in computed.passages],
        "row_count": computed.row_count,
        "group_count": computed.group_count,
        "values": list(computed.values),
        "is_series": computed.is_series,
        "query": describe_query(computed.query),
    }


def _tell_degraded(name: str, state: dict[str, Any]) -> str:
    by_another = name == "generate" and state["chat_model"] != EXTRACTIVE
    return say(f"degraded_{name}{'_other_model' if by_another else ''}", state["query"].language)


SLOW_SECONDS = 3


@contextmanager
def announce_when_slow(
    model: BaseChatModel, write: Callable[[Event], None], *, language: str
) -> Iterator[asyncio.TimerHandle]:
    """Emit an event if the model is slow, with the time that is left; cancel the yielded timer at the first token."""
    limit = model.guard.first_word_seconds if isinstance(model, ResilientChatModel) else SLOW_SECONDS
    seconds = f"{limit:g}" if limit <= (left := seconds_left()) else f"{left:.0f}"
    event = status_event("generate", say("status_slow", language).format(seconds=seconds))
    timer = asyncio.get_running_loop().call_later(SLOW_SECONDS, write, event)
    try:
        yield timer
    finally:
        timer.cancel()
