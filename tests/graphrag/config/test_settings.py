"""How a search is configured: by the service, the collection, the request."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from graphrag.config.settings import RetrievalConfig, Settings
from graphrag.errors import InvalidSettings
from graphrag.models import Collection
from graphrag.services import open_services
from tests.factories import COLLECTION_ID


def collection(**config: Any) -> Collection:
    return Collection(COLLECTION_ID, "me", "notes", "bundled", config=config)


def test_the_request_counts_more_than_the_collection_and_that_more_than_the_service() -> None:
    """R4.10"""
    services = open_services(Settings.from_environment(top_k=3, rrf_k=10, strategy="fulltext"))
    of_collection = collection(rrf_k=20, strategy="semantic")
    config, warnings = services.collections.retrieval_config(of_collection, {"strategy": "hybrid"})
    assert (config.top_k, config.rrf_k, config.strategy, warnings) == (3, 20, "hybrid", [])
    assert services.collections.retrieval_config(collection(), {}, top_k=5)[0].top_k == 5
    assert services.collections.retrieval_config(collection(top_k=7), {}, top_k=5)[0].top_k == 7


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("top_k", 0),
        ("top_k", "many"),
        ("rrf_k", 10**400),
        ("candidates_per_leg", 10**9),
        ("vector_weight", 1.5),
        ("vector_weight", float("nan")),
        ("strategy", "magic"),
        ("fusion", {"a": 1}),
        ("temperature", 1),
        ("\ud800", 1),
    ],
)
def test_a_value_that_is_none_leaves_the_default_and_is_told(name: str, value: object) -> None:
    """R4.10 an invalid request value → default and a warning; the others count."""
    config, (warning,) = RetrievalConfig().overridden({name: value, "rerank": False})
    assert config == RetrievalConfig(rerank=False)
    assert "is not used: " in warning
    assert warning.isprintable()
    assert len(warning) < 300


def test_what_a_stranger_wrote_is_repeated_in_brief() -> None:
    """Security 10: an answer does not grow with what is wrong in the question."""
    _, warnings = RetrievalConfig().overridden({"top_k": "x" * 100_000, "y" * 100_000: 1})
    assert all(len(warning) < 300 for warning in warnings)


JSON = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers(), max_size=2)


@given(st.dictionaries(st.sampled_from([*RetrievalConfig.model_fields, "other"]), JSON))
def test_any_overrides_make_a_valid_configuration(values: dict[str, Any]) -> None:
    """R4.10, security 10."""
    config, warnings = RetrievalConfig().overridden(values)
    assert RetrievalConfig.model_validate(config.model_dump()) == config
    assert len(warnings) <= len(values)


def test_the_service_s_own_values_are_checked_at_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """R4.10 validated at start."""
    monkeypatch.setenv("RAG_RRF_K", "0")
    with pytest.raises(InvalidSettings, match="RAG_RRF_K"):
        Settings.from_environment()


PRESETS: list[dict[str, Any]] = [
    {"fusion": "rrf"},
    {"fusion": "weighted", "vector_weight": 0.3},
    {"fusion": "weighted", "vector_weight": 0.4},
]


@pytest.mark.parametrize("preset", PRESETS)
def test_the_presets_are_values(preset: dict[str, Any]) -> None:
    """R4.2 `rrf` k 60, `weighted` 70/30 and 60/40."""
    config, warnings = RetrievalConfig().overridden(preset)
    assert (config.rrf_k, warnings) == (60, [])
    assert config.model_dump().items() >= preset.items()


def test_a_configuration_does_not_change() -> None:
    with pytest.raises(ValidationError):
        RetrievalConfig().top_k = 3


def test_how_answers_are_written_is_the_collection_s_before_the_service_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """R8.1, R8.8 One value that is not valid is passed over, with a warning."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-tests")
    services = open_services(Settings.from_environment(chat_model="openai:gpt-5", system_prompt="Sé breve."))
    assert services.collections.generation_config(None) == (services.settings.generation, [])
    own = {"chat_model": "extractive", "system_prompt": "Tutea."}
    config, warnings = services.collections.generation_config(replace(collection(), generation_config=own))
    assert (config.model_dump(), warnings) == (own, [])
    config, (warning,) = services.collections.generation_config(
        replace(collection(), generation_config={"system_prompt": 7})
    )
    assert config == services.settings.generation
    assert warning.startswith("system_prompt=7 is not used")


@pytest.mark.parametrize(
    ("given", "understood"),
    [
        ("", ()),
        ("ollama:llama3", ("ollama:llama3",)),
        (" ollama:llama3 ,, openai:gpt-5,", ("ollama:llama3", "openai:gpt-5")),
    ],
)
def test_fallbacks_are_separated_by_commas(
    monkeypatch: pytest.MonkeyPatch, given: str, understood: tuple[str, ...]
) -> None:
    """R8.8 RAG_CHAT_FALLBACKS."""
    monkeypatch.setenv("RAG_CHAT_FALLBACKS", given)
    assert Settings.from_environment().chat.chat_fallbacks == understood


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RAG_SYSTEM_PROMPT", "a" * 4001),
        ("RAG_CHAT_CONCURRENCY", "0"),
        ("RAG_CHAT_TOKEN_SECONDS", "-1"),
        ("RAG_MODEL_SERVERS", "127.0.0.1:11434"),
        ("RAG_MODEL_SERVERS", "http://127.0.0.1:99999/v1"),
    ],
)
def test_a_value_of_generation_is_checked_at_start(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """R8.8 The error names the variable."""
    monkeypatch.setenv(name, value)
    with pytest.raises(InvalidSettings, match=name):
        Settings.from_environment()
