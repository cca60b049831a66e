"""The reranker without a model."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag.language import content_words, stem, words
from graphrag.models import Hit
from graphrag.rerankers.bundled import BundledReranker, rarity, sentence_coverage
from tests.factories import make_hit

RERANKER = BundledReranker()
WORDS = ["horno", "gas", "válvula", "presión", "avería", "compresor", "parada", "taller", "el", "se", ". ", "¿"]
texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)


async def rerank(query: str, hits: list[Hit], *, top_k: int = 10, language: str = "es") -> list[Hit]:
    return await RERANKER.rerank(query, hits, language=language, top_k=top_k)


@settings(deadline=None, max_examples=200)
@given(query=texts, found=st.lists(st.tuples(texts, st.floats(0, 1)), max_size=6))
async def test_scores_are_between_0_and_1_and_best_comes_first(query: str, found: list[tuple[str, float]]) -> None:
    """R5.2 P7"""
    ranked = await rerank(query, [make_hit(text, score) for text, score in found])
    scores = [hit.score for hit in ranked]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


async def test_scores_of_earlier_stages_are_kept() -> None:
    """R5.2"""
    [hit] = await rerank("horno", [make_hit("El horno H2.", 0.4, scores={"fulltext": 0.3, "fusion": 0.4})])
    assert hit.scores == {"fulltext": 0.3, "fusion": 0.4, "rerank": hit.score}


async def test_chunks_stay_as_they_are() -> None:
    """R5.2"""
    given_hits = [make_hit("El horno H2.", 0.4), make_hit("La válvula.", 0.9)]
    ranked = await rerank("horno", given_hits)
    assert {hit.chunk.id for hit in ranked} == {hit.chunk.id for hit in given_hits}
    assert [hit.score for hit in given_hits] == [0.4, 0.9]


async def test_empty_chunks_are_dropped() -> None:
    """R5.3"""
    ranked = await rerank("horno", [make_hit("", 0.9), make_hit(" \n\t", 0.8), make_hit("El horno.", 0.1)])
    assert [hit.chunk.content for hit in ranked] == ["El horno."]


@pytest.mark.parametrize("top_k", [0, 1, 2, 5])
async def test_at_most_top_k(top_k: int) -> None:
    """R5.2"""
    hits = [make_hit(f"Texto {number}.", number / 10) for number in range(3)]
    ranked = await rerank("texto", hits, top_k=top_k)
    assert [hit.chunk for hit in ranked] == [hit.chunk for hit in reversed(hits)][:top_k]


async def test_nothing_to_rank() -> None:
    assert await rerank("horno", []) == []


@pytest.mark.parametrize(
    ("language", "query", "together", "scattered"),
    [
        (
            "es",
            "¿Qué presión tenía el horno H2?",
            "La presión del horno H2 era de 6 bar. Nada más.",
            "El horno es viejo. La sala H2 es grande. La presión subió.",
        ),
        (
            "fr",
            "Quelle était la pression du four H2 ?",
            "La pression du four H2 était de 6 bars. Rien d'autre.",
            "Le four est vieux. La salle H2 est grande. La pression a monté.",
        ),
        (
            "en",
            "What was the pressure of oven H2?",
            "The pressure of oven H2 was 6 bar. Nothing else.",
            "The oven is old. Room H2 is large. The pressure rose.",
        ),
    ],
)
async def test_words_in_one_sentence_beat_words_in_several(
    language: str, query: str, together: str, scattered: str
) -> None:
    """R5.1"""
    ranked = await rerank(query, [make_hit(scattered, 0.5), make_hit(together, 0.5)], language=language)
    assert [hit.chunk.content for hit in ranked] == [together, scattered]


async def test_forms_of_a_word_count_as_the_word() -> None:
    """R5.1"""
    ranked = await rerank("averías de los hornos", [make_hit("El gas.", 0.5), make_hit("La avería del horno.", 0.5)])
    assert ranked[0].chunk.content == "La avería del horno."


async def test_equal_hits_keep_their_order() -> None:
    """P4 R5.2"""
    hits = [make_hit("El horno H2 se paró.", 0.5) for _ in range(5)]
    assert [hit.chunk for hit in await rerank("horno", hits)] == [hit.chunk for hit in hits]


async def test_where_no_sentence_tells_them_apart_the_retrieval_score_decides() -> None:
    """R5.2"""
    hits = [make_hit("Nada.", 0.9), make_hit("Tampoco.", 0.95), make_hit("Ni esto.", 0.2)]
    assert [hit.chunk for hit in await rerank("horno", hits)] == [hits[1].chunk, hits[0].chunk, hits[2].chunk]


async def test_hits_without_any_score_are_ranked_by_their_sentences() -> None:
    """R5.2"""
    ranked = await rerank("horno", [make_hit("El gas.", 0.0), make_hit("El horno.", 0.0)])
    assert ranked[0].chunk.content == "El horno."


def test_coverage_is_that_of_the_best_sentence() -> None:
    """R5.1"""
    texts = ["El horno H2. El gas.", "El horno. El gas H2.", "El gas.", ""]
    found = sentence_coverage("horno H2", texts, language="es")
    assert found[0] == pytest.approx(1.0)
    assert 0 < found[1] < 1
    assert found[2:] == [0, 0]


def test_a_rare_word_weighs_more() -> None:
    """R5.1"""
    weights = rarity({"horno", "gas", "nada"}, [{"horno", "gas"}, {"horno"}, {"horno"}])
    assert weights["nada"] > weights["gas"] > weights["horno"] > 0


@settings(deadline=None, max_examples=100)
@given(query=texts, found=st.lists(texts, max_size=5))
def test_a_text_without_a_word_of_the_question_covers_nothing(query: str, found: list[str]) -> None:
    """R5.2 P7"""
    wanted = {stem(word, "es") for word in content_words(query, "es")}
    for text, share in zip(found, sentence_coverage(query, found, language="es"), strict=True):
        assert 0 <= share <= 1
        if not wanted & {stem(word, "es") for word in words(text)}:
            assert share == 0
