"""Maximal marginal relevance, and the reranker that makes another one's order diverse by it."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.models import Hit
from graphrag.rerankers.bundled import BundledReranker
from graphrag.rerankers.mmr import MMRReranker, mmr
from graphrag.resilience.deadline import deadline, seconds_left
from graphrag.testing.in_memory_store import FailingEmbeddings
from tests.factories import make_hit
from tests.graphrag.embeddings.stubborn import failing

shares = st.floats(0, 1)
vectors = st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=3, max_size=3)
candidates = st.lists(st.tuples(shares, vectors), max_size=8)


def make_hits(relevance: Sequence[float]) -> list[Hit]:
    return [make_hit(str(number), score, scores={"rerank": score}) for number, score in enumerate(relevance)]


def places(picked: Sequence[Hit]) -> list[int]:
    return [int(hit.chunk.content) for hit in picked]


@settings(deadline=None)
@given(given=candidates, diversity=shares, top_k=st.integers(0, 10))
def test_picks_are_some_of_the_hits_best_first(
    given: list[tuple[float, list[float]]], diversity: float, top_k: int
) -> None:
    """R5.1, R5.2 P7 None twice, with scores in [0, 1] that never rise, and those of earlier stages kept."""
    hits = make_hits([score for score, _ in given])
    picked = mmr(hits, [vector for _, vector in given], diversity=diversity, top_k=top_k)
    scores = [hit.score for hit in picked]
    assert len(set(places(picked))) == len(picked) == min(top_k, len(hits))
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    for place, hit in zip(places(picked), picked, strict=True):
        assert hit.chunk is hits[place].chunk
        assert hit.scores == {"rerank": hits[place].score, "mmr": hit.score}


@settings(deadline=None)
@given(given=candidates, diversity=shares)
def test_the_most_relevant_is_picked_first(given: list[tuple[float, list[float]]], diversity: float) -> None:
    """R5.1 Before it there is nothing to repeat."""
    hits = make_hits([score for score, _ in given])
    for first in mmr(hits, [vector for _, vector in given], diversity=diversity, top_k=1):
        assert hits[places([first])[0]].score == max(hit.score for hit in hits)


@settings(deadline=None)
@given(candidates)
def test_without_diversity_the_order_is_that_of_relevance(given: list[tuple[float, list[float]]]) -> None:
    """R5.1, P4 Equals keep their order."""
    hits = make_hits([score for score, _ in given])
    picked = mmr(hits, [vector for _, vector in given], diversity=0, top_k=len(hits))
    assert places(picked) == sorted(range(len(hits)), key=lambda place: -hits[place].score)


@settings(deadline=None)
@given(given=candidates, diversity=shares)
def test_fewer_picks_are_the_first_of_more(given: list[tuple[float, list[float]]], diversity: float) -> None:
    """P4"""
    hits = make_hits([score for score, _ in given])
    everything = mmr(hits, [vector for _, vector in given], diversity=diversity, top_k=len(hits))
    for top_k in range(len(hits)):
        assert mmr(hits, [vector for _, vector in given], diversity=diversity, top_k=top_k) == everything[:top_k]


@settings(deadline=None)
@given(vectors.filter(lambda vector: math.hypot(*vector) > 1e-3))
def test_a_copy_holds_nothing_new(vector: list[float]) -> None:
    """R5.1, R5.2 Even where the cosine of a vector with itself is a little more than one."""
    first, second = mmr(make_hits([1.0, 0.0]), [vector, vector], diversity=1, top_k=2)
    assert first.score == 1
    assert 0 <= second.score < 1e-9


def test_of_equally_new_hits_the_more_relevant_is_picked() -> None:
    """R5.1"""
    hits = make_hits([0.2, 0.9, 0.5])
    assert places(mmr(hits, [[1, 0, 0], [0, 1, 0], [0, 0, 1]], diversity=1, top_k=3)) == [1, 2, 0]


def test_a_repetition_gives_way_to_something_new() -> None:
    """R5.1"""
    hits = make_hits([0.9, 0.88, 0.6])
    same, other = [1.0, 0.0], [0.0, 1.0]
    assert places(mmr(hits, [same, same, other], diversity=0.3, top_k=3)) == [0, 2, 1]
    assert places(mmr(hits, [same, same, other], diversity=0.1, top_k=3)) == [0, 1, 2]


def test_scores_are_those_of_the_formula() -> None:
    """R5.1 Worked out by hand; the length of a vector is nothing."""
    hits = make_hits([0.8, 0.6, 0.4])
    angle = math.radians(60)  # its cosine is one half
    picked = mmr(hits, [[2, 0], [math.cos(angle), math.sin(angle)], [0, 3]], diversity=0.5, top_k=3)
    assert places(picked) == [0, 2, 1]
    nearest = math.sqrt(3) / 2  # of the second hit to the third, which is at 30 degrees
    assert [hit.score for hit in picked] == pytest.approx(
        [0.5 * 0.8 + 0.5, 0.5 * 0.4 + 0.5, 0.5 * 0.6 + 0.5 * (1 - nearest)]
    )


def test_texts_that_say_the_opposite_are_no_more_than_different() -> None:
    """R5.1 Below a right angle nothing is more novel than new."""
    hits = make_hits([0.9, 0.5, 0.4])
    picked = mmr(hits, [[1, 0], [0, 1], [-1, 0]], diversity=0.5, top_k=3)
    assert places(picked) == [0, 1, 2]
    assert [hit.score for hit in picked] == pytest.approx([0.95, 0.75, 0.7])


def test_a_text_without_direction_repeats_nothing() -> None:
    """R5.1 It has the zero vector where the embedding model knows none of its words."""
    hits = make_hits([0.9, 0.5, 0.4])
    assert places(mmr(hits, [[1, 0], [1, 0], [0, 0]], diversity=0.5, top_k=3)) == [0, 2, 1]


REPEATED = "El horno H2 se paró por una fuga de gas."
TEXTS = [REPEATED, "El horno H2 se paró por una fuga de gas ayer.", "El horno volvió a funcionar el lunes."]


def found() -> list[Hit]:
    return [make_hit(text, 0.9, scores={"fulltext": 0.4}) for text in TEXTS]


class Hanging(FailingEmbeddings):
    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        await asyncio.sleep(3600)
        raise AssertionError


async def test_vectors_that_do_not_come_in_time_cost_no_more_than_diversity(registry: EmbeddingRegistry) -> None:
    """R5.1, R11.1 The order that the other one found stands."""
    model = replace(registry.get(registry.default), embeddings=Hanging())
    with deadline(0.2):
        async with asyncio.timeout(5):
            kept = await MMRReranker(BundledReranker(), lambda: model).rerank(
                "horno H2", found(), language="es", top_k=2
            )
        assert seconds_left() > 0
    assert [hit.chunk.content for hit in kept] == TEXTS[:2]


async def test_any_reranker_can_be_made_diverse(registry: EmbeddingRegistry) -> None:
    """R5.1 By the bundled vectors; the relevance that the other one saw is kept."""
    query = "¿Por qué se paró el horno H2?"
    plain = await BundledReranker().rerank(query, found(), language="es", top_k=3)
    reranker = MMRReranker(BundledReranker(), lambda: registry.get("bundled"), diversity=0.5)
    diverse = await reranker.rerank(query, found(), language="es", top_k=3)
    assert [hit.chunk.content for hit in plain] == TEXTS
    assert [hit.chunk.content for hit in diverse] == [TEXTS[0], TEXTS[2], TEXTS[1]]
    relevance = {hit.chunk.content: hit.score for hit in plain}
    assert {hit.chunk.content: hit.scores["rerank"] for hit in diverse} == relevance


async def test_what_is_new_is_found_below_the_cut(registry: EmbeddingRegistry) -> None:
    """R5.1 Diversity is sought among all candidates, not among the best that the other one would leave."""
    reranker = MMRReranker(BundledReranker(), lambda: registry.get("bundled"), diversity=0.5)
    diverse = await reranker.rerank("¿Por qué se paró el horno H2?", found(), language="es", top_k=2)
    assert [hit.chunk.content for hit in diverse] == [TEXTS[0], TEXTS[2]]


async def test_without_vectors_the_other_ones_order_stands(registry: EmbeddingRegistry) -> None:
    """R5.2, R11.1"""
    broken = failing(registry.get(registry.default))
    hits = found()
    expected = await BundledReranker().rerank("horno H2", hits, language="es", top_k=2)
    assert (
        await MMRReranker(BundledReranker(), lambda: broken).rerank("horno H2", hits, language="es", top_k=2)
        == expected
    )
