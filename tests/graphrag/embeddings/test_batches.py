"""Many texts in batches."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from graphrag.embeddings.registry import EmbeddingModel, embed_batches
from tests.graphrag.embeddings.stubborn import ScriptedEmbeddings, make_model


class Picky(ScriptedEmbeddings):
    """Takes no batch with an x."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        if any("x" in text for text in texts):
            self.calls.append(texts)
            raise ValueError(f"x in {len(texts)} texts")
        return super().embed_documents(texts)


def picky() -> EmbeddingModel:
    return replace(make_model(), embeddings=Picky())


async def test_batches_are_of_a_hundred_in_order() -> None:
    """R3.5, R1.7"""
    model = make_model()
    texts = ["a" * number for number in range(1, 251)]
    vectors, failed = await embed_batches(texts, model)
    assert failed == []
    assert vectors == [[1.0, float(number)] for number in range(1, 251)]
    assert isinstance(model.embeddings, ScriptedEmbeddings)
    assert sorted(model.embeddings.calls, key=lambda batch: len(batch[0])) == [texts[:100], texts[100:200], texts[200:]]


async def test_a_failed_batch_stops_no_other() -> None:
    """R1.7 its chunks are told, with the cause."""
    texts = ["a", "b", "x", "d", "e"]
    vectors, failed = await embed_batches(texts, picky(), batch_size=2)
    assert vectors == [[1.0, 1.0], [1.0, 1.0], None, None, [1.0, 1.0]]
    (batch,) = failed
    assert batch.indices == range(2, 4)
    assert "x in 2 texts" in batch.cause
    assert "small" in batch.cause


@given(st.lists(st.sampled_from(["a", "bb", "x"]), max_size=12), st.integers(1, 5))
async def test_every_text_has_its_vector_or_its_cause(texts: list[str], size: int) -> None:
    """R1.7 P: indices of failures and places without a vector are the same."""
    vectors, failed = await embed_batches(texts, picky(), batch_size=size)
    assert [index for index, vector in enumerate(vectors) if vector is None] == [
        index for batch in failed for index in batch.indices
    ]
    assert all(vector is None or vector[1] == len(text) for text, vector in zip(texts, vectors, strict=True))


async def test_no_texts_are_no_batches() -> None:
    assert await embed_batches([], make_model()) == ([], [])
