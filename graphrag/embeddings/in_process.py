"""A base for embedding models that run in this process."""

import asyncio
from abc import abstractmethod
from concurrent.futures import ThreadPoolExecutor

from langchain_core.embeddings import Embeddings


class InProcessEmbeddings(Embeddings):
    """Embeds texts and questions each in a thread of their own: a question doesn't wait for an ingestion's batch."""

    def __init__(self) -> None:
        self._for_documents = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embed-documents")
        self._for_queries = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embed-queries")

    @abstractmethod
    def embed_queries(self, texts: list[str]) -> list[list[float]]:
        """Embed questions, which the model distinguishes from texts."""

    def embed_query(self, text: str) -> list[float]:
        return self.embed_queries([text])[0]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.get_running_loop().run_in_executor(self._for_documents, self.embed_documents, texts)

    async def aembed_queries(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.get_running_loop().run_in_executor(self._for_queries, self.embed_queries, texts)
