"""Rerankers of the retrieved candidates, and their choice by the settings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from langchain_core.language_models import BaseChatModel

from graphrag.config.settings import Settings
from graphrag.embeddings.registry import EmbeddingModel, EmbeddingRegistry
from graphrag.errors import InvalidSettings
from graphrag.llm.resilient_chat_model import ResilientChatModel
from graphrag.models import Collection, Hit
from graphrag.observability.telemetry import count_fallback, log
from graphrag.protocols import Reranker
from graphrag.rerankers.bundled import BundledReranker
from graphrag.rerankers.cross_encoder import CrossEncoderReranker
from graphrag.rerankers.llm_reranker import LLMReranker
from graphrag.rerankers.mmr import MMRReranker
from graphrag.resilience.deadline import within
from graphrag.resilience.load_shedding import Effort


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
                log.warning("reranker failed, using the next one", reranker=type(reranker).__name__, error=exc)
                count_fallback("reranker")
        return await self._last.rerank(query, hits, language=language, top_k=top_k)


def open_cross_encoder(settings: Settings) -> CrossEncoderReranker | None:
    """None where another one judges. Raises InvalidSettings."""
    if settings.search.reranker != "cross_encoder":
        return None
    if not settings.search.reranker_model:
        raise InvalidSettings("RAG_RERANKER=cross_encoder needs RAG_RERANKER_MODEL: the folder of a model.")
    return CrossEncoderReranker(settings.search.reranker_model)


@dataclass(frozen=True, slots=True)
class Rerankers:
    """The rerankers of a service; each falls back to the next."""

    best: Reranker
    local: Reranker  # for collections that the service's chat model may not read
    bundled: Reranker  # needs nothing
    may_read: Callable[..., bool]  # of collections

    def choose(self, collections: Sequence[Collection], effort: Effort = Effort.FULL) -> Reranker:
        """Return the reranker for the hits of collections; under high load the bundled one."""
        if effort is not Effort.FULL:
            return self.bundled
        return self.best if self.may_read(*collections) else self.local


def open_rerankers(
    settings: Settings,
    cross_encoder: CrossEncoderReranker | None,
    embeddings: EmbeddingRegistry,
    chat_model: BaseChatModel | None,
    may_read: Callable[..., bool],
) -> Rerankers:
    """Raises InvalidSettings."""
    if settings.search.reranker == "llm" and not settings.generation.chat_model:
        raise InvalidSettings("RAG_RERANKER=llm needs RAG_CHAT_MODEL: the model that judges.")
    bundled = BundledReranker()
    local: list[Reranker] = [cross_encoder, bundled] if cross_encoder else [bundled]
    best = list(local)
    if settings.search.reranker != "bundled" and chat_model:
        if isinstance(chat_model, ResilientChatModel):
            chat_model = chat_model.within(settings.chat.chat_first_token_seconds, purpose="reranking")
        best.insert(-1, LLMReranker(chat_model))
    return Rerankers(_join(best, settings, embeddings), _join(local, settings, embeddings), bundled, may_read)


def _join(judges: Sequence[Reranker], settings: Settings, embeddings: EmbeddingRegistry) -> Reranker:
    judge = FallbackReranker(*judges) if len(judges) > 1 else judges[0]

    def model() -> EmbeddingModel:
        """Return the quickest model that there is, as patient as for a question: somebody waits for the answer."""
        quickest = embeddings.models.get("bundled") or embeddings.get(embeddings.default)
        return replace(quickest, patience=quickest.query_patience)

    return MMRReranker(judge, model, diversity=settings.search.diversity) if settings.search.diversity else judge
