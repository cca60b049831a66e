"""The three providers' chat models, at the scripted server: opened as the service opens them."""

from dataclasses import replace
from typing import Any

import pytest

from graphrag.config.settings import Settings
from graphrag.llm.chat_models import open_chat_model
from graphrag.llm.resilient_chat_model import ResilientChatModel
from tests.model_server import ModelServer

OPENAI, OLLAMA, GEMINI = "openai:gpt-4o-mini", "ollama:llama3", "google_genai:gemini-2.5-flash"
# The packages of the others are extras.
PROVIDERS = [OPENAI, pytest.param(OLLAMA, marks=pytest.mark.slow), pytest.param(GEMINI, marks=pytest.mark.slow)]
KEYS = {"OPENAI_API_KEY": "sk-geheimnis", "GOOGLE_API_KEY": "google-geheimnis"}


def point_at(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = {"OPENAI_BASE_URL": server.base_url, "OLLAMA_HOST": server.url, "GOOGLE_GEMINI_BASE_URL": server.url}
    for name, value in {**KEYS, **addresses}.items():
        monkeypatch.setenv(name, value)


def open_model(name: str = OPENAI, *, retries: int = 0, **settings: Any) -> ResilientChatModel:
    """That waits a hundredth of a second before it tries again."""
    given = {"chat_first_token_seconds": 5, **settings}
    model = open_chat_model(Settings.from_environment(**{"chat_model": name, "chat_max_retries": retries, **given}))
    patience = replace(model.guard.patience, first_wait_seconds=0.01)
    return ResilientChatModel(inner=model.inner, guard=replace(model.guard, patience=patience))


async def listen(model: ResilientChatModel, question: str = "¿Qué hay?", *, into: list[str] | None = None) -> str:
    """All that it says; `into` also has what it said before it failed."""
    said = [] if into is None else into
    async for chunk in model.astream(question):
        said.append(chunk.text)
    return "".join(said)
