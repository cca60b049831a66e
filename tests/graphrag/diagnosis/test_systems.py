"""What `causeway doctor` says of S3, Ollama and Gemini: configured, reached, or wrong with the way out."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from api.cli.doctor import WORDS
from graphrag.config.settings import Settings
from graphrag.diagnosis.findings import Finding, Level
from graphrag.diagnosis.installation import examine_models, examine_storage
from tests.chat_providers import GEMINI, KEYS, OLLAMA, point_at
from tests.graphrag.embeddings.test_providers import SERVERS
from tests.model_server import Fail, ModelServer, Reply
from tests.s3_server import let_in_one_alone, run_s3_server

pytestmark = pytest.mark.slow
NO_MODEL = Fail(404, message='model "llama3" not found, try pulling it first')
NO_KEY = Fail(400, message="API key not valid. Please pass a valid API key.")
FAULTS = [
    (OLLAMA, NO_MODEL, "Run: ollama pull llama3"),
    (GEMINI, NO_KEY, "Check GOOGLE_API_KEY"),
    (GEMINI, Fail(404), "Check the model's name"),
]


async def told(findings: AsyncIterator[Finding], code: str) -> str:
    """The finding's sentences, of the one with this code, in every language."""
    finding = {finding.code: finding async for finding in findings}[code]
    assert (finding.level is Level.ERROR) == (code not in ("chat_model", "chat_model_answers", "embeddings", "files"))
    return " ".join(WORDS[code][language].format(**finding.details) for language in ("es", "fr", "en"))


@pytest.fixture(autouse=True)
def environment(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    point_at(model_server, monkeypatch)


@pytest.mark.parametrize("name", [OLLAMA, GEMINI])
async def test_a_model_is_configured_and_reached(name: str, model_server: ModelServer) -> None:
    """R8.8, R13.4"""
    settings = Settings.from_environment(chat_model=name)
    assert name in await told(examine_models(settings, calls=False), "chat_model")
    assert not model_server.requests
    model_server.default = Reply("ready")
    assert name in await told(examine_models(settings, calls=True), "chat_model_answers")


@pytest.mark.parametrize(("name", "fault", "way_out"), FAULTS, ids=str)
async def test_a_model_that_is_wrong_is_told(name: str, fault: Fail, way_out: str, model_server: ModelServer) -> None:
    """R8.8, R13.4 without the key."""
    model_server.default = fault
    sentences = await told(examine_models(Settings.from_environment(chat_model=name), calls=True), "cannot_be_used")
    assert sentences.count("RAG_CHAT_MODEL") == sentences.count(way_out) == 3
    assert not [key for key in KEYS.values() if key in sentences]


@pytest.mark.parametrize(("name", "fault", "way_out"), FAULTS, ids=str)
async def test_embeddings_are_reached_or_wrong(
    name: str, fault: Fail, way_out: str, model_server: ModelServer, tmp_path: Path
) -> None:
    """R3.1, R13.4"""
    provider, model = name.split(":")
    entry = (SERVERS[provider] % (model_server.url, "")).replace("model: m", f"model: {model}")
    file = tmp_path / "embeddings.yml"
    file.write_text(f"embeddings: [{entry}]")
    settings = Settings.from_environment(embeddings_config=file)
    assert "far" in await told(examine_models(settings, calls=False), "embeddings")
    model_server.script_embeddings(fault)
    sentences = await told(examine_models(settings, calls=False), "cannot_be_used")
    assert sentences.count("EMBEDDINGS_CONFIG") == sentences.count(way_out) == 3


@pytest.fixture(scope="module")
def bucket() -> Iterator[tuple[str, str, str]]:
    """Of a server that checks signatures: its address, the key's id and its secret. It is named `files`."""
    with run_s3_server() as address:
        yield address, *let_in_one_alone(address, bucket="files")


@pytest.mark.parametrize(
    ("change", "code", "way_out"),
    [
        ({}, "files", "s3://files"),
        ({"RAG_FILES_URL": "s3://other"}, "bucket_missing", "RAG_FILES_URL"),
        ({"AWS_SECRET_ACCESS_KEY": "top-secret"}, "bucket_refused", "AWS_SECRET_ACCESS_KEY"),
        ({"AWS_ACCESS_KEY_ID": "nobody"}, "bucket_refused", "AWS_ACCESS_KEY_ID"),
        ({"AWS_ENDPOINT_URL": "model server"}, "not_s3", "AWS_ENDPOINT_URL"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "cannot_be_used", "AWS_ENDPOINT_URL"),
    ],
    ids=str,
)
async def test_a_bucket_is_reached_or_wrong(
    change: dict[str, str],
    code: str,
    way_out: str,
    bucket: tuple[str, str, str],
    model_server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """R1.4, R13.4 without the secret."""
    address, key, secret = bucket
    given = {"AWS_ENDPOINT_URL": address, "AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret}
    for name, value in {"RAG_FILES_URL": "s3://files", "AWS_REGION": "us-east-1", **given, **change}.items():
        monkeypatch.setenv(name, model_server.url if value == "model server" else value)
    sentences = await told(examine_storage(Settings.from_environment()), code)
    assert sentences.count(way_out) >= 3
    assert secret not in sentences
    assert "top-secret" not in sentences
