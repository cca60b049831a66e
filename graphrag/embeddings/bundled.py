"""The embedding model that needs nothing."""

from langchain_core.embeddings import Embeddings

from graphrag.embeddings.word_vectors import WordVectors


class BundledEmbeddings(WordVectors, Embeddings):
    """Averaged word vectors as one of LangChain's embedding models."""
