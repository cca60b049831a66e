"""Several rankings become one."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from itertools import pairwise, permutations
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.models import Chunk, Hit
from graphrag.retrieval.fusion import RRF_K, reciprocal_rank_fusion, weighted_sum
from tests.factories import CREATED_AT, make_chunk, make_document

Rankings = Mapping[str, Sequence[Hit]]
Fusion = Callable[..., list[Hit]]

LEGS = ("fulltext", "vector")
CHUNKS = [
    make_chunk(
        f"Texto {number}.",
        id=UUID(int=number),
        document=make_document(id=UUID(int=100 + number), created_at=CREATED_AT + timedelta(days=number % 3)),
    )
    for number in range(8)
]
each_fusion = pytest.mark.parametrize(
    "fuse",
    [reciprocal_rank_fusion, partial(reciprocal_rank_fusion, k=1), partial(weighted_sum, depth=5)],
    ids=["rrf", "rrf k=1", "weighted"],
)


@st.composite
def rankings(draw: st.DrawFn) -> dict[str, list[Hit]]:
    """What two legs found: any chunks, each once a leg, best first."""
    found = {}
    for leg in draw(st.permutations(LEGS)):
        chunks = draw(st.lists(st.sampled_from(CHUNKS), unique_by=lambda chunk: chunk.id))
        scores = draw(st.lists(st.floats(0, 1), min_size=len(chunks), max_size=len(chunks)))
        found[leg] = [
            Hit(c, score, {leg: score}) for c, score in zip(chunks, sorted(scores, reverse=True), strict=True)
        ]
    return found


weights = st.fixed_dictionaries({leg: st.floats(0, 1) for leg in LEGS})
EQUAL = {"fulltext": 0.5, "vector": 0.5}


def leg(name: str, *scored: tuple[Chunk, float]) -> dict[str, list[Hit]]:
    return {name: [Hit(chunk, score, {name: score}) for chunk, score in scored]}


@each_fusion
@given(found=rankings(), weights=weights)
def test_the_order_is_that_of_the_scores(fuse: Fusion, found: Rankings, weights: Mapping[str, float]) -> None:
    """P1 R4.2"""
    fused = fuse(found, weights=weights)
    assert all(before.score >= after.score for before, after in pairwise(fused))


@each_fusion
@given(found=rankings(), weights=weights)
def test_scores_are_between_0_and_1(fuse: Fusion, found: Rankings, weights: Mapping[str, float]) -> None:
    """P7 R4.2"""
    assert all(0 <= hit.score <= 1 for hit in fuse(found, weights=weights))


@each_fusion
@given(found=rankings(), weights=weights)
def test_every_chunk_found_by_either_leg_is_there_once(
    fuse: Fusion, found: Rankings, weights: Mapping[str, float]
) -> None:
    """P9 R4.1"""
    fused = [hit.chunk.id for hit in fuse(found, weights=weights)]
    assert sorted(fused, key=str) == sorted({hit.chunk.id for hits in found.values() for hit in hits}, key=str)


@each_fusion
@given(found=rankings(), weights=weights)
def test_the_order_of_the_legs_does_not_matter(fuse: Fusion, found: Rankings, weights: Mapping[str, float]) -> None:
    """P4 R4.6"""
    turned = dict(reversed(list(found.items())))
    assert fuse(turned, weights=weights) == fuse(found, weights=weights)


@given(found=rankings(), weights=weights)
def test_a_chunk_that_is_before_another_in_both_legs_stays_before_it(
    found: Rankings, weights: Mapping[str, float]
) -> None:
    """P1 R4.2"""
    both = [hit.chunk.id for hit in found["fulltext"] if hit.chunk.id in {other.chunk.id for other in found["vector"]}]
    vector = [hit.chunk.id for hit in found["vector"]]
    scores = {hit.chunk.id: hit.score for hit in reciprocal_rank_fusion(found, weights=weights)}
    for first, second in permutations(both, 2):
        if both.index(first) < both.index(second) and vector.index(first) < vector.index(second):
            assert scores[first] >= scores[second]


@each_fusion
def test_nothing_found_gives_nothing(fuse: Fusion) -> None:
    """R4.1"""
    assert fuse({"fulltext": [], "vector": []}, weights=EQUAL) == []
    assert fuse({}, weights=EQUAL) == []


@each_fusion
def test_an_empty_leg_leaves_the_order_of_the_other(fuse: Fusion) -> None:
    """R4.1 P9"""
    one, two, three = CHUNKS[:3]
    found = leg("fulltext", (two, 0.9), (three, 0.5), (one, 0.1)) | {"vector": []}
    assert [hit.chunk for hit in fuse(found, weights=EQUAL)] == [two, three, one]


def test_reciprocal_rank_fusion_is_cormacks() -> None:
    """R4.2: Σ wᵢ/(60 + rankᵢ), here over what a chunk that is first in both legs would have."""
    one, two, three = CHUNKS[:3]
    found = leg("fulltext", (one, 0.9), (two, 0.8)) | leg("vector", (two, 0.7), (three, 0.6))
    fused = reciprocal_rank_fusion(found, weights={"fulltext": 0.7, "vector": 0.3})
    most = 0.7 / 61 + 0.3 / 61
    assert RRF_K == 60
    assert {hit.chunk.id: hit.score for hit in fused} == {
        one.id: pytest.approx(0.7 / 61 / most),
        two.id: pytest.approx((0.7 / 62 + 0.3 / 61) / most),
        three.id: pytest.approx(0.3 / 62 / most),
    }
    assert [hit.chunk for hit in fused] == [two, one, three]


def test_a_smaller_k_favours_first_places() -> None:
    """R4.2"""
    one, two, three = CHUNKS[:3]
    found = leg("fulltext", (one, 1.0), (two, 0.9)) | leg("vector", (three, 1.0), (two, 0.9))
    weights = {"fulltext": 0.7, "vector": 0.3}
    assert reciprocal_rank_fusion(found, weights=weights)[0].chunk == two
    assert reciprocal_rank_fusion(found, weights=weights, k=0)[0].chunk == one


def test_first_in_every_leg_scores_1() -> None:
    """P7 R4.2"""
    found = leg("fulltext", (CHUNKS[1], 0.2)) | leg("vector", (CHUNKS[1], 0.1))
    assert reciprocal_rank_fusion(found, weights=EQUAL)[0].score == pytest.approx(1.0)


@each_fusion
def test_the_weights_decide_between_the_legs(fuse: Fusion) -> None:
    """R4.2"""
    one, two = CHUNKS[:2]
    found = leg("fulltext", (one, 0.9), (two, 0.1)) | leg("vector", (two, 0.9), (one, 0.1))
    assert fuse(found, weights={"fulltext": 0.7, "vector": 0.3})[0].chunk == one
    assert fuse(found, weights={"fulltext": 0.3, "vector": 0.7})[0].chunk == two
    assert fuse(found, weights={"fulltext": 1.0, "vector": 0.0})[0].chunk == one


@each_fusion
def test_ties_go_to_the_more_recent_document(fuse: Fusion) -> None:
    """R4.6"""
    days = {1: "oldest", 3: "newest", 2: "middle"}
    chunks = {
        name: make_chunk("Texto.", document=make_document(created_at=CREATED_AT + timedelta(days=day)))
        for day, name in days.items()
    }
    old, new = chunks["oldest"], chunks["newest"]
    found = leg("fulltext", (old, 0.9), (new, 0.1)) | leg("vector", (new, 0.9), (old, 0.1))
    first, second = fuse(found, weights=EQUAL)
    assert first.score == second.score
    assert (first.chunk, second.chunk) == (new, old)
    assert [hit.chunk for hit in fuse(dict(reversed(found.items())), weights=EQUAL)] == [new, old]


@each_fusion
def test_ties_in_one_document_always_come_in_the_same_order(fuse: Fusion) -> None:
    """P4"""
    one, two = CHUNKS[0], CHUNKS[3]  # of the same day
    found = leg("fulltext", (two, 0.9), (one, 0.1)) | leg("vector", (one, 0.9), (two, 0.1))
    assert [hit.chunk for hit in fuse(found, weights=EQUAL)] == [one, two]


def test_a_hit_that_a_full_ranking_lacks_scores_the_least_of_it() -> None:
    """R4.2: so the second, last of one ranking and not in the other, is worth what the third is, and the first 1."""
    one, two, three = CHUNKS[:3]
    found = leg("fulltext", (one, 0.9), (two, 0.3)) | leg("vector", (one, 0.6), (three, 0.5))
    fused = weighted_sum(found, weights={"fulltext": 0.8, "vector": 0.2}, depth=2)
    assert {hit.chunk.id: hit.score for hit in fused} == {
        one.id: 1.0,
        two.id: 0.0,
        three.id: 0.0,
    }


def test_a_hit_that_a_short_ranking_lacks_does_not_match_at_all() -> None:
    """R4.2: beside two chunks that hold nearly the same words, one that holds none of them is far behind."""
    one, two, three = CHUNKS[:3]
    found = leg("fulltext", (one, 0.9), (two, 0.88)) | leg("vector", (three, 0.9), (one, 0.6), (two, 0.5))
    weights = {"fulltext": 0.7, "vector": 0.3}
    assert weighted_sum(found, weights=weights, depth=2)[-1].chunk != three
    assert weighted_sum(found, weights=weights, depth=50)[-1].chunk == three


def test_weighted_sum_compares_legs_of_different_scales() -> None:
    """R4.2: a leg's scores count by how far they stand from its mean, not by their size."""
    one, two, three = CHUNKS[:3]
    found = leg("fulltext", (one, 0.03), (two, 0.02), (three, 0.01)) | leg(
        "vector", (two, 0.93), (three, 0.92), (one, 0.91)
    )
    fused = weighted_sum(found, weights={"fulltext": 0.6, "vector": 0.4}, depth=3)
    assert [hit.chunk for hit in fused] == [two, one, three]


