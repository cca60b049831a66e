"""The tools of the MCP server: each looks, none changes anything."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from langchain_core.messages import HumanMessage
from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from agent.chains import describe_paths
from agent.context import Context as AnswerContext
from agent.graph import graph
from agent.output.events import Event, stream_answer
from api.errors import localize
from api.schemas.fields import (
    DEGRADED,
    MAX_CURSOR_CHARS,
    AnswerOutcome,
    CitationOut,
    Page,
    PathOut,
    Text,
    cut,
    read_cursor,
)
from api.schemas.search import FiltersIn, SearchOut, describe, describe_hits
from api.timed_search import TimedSearch, answering, searching
from graphrag.errors import SearchTimeout
from graphrag.linguistics.language import detect_question
from graphrag.models import Document
from graphrag.query_transformation.transformation import check_question
from graphrag.resilience.deadline import NO_TIME, within
from graphrag.retrieval.filters import parse_filters
from graphrag.retrieval.pipeline import SearchRequest
from graphrag.services import Services


class AnswerOut(AnswerOutcome):
    answer: str = Field(description="Its marks, as [1], are the numbers of the citations")
    citations: list[CitationOut] = Field(description="Each checked against the documents; a wrong one has its status")
    unsupported_statements: list[str] = Field(description="Of the answer, that the documents do not say")
    paths: list[PathOut] = Field(description="Causal chains that the documents state, the best first")
    reliability: float = Field(description="Passages used / passages at hand")
    language: Literal["es", "fr", "en"]
    degraded_messages: list[str]
    warnings: list[str]


class ListedDocument(BaseModel):
    document_id: UUID
    filename: str
    title: str
    language: str
    media_type: str
    tags: list[str]
    created_at: datetime


class DocumentsOut(Page):
    documents: list[ListedDocument] = Field(description="The oldest first")


class PathsOut(BaseModel):
    paths: list[PathOut] = Field(description="The best first, each link with the sentence that states it")
    language: Literal["es", "fr", "en"]
    degraded: list[str] = Field(description=DEGRADED)


OwnerOf = Callable[[Context[Any, Any]], Awaitable[str]]
CountAnswer = Callable[[str], Awaitable[None]]
CollectionIn = Annotated[Text | None, Field(description="Its name; without one, the default collection")]


class Tools:
    """`owner_of` tells at each call who asks: it raises Unauthorized or Forbidden, `count_answer` RateLimited."""

    def __init__(self, services: Services, owner_of: OwnerOf, count_answer: CountAnswer | None = None) -> None:
        self._services, self._owner_of, self._count_answer = services, owner_of, count_answer

    async def search(
        self,
        ctx: Context[Any, Any],
        query: Annotated[Text, Field(description="A question, or words; “in quotes” as a phrase")],
        collection: CollectionIn = None,
        top_k: Annotated[int, Field(ge=1, le=50, description="Passages")] = 10,
        strategy: Annotated[Literal["auto", "fulltext", "semantic", "hybrid"], Field(description="How")] = "auto",
        filters: FiltersIn | None = None,
    ) -> SearchOut:
        """Find passages in the person's own documents, with their scores and locations.

        For an answer with citations use `ask`.
        """
        owner = await self._owner_of(ctx)
        overrides = {"top_k": top_k} if strategy == "auto" else {"top_k": top_k, "strategy": strategy}
        timed = TimedSearch(
            SearchRequest(query, (collection,), overrides, parse_filters(filters or {})), self._services, owner
        )
        try:
            found = await timed.run()
        except SearchTimeout as exc:
            if not exc.details["results"]:
                raise
            return _partial(exc, timed, query)
        return SearchOut.model_validate(
            {"results": describe_hits(found.hits, found.query.collections), **describe(found)}
        )

    async def ask(
        self,
        ctx: Context[Any, Any],
        question: Annotated[Text, Field(description="In Spanish, French or English, which the answer is in, too")],
        collection: CollectionIn = None,
    ) -> Annotated[CallToolResult, AnswerOut]:
        """Answer a question from the person's own documents, with citations that were checked against them.

        If the documents contain no answer, it says so.
        """
        owner = await self._owner_of(ctx)
        if self._count_answer:
            await self._count_answer(owner)
        settings = self._services.settings
        check_question(question, max_chars=settings.search.max_question_chars)
        is_on = settings.chat.enabled
        opened = await self._services.collections.open_all(owner, [collection]) if is_on else ()
        context = AnswerContext(opened=opened, owner_id=owner, services=self._services)
        async with answering(self._services, owner) as slot:
            placed = replace(context, slot=slot)
            done = await _follow(stream_answer(graph, [HumanMessage(question)], placed), ctx)
        answer = AnswerOut.model_validate(done)
        return CallToolResult(
            content=[TextContent(type="text", text=_as_text(answer))],
            structured_content=answer.model_dump(mode="json"),
        )

    async def list_documents(
        self,
        ctx: Context[Any, Any],
        collection: CollectionIn = None,
        limit: Annotated[int, Field(ge=1, le=200, description="Documents a page")] = 50,
        cursor: Annotated[
            str | None, Field(max_length=MAX_CURSOR_CHARS, description="`next_cursor` of the page before")
        ] = None,
    ) -> DocumentsOut:
        """List the documents of a collection, a page at a time."""
        asked = await self._services.collections.open(await self._owner_of(ctx), collection)
        after = read_cursor(cursor, tuple[datetime, UUID])
        found = await self._services.catalog.page(asked, limit=limit + 1, after=after)
        page, next_cursor = cut(found, limit, lambda entry: entry.position)
        listed = [_listed(entry.document) for entry in page if entry.document]  # the others are on their way in
        return DocumentsOut(documents=listed, next_cursor=next_cursor)

    async def causal_paths(
        self,
        ctx: Context[Any, Any],
        question: Annotated[Text, Field(description="For causes or effects; or an event, for both")],
        collection: CollectionIn = None,
        limit: Annotated[int, Field(ge=1, le=20, description="Chains")] = 5,
    ) -> PathsOut:
        """Find what the person's documents say caused what: chains of causes and effects, across documents.

        Each link has the sentence that states it.
        """
        owner = await self._owner_of(ctx)
        pipeline = self._services.retrieval
        async with searching(self._services, owner) as slot:
            found = await pipeline.find(SearchRequest(question, (collection,)), owner, effort=slot.effort)
            async with within("traverse", share=1):
                paths = await pipeline.find_paths(found.query, found.hits, limit=limit)
        fields = {
            "paths": describe_paths(paths, ()),
            "language": found.query.transformed.language,
            "degraded": found.failed,
        }
        return PathsOut.model_validate(fields)


async def _follow(answer: AsyncGenerator[Event, None], ctx: Context[Any, Any]) -> dict[str, Any]:
    """The data of its last event. The client is fields of each stage."""
    done: dict[str, Any] = {}
    async with aclosing(answer) as events:
        stages = 0
        async for event in events:
            done = event["data"]
            if event["event"] == "status":
                stages += 1
                await ctx.report_progress(stages, message=done["message"])
    return done


def _partial(exc: SearchTimeout, timed: TimedSearch, query: str) -> SearchOut:
    return SearchOut.model_validate(
        {
            "results": exc.details["results"],
            "degraded": [*exc.details["missing"], NO_TIME],
            "strategy": timed.describe()["strategy"],
            "warnings": [localize("partial", exc.details, detect_question(query))],
        }
    )


def _as_text(answer: AnswerOut) -> str:
    """Return the answer as plain text for clients that read no structured content."""
    sources = dict.fromkeys(f"[{citation.number}] {citation.sentence}" for citation in answer.citations)
    return "\n\n".join(filter(None, [answer.answer, "\n".join(sources), *answer.degraded_messages, *answer.warnings]))


def _listed(document: Document) -> ListedDocument:
    return ListedDocument(
        document_id=document.id,
        filename=document.filename,
        title=document.title,
        language=document.language,
        media_type=document.media_type,
        tags=list(document.tags),
        created_at=document.created_at,
    )
