"""`causeway serve --download-models`, for each provider."""

from pathlib import Path

import pytest

from tests.api.commands import NOWHERE, Run, causeway
from tests.model_server import Fail, ModelServer

KEYS = {"OPENAI_API_KEY": "sk-geheimnis", "GOOGLE_API_KEY": "google-geheimnis"}


def download(folder: Path, *entries: str) -> Run:
    file = folder / "embeddings.yml"
    file.write_text("embeddings:\n" + "".join(f"- {{{entry}}}\n" for entry in entries))
    return causeway("serve", "--embeddings-config", str(file), "--download-models", **NOWHERE, **KEYS)


def test_models_of_a_server_are_tried(tmp_path: Path, model_server: ModelServer) -> None:
    """R3.2 loaded and verified, then exit 0, without a database."""
    far = f"id: far, provider: openai, model: m, base_url: '{model_server.base_url}'"
    run = download(tmp_path, "id: near, provider: bundled", far)
    assert (run.returncode, run.stdout) == (0, "near: loaded, 256 dimensions\nfar: loaded, 64 dimensions\n"), run.stderr
    model_server.script_embeddings(Fail(401))
    run = download(tmp_path, far)
    assert (run.returncode, run.stdout) == (1, "")
    assert "Embedding model 'far'" in run.stderr
    assert "Example:\nembeddings:" in run.stderr
    assert "Traceback" not in run.stderr
    assert "geheimnis" not in run.stderr


@pytest.mark.slow
def test_models_of_every_other_provider_are_tried(tmp_path: Path, model_server: ModelServer) -> None:
    """R3.2, R3.4"""
    from tests.graphrag.embeddings.tiny_sentence_transformer import save_sentence_transformer

    save_sentence_transformer(tmp_path / "model")
    address = model_server.base_url.removesuffix("/v1")
    run = download(
        tmp_path,
        f"id: llama, provider: ollama, model: m, base_url: '{address}'",
        f"id: gemini, provider: google_genai, model: m, base_url: '{address}'",
        "id: folder, path: model",
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [
        "llama: loaded, 64 dimensions", "gemini: loaded, 64 dimensions", "folder: loaded, 16 dimensions",
    ]  # fmt: skip
