"""Each provider of the registry's file: how it is called, what it sends, what it is told when it fails."""

import shutil
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import structlog

from graphrag.embeddings.configuration import ModelEntry
from graphrag.embeddings.providers import open_embeddings
from graphrag.embeddings.registry import EmbeddingModel, load_registry
from graphrag.errors import InvalidSettings, MissingExtra, ProviderError
from tests.graphrag.embeddings.stubborn import IMPATIENT
from tests.model_server import Fail, Garbage, Hang, ModelServer, unit_vector

KEYS = {"OPENAI_API_KEY": "sk-geheimnis", "GOOGLE_API_KEY": "google-geheimnis"}
SERVERS = {
    "openai": "{id: far, provider: openai, model: m, base_url: '%s/v1', %s}",
    "ollama": "{id: far, provider: ollama, model: m, base_url: '%s', %s}",
    "google_genai": "{id: far, provider: google_genai, model: m, base_url: '%s', %s}",
}
REMOTE = ["openai", *(pytest.param(name, marks=pytest.mark.slow) for name in ("ollama", "google_genai"))]


def load(folder: Path, entry: str, **options: Any) -> EmbeddingModel:
    file = folder / "embeddings.yml"
    file.write_text(f"embeddings: [{entry}]")
    (model,) = load_registry(file, **options).models.values()
    return replace(model, patience=IMPATIENT, query_patience=IMPATIENT)


