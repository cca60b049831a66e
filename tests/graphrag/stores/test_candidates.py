"""The bar that decides which chunks full-text search looks at."""

import re
from itertools import chain, combinations

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from graphrag.stores.postgres.search import AFFORDABLE, MOST_WORDS, Lexeme, any_of, idf, likely_best

CHUNKS = 300_000
WANTED = 1_000


def lexemes(*frequencies: int) -> list[Lexeme]:
    return [Lexeme(number, f"w{number}", True, frequency) for number, frequency in enumerate(frequencies)]


def matches(query: str, held: set[str]) -> bool:
    """What PostgreSQL would say of a chunk with these lexemes."""
    terms = re.sub(r"'(\w+)'", lambda match: str(match[1] in held), query)
    return bool(eval(terms.replace("&", " and ").replace("|", " or ")))


def subsets(found: list[Lexeme]) -> list[set[str]]:
    names = [lexeme.lexeme for lexeme in found]
    return [set(names) for names in chain.from_iterable(combinations(names, n) for n in range(len(names) + 1))]


frequencies = st.lists(st.integers(1, CHUNKS), min_size=1, max_size=MOST_WORDS)


@settings(deadline=None)
@given(frequencies)
def test_sets_of_words_match_by_their_weight_alone(numbers: list[int]) -> None:
    """R4.3: where one set of words lets a chunk in, every set that weighs more does too."""
    found = lexemes(*numbers)
    weight = {lexeme.lexeme: idf(lexeme.document_frequency, CHUNKS) for lexeme in found}
    query = likely_best(found, chunk_count=CHUNKS, wanted=WANTED)
    admitted = [sum(weight[name] for name in held) for held in subsets(found) if matches(query, held)]
    refused = [sum(weight[name] for name in held) for held in subsets(found) if not matches(query, held)]
    assert max(refused) <= min(admitted) + 1e-3
    assert matches(query, {lexeme.lexeme for lexeme in found})
    assert not matches(query, set())


@settings(deadline=None)
@given(frequencies)
def test_expected_matches_stay_affordable(numbers: list[int]) -> None:
    """R4.3 bounded candidates: but for the one set that holds all the words, which is never refused."""
    found = lexemes(*numbers)
    query = likely_best(found, chunk_count=CHUNKS, wanted=WANTED)
    admitted = [held for held in subsets(found) if matches(query, held)]
    assume(len(admitted) > 1)
    expected = 0.0
    for held in admitted:
        share = 1.0
        for lexeme in found:
            has = lexeme.document_frequency / CHUNKS
            share *= has if lexeme.lexeme in held else 1 - has
        expected += share * CHUNKS
    assert expected <= WANTED * AFFORDABLE * 1.001


def test_rare_words_decide_alone_and_common_ones_together() -> None:
    """R4.3 rarest lexemes first."""
    query = likely_best(lexemes(100, 3_000, 20_000, 30_000, 60_000), chunk_count=CHUNKS, wanted=WANTED)
    assert matches(query, {"w0"})
    assert matches(query, {"w1", "w2"})
    assert not matches(query, {"w2"})
    assert not matches(query, {"w3", "w4"})


def test_a_single_word_is_looked_for_however_common() -> None:
    assert matches(likely_best(lexemes(250_000), chunk_count=CHUNKS, wanted=WANTED), {"w0"})


def test_few_matches_let_every_word_in() -> None:
    """R4.3 adapts: exact where it costs nothing."""
    found = lexemes(10, 20, WANTED // 3)
    assert all(matches(likely_best(found, chunk_count=CHUNKS, wanted=WANTED), {lexeme.lexeme}) for lexeme in found)


def test_forms_of_a_word_stand_for_each_other() -> None:
    """R4.3 several languages in one collection: a chunk has the stem of its own."""
    found = [Lexeme(1, "instal", True, 900), Lexeme(1, "instalacion", True, 800), Lexeme(2, "horno", True, 50_000)]
    query = likely_best(found, chunk_count=CHUNKS, wanted=WANTED)
    assert matches(query, {"instal"})
    assert matches(query, {"instalacion"})
    assert not matches(query, {"horno"})


def test_a_form_as_written_decides_only_without_a_stem() -> None:
    with_stem = [Lexeme(1, "horn", True, 40_000), Lexeme(1, "hornos", False, 30), Lexeme(2, "rota", True, 50)]
    assert "hornos" not in likely_best(with_stem, chunk_count=CHUNKS, wanted=WANTED)
    assert "hornos" in likely_best(with_stem[1:], chunk_count=CHUNKS, wanted=WANTED)


def test_lexemes_are_quoted() -> None:
    """Security 12."""
    assert any_of(["a'b", "c\\d", "& !"]) == r"'a''b' | 'c\\d' | '& !'"
