"""The bundled model's vectors, and its tokens, counted word by word."""

from pathlib import Path

import numpy as np
import pytest
import wordllama
from hypothesis import given
from hypothesis import strategies as st

from graphrag.embeddings.bundled import BundledEmbeddings
from graphrag.embeddings.word_vectors import KNOWN_WORD_CHARS

MODEL = BundledEmbeddings()
ORIGINAL = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
LONG = "x" * (KNOWN_WORD_CHARS + 1)
WORDS = ["horno", "l'été", "Müller", "12.000", "日本語", "👩‍🔧", "a\nb", "\n\n", "", LONG, "«¿?»"]
PROSE = ["El horno se paró por la noche.", "L'été, à Noël.", "Over 100 million of you.", "a", "日本語"]
texts = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(WORDS)).map(" ".join))


def tokenized(texts: list[str]) -> list[int]:
    """As the model itself does for its vectors."""
    return [sum(encoding.attention_mask) for encoding in ORIGINAL.tokenize(texts)]


@pytest.mark.parametrize("text", PROSE)
def test_prose_has_as_many_tokens_as_the_model_sees(text: str) -> None:
    """R2.2"""
    assert MODEL.count_tokens([text, f"{text} "]) == tokenized([text, f"{text} "])


@given(st.lists(texts, min_size=1, max_size=5))
def test_tokens_are_never_too_few(texts: list[str]) -> None:
    """R2.2: a chunk that is to hold so many holds no more; none in an empty text, and at least one in any other."""
    counts = MODEL.count_tokens(texts)
    assert all(count >= seen for count, seen in zip(counts, tokenized(texts), strict=True))
    assert [count > 0 for count in counts] == [text != "" for text in texts]
    assert MODEL.count_tokens(texts) == counts


@given(st.lists(texts.filter(str.strip), min_size=1, max_size=5))
def test_vectors_are_the_models_own(texts: list[str]) -> None:
    """R3.1"""
    expected = ORIGINAL.embed(texts, norm=True)
    assert np.allclose(MODEL.embed_documents(texts), np.nan_to_num(expected), atol=1e-5)
