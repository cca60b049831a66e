"""Embedding models: the registry's file, the bundled model, an OpenAI-compatible one over HTTP."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.embeddings import multilingual_e5
from graphrag.embeddings.bundled import BundledEmbeddings
from graphrag.embeddings.registry import EmbeddingRegistry, load_registry
from graphrag.errors import EmbeddingModelUnavailable, InvalidSettings, ProviderError
from tests.model_server import Fail, Garbage, ModelServer, unit_vector

BROKEN = {
    "not yaml": "embeddings: [",
    "no list": "models: []",
    "empty list": "embeddings: []",
    "no id": "embeddings: [{provider: bundled}]",
    "unknown provider": "embeddings: [{id: a, provider: nobody}]",
    "unknown key": "embeddings: [{id: a, provider: bundled, path_: x}]",
    "same id twice": "embeddings: [{id: a, provider: bundled}, {id: a, provider: bundled}]",
    "unknown fusion": "embeddings: [{id: a, provider: bundled, fusion: borda}]",
    "weight out of range": "embeddings: [{id: a, provider: bundled, fusion_weight: 2}]",
    "nothing": "",
    "neither provider nor path": "embeddings: [{id: a, model: m}]",
    "no name for the vendor": "embeddings: [{id: a, provider: openai}]",
    "a path to a server": "embeddings: [{id: a, provider: ollama, path: folder, model: m}]",
    "an address of what is here": "embeddings: [{id: a, path: folder, base_url: 'http://localhost'}]",
    "fewer dimensions than it has": "embeddings: [{id: a, provider: bundled, dimensions: 8}]",
    "no time": "embeddings: [{id: a, provider: openai, model: m, timeout_seconds: 0}]",
    "a key": "embeddings: [{id: a, provider: openai, model: m, api_key: sk-1}]",
}


def write(path: Path, text: str) -> Path:
    file = path / "embeddings.yml"
    file.write_text(text)
    return file


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_broken_file_stops_the_start_with_an_example(tmp_path: Path, text: str) -> None:
    """R3.1."""
    with pytest.raises(InvalidSettings, match=r"(?s)embeddings\.yml.*Example:\nembeddings:"):
        load_registry(write(tmp_path, text))


def test_missing_file_is_named(tmp_path: Path) -> None:
    """R3.1."""
    with pytest.raises(InvalidSettings, match=r"nowhere\.yml"):
        load_registry(tmp_path / "nowhere.yml")


def test_packaged_registry(registry: EmbeddingRegistry) -> None:
    """R3.1 the packaged default needs no key."""
    assert registry.default == "e5"
    told = [(m.id, m.dimensions, m.fusion_weight, m.fusion, m.is_strong) for m in registry.models.values()]
    assert told == [("e5", 384, 0.5, "weighted", True), ("bundled", 256, 0.2, "weighted", False)]


def test_without_its_wheel_e5_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """R3.1, R3.4 The bundled model is the default then."""
    monkeypatch.setattr(multilingual_e5, "find_weights", lambda: None)
    assert list(load_registry().models) == ["bundled"]


def test_the_file_says_how_a_model_s_vectors_are_fused(tmp_path: Path) -> None:
    """R4.2 the default of the collections that use it."""
    text = "embeddings: [{id: a, provider: bundled, fusion: rrf, fusion_weight: 0.5}]"
    model = load_registry(write(tmp_path, text)).get("a")
    assert (model.fusion, model.fusion_weight, model.is_strong) == ("rrf", 0.5, True)


def test_unknown_model_lists_the_known(registry: EmbeddingRegistry) -> None:
    """R3.3."""
    with pytest.raises(EmbeddingModelUnavailable, match="Available: bundled"):
        registry.get("mxbai-large")


async def test_batch_keeps_the_order(registry: EmbeddingRegistry) -> None:
    """R3.5."""
    model = registry.get("bundled")
    texts = [f"texto número {number}" for number in range(70)]
    together = await model.embed(texts)
    assert together[41] == pytest.approx((await model.embed([texts[41]]))[0], abs=1e-6)


@given(st.text(max_size=60))
def test_bundled_vector_is_of_unit_length_or_zero(text: str) -> None:
    vector = BUNDLED.embed_query(text)
    assert len(vector) == 256
    assert math.hypot(*vector) == pytest.approx(1, abs=1e-4) or not any(vector)


BUNDLED = BundledEmbeddings()


def test_bundled_model_knows_related_words() -> None:
    cat, kitten, invoice = BUNDLED.embed_documents(["the cat sleeps", "a kitten is sleeping", "the unpaid invoice"])
    near = sum(a * b for a, b in zip(cat, kitten, strict=True))
    far = sum(a * b for a, b in zip(cat, invoice, strict=True))
    assert near > far + 0.2


def test_bundled_tokens_are_counted_without_padding() -> None:
    """R2.2 the collection's own tokenizer counts."""
    short, long = BUNDLED.count_tokens(["Hola", "El compresor C3 perdió presión durante la noche."])
    assert BUNDLED.count_tokens(["Hola"]) == [short]
    assert 1 <= short < 5 < long < 25
    assert BUNDLED.count_tokens([]) == []


@pytest.fixture
def openai_registry(tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> EmbeddingRegistry:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.base_url)
    return load_registry(write(tmp_path, "embeddings: [{id: small, provider: openai, model: text-embedding-3-small}]"))


async def test_openai_compatible_server_embeds(openai_registry: EmbeddingRegistry) -> None:
    """R3.4."""
    model = openai_registry.get("small")
    assert (model.dimensions, model.name) == (64, "text-embedding-3-small")
    (vector,) = await model.embed(["hola"])
    assert vector == pytest.approx(unit_vector("hola", 64), abs=1e-6)
    assert model.count_tokens(["x" * 10]) == [4]  # 3 characters each, for its tokenizer is not here


@pytest.mark.parametrize("failure", [Fail(400), Garbage()])
async def test_provider_failure_is_ours(
    openai_registry: EmbeddingRegistry, model_server: ModelServer, failure: Fail | Garbage
) -> None:
    """R11.1 a vendor's error becomes ours, with its cause."""
    model_server.script_embeddings(failure)
    with pytest.raises(ProviderError, match="small") as caught:
        await openai_registry.get("small").embed(["hola"])
    assert caught.value.__cause__ is not None


def test_model_that_fails_to_load_stops_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R3.1 with the model's name and the cause."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InvalidSettings, match=r"(?s)'small'.*api_key"):
        load_registry(write(tmp_path, "embeddings: [{id: small, provider: openai, model: text-embedding-3-small}]"))
