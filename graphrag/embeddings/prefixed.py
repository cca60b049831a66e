"""For models that want to be told what a text is: a question, or a text that is to be found."""

from langchain_core.embeddings import Embeddings


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
