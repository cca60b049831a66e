"""What every Reranker promises, run against each implementation."""

from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path

import pytest

from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.models import Hit
from graphrag.protocols import Reranker
from graphrag.rerankers import FallbackReranker
from graphrag.rerankers.bundled import BundledReranker
from graphrag.rerankers.cross_encoder import CrossEncoderReranker
from graphrag.rerankers.llm_reranker import LLMReranker
from graphrag.rerankers.mmr import MMRReranker
from tests.factories import make_hit
from tests.graphrag.rerankers.grading_model import connect, grading_by_words
from tests.model_server import ModelServer

QUESTION = "horno"


class Failing:
    async def rerank(self, query: str, hits: Sequence[Hit], *, language: str, top_k: int) -> list[Hit]:
        raise TimeoutError("down, on purpose")


@pytest.fixture(scope="session")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.graphrag.rerankers.tiny_cross_encoder import save_cross_encoder

    folder = tmp_path_factory.mktemp("cross-encoder")
    save_cross_encoder(folder)
    return folder


@pytest.fixture(params=["bundled", pytest.param("cross_encoder", marks=pytest.mark.slow), "llm", "mmr", "fallback"])
def reranker(request: pytest.FixtureRequest, registry: EmbeddingRegistry, model_server: ModelServer) -> Reranker:
    match request.param:
        case "bundled":
            return BundledReranker()
        case "cross_encoder":
            return CrossEncoderReranker(str(request.getfixturevalue("cross_encoder")))
        case "llm":
            model_server.default = grading_by_words()
            return LLMReranker(connect(model_server), batch_size=2)
        case "mmr":
            return MMRReranker(BundledReranker(), lambda: registry.get(registry.default))
        case _:
            return FallbackReranker(Failing(), BundledReranker())


async def rerank(reranker: Reranker, hits: Sequence[Hit], *, top_k: int = 50) -> list[Hit]:
    return await reranker.rerank(QUESTION, hits, language="es", top_k=top_k)


def some_hits() -> list[Hit]:
    """The third answers, the others don't; the search thought otherwise."""
    texts = ["la bomba y el motor", "un aviso de la sala", "el horno del taller", "gas", "turno y pieza"]
    return [
        make_hit(text, score, context="", scores={"fulltext": score / 2, "fusion": score})
        for text, score in zip(texts, [0.6, 0.59, 0.58, 0.0, 1e-9], strict=True)
    ]


async def test_the_answering_chunk_comes_first(reranker: Reranker) -> None:
    """R5.1"""
    assert (await rerank(reranker, some_hits()))[0].chunk.content == "el horno del taller"


@pytest.mark.parametrize("top_k", [0, 1, 3, 5, 9])
async def test_top_k_limits_the_hits(reranker: Reranker, top_k: int) -> None:
    """R5.1 The first of the whole order."""
    hits = some_hits()
    ranked = await rerank(reranker, hits, top_k=top_k)
    assert len(ranked) == min(top_k, len(hits))
    assert ranked == (await rerank(reranker, hits))[:top_k]


async def test_scores_are_in_0_to_1_and_descend(reranker: Reranker) -> None:
    """R5.2 P7"""
    scores = [hit.score for hit in await rerank(reranker, some_hits())]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert scores[0] > scores[-1]


async def test_chunks_and_scores_of_earlier_stages_are_kept(reranker: Reranker) -> None:
    """R5.2, R4.7 With the judgement beside them."""
    hits = some_hits()
    before = {hit.chunk.id: hit for hit in hits}
    ranked = await rerank(reranker, hits)
    assert {hit.chunk.id for hit in ranked} == before.keys()
    for hit in ranked:
        assert hit.chunk == before[hit.chunk.id].chunk
        assert before[hit.chunk.id].scores.items() <= hit.scores.items()
        assert 0 <= hit.scores["rerank"] <= 1


async def test_the_input_is_not_modified(reranker: Reranker) -> None:
    """R5.2 The order of the search is still there for who falls back on it."""
    hits = some_hits()
    before = deepcopy(hits)
    await rerank(reranker, hits)
    assert hits == before


async def test_empty_input_gives_empty_output(reranker: Reranker) -> None:
    """R5.1"""
    assert await rerank(reranker, []) == []


async def test_chunks_without_text_are_dropped(reranker: Reranker) -> None:
    """R5.3 Wherever they stand."""
    blank = [make_hit(text, 0.9, context="horno") for text in ("", " \n\t", "\u00a0\u2003")]
    assert await rerank(reranker, blank) == []
    hits = some_hits()
    ranked = await rerank(reranker, [blank[0], *hits[:2], blank[1], *hits[2:], blank[2]], top_k=5)
    assert {hit.chunk.id for hit in ranked} == {hit.chunk.id for hit in hits}


async def test_results_are_deterministic(reranker: Reranker) -> None:
    """P4"""
    hits = some_hits()
    assert await rerank(reranker, hits) == await rerank(reranker, hits)


async def test_ties_keep_their_order(reranker: Reranker) -> None:
    """P4"""
    hits = [make_hit(text, 0.5, context="") for text in ["el horno", "el gas"] * 4]
    ranked = [hit.chunk for hit in await rerank(reranker, hits)]
    for text in ("el horno", "el gas"):
        equals = [hit.chunk for hit in hits if hit.chunk.content == text]
        assert [chunk for chunk in ranked if chunk.content == text] == equals


async def test_unusual_text_is_accepted(reranker: Reranker) -> None:
    """R5.1 Long, without a word, in another script, with marks of a prompt or of a tokenizer."""
    texts = ["[SEP] [MASK]", "</excerpt><excerpt>", "?!", "炉子坏了", "horno " * 3_000, "\u202e\ufeffx", "{0} %s"]
    ranked = await rerank(reranker, [make_hit(text, 0.5) for text in texts])
    assert sorted(hit.chunk.content for hit in ranked) == sorted(texts)
