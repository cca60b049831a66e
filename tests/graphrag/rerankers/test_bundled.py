"""The reranker without a model."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.models import Hit
from graphrag.rerankers.bundled import BundledReranker, Features, combine, describe, rarity
from tests.factories import make_hit

RERANKER = BundledReranker()
WORDS = ["horno", "gas", "válvula", "presión", "avería", "Compresor", "parada", "H2", "el", "se", ". ", "¿"]
texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
scores = st.integers(0, 1000).map(lambda thousandths: thousandths / 1000)
found = st.lists(st.tuples(texts, texts, scores), max_size=6).map(
    lambda rows: [make_hit(text, score, context=context) for text, context, score in rows]
)


async def rerank(query: str, hits: list[Hit], *, top_k: int = 10, language: str = "es") -> list[Hit]:
    return await RERANKER.rerank(query, hits, language=language, top_k=top_k)


def features(query: str, text: str, *, context: str = "", others: Sequence[str] = (), language: str = "es") -> Features:
    hits = [make_hit(content, context=context) for content in (text, *others)]
    return describe(query, hits, language=language)[0]


async def assert_better(query: str, better: Hit, worse: Hit, *, language: str = "es") -> None:
    """In both orders: a tie would keep the one that was given."""
    for hits in ([better, worse], [worse, better]):
        ranked = await rerank(query, hits, language=language)
        assert [hit.chunk for hit in ranked] == [better.chunk, worse.chunk]


@given(query=texts, hits=found)
async def test_scores_are_between_0_and_1_and_best_comes_first(query: str, hits: list[Hit]) -> None:
    """R5.2 P7"""
    ranked = await rerank(query, hits)
    values = [hit.score for hit in ranked]
    assert values == sorted(values, reverse=True)
    assert all(0 <= value <= 1 for value in values)


@given(query=texts, hits=found)
def test_every_feature_is_between_0_and_1(query: str, hits: list[Hit]) -> None:
    """R5.2 P7"""
    for one in describe(query, hits, language="es"):
        assert all(0 <= getattr(one, name) <= 1 + 1e-9 for name in Features.__slots__)


@given(query=texts, hits=found, factor=st.floats(0.01, 1))
def test_the_scale_of_the_retrieval_scores_is_of_no_account(query: str, hits: list[Hit], factor: float) -> None:
    """R5.2 Cosines, fused ranks and BM25 have scales of their own."""
    scaled = describe(query, [replace(hit, score=hit.score * factor) for hit in hits], language="es")
    expected = [combine(one) for one in describe(query, hits, language="es")]
    assert [combine(one) for one in scaled] == pytest.approx(expected)


@given(query=texts, hits=found, randomness=st.randoms())
async def test_the_order_given_decides_ties_alone(query: str, hits: list[Hit], randomness: object) -> None:
    """P4 R5.2"""
    shuffled = list(hits)
    randomness.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis has no type for its Random
    before = {hit.chunk.id: hit.score for hit in await rerank(query, hits)}
    ranked = await rerank(query, shuffled)
    assert {hit.chunk.id: hit.score for hit in ranked} == before
    places = {hit.chunk.id: place for place, hit in enumerate(shuffled)}
    keys = [(-hit.score, places[hit.chunk.id]) for hit in ranked]
    assert keys == sorted(keys)


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


async def test_what_matches_in_everything_scores_1() -> None:
    """R5.2"""
    [hit] = await rerank("presión del horno", [make_hit("La presión del horno era alta.", 0.2, context="Horno")])
    assert hit.score == pytest.approx(1)


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
    await assert_better(query, make_hit(together, 0.5), make_hit(scattered, 0.5), language=language)
    assert features(query, together, language=language).sentence == pytest.approx(1)
    assert 0 < features(query, scattered, language=language).sentence < 1


async def test_a_word_outside_the_best_sentence_counts_too() -> None:
    """R5.1 An answer and its subject may stand in different sentences."""
    more = make_hit("El horno y el gas. La presión.")
    await assert_better("horno, gas, presión, válvula", more, make_hit("El horno y el gas. La sala."))


async def test_neighbouring_words_that_stay_neighbours_count_more() -> None:
    """R5.1"""
    apart = make_hit("En una emergencia hubo, por fin, la parada de todo.")
    await assert_better("parada de emergencia", make_hit("Hubo al fin una parada de emergencia."), apart)


async def test_neighbours_include_function_words() -> None:
    """R5.1 «before the war» is not «the war before»."""
    before, after = make_hit("It was signed before the war."), make_hit("The war was before it, and signed.")
    await assert_better("signed before the war", before, after, language="en")
    assert features("signed before the war", before.chunk.content, language="en").adjacent == 1


async def test_a_title_that_the_question_names_in_full_counts_more() -> None:
    """R5.1"""
    named, partly = (make_hit("El horno.", context=context) for context in ("Horno", "Horno de la planta norte"))
    await assert_better("horno", named, partly)
    assert features("horno", "El gas.", context="Horno_H2").title == 0.5


def test_a_word_of_the_title_is_a_word_of_the_passage() -> None:
    """R5.1 Chunks in the middle of a document do not repeat what it is about."""
    assert features("presión del horno", "La presión subió.", context="Informe › Horno").passage == pytest.approx(1)
    assert features("presión del horno", "La presión subió.", context="Informe").passage < 1


@pytest.mark.parametrize(
    ("query", "name", "other"),
    [("la ciudad de Roma", "Roma.", "La ciudad."), ("el plan de 2030", "En 2030.", "El plan.")],
)
async def test_a_name_or_number_counts_more_than_another_word(query: str, name: str, other: str) -> None:
    """R5.1"""
    await assert_better(query, make_hit(name), make_hit(other))


async def test_a_capital_at_the_beginning_makes_no_name() -> None:
    """R5.1"""
    first, second = await rerank("Presión horno", [make_hit("El horno."), make_hit("La presión.")])
    assert first.score == second.score


def test_a_rare_word_weighs_more() -> None:
    """R5.1"""
    weights = rarity({"horno", "gas", "nada"}, [{"horno", "gas"}, {"horno"}, {"horno"}])
    assert weights["nada"] > weights["gas"] > weights["horno"] > 0


async def test_a_rare_word_outweighs_a_common_one() -> None:
    """R5.1"""
    common = [make_hit("El horno.") for _ in range(4)]
    ranked = await rerank("horno, gas", [*common, make_hit("El gas.")])
    assert ranked[0].chunk.content == "El gas."


async def test_forms_of_a_word_count_as_the_word() -> None:
    """R5.1"""
    await assert_better("averías de los hornos", make_hit("La avería del horno."), make_hit("El gas de la sala."))


async def test_a_word_of_the_same_family_counts_less_than_the_word_and_more_than_none() -> None:
    """R5.1 No stemmer joins «inventó» and «inventor»."""
    word, relative, neither = make_hit("Ella inventó."), make_hit("El inventor."), make_hit("El horno.")
    await assert_better("¿qué inventó?", word, relative)
    await assert_better("¿qué inventó?", relative, neither)


async def test_equal_hits_keep_their_order() -> None:
    """P4 R5.2"""
    hits = [make_hit("El horno H2 se paró.", 0.5) for _ in range(5)]
    assert [hit.chunk for hit in await rerank("horno", hits)] == [hit.chunk for hit in hits]


async def test_where_no_word_tells_them_apart_the_retrieval_score_decides() -> None:
    """R5.2"""
    hits = [make_hit("Nada.", 0.9), make_hit("Tampoco.", 0.95), make_hit("Ni esto.", 0.2)]
    assert [hit.chunk for hit in await rerank("horno", hits)] == [hits[1].chunk, hits[0].chunk, hits[2].chunk]


async def test_hits_without_any_score_are_ranked_by_their_words() -> None:
    """R5.2"""
    await assert_better("horno", make_hit("El horno.", 0.0), make_hit("El gas.", 0.0))


@pytest.mark.parametrize("query", ["¿?", "", "qué", "¿el de la?"])
async def test_a_question_without_content_words_is_no_error(query: str) -> None:
    """R5.2"""
    hits = [make_hit("El horno.", 0.5), make_hit("El gas.", 0.9)]
    assert [hit.chunk for hit in await rerank(query, hits)] == [hits[1].chunk, hits[0].chunk]
