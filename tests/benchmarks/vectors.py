"""Vectors made once and handed to every system, so that nobody's embedding time is measured."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from langchain_core.embeddings import Embeddings

from graphrag.embeddings.bundled import BundledEmbeddings

DIMENSIONS = 256
EMBEDDED_AT_ONCE = 1_000

Matrix = npt.NDArray[np.float32]


class Precomputed(Embeddings):
    """Knows the vectors of some texts, and raises KeyError for any other."""

    def __init__(self, texts: Sequence[str], vectors: Matrix) -> None:
        self._row = {text: row for row, text in enumerate(texts)}
        self._vectors = vectors

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._vectors[[self._row[text] for text in texts]].tolist()  # type: ignore[no-any-return]  # numpy's Any

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]

    # A look-up needs no thread, which the base class would take.
    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        return self.embed_documents(texts)

    async def aembed_query(self, text: str) -> list[float]:
        return self.embed_query(text)


def embed(texts: Sequence[str], *, folder: Path, progress: Callable[[int], None]) -> Matrix:
    """A row a text, in a file of `folder` that the next run with the same texts reads."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    path = folder / f"vectors-{digest.hexdigest()[:16]}.npy"
    if not path.exists():
        unfinished = path.with_suffix(".part")
        model = BundledEmbeddings()
        vectors = np.lib.format.open_memmap(unfinished, mode="w+", dtype=np.float32, shape=(len(texts), DIMENSIONS))
        for start in range(0, len(texts), EMBEDDED_AT_ONCE):
            batch = list(texts[start : start + EMBEDDED_AT_ONCE])
            vectors[start : start + len(batch)] = model.embed_documents(batch)
            progress(len(batch))
        vectors.flush()
        unfinished.rename(path)
    return np.load(path, mmap_mode="r")  # type: ignore[no-any-return]  # numpy's Any