@pytest.fixture
def far(
    request: pytest.FixtureRequest, tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> EmbeddingModel:
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    address = model_server.base_url.removesuffix("/v1")
    return load(tmp_path, SERVERS[request.param] % (address, "timeout_seconds: 5"))


@pytest.mark.parametrize("far", REMOTE, indirect=True)
async def test_texts_are_embedded_in_order_by_one_call(far: EmbeddingModel, model_server: ModelServer) -> None:
    """R3.4, R3.3, R3.5"""
    assert far.dimensions == 64
    before = len(model_server.requests)
    texts = [f"texto {number}" for number in range(100)]
    vectors = await far.embed(texts)
    assert len(model_server.requests) == before + 1
    for text, vector in zip(texts, vectors, strict=True):
        assert vector == pytest.approx(unit_vector(text, 64), abs=1e-6)
    assert await far.embed_queries(["texto 7"]) == [pytest.approx(vectors[7], abs=1e-6)]


@pytest.mark.parametrize("far", REMOTE, indirect=True)
@pytest.mark.parametrize("status", [429, 500, 503])
async def test_our_retries_are_the_only_ones(far: EmbeddingModel, model_server: ModelServer, status: int) -> None:
    """R3.5 three: a vendor's own would multiply them."""
    before = len(model_server.requests)
    model_server.script_embeddings(*[Fail(status)] * 3)
    assert len(await far.embed(["a"])) == 1
    assert len(model_server.requests) == before + 4
    model_server.script_embeddings(*[Fail(status)] * 4)
    with pytest.raises(ProviderError, match="far"):
        await far.embed(["a"])
    assert len(model_server.requests) == before + 8


@pytest.mark.parametrize("far", REMOTE, indirect=True)
@pytest.mark.parametrize("failure", [Fail(400), Fail(401), Fail(404), Garbage()], ids=str)
async def test_what_lasts_is_told_at_once(
    far: EmbeddingModel, model_server: ModelServer, failure: Fail | Garbage
) -> None:
    """R3.5, R11.1, security 20: without the key."""
    before = len(model_server.requests)
    model_server.script_embeddings(failure)
    with pytest.raises(ProviderError, match="far") as caught:
        await far.embed(["a"])
    assert len(model_server.requests) == before + 1
    assert "geheimnis" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("provider", SERVERS)
async def test_a_hanging_server_is_left(
    provider: str, tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R3.5, R11.1 a time limit for each call, also while it is loaded."""
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    entry = SERVERS[provider] % (model_server.base_url.removesuffix("/v1"), "timeout_seconds: 0.2")
    far = load(tmp_path, entry)
    model_server.script_embeddings(*[Hang(30)] * 4)
    with pytest.raises(ProviderError, match=r"far.*(no answer within|[Tt]ime)"):
        await far.embed(["a"])
    model_server.script_embeddings(*[Hang(30)] * 4)
    with pytest.raises(InvalidSettings, match="far"):
        load(tmp_path, entry)


@pytest.mark.parametrize("provider", REMOTE)
def test_dimensions_are_those_asked_for(
    provider: str, tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R3.4"""
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    far = load(tmp_path, SERVERS[provider] % (model_server.base_url.removesuffix("/v1"), "dimensions: 24"))
    assert far.dimensions == 24


@pytest.mark.parametrize("provider", REMOTE)
async def test_prefixes_tell_questions_from_texts(
    provider: str, tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R3.4 for models that were trained so."""
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    prefixes = "query_prefix: 'query: ', document_prefix: 'passage: '"
    far = load(tmp_path, SERVERS[provider] % (model_server.base_url.removesuffix("/v1"), prefixes))
    assert await far.embed(["a"]) == [pytest.approx(unit_vector("passage: a", 64), abs=1e-6)]
    assert await far.embed_queries(["a"]) == [pytest.approx(unit_vector("query: a", 64), abs=1e-6)]
    assert far.embeddings.embed_query("a") == pytest.approx(unit_vector("query: a", 64), abs=1e-6)
    assert far.embeddings.embed_documents(["a"]) == [pytest.approx(unit_vector("passage: a", 64), abs=1e-6)]


@pytest.mark.slow
async def test_gemini_is_told_what_a_text_is_for(
    tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R3.4 and reads its key from the environment."""
    monkeypatch.setenv("GOOGLE_API_KEY", KEYS["GOOGLE_API_KEY"])
    far = load(tmp_path, SERVERS["google_genai"] % (model_server.base_url.removesuffix("/v1"), ""))
    await far.embed(["a"])
    await far.embed_queries(["a"])
    tasks = [request.body["requests"][0]["taskType"] for request in model_server.requests]
    assert tasks == ["RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"]
    assert {request.headers["x-goog-api-key"] for request in model_server.requests} == {KEYS["GOOGLE_API_KEY"]}


def test_a_server_of_one_s_own_needs_no_key(
    tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R3.4 any server that speaks like OpenAI's."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    address = model_server.base_url.removesuffix("/v1")
    assert load(tmp_path, SERVERS["openai"] % (address, "")).dimensions == 64


@pytest.mark.parametrize("provider", REMOTE)
def test_a_server_that_is_not_there_stops_the_start(
    provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R3.1 after it was tried again, with the model's name."""
    monkeypatch.setattr("graphrag.embeddings.registry.FOR_DOCUMENTS", IMPATIENT)
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(InvalidSettings, match=r"(?s)'far'.*could not be loaded.*Example:") as caught:
        load(tmp_path, SERVERS[provider] % (f"http://me:geheimnis@127.0.0.1:{port}", ""))
    assert "geheimnis" not in str(caught.value)


def test_dimensions_that_a_server_passes_over_stop_the_start(
    tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R3.1"""
    monkeypatch.setattr("tests.model_server.openai.embeddings", lambda body, dimension: embeddings(body, 8))
    with pytest.raises(InvalidSettings, match="it gives 8 dimensions, not the 24"):
        load(tmp_path, SERVERS["openai"] % (model_server.base_url.removesuffix("/v1"), "dimensions: 24"))


def embeddings(body: dict[str, Any], dimension: int) -> dict[str, Any]:
    return {"object": "list", "data": [{"object": "embedding", "index": 0, "embedding": [0.5] * dimension}],
            "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "module", "extra"),
    [
        ("{id: far, provider: ollama, model: m}", "langchain_ollama", "ollama"),
        ("{id: far, provider: google_genai, model: m}", "langchain_google_genai", "google"),
        ("{id: far, path: .}", "sentence_transformers", "local-models"),
    ],
)
def test_a_missing_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str, module: str, extra: str
) -> None:
    """R3.1, R13.5 with the way out."""
    for name in [
        name
        for name in sys.modules
        if name.startswith("graphrag.embeddings.") and name.endswith(("google", "sentence_transformer"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"(?s)'far'.*make install WITH={extra}"):
        load(tmp_path, entry)


def test_loading_is_logged_with_the_dimensions(tmp_path: Path) -> None:
    """R3.1"""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger("info"))
    try:
        with structlog.testing.capture_logs() as logged:
            load(tmp_path, "{id: near, provider: bundled}")
    finally:
        structlog.configure(**before)
    (line,) = [line for line in logged if line["event"] == "embedding model loaded"]
    assert (line["model"], line["provider"], line["dimensions"]) == ("near", "bundled", 256)


def test_a_folder_that_is_not_there_is_no_name_of_a_model(tmp_path: Path) -> None:
    """R3.1 it would be looked for in the network."""
    with pytest.raises(InvalidSettings, match=r"(?s)'near'.*there is no folder .*/nowhere"):
        load(tmp_path, "{id: near, path: nowhere}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.graphrag.embeddings.tiny_sentence_transformer import save_sentence_transformer

    folder = tmp_path_factory.mktemp("models")
    save_sentence_transformer(folder / "plain")
    save_sentence_transformer(folder / "prompted", prompts={"query": "query: ", "document": "passage: "})
    return folder


@pytest.mark.slow
async def test_a_folder_holds_a_model(folder: Path) -> None:
    """R3.1, R3.4 `path` alone; relative to the file; nearer texts have nearer vectors."""
    model = load(folder, "{id: near, path: plain}")
    assert (model.dimensions, model.timeout_seconds) == (16, None)
    first, alike, other = await model.embed(["horno gas", "gas horno horno", "fuga"])
    assert cosine(first, alike) > cosine(first, other) + 0.05
    assert await model.embed_queries(["horno gas"]) == [pytest.approx(first, abs=1e-5)]


def cosine(a: list[float], b: list[float]) -> float:
    return float(np.dot(a, b) / np.linalg.norm(a) / np.linalg.norm(b))


@pytest.mark.slow
async def test_a_model_s_own_prompts_are_used_unless_the_file_has_others(folder: Path) -> None:
    """R3.4"""
    plain = load(folder, "{id: near, path: plain}")
    own = load(folder, "{id: near, path: prompted}")
    ours = load(folder, "{id: near, path: prompted, query_prefix: 'fuga ', document_prefix: ''}")
    asked, found = await plain.embed(["query: horno"]), await plain.embed(["passage: horno"])
    assert await own.embed_queries(["horno"]) == [pytest.approx(asked[0], abs=1e-5)]
    assert await own.embed(["horno"]) == [pytest.approx(found[0], abs=1e-5)]
    assert await ours.embed_queries(["horno"]) == [pytest.approx((await plain.embed(["fuga horno"]))[0], abs=1e-5)]
    assert await ours.embed(["horno"]) == [pytest.approx((await plain.embed(["horno"]))[0], abs=1e-5)]


@pytest.mark.slow
def test_tokens_are_those_of_the_model(folder: Path) -> None:
    """R2.2, R3.5 also of a text that is longer than the model reads."""
    model = load(folder, "{id: near, path: plain}")
    assert model.count_tokens(["horno gas", "fuga", "horno " * 100, ""]) == [2, 1, 100, 0]
    assert model.count_tokens([]) == []


@pytest.mark.slow
def test_a_local_model_can_have_fewer_dimensions(folder: Path) -> None:
    """R3.4"""
    assert load(folder, "{id: near, path: plain, dimensions: 4}").dimensions == 4


@pytest.mark.slow
def test_code_of_a_model_is_not_run(folder: Path, tmp_path: Path) -> None:
    """Security 13: a model that brings its own Python is refused."""
    hostile = tmp_path / "hostile"
    shutil.copytree(folder / "plain", hostile)
    (hostile / "evil.py").write_text(f"open({str(tmp_path / 'was here')!r}, 'w')\n\nclass Evil: ...\n")
    modules = (hostile / "modules.json").read_text()
    name = modules.split('"type": "')[1].split('"')[0]
    (hostile / "modules.json").write_text(modules.replace(name, "evil.Evil", 1))
    with pytest.raises(InvalidSettings, match="hostile"):
        load(tmp_path, "{id: hostile, path: hostile}")
    assert not (tmp_path / "was here").exists()


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["config.json", "modules.json", "model.safetensors"])
def test_a_damaged_folder_stops_the_start(folder: Path, tmp_path: Path, damage: str) -> None:
    """R3.1"""
    shutil.copytree(folder / "plain", tmp_path / "damaged")
    (tmp_path / "damaged" / damage).write_bytes(b"{")
    with pytest.raises(InvalidSettings, match=r"(?s)'near'.*Example:"):
        load(tmp_path, "{id: near, path: damaged}")


class NetworkUsed(BaseException):
    """Nobody catches it and tries again."""


@pytest.mark.slow
def test_names_are_looked_for_in_the_cache_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """R3.1, R3.2 nothing is fetched unless it was asked for."""

    def refuse(*address: object, **options: object) -> None:
        raise NetworkUsed

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    entry = ModelEntry(id="hub", provider="sentence-transformers", model="nobody/nothing-of-this-name")
    with pytest.raises(OSError, match=r"nobody/nothing-of-this-name|cached files"):
        open_embeddings(entry)
    with pytest.raises(NetworkUsed):
        open_embeddings(entry, may_download=True)
