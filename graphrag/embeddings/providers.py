"""A vendor's model by its entry in embeddings.yml. Each is called without the vendor's own retries: ours are enough."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain_core.embeddings import Embeddings

from graphrag.embeddings.configuration import ModelEntry
from graphrag.errors import MissingExtra, install_command

EXTRAS = {"ollama": "ollama", "google_genai": "google", "sentence-transformers": "local-models"}


class PrefixedEmbeddings(Embeddings):
    def __init__(self, embeddings: Embeddings, *, query: str, document: str) -> None:
        self._embeddings = embeddings
        self._query = query
        self._document = document

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._embeddings.embed_documents([self._document + text for text in texts])

    def embed_query(self, text: str) -> list[float]:
        return self._embeddings.embed_query(self._query + text)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        return await self._embeddings.aembed_documents([self._document + text for text in texts])

    async def aembed_queries(self, texts: list[str]) -> list[list[float]]:
        return await self._embeddings.aembed_documents([self._query + text for text in texts])


def open_embeddings(entry: ModelEntry, *, may_download: bool = False) -> Embeddings:
    """Raises MissingExtra, and whatever a vendor raises for a missing key or model."""
    if entry.provider == "sentence-transformers":
        return _with_extra(entry, lambda: _sentence_transformer(entry, may_download=may_download))
    embeddings = _with_extra(entry, lambda: _OPEN[entry.provider](entry))
    if entry.query_prefix or entry.document_prefix:
        return PrefixedEmbeddings(embeddings, query=entry.query_prefix or "", document=entry.document_prefix or "")
    return embeddings


def find_cached_models() -> list[str]:
    """Return the names of the models in the Hugging Face hub's cache, which sentence-transformers opens by them."""
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    folders = sorted((home / "hub").glob("models--*--*"))
    return [folder.name.removeprefix("models--").replace("--", "/", 1) for folder in folders]


def _with_extra(entry: ModelEntry, open_it: Callable[[], Embeddings]) -> Embeddings:
    try:
        return open_it()
    except ImportError as exc:
        extra = EXTRAS.get(entry.provider)
        if extra is None:
            raise
        raise MissingExtra.of(f"Embedding model {entry.id!r} ({entry.provider})", install_command(extra)) from exc


def _bundled(entry: ModelEntry) -> Embeddings:
    from graphrag.embeddings.bundled import BundledEmbeddings

    return BundledEmbeddings()


def _e5(entry: ModelEntry) -> Embeddings:
    from graphrag.embeddings.multilingual_e5 import E5Embeddings

    return E5Embeddings()


def _openai(entry: ModelEntry) -> Embeddings:
    from langchain_openai import OpenAIEmbeddings

    base_url = entry.base_url or os.environ.get("OPENAI_BASE_URL")
    settings: dict[str, Any] = {}
    if base_url and not os.environ.get("OPENAI_API_KEY"):
        settings["api_key"] = "none"  # servers of one's own ask for no key, the client insists on one
    # Without a check of the length: the tokenizer's tables would be fetched from the network.
    return OpenAIEmbeddings(
        model=entry.model,
        base_url=base_url,
        dimensions=entry.dimensions,
        check_embedding_ctx_length=False,
        max_retries=0,
        timeout=entry.timeout_seconds,
        **settings,
    )


def _ollama(entry: ModelEntry) -> Embeddings:
    from langchain_ollama import OllamaEmbeddings

    embeddings: Embeddings = OllamaEmbeddings(
        model=entry.model,
        base_url=entry.base_url,
        dimensions=entry.dimensions,
        client_kwargs={"timeout": entry.timeout_seconds},
    )
    return embeddings


def _google_genai(entry: ModelEntry) -> Embeddings:
    from graphrag.embeddings.google import GoogleEmbeddings

    return GoogleEmbeddings(
        entry.model, base_url=entry.base_url, dimensions=entry.dimensions, timeout_seconds=entry.timeout_seconds
    )


def _sentence_transformer(entry: ModelEntry, *, may_download: bool) -> Embeddings:
    if entry.path and not entry.path.is_dir():  # it would be taken for a model's name
        raise FileNotFoundError(f"there is no folder {entry.path}")
    from graphrag.embeddings.sentence_transformer import SentenceTransformerEmbeddings

    given = {"query": entry.query_prefix, "document": entry.document_prefix}
    return SentenceTransformerEmbeddings(
        str(entry.path or entry.model),
        may_download=may_download,
        # The model's own unless the file has others.
        prompts={name: prefix for name, prefix in given.items() if prefix is not None} or None,
        dimensions=entry.dimensions,
    )


_OPEN: dict[str, Callable[[ModelEntry], Embeddings]] = {
    "bundled": _bundled,
    "e5": _e5,
    "openai": _openai,
    "ollama": _ollama,
    "google_genai": _google_genai,
}
