"""A search that somebody waits for only so long: at the end of the time, what there is by then."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

from api.schemas.search import describe_hits, describe_trace
from graphrag.errors import OutOfTime, SearchTimeout
from graphrag.observability.request_context import collect_lookups, collect_timings
from graphrag.observability.telemetry import log, stage
from graphrag.resilience.cancellation import cancel_surely
from graphrag.resilience.deadline import deadline, opening, seconds_left
from graphrag.resilience.load_shedding import Effort, Slot
from graphrag.retrieval.pipeline import SearchRequest, page
from graphrag.retrieval.query import SearchResult, Trace
from graphrag.services import Services


def answering(services: Services, owner_id: str) -> AbstractAsyncContextManager[Slot]:
    """Raises Overloaded."""
    settings = services.settings
    return _admitted(
        services, owner_id, settings.chat.chat_timeout_seconds, preparing=settings.load.preparation_seconds
    )


def searching(services: Services, owner_id: str) -> AbstractAsyncContextManager[Slot]:
    """Raises Overloaded."""
    seconds = services.settings.search.retrieve_timeout_seconds
    return _admitted(services, owner_id, seconds, preparing=seconds)


@asynccontextmanager
async def _admitted(services: Services, owner_id: str, seconds: float, *, preparing: float) -> AsyncIterator[Slot]:
    with deadline(seconds):
        async with AsyncExitStack() as stack:
            with opening(preparing):  # the slot is for this: a request that waits it away has nothing to be prepared in
                slot = await stack.enter_async_context(services.admission.slot(owner_id))
            yield slot


class TimedSearch:
    """One search. `describe` may be asked at any time."""

    def __init__(self, request: SearchRequest, services: Services, owner_id: str, *, is_detailed: bool = False) -> None:
        self._request, self._services, self._owner_id = request, services, owner_id
        self._trace = Trace(is_detailed=is_detailed)
        self._timings, self._lookups = collect_timings(), collect_lookups()

    async def run(self) -> SearchResult:
        """Raises SearchTimeout, Overloaded, and what `find` raises."""
        seconds = self._services.settings.search.retrieve_timeout_seconds
        async with searching(self._services, self._owner_id) as slot:
            finding = asyncio.create_task(self._find(slot.effort))
            try:
                # Not asyncio.timeout: what hangs may take its time to be cancelled, too.
                await asyncio.wait({finding}, timeout=seconds_left())
                if finding.done():
                    return finding.result()
                raise self._timeout(seconds)
            except OutOfTime as exc:
                raise self._timeout(seconds) from exc
            finally:
                cancel_surely(finding)

    def describe(self) -> dict[str, Any]:
        return describe_trace(self._trace, timings=self._timings, caches=self._lookups)

    async def _find(self, effort: Effort) -> SearchResult:
        pipeline, request, trace = self._services.retrieval, self._request, self._trace
        with stage("search"):
            found = await pipeline.find(request, self._owner_id, effort=effort, trace=trace)
        if trace.is_detailed:
            with stage("expand"):
                passages, failed = await pipeline.expand(
                    found.query, found.hits, question=request.question, files=trace.files
                )
            trace.passages = None if failed else passages
        return found

    def _timeout(self, seconds: float) -> SearchTimeout:
        trace, request = self._trace, self._request
        hits = (
            page(trace.hits, trace.config, offset=request.offset, min_score=request.min_score) if trace.config else []
        )
        log.warning("search did not end in time", missing=trace.missing, found=len(hits))
        details = {"debug": self.describe()} if trace.is_detailed else {}
        return SearchTimeout(
            f"The search did not end within {seconds:g} s.",
            limit_ms=round(seconds * 1000),
            results=describe_hits(hits, trace.collections),
            missing=trace.missing,
            **details,
        )