def test_equal_scores_of_a_leg_say_nothing() -> None:
    """R4.2"""
    one, two = CHUNKS[1], CHUNKS[2]
    found = leg("fulltext", (one, 0.5), (two, 0.5)) | leg("vector", (one, 0.9), (two, 0.1))
    assert [hit.chunk for hit in weighted_sum(found, weights={"fulltext": 0.9, "vector": 0.1}, depth=2)] == [one, two]


@each_fusion
def test_the_scores_of_each_stage_are_kept(fuse: Fusion) -> None:
    """R4.7"""
    one, two = CHUNKS[:2]
    found = leg("fulltext", (one, 0.9)) | leg("vector", (one, 0.4), (two, 0.3))
    scores = {hit.chunk.id: hit.scores for hit in fuse(found, weights=EQUAL)}
    fusions = {hit.chunk.id: hit.score for hit in fuse(found, weights=EQUAL)}
    assert scores[one.id] == {"fulltext": 0.9, "vector": 0.4, "fusion": fusions[one.id]}
    assert scores[two.id] == {"vector": 0.3, "fusion": fusions[two.id]}


def test_ties_over_three_legs_go_to_the_more_recent_document() -> None:
    """R4.6 P4: places 3, 1, 7 are worth what places 1, 7, 3 are. Three legs: a question with two parts."""
    old = make_chunk("Viejo.")
    new = make_chunk("Nuevo.", document=make_document(created_at=CREATED_AT + timedelta(days=1)))
    others = [make_chunk("Otro.") for _ in range(5)]
    found = {}
    for leg_name, old_place, new_place in (("0", 3, 1), ("1", 1, 7), ("2", 7, 3)):
        chunks = dict(zip((place for place in range(1, 8) if place not in {old_place, new_place}), others, strict=True))
        chunks |= {old_place: old, new_place: new}
        found[leg_name] = [Hit(chunks[place], 1 / place) for place in range(1, 8)]
    weights = dict.fromkeys(found, 1.0)
    fused = [hit.chunk for hit in reciprocal_rank_fusion(found, weights=weights)]
    assert fused.index(new) < fused.index(old)
