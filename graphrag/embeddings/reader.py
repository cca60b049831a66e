"""The reader: a language model that tells how probably a sentence answers a question, and what a message asks for.

It is multilingual-e5-small with an adapter (Hu et al. 2022, "LoRA") of which `training/reader.py` tells more.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray

from graphrag.embeddings.e5 import Encoder, Tokenizer, WeightFile, open_tokenizer, read_arrays, read_layers

MAX_QUESTION, MAX_TEXT, MAX_CONTEXT = 48, 96, 40  # tokens
ADAPTER: Final = Path(__file__).with_name("reader.npz")
THREADS: Final = 2
REMEMBERED: Final = 1_000  # readings: a question is read for its task, its parts and its answer
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class SentenceInContext:
    """A sentence, and what it is understood with."""

    title: str  # of its document, and its headings
    text: str
    before: str = ""  # the sentence before it, where that is needed to understand it


@dataclass(frozen=True, slots=True)
class AnswerEdges:
    """Logarithms of the probability that each piece of a sentence is the first, and the last, of what answers."""

    bounds: Sequence[tuple[int, int]]  # of the pieces, in the sentence
    first: Floats
    last: Floats

    def of_words(self, words: Sequence[tuple[int, int]]) -> tuple[Floats, Floats]:
        """Return for each word, given by its bounds, how its first piece begins an answer and its last one ends it."""
        starts = np.searchsorted([end for _, end in self.bounds], [start for start, _ in words], side="right")
        ends = np.searchsorted([start for start, _ in self.bounds], [end for _, end in words]) - 1
        within = len(self.bounds) - 1
        return self.first[np.minimum(starts, within)], self.last[np.clip(ends, 0, within)]


class Reader:
    """Safe to share between threads."""

    def __init__(self, tokenizer: Tokenizer, adapter: Mapping[str, Floats]) -> None:
        self._tokenizer, self._weights = tokenizer, tokenizer.weights
        self._encoder = Encoder(tokenizer.weights, read_layers(tokenizer.weights, adapter), threads=THREADS)
        self._head, self._bias = adapter["head.weight"], float(adapter["head.bias"])
        self._edges, self._edges_bias = adapter["span.weight"], adapter["span.bias"]
        self._task, self._task_bias = adapter["task.weight"], adapter["task.bias"]
        self.read_task = lru_cache(maxsize=REMEMBERED)(self._read_task)
        self.width = tokenizer.weights.width
        self._known: OrderedDict[tuple[str, SentenceInContext], float] = OrderedDict()
        self._lock = Lock()

    def read(self, question: str, passages: Sequence[SentenceInContext]) -> list[float]:
        """Return for each passage the logarithm of its odds against "no answer": above 0 it rather answers."""
        with self._lock:
            known = {each: self._known[question, each] for each in passages if (question, each) in self._known}
        unknown = [each for each in dict.fromkeys(passages) if each not in known]
        if unknown:
            known.update(zip(unknown, self._read(question, unknown), strict=True))
            with self._lock:
                self._known.update({(question, each): known[each] for each in unknown})
                while len(self._known) > REMEMBERED:
                    self._known.popitem(last=False)
        return [known[each] for each in passages]

    def describe(self, question: str, passage: SentenceInContext) -> Floats:
        """Return what the model makes of a sentence, with a question and alone: the means over its pieces."""
        ((_, rows),) = self._encode(question, [passage])
        (alone,) = self._encoder.encode([tokenize_message(self._weights, self._tokenizer, passage.text)])
        return np.concatenate([rows.mean(axis=0), alone.mean(axis=0)])

    def find_edges(self, question: str, sentence: str) -> AnswerEdges | None:
        """Return where in a sentence the answer may begin and end; None of an empty one."""
        pieces = self._tokenizer.locate(sentence)[:MAX_TEXT]
        if not pieces:
            return None
        ((_, rows),) = self._encode(question, [SentenceInContext("", sentence)])
        scores = rows @ self._edges.T + self._edges_bias
        shares = scores - np.log(np.exp(scores - scores.max(axis=0)).sum(axis=0)) - scores.max(axis=0)
        return AnswerEdges([(piece.start, piece.end) for piece in pieces], shares[:, 0], shares[:, 1])

    def _read_task(self, message: str) -> Floats:
        """Return the logarithm of the share that each task has in a message, in the order of `Task`."""
        (hidden,) = self._encoder.encode([tokenize_message(self._weights, self._tokenizer, message)])
        scores = self._task @ np.concatenate([hidden[0], hidden.mean(axis=0)]) + self._task_bias
        shares: Floats = scores - scores.max() - np.log(np.exp(scores - scores.max()).sum())
        return shares

    def _read(self, question: str, passages: Sequence[SentenceInContext]) -> list[float]:
        found = [
            np.concatenate([begin, rows.mean(axis=0) if len(rows) else begin])  # a sentence of signs has no pieces
            for begin, rows in self._encode(question, passages)
        ]
        return [float(score) for score in np.stack(found) @ self._head + self._bias]

    def _encode(self, question: str, passages: Sequence[SentenceInContext]) -> list[tuple[Floats, Floats]]:
        """Return for each passage what the model makes of its begin, and of its sentence's pieces."""
        texts = [tokenize_pair(self._weights, self._tokenizer, question, each) for each in passages]
        hidden = self._encoder.encode([tokens for tokens, _ in texts])
        return [(rows[0], rows[sentence]) for rows, (_, sentence) in zip(hidden, texts, strict=True)]


def tokenize_message(weights: WeightFile, tokenizer: Tokenizer, message: str) -> list[int]:
    """Return the tokens that the model reads of a message, or of a question before what may answer it."""
    return [weights.begin, *tokenizer.tokenize(f"query: {message}")[:MAX_QUESTION], weights.end]


def tokenize_pair(
    weights: WeightFile, tokenizer: Tokenizer, question: str, passage: SentenceInContext
) -> tuple[list[int], slice]:
    """Return the tokens that the model reads, and where among them the sentence's are."""
    head = tokenize_message(weights, tokenizer, question)
    text = tokenizer.tokenize(passage.text)[:MAX_TEXT]
    title = tokenizer.tokenize(passage.title)[: MAX_CONTEXT // 2]
    before = tokenizer.tokenize(passage.before)[-(MAX_CONTEXT - len(title)) :]
    return [*head, *text, weights.end, *title, weights.end, *before, weights.end], slice(
        len(head), len(head) + len(text)
    )


@lru_cache(maxsize=1)
def open_reader() -> Reader | None:
    """Return None where the weights are not installed."""
    tokenizer = open_tokenizer()
    return Reader(tokenizer, read_arrays(ADAPTER)) if tokenizer else None
