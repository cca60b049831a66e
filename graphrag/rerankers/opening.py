"""Open the rerankers that the settings name, each falling back to the next."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from langchain_core.language_models import BaseChatModel

from graphrag.config.settings import Settings
from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.errors import InvalidSettings
from graphrag.models import Hit
from graphrag.observability.telemetry import count_fallback, log
from graphrag.protocols import Reranker
from graphrag.rerankers.bundled import BundledReranker
from graphrag.rerankers.cross_encoder import CrossEncoderReranker
from graphrag.rerankers.llm_reranker import LLMReranker
from graphrag.rerankers.mmr import MMRReranker
from graphrag.resilience.deadline import within


class FallbackReranker:
    """The first of its rerankers that answers; what the last one raises is raised."""

    def __init__(self, *rerankers: Reranker) -> None:
        *self._first, self._last = rerankers

    async def rerank(self, query: str, hits: Sequence[Hit], *, language: str, top_k: int) -> list[Hit]:
        for reranker in self._first:
            try:
                async with within(type(reranker).__name__):
                    return await reranker.rerank(query, hits, language=language, top_k=top_k)
            except Exception as exc:  # a reranker may be anybody's
                log.warning("reranker failed, the next one judges", reranker=type(reranker).__name__, error=exc)
                count_fallback("reranker")
        return await self._last.rerank(query, hits, language=language, top_k=top_k)


def open_cross_encoder(settings: Settings) -> CrossEncoderReranker | None:
    """None where another one judges. Raises InvalidSettings."""
    if settings.reranker != "cross_encoder":
        return None
    if not settings.reranker_model:
        raise InvalidSettings("RAG_RERANKER=cross_encoder needs RAG_RERANKER_MODEL: the folder of a model.")
    return CrossEncoderReranker(settings.reranker_model)


def open_judges(
    settings: Settings,
    *,
    cross_encoder: CrossEncoderReranker | None,
    chat_model: Callable[[], BaseChatModel] | None = None,
) -> list[Reranker]:
    """In the order in which they stand in for each other; the last one needs nothing. Raises InvalidSettings."""
    judges: list[Reranker] = [cross_encoder] if cross_encoder else []
    if settings.reranker == "llm" and not settings.chat_model:
        raise InvalidSettings("RAG_RERANKER=llm needs RAG_CHAT_MODEL: the model that judges.")
    if settings.reranker != "bundled" and settings.chat_model and chat_model:
        judges.append(LLMReranker(chat_model()))
    return [*judges, BundledReranker()]


def join_judges(judges: Sequence[Reranker], settings: Settings, embeddings: EmbeddingRegistry) -> Reranker:
    judge = FallbackReranker(*judges) if len(judges) > 1 else judges[0]
    if not settings.diversity:
        return judge
    model = embeddings.get(embeddings.default)
    # Somebody waits for the answer, as for a question's own vector.
    return MMRReranker(judge, replace(model, patience=model.query_patience), diversity=settings.diversity)
