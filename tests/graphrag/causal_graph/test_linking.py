"""Which entities a question means, and which mean nearly the same."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from graphrag.causal_graph.concepts import LINKED, MOST_LINKS, MOST_STARTS, choose_links, rank_starts, root, roots

words = st.lists(st.sampled_from(["fug", "aceit", "compresor", "c3", "presion", "pression", "caid"]), min_size=1)


def entity(number: int) -> UUID:
    return UUID(int=number)


def test_one_word_of_two_languages_has_one_root() -> None:
    """R7.2 across languages."""
    for some, other in (
        ("presion", "pression"),
        ("compresor", "compresseur"),
        ("telefon", "telephon"),
        ("sistem", "system"),
    ):
        assert root(some) == root(other)


def test_codes_stay_whole() -> None:
    """R7.2 A-251701 is not A-251702."""
    assert root("a251701") != root("a251702")
    assert roots(["c3", "c3", "presion", "pression"]) == ["c3", "presi"]


def test_rare_words_decide() -> None:
    """R7.2 by the share of words weighted by rarity."""
    held = {entity(1): ["fug", "aceit"], entity(2): ["fug", "c3"]}
    ranked = rank_starts(["fug", "c3", "aceit"], held, {"fug": 90, "aceit": 80, "c3": 1})
    assert [found for found, _ in ranked] == [entity(2), entity(1)]
    assert rank_starts(["c3", "fug"], held, {})[0] == (entity(2), 1.0)


def test_what_else_an_entity_says_makes_it_less_sure() -> None:
    """R7.2"""
    held = {entity(1): ["fug", "aceit", "caid", "presion"], entity(2): ["fug", "aceit"]}
    assert [found for found, _ in rank_starts(["fug"], held, {})] == [entity(2), entity(1)]


@given(words, st.lists(words, max_size=30))
def test_scores_are_sorted_and_in_range(asked: list[str], held: list[list[str]]) -> None:
    """R7.2 in (0, 1]; 1 for the question's own words."""
    entities = {entity(number): known for number, known in enumerate(held)}
    ranked = rank_starts(asked, entities, {})
    scores = [score for _, score in ranked]
    assert scores == sorted(scores, reverse=True)
    assert len(ranked) <= MOST_STARTS
    assert all(0 < score <= 1 for score in scores)
    assert {score for found, score in ranked if set(entities[found]) == set(asked)} <= {1.0}


@given(words, st.lists(words, max_size=30))
def test_links_are_the_nearest_and_near_enough(held: list[str], others: list[list[str]]) -> None:
    """R7.2"""
    links = choose_links(entity(99), held, {entity(number): known for number, known in enumerate(others)})
    nearness = [link.similarity for link in links]
    assert nearness == sorted(nearness, reverse=True)
    assert len(links) <= MOST_LINKS
    assert all(LINKED <= near <= 1 for near in nearness)
