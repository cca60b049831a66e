"""A model on this machine that reads the question and a chunk together, by sentence-transformers."""

import asyncio
import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING

from graphrag.errors import InvalidSettings, MissingExtra, OutOfTime, ProviderError, install_command
from graphrag.models import Chunk, Hit
from graphrag.rerankers.bundled import ranked, with_text
from graphrag.resilience.deadline import demand

if TYPE_CHECKING:
    from sentence_transformers.cross_encoder import CrossEncoder


FORGIVENESS = 0.9  # of a slowness, each time that nothing is begun for it: it may have passed
LOGIT_DIGITS = 4  # beyond these it is noise of the batch: how much padding a text got


class CrossEncoderReranker:
    """`model` is a folder with a saved model, or the name of one in the Hugging Face cache: nothing is fetched.

    A text that is longer than the model can read is judged by its beginning.
    """

    def __init__(self, model: str, *, batch_size: int = 32) -> None:
        self.model = model
        self._batch_size = batch_size
        self._seconds_a_pair = 0.0  # as it was measured last
        self._waiting = 0  # pairs
        # One thread of its own: PyTorch puts every core to work by itself, and questions that wait block nobody else.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="cross-encoder")

    async def open(self) -> None:
        """Loads the model, which the first question waits for otherwise. Raises MissingExtra or InvalidSettings."""
        await asyncio.get_running_loop().run_in_executor(self._thread, lambda: self._encoder)

    async def rerank(self, query: str, hits: Sequence[Hit], *, language: str, top_k: int) -> list[Hit]:
        """Raises MissingExtra, InvalidSettings, ProviderError or OutOfTime."""
        found = with_text(hits)
        pairs = [(query, _passage(hit.chunk)) for hit in found]
        logits = await self._judge_in_turn(pairs) if pairs else []
        return ranked(found, [_sigmoid(round(logit, LOGIT_DIGITS)) for logit in logits], top_k=top_k)

    async def _judge_in_turn(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Score the pairs, or raise OutOfTime if that would take too long: a running thread can't be cancelled."""
        try:
            demand(self._seconds_a_pair * (self._waiting + len(pairs)), stage="cross-encoder")
        except OutOfTime:
            self._seconds_a_pair *= FORGIVENESS
            raise
        self._waiting += len(pairs)
        judging = asyncio.get_running_loop().run_in_executor(self._thread, self._judge_timed, pairs)
        judging.add_done_callback(lambda _: self._leave(len(pairs)))
        return await asyncio.shield(judging)  # who leaves does not end it, so its pairs still count

    def _leave(self, count: int) -> None:
        self._waiting -= count

    def _judge_timed(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        _ = self._encoder  # that it is loaded first is no slowness of its own
        started = time.perf_counter()
        logits = self._judge(pairs)
        self._seconds_a_pair = (time.perf_counter() - started) / len(pairs)
        return logits

    @cached_property
    def _encoder(self) -> "CrossEncoder":
        return _load(self.model)

    def _judge(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        encoder = self._encoder
        from torch.nn import Identity

        try:
            # Each model brings an activation of its own, some a sigmoid and some none: ask for what is before it.
            logits: list[float] = encoder.predict(
                pairs, batch_size=self._batch_size, activation_fn=Identity(), show_progress_bar=False
            ).tolist()
        except Exception as exc:  # whatever PyTorch or the tokenizer raise
            raise ProviderError(f"Cross-encoder {self.model!r}: {exc!r}") from exc
        if not all(map(math.isfinite, logits)):
            raise ProviderError(f"Cross-encoder {self.model!r}: it answers with what is no number.")
        return logits


def _load(model: str) -> "CrossEncoder":
    try:
        from sentence_transformers.cross_encoder import CrossEncoder
    except ImportError as exc:
        raise MissingExtra.of("RAG_RERANKER=cross_encoder", install_command("local-models")) from exc
    try:
        encoder = CrossEncoder(model, local_files_only=True)
    except Exception as exc:  # a missing file, another format: each has its own error
        raise InvalidSettings(f"Cross-encoder {model!r} could not be loaded: {exc}") from exc
    if encoder.num_labels != 1:
        raise InvalidSettings(
            f"Cross-encoder {model!r} gives {encoder.num_labels} scores a text: choose one that is made for ranking."
        )
    return encoder


def _passage(chunk: Chunk) -> str:
    return f"{chunk.context}\n{chunk.content}".strip()


def _sigmoid(logit: float) -> float:
    return (1 + math.tanh(logit / 2)) / 2  # exp would overflow far below 0
