"""The reader: how probably each of a few sentences answers a question, read together with it by a language model.

It is multilingual-e5-small with an adapter (Hu et al. 2022, "LoRA") of which `training/reader.py` tells more.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import as_file, files
from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray

from graphrag.embeddings.e5 import Encoder, Tokenizer, WeightFile, find_weights

MAX_QUESTION, MAX_TEXT, MAX_CONTEXT = 48, 96, 40  # tokens
ADAPTER: Final = "rules/reader.npz"
THREADS: Final = 2
REMEMBERED: Final = 1_000  # readings: a question is read for its task, its parts and its answer


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence, and what it is understood with."""

    title: str  # of its document, and its headings
    text: str
    before: str = ""  # the sentence before it


class Reader:
    """Safe to share between threads."""

    def __init__(self, weights: WeightFile, adapter: dict[str, NDArray[np.float32]]) -> None:
        added = {
            name.removesuffix(".up"): up @ adapter[f"{name.removesuffix('.up')}.down"]
            for name, up in adapter.items()
            if name.endswith(".up")
        }
        most = {name.removesuffix(".most"): each for name, each in adapter.items() if name.endswith(".most")}
        self._encoder = Encoder(weights, added, most, threads=THREADS)
        self._tokenizer = Tokenizer(weights)
        self._weights = weights
        self._head, self._bias = adapter["head.weight"], float(adapter["head.bias"])
        self._known: OrderedDict[tuple[str, Passage], float] = OrderedDict()
        self._lock = Lock()

    def read(self, question: str, passages: Sequence[Passage]) -> list[float]:
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

    def _read(self, question: str, passages: Sequence[Passage]) -> list[float]:
        texts = [tokenize_pair(self._weights, self._tokenizer, question, each) for each in passages]
        hidden = self._encoder.encode([tokens for tokens, _ in texts])
        found = [
            np.concatenate([rows[0], rows[span].mean(axis=0)]) for rows, (_, span) in zip(hidden, texts, strict=True)
        ]
        return [float(score) for score in np.stack(found) @ self._head + self._bias]


def tokenize_pair(
    weights: WeightFile, tokenizer: Tokenizer, question: str, passage: Passage
) -> tuple[list[int], slice]:
    """Return the tokens that the model reads, and where among them the sentence's are."""
    head = [weights.begin, *tokenizer.tokenize(f"query: {question}")[:MAX_QUESTION], weights.end]
    text = tokenizer.tokenize(passage.text)[:MAX_TEXT]
    title = tokenizer.tokenize(passage.title)[: MAX_CONTEXT // 2]
    before = tokenizer.tokenize(passage.before)[-(MAX_CONTEXT - len(title)) :]
    context = [weights.end, *title, weights.end, *before, weights.end]
    return [*head, *text, *context], slice(len(head), len(head) + len(text))


@lru_cache(maxsize=1)
def open_reader() -> Reader | None:
    """Return None where the weights are not installed."""
    path = find_weights()
    if path is None:
        return None
    with as_file(files("graphrag.extractive_answers") / ADAPTER) as adapter, np.load(adapter) as arrays:
        return Reader(WeightFile(path), {name: arrays[name].astype(np.float32) for name in arrays.files})
