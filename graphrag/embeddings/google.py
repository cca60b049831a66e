"""Gemini's embeddings, which distinguish questions from texts by their task."""

from typing import Any

from google.genai import Client
from google.genai.types import HttpOptions
from langchain_core.embeddings import Embeddings
from langchain_google_genai import GoogleGenerativeAIEmbeddings

QUERY, DOCUMENT = "RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT"


class GoogleEmbeddings(Embeddings):
    """The key is GOOGLE_API_KEY or GEMINI_API_KEY."""

    def __init__(self, model: str, *, base_url: str | None, dimensions: int | None, timeout_seconds: float) -> None:
        self._gemini: Any = GoogleGenerativeAIEmbeddings(model=model, output_dimensionality=dimensions)
        # The client that it makes for itself waits for ever. This limit is a net beneath ours, which says what it is.
        milliseconds = int((timeout_seconds + 1) * 1000)
        self._gemini.client = Client(http_options=HttpOptions(base_url=base_url, timeout=milliseconds))

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._gemini.embed_documents(texts, task_type=DOCUMENT)
        return vectors

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = self._gemini.embed_query(text, task_type=QUERY)
        return vector

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = await self._gemini.aembed_documents(texts, task_type=DOCUMENT)
        return vectors

    async def aembed_queries(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = await self._gemini.aembed_documents(texts, task_type=QUERY)
        return vectors
