"""The generating models, by name: "provider:model" through LangChain, which every provider's package plugs into."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import httpx
from langchain_core.language_models import BaseChatModel

from graphrag.config.settings import Settings
from graphrag.errors import InvalidSettings, MissingExtra, install_command
from graphrag.llm.guard import Guard, is_outage
from graphrag.llm.resilient_chat_model import ResilientChatModel
from graphrag.resilience.circuit_breaker import CircuitBreaker
from graphrag.resilience.concurrency import ProviderLimit
from graphrag.resilience.retry import Patience

EXTRACTIVE = "extractive"  # the name of the one that quotes
EXTRAS = {"google_genai": "google", "ollama": "ollama"}  # provider → the extra that holds its package
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 0.5, 5.0  # between two calls: a person waits


@dataclass(frozen=True, slots=True)
class NamedModel:
    name: str
    model: BaseChatModel


def open_chat_model(
    settings: Settings, name: str | None = None, *, variable: str = "RAG_CHAT_MODEL"
) -> ResilientChatModel:
    """RAG_CHAT_MODEL unless another is named, by the variable that an error tells.

    Raises InvalidSettings for a name that no provider knows or a missing key, MissingExtra for a missing package.
    """
    wanted = name or settings.generation.chat_model or ""
    model = _open(wanted, settings.chat.chat_timeout_seconds, variable=variable)
    return ResilientChatModel(inner=model, guard=_guard(wanted, settings))


def open_connected(settings: Settings, name: str, **connection: Any) -> ResilientChatModel:
    """Return a model of an OpenAI-compatible server that no variable names; `connection`: arguments of its client."""
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(**{**_openai(settings.chat.chat_timeout_seconds), **connection})
    return ResilientChatModel(inner=model, guard=_guard(name, settings))


def open_fallbacks(settings: Settings) -> Iterator[NamedModel]:
    """Open the fallback models in their order. Raises as `open_chat_model` does."""
    if settings.chat.chat_fallbacks and not settings.generation.chat_model:
        raise InvalidSettings("RAG_CHAT_FALLBACKS needs RAG_CHAT_MODEL: the model that they stand in for.")
    for name in dict.fromkeys(settings.chat.chat_fallbacks):
        if name not in (settings.generation.chat_model, EXTRACTIVE):  # which is the last in any case
            yield NamedModel(name, open_chat_model(settings, name, variable="RAG_CHAT_FALLBACKS"))


def beginning_with(name: str | None, models: Sequence[NamedModel]) -> tuple[Sequence[NamedModel], list[str]]:
    """A collection's own model and those that come after it: what comes before is never sent its documents.

    One that is not configured is passed over, with a warning.
    """
    known = [model.name for model in models]
    if name is None:
        return models, []
    if name not in known:
        return models, [f"chat_model={name!r} is not used: configured are {', '.join(known)}"]
    return models[known.index(name) :], []


def _guard(name: str, settings: Settings) -> Guard:
    return Guard(
        name=name,
        limit=ProviderLimit(
            name,
            at_once=settings.chat.chat_concurrency,
            waiting=settings.chat.chat_queue,
            wait_seconds=settings.chat.chat_first_token_seconds,
        ),
        breaker=CircuitBreaker(
            name,
            failures=settings.chat.chat_breaker_failures,
            seconds=settings.chat.chat_breaker_seconds,
            is_outage=is_outage,
        ),
        patience=Patience(settings.chat.chat_max_retries, FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS),
        first_word_seconds=settings.chat.chat_first_token_seconds,
        word_seconds=settings.chat.chat_token_seconds,
        answer_seconds=settings.chat.chat_timeout_seconds,
    )


def _open(name: str, timeout_seconds: float, *, variable: str) -> BaseChatModel:
    from langchain.chat_models import init_chat_model

    provider = name.partition(":")[0]
    try:
        if provider in EXTRAS:  # else LangChain looks for its class in langchain_community, where that is installed
            import_module(f"langchain_{provider}")
        model: BaseChatModel = init_chat_model(name, **_OPTIONS.get(provider, _options)(timeout_seconds))
        return model
    except ImportError as exc:
        extra = EXTRAS.get(provider)
        way_out = install_command(extra) if extra else "an installed provider, such as openai:…"
        raise MissingExtra.of(f"{variable}={name}", way_out) from exc
    except Exception as exc:  # each vendor checks its key and arguments with errors of its own
        raise InvalidSettings(f"{variable}={name}: {' '.join(str(exc).split())}") from exc


# Without the vendors' own retries: ours are enough. Their time limits, from byte to byte, are a net beneath ours.


def _options(seconds: float) -> dict[str, Any]:
    return {"timeout": seconds, "max_retries": 0}


def _openai(seconds: float) -> dict[str, Any]:
    keyless = os.environ.get("OPENAI_BASE_URL") and not os.environ.get("OPENAI_API_KEY")
    # Servers of one's own ask for no key, the client insists on one. Its own limit from chunk to chunk makes a task of
    # each chunk, and loses cancellations on Python 3.11. With a number, langchain-openai would share one HTTP client in
    # the whole process, which fails as soon as the event loop of its connections is closed.
    timeout = httpx.Timeout(seconds)
    return {"timeout": timeout, "max_retries": 0, "stream_chunk_timeout": None} | (
        {"api_key": "none"} if keyless else {}
    )


def _google_genai(seconds: float) -> dict[str, Any]:
    return {"timeout": seconds, "max_retries": 1}  # which counts the first call; 0 would be its own number


def _ollama(seconds: float) -> dict[str, Any]:
    return {"base_url": os.environ.get("OLLAMA_BASE_URL"), "client_kwargs": {"timeout": seconds}}  # else OLLAMA_HOST


_OPTIONS: dict[str, Callable[[float], dict[str, Any]]] = {
    "openai": _openai,
    "google_genai": _google_genai,
    "ollama": _ollama,
}
