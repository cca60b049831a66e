"""WordLlama's averaged word vectors, whose weights lie in its package, and its tokens.

The sandbox reads no more of embeddings than this: LangChain's interface takes 0.13 s to import.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

COUNTED_AT_ONCE = 1_000
KNOWN_WORDS = 200_000  # whose tokens are counted once
KNOWN_WORD_CHARS = 30


DIMENSIONS = 256
# For models whose tokenizer we do not have. OpenAI's takes 3.3 of Spanish and French in the median of our documents'
# paragraphs, 3.9 of English: a chunk is rather too short than cut off.
CHARACTERS_PER_TOKEN = 3
Counting = Literal["bundled", "characters", "model"]  # of tokens: as the bundled model, by characters, by itself


class TokenModel(Protocol):
    """An embedding model, as far as it counts tokens."""

    @property
    def counting(self) -> Counting: ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]: ...


def estimate_tokens(texts: Sequence[str]) -> list[int]:
    return [-(-len(text) // CHARACTERS_PER_TOKEN) for text in texts]


def _package() -> Path | None:
    """Return wordllama's folder; importing it would take 0.1 s, and load the vectors, which not all need."""
    package = find_spec("wordllama")
    return Path(package.origin).parent if package and package.origin else None


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    """Return the tokenizer, one per process, or None where there is no wheel of wordllama: see `is_installed`."""
    folder = _package()
    if folder is None:
        return None
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


@lru_cache(maxsize=1)
def _vectors() -> NDArray[np.float32]:
    """Return a vector a token; the file has them after a header, of half the precision, which is slower to sum."""
    folder = _package()
    assert folder
    weights = folder / "weights" / "l2_supercat_256.safetensors"
    with weights.open("rb") as file:
        header_bytes = int.from_bytes(file.read(8), "little")
    halves = np.memmap(weights, np.float16, "r", offset=8 + header_bytes)
    return halves.astype(np.float32).reshape(-1, DIMENSIONS)


class WordVectors:
    """256 dimensions, unit length; a text without any known token is the zero vector. 1,200 texts/s on 2 cores.

    Where wordllama isn't installed every vector is zero, so that documents are indexed and full text finds them.
    """

    counting: Counting = "bundled"

    @property
    def is_installed(self) -> bool:
        return _tokenizer() is not None

    def load_for_questions(self) -> None:
        """Load the vectors, which the first question would wait for otherwise."""
        if self.is_installed:
            _vectors()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed as the model itself does, but text after text: it pads whole batches, which takes thrice as long."""
        if not self.is_installed:
            return [[0.0] * DIMENSIONS for _ in texts]
        words = _vectors()
        vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for row, tokens in enumerate(_tokenizer().encode_batch_fast(texts, add_special_tokens=False)):
            vectors[row] = words.take(tokens.ids, axis=0, mode="clip").sum(axis=0, dtype=np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: list[list[float]] = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0).tolist()
        return unit

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count tokens, never too few: words further apart than by one space count some more than the tokenizer's."""
        if not self.is_installed:
            return estimate_tokens(texts)
        return self._counter.count(texts)

    @cached_property
    def _counter(self) -> "_TokenCounter":
        return _TokenCounter(_tokenizer())


class _TokenCounter:
    """Counts tokens by words, which this tokenizer never joins, with a cache: six times as fast as by texts."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, int] = {}
        self._lock = threading.Lock()

    def count(self, texts: Sequence[str]) -> list[int]:
        split = [text.split(" ") if text else [] for text in texts]
        words = set(chain.from_iterable(split))
        with self._lock:
            if len(self._known) > KNOWN_WORDS:
                self._known.clear()
            unknown = words.difference(self._known)
            long = {word for word in unknown if len(word) > KNOWN_WORD_CHARS}
            self._known.update(self._counted(unknown - long))
            counts = self._known
            if long:
                counts = {word: counts[word] for word in words - long} | dict(self._counted(long))
            return [sum(map(counts.__getitem__, words)) for words in split]

    def _counted(self, words: Iterable[str]) -> Iterator[tuple[str, int]]:
        waiting = list(words)
        for start in range(0, len(waiting), COUNTED_AT_ONCE):
            batch = waiting[start : start + COUNTED_AT_ONCE]
            encoded = self._tokenizer.encode_batch_fast(batch, add_special_tokens=False)
            # A word without letters is what a second space, or one at the end, leaves.
            yield from ((word, len(tokens) or 1) for word, tokens in zip(batch, encoded, strict=True))
