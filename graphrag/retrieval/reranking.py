"""Candidates in the order of how well they answer, which the reranker judges."""

from collections.abc import Sequence

from graphrag.models import Hit, TransformedQuery
from graphrag.protocols import Reranker
from graphrag.rerankers.distribution import one_per_document_first
from graphrag.retrieval.hybrid import Retrieval
from graphrag.telemetry import log, stage


async def rerank(
    query: TransformedQuery, hits: Sequence[Hit], *, reranker: Reranker, candidates: int, top_k: int
) -> Retrieval:
    """The `top_k` best of the first `candidates`, which are `top_k` at least, spread over their documents.

    Where the reranker fails, the order stays.
    """
    with stage("rerank"):
        try:
            judged = hits[: max(top_k, candidates)]
            ranked = await reranker.rerank(query.original, judged, language=query.language, top_k=len(judged))
            return Retrieval(one_per_document_first(ranked)[:top_k])
        except Exception as exc:  # a reranker may be anybody's
            log.warning("reranker failed, done without", error=repr(exc))
            return Retrieval(list(hits[:top_k]), ("rerank",))
