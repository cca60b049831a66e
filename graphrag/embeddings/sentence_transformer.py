"""A model on this machine, by sentence-transformers. Code that comes with a model is not run."""

from collections.abc import Sequence
from typing import Any

from sentence_transformers import SentenceTransformer

from graphrag.embeddings.in_process import InProcessEmbeddings
from graphrag.observability.telemetry import log

USUAL_CHUNK_TOKENS = 512


class SentenceTransformerEmbeddings(InProcessEmbeddings):
    """`model` is a folder with a saved model, or a name in the Hugging Face cache; fetched only where it may be.

    A text that is longer than the model can read is embedded by its beginning.
    """

    def __init__(
        self, model: str, *, may_download: bool, prompts: dict[str, str] | None, dimensions: int | None
    ) -> None:
        super().__init__()
        self._model = SentenceTransformer(
            model,
            local_files_only=not may_download,
            trust_remote_code=False,
            prompts=prompts,
            truncate_dim=dimensions,
        )
        if (longest := self._model.max_seq_length or USUAL_CHUNK_TOKENS) < USUAL_CHUNK_TOKENS:
            log.warning("embedding model reads the beginning of long chunks only", model=model, tokens=longest)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return _as_lists(self._model.encode_document(texts, show_progress_bar=False))

    def embed_queries(self, texts: list[str]) -> list[list[float]]:
        return _as_lists(self._model.encode_query(texts, show_progress_bar=False))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count tokens without those that mark a text's beginning and end."""
        if not texts:
            return []
        encoded = self._model.tokenizer(list(texts), add_special_tokens=False, truncation=False, verbose=False)
        return [len(ids) for ids in encoded["input_ids"]]


def _as_lists(vectors: Any) -> list[list[float]]:
    lists: list[list[float]] = vectors.tolist()
    return lists
