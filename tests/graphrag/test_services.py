"""Which implementations the settings choose."""

import sys

import pytest

from graphrag.config.settings import Settings
from graphrag.errors import InvalidSettings
from graphrag.protocols import Reranker
from graphrag.rerankers import FallbackReranker
from graphrag.rerankers.bundled import BundledReranker
from graphrag.rerankers.mmr import MMRReranker
from graphrag.services import open_services
from tests.factories import make_hit
from tests.model_server import Fail, ModelServer


def chosen(**settings: object) -> Reranker:
    return open_services(Settings.from_environment(**settings)).rerankers.best


def test_rerankers_are_chosen_by_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    """R5.1: the bundled one without a model; diversity on top of any."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    assert isinstance(chosen(), BundledReranker)
    assert isinstance(chosen(reranker="cross_encoder", reranker_model="folder"), FallbackReranker)
    assert isinstance(chosen(reranker="llm", chat_model="openai:gpt-4o-mini"), FallbackReranker)
    assert isinstance(chosen(diversity=0.3), MMRReranker)


@pytest.mark.parametrize(("reranker", "missing"), [("cross_encoder", "RAG_RERANKER_MODEL"), ("llm", "RAG_CHAT_MODEL")])
def test_a_reranker_without_its_model_is_named(reranker: str, missing: str) -> None:
    """R5.1, R4.10 validated at start."""
    with pytest.raises(InvalidSettings, match=missing):
        chosen(reranker=reranker)


async def test_the_bundled_reranker_stands_in_for_a_language_model(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R5.1, R11.1: a cross-encoder that can't be had and a model that fails leave a judged order."""
    monkeypatch.setitem(sys.modules, "sentence_transformers.cross_encoder", None)  # where it is installed, too
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.base_url)
    model_server.default = Fail(500)
    settings = {"reranker": "cross_encoder", "reranker_model": "/nowhere", "chat_model": "openai:gpt-4o-mini"}
    reranker = chosen(**settings, chat_max_retries=0)
    hits = [make_hit("La bomba.", 0.5), make_hit("El horno se rompió.", 0.5)]
    ranked = await reranker.rerank("¿Qué horno se rompió?", hits, language="es", top_k=2)
    assert [hit.chunk.content for hit in ranked] == ["El horno se rompió.", "La bomba."]
    assert model_server.requests
