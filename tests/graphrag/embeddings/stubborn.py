"""Embedding models that answer what a test tells them to."""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from langchain_core.embeddings import Embeddings

from graphrag.embeddings.registry import EmbeddingModel
from graphrag.resilience.retry import Patience
from graphrag.testing.in_memory_store import FailingEmbeddings

IMPATIENT = Patience(retries=3, first_wait_seconds=0.001, longest_wait_seconds=0.01)
Answer = Exception | Sequence[Sequence[float]]


class ScriptedEmbeddings(Embeddings):
    """One answer a call; when none is left, [1, its number of characters] for each text."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = deque(answers)
        self.calls: list[list[str]] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.calls.append(texts)
        answer = self.answers.popleft() if self.answers else [[1.0, float(len(text))] for text in texts]
        if isinstance(answer, Exception):
            raise answer
        return [list(vector) for vector in answer]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def make_model(*answers: Answer, dimensions: int = 2) -> EmbeddingModel:
    return EmbeddingModel(
        "small", "small", dimensions, 0.5, ScriptedEmbeddings(*answers), patience=IMPATIENT, query_patience=IMPATIENT
    )


def failing(model: EmbeddingModel) -> EmbeddingModel:
    """The model, down; that it is asked again takes no time."""
    return replace(model, embeddings=FailingEmbeddings(), patience=IMPATIENT, query_patience=IMPATIENT)
