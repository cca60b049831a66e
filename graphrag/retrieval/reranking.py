"""Candidates in the order of how well they answer, which the reranker judges."""

from collections.abc import Sequence

from graphrag.deadline import within
from graphrag.models import Hit, TransformedQuery
from graphrag.protocols import Reranker
from graphrag.rerankers.distribution import one_per_document_first
from graphrag.retrieval.hybrid import Retrieval
from graphrag.telemetry import count_results, log, stage


async def rerank(query: TransformedQuery, hits: Sequence[Hit], *, reranker: Reranker) -> Retrieval:
    """All that the reranker keeps of them, spread over their documents. Where it fails, the order stays."""
    with stage("rerank"):
        try:
            async with within("rerank"):
                ranked = await reranker.rerank(query.standalone, hits, language=query.language, top_k=len(hits))
            count_results("rerank", len(ranked))
            return Retrieval(one_per_document_first(ranked))
        except Exception as exc:  # a reranker may be anybody's
            log.warning("reranker failed, done without", error=exc)
            return Retrieval(list(hits), ("rerank",))
