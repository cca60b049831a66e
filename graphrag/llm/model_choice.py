"""The chat model that a person connects on the page: the servers found, a trial question, the choice that is stored."""

import asyncio
import json
import os
import re
import ssl
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from urllib.parse import urlsplit

import httpx

from graphrag.authentication.identity import is_loopback
from graphrag.config.answering import is_model_address
from graphrag.config.settings import Settings
from graphrag.errors import ModelAddressRefused, ModelTrialFailed, ProviderError
from graphrag.file_storage.local import LocalFiles
from graphrag.llm.chat_models import NamedModel, open_connected
from graphrag.llm.guard import NO_RIGHT, NO_SUCH_MODEL
from graphrag.observability.telemetry import log
from graphrag.resilience.retry import http_status, is_transient

VENDORS = {  # provider → address of its OpenAI-compatible API, variable of its key
    "openai": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "google_genai": ("https://generativelanguage.googleapis.com/v1beta/openai", "GOOGLE_API_KEY"),
    "mistralai": ("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
}
SERVERS = {11434: "Ollama", 1234: "LM Studio", 8080: "llama.cpp", 8000: "vLLM"}  # by the port of each
PORTS = {"http": 80, "https": 443}
SEARCH_SECONDS, TRIAL_SECONDS = 1.5, 60.0
NO_CHAT = re.compile(r"embed|whisper|tts|dall-e|image|moderation|transcribe|realtime|audio|ocr|veo|imagen|sora")
TRIAL, EXPECTED = "What is the capital of France? Answer in one sentence.", "Paris"
STORED = "chosen/chat/model.json"


@dataclass(frozen=True, slots=True)
class ModelConnection:
    """A model of an OpenAI-compatible server."""

    address: str
    model: str
    key: str | None = field(default=None, repr=False)  # None: the environment's, if the address is a vendor's

    @property
    def name(self) -> str:
        """Return "provider:model", as models are called in answers: "local" is this machine."""
        of_vendor = (provider for provider, (address, _) in _vendors().items() if address == self.address)
        provider = next(of_vendor, "local" if _is_local(self.address) else urlsplit(self.address).hostname)
        return f"{provider}:{self.model}"

    def open(self, settings: Settings, client: httpx.AsyncClient) -> NamedModel:
        key = self.key or _key_of(self.address) or "none"  # the client insists on one
        options = {"model": self.model, "base_url": self.address, "api_key": key, "http_async_client": client}
        return NamedModel(self.name, open_connected(settings, self.name, **options))

    def checked(self, settings: Settings, *, own_port: int) -> "ModelConnection":
        """Return the connection with its address as it is called. Raises ModelAddressRefused.

        `own_port`: of this service, which can't be its own model.
        """
        address = self.address.strip().rstrip("/")
        known = {*settings.chat.model_servers, *(address for address, _ in _vendors().values())}
        if not is_model_address(address) or _is_own(address, own_port) or not (address in known or _is_local(address)):
            raise ModelAddressRefused(f"Nothing is sent to {address!r}.", address=address)
        return replace(self, address=address if urlsplit(address).path else f"{address}/v1")


@dataclass(frozen=True, slots=True)
class FoundServer:
    name: str
    address: str
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelTrial:
    answer: str
    first_word_seconds: float
    seconds: float


@dataclass(frozen=True, slots=True)
class ChosenModel:
    connection: ModelConnection
    model: NamedModel


class ModelChoice:
    """The model chosen on the page, in a file under CAUSEWAY_HOME; only a service without owners has one.

    It writes answers, before the models of the settings; whatever else models do stays with those.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._files = LocalFiles(settings.storage.home / "model")
        self._path = self._files.folder / STORED
        self._version: tuple[int, int] | None = None  # of the file that was read
        self._chosen: ChosenModel | None = None

    @property
    def is_allowed(self) -> bool:
        return self._settings.authentication.auth == "none"

    def before(self, models: Sequence[NamedModel]) -> Sequence[NamedModel]:
        """Return the models in the order in which they are asked for an answer."""
        chosen = self.load()
        return (chosen.model, *models) if chosen else models

    async def choose(self, connection: ModelConnection) -> None:
        """Raises FileUnavailable."""
        await self._files.put(STORED, json.dumps(asdict(connection)).encode())
        await asyncio.to_thread(self.load)

    async def forget(self) -> None:
        """Raises FileUnavailable."""
        await self._files.delete(STORED)

    def load(self) -> ChosenModel | None:
        """Return the choice. The file is looked at each time, as another process may have changed it."""
        if not self.is_allowed:
            return None
        try:
            stat = self._path.stat()
            version = stat.st_ino, stat.st_mtime_ns
        except OSError:
            version = None
        if version != self._version:
            self._version, self._chosen = version, self._read() if version else None
        return self._chosen

    def _read(self) -> ChosenModel | None:
        try:
            connection = ModelConnection(**json.loads(self._path.read_bytes()))
            client = _client(connection.address, self._settings.chat.chat_timeout_seconds)
            return ChosenModel(connection, connection.open(self._settings, client))
        except Exception as exc:  # a file that was damaged by hand leaves the settings' models
            log.warning("the chosen model is not used", error=exc)
            return None


async def find_servers(settings: Settings, *, own_port: int) -> list[FoundServer]:
    """Return the servers that answer, of those in the settings and those with a key in the environment."""
    others = [address for address in settings.chat.model_servers if not _is_own(address, own_port)]
    names = {address: SERVERS.get(urlsplit(address).port or 0, urlsplit(address).netloc) for address in others}
    names |= {address: provider for provider, (address, _) in _vendors().items() if _key_of(address)}
    await asyncio.to_thread(_tls_context)  # before the time limit of the servers begins
    servers = map(FoundServer, names.values(), names, await asyncio.gather(*map(_models_at, names)))
    return [server for server in servers if server.models]


async def try_model(connection: ModelConnection, settings: Settings) -> ModelTrial:
    """Ask the model a short question. Raises ModelTrialFailed."""
    impatient = settings.changed(chat_max_retries=0, chat_timeout_seconds=TRIAL_SECONDS)
    async with _client(connection.address, TRIAL_SECONDS) as client:
        model = (await asyncio.to_thread(connection.open, impatient, client)).model  # its package takes a while to load
        answer, first_word, started = "", 0.0, time.monotonic()
        try:
            async for chunk in model.astream(TRIAL):
                answer += chunk.text
                if not first_word and answer.strip():
                    first_word = time.monotonic() - started
        except ProviderError as exc:
            raise _failure(connection, _reason(exc), time.monotonic() - started) from exc
    seconds = time.monotonic() - started
    if EXPECTED.lower() not in answer.lower():
        raise _failure(connection, "model_garbled", seconds)
    return ModelTrial(answer.strip(), first_word, seconds)


def _failure(connection: ModelConnection, reason: str, seconds: float) -> ModelTrialFailed:
    details = {"model": connection.model, "address": connection.address, "seconds": round(seconds)}
    return ModelTrialFailed(f"{connection.name} was tried: {reason}", reason=reason, **details)


def _reason(error: ProviderError) -> str:
    status = http_status(error)
    if status in NO_RIGHT:
        return "model_key_refused"
    if status == NO_SUCH_MODEL:
        return "model_unknown"
    if status is not None:
        return "model_failing"
    if isinstance(error.__cause__, TimeoutError):
        return "model_slow"
    return "model_unreachable" if is_transient(error) else "model_garbled"


def _is_local(address: str) -> bool:
    return is_loopback(urlsplit(address).hostname or "")


def _is_own(address: str, own_port: int) -> bool:
    """Return whether this service answers there, as such a server does."""
    parts = urlsplit(address)
    return _is_local(address) and (parts.port or PORTS[parts.scheme]) == own_port


async def _models_at(address: str) -> tuple[str, ...]:
    key = _key_of(address)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        async with asyncio.timeout(SEARCH_SECONDS), _client(address, SEARCH_SECONDS) as client:
            listed = (await client.get(f"{address}/models", headers=headers)).raise_for_status().json()["data"]
            models = (str(each["id"]) for each in listed if each.get("owned_by") != "causeway")
            return tuple(sorted(model for model in models if not NO_CHAT.search(model)))
    except Exception:  # nobody is there, or something else than such a server
        return ()


def _client(address: str, seconds: float) -> httpx.AsyncClient:
    """Return a client that is not led to other addresses: neither by redirects, nor by a proxy for this machine's."""
    trust_env = not _is_local(address)
    return httpx.AsyncClient(timeout=seconds, follow_redirects=False, trust_env=trust_env, verify=_tls_context())


@cache
def _tls_context() -> ssl.SSLContext:
    """Return the context of all clients: reading the certificate authorities takes tens of milliseconds."""
    return httpx.create_ssl_context()


def _vendors() -> dict[str, tuple[str, str]]:
    own = os.environ.get("OPENAI_BASE_URL", "").rstrip("/")  # whose key OPENAI_API_KEY is then
    return VENDORS | ({"openai": (own, "OPENAI_API_KEY")} if own else {})


def _key_of(address: str) -> str | None:
    variable = next((variable for known, variable in _vendors().values() if known == address), "")
    return os.environ.get(variable)
