"""Embeddings that are made once a day."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.embeddings.registry import CachedEmbeddingModel, EmbeddingModel, EmbeddingRegistry, cached, load_registry
from graphrag.errors import ProviderError
from graphrag.services import open_services
from graphrag.testing.in_memory_store import InMemoryCache
from tests.model_server import Fail, ModelServer, unit_vector

SMALL = "embeddings: [{id: small, provider: openai, model: text-embedding-3-small}]"


class BrokenCache:
    async def get_many(self, owner_id: str, keys: Sequence[str]) -> dict[str, bytes]:
        raise ConnectionError("down, on purpose")

    async def set_many(self, owner_id: str, values: Mapping[str, bytes], *, seconds: float) -> None:
        raise ConnectionError("down, on purpose")

    async def forget(self, owner_id: str, beginning: str) -> None:
        raise ConnectionError("down, on purpose")


class RememberingCache(InMemoryCache):
    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float] = []
        self.keys: list[str] = []

    async def set_many(self, owner_id: str, values: Mapping[str, bytes], *, seconds: float) -> None:
        self.seconds.append(seconds)
        self.keys.extend(values)
        await super().set_many(owner_id, values, seconds=seconds)


@pytest.fixture
def small(tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> EmbeddingModel:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.base_url)
    file = tmp_path / "embeddings.yml"
    file.write_text(SMALL)
    return load_registry(file).get("small")


def asked(server: ModelServer) -> list[list[str]]:
    """The texts of each call, but the one with which the registry tries the model."""
    return [request.body["input"] for request in server.requests][1:]


def lookups(outcome: str) -> float:
    labels = {"cache": "embeddings", "outcome": outcome}
    return REGISTRY.get_sample_value("causeway_cache_lookups_total", labels) or 0.0


async def test_a_text_is_embedded_once(small: EmbeddingModel, model_server: ModelServer) -> None:
    """R3.6 only what misses, in one call; the order is that of the texts; R11.2 the hit rate is counted."""
    model = cached(small, cache=InMemoryCache(), owner_id="me")
    first = await model.embed(["uno", "dos"])
    before = lookups("hit"), lookups("miss")
    vectors = await model.embed(["tres", "dos", "cuatro", "uno", "tres"])
    assert asked(model_server) == [["uno", "dos"], ["tres", "cuatro"]]
    assert (lookups("hit") - before[0], lookups("miss") - before[1]) == (2, 3)
    for text, vector in zip(["tres", "dos", "cuatro", "uno", "tres"], vectors, strict=True):
        assert vector == pytest.approx(unit_vector(text, 64), abs=1e-6)
    assert [vectors[3], vectors[1]] == first
    assert await model.embed([]) == []


async def test_a_vector_is_the_same_from_the_cache(small: EmbeddingModel) -> None:
    """P4"""
    model = cached(small, cache=InMemoryCache(), owner_id="me")
    assert await model.embed(["uno"]) == await model.embed(["uno"])


async def test_it_is_kept_for_a_day_under_no_text(small: EmbeddingModel) -> None:
    """R3.6 24 h, SHA-256 of model and content."""
    cache = RememberingCache()
    await cached(small, cache=cache, owner_id="me").embed(["un secreto"])
    assert cache.seconds == [24 * 3600]
    (key,) = cache.keys
    assert "secreto" not in key
    assert len(key) == len("embedding:") + 64


async def test_owners_and_models_do_not_meet(small: EmbeddingModel, model_server: ModelServer) -> None:
    """R3.6, R4.8"""
    cache = InMemoryCache()
    for model_id, owner in (("small", "me"), ("small", "you"), ("other", "me"), ("small", "me")):
        values = {name: getattr(small, name) for name in ("name", "dimensions", "fusion_weight", "embeddings")}
        await cached(EmbeddingModel(id=model_id, **values), cache=cache, owner_id=owner).embed(["uno"])
    assert asked(model_server) == [["uno"]] * 3


async def test_a_cache_that_is_down_is_passed_over(small: EmbeddingModel, model_server: ModelServer) -> None:
    """R11.1"""
    model = cached(small, cache=BrokenCache(), owner_id="me")
    for _ in range(2):
        (vector,) = await model.embed(["uno"])
        assert vector == pytest.approx(unit_vector("uno", 64), abs=1e-6)
    assert asked(model_server) == [["uno"], ["uno"]]


async def test_a_failure_is_not_kept(small: EmbeddingModel, model_server: ModelServer) -> None:
    """R11.1"""
    model = cached(small, cache=InMemoryCache(), owner_id="me")
    model_server.script_embeddings(Fail(400))
    with pytest.raises(ProviderError):
        await model.embed(["uno"])
    assert len(await model.embed(["uno"])) == 1


def test_a_quick_model_is_left_as_it_is(registry: EmbeddingRegistry, small: EmbeddingModel) -> None:
    """R3.6 the bundled model is quicker than a look-up."""
    bundled = registry.get("bundled")
    assert cached(bundled, cache=BrokenCache(), owner_id="me") is bundled
    model = cached(small, cache=BrokenCache(), owner_id="me")
    assert isinstance(model, CachedEmbeddingModel)
    assert (model.id, model.dimensions, model.count_tokens(["x" * 10])) == ("small", 64, [4])


async def test_the_services_cache_in_the_database(
    small: EmbeddingModel, model_server: ModelServer, postgres: str, owner: str, tmp_path: Path
) -> None:
    """R3.6 two processes share it: what one embedded, the other does not ask for."""
    for _ in range(2):
        file = tmp_path / "embeddings.yml"
        services = open_services(Settings.from_environment(database_url=SecretStr(postgres), embeddings_config=file))
        collection = await services.collections.create(owner, "notes")
        model = await services.collections.embedding_model(collection)
        assert (await model.embed(["uno"]))[0] == pytest.approx(unit_vector("uno", 64), abs=1e-6)
        await services.close()
    assert [texts for texts in asked(model_server) if texts == ["uno"]] == [["uno"]]
