"""Which chunks full-text search looks at: those that could be among the best, and no more than it can afford."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from math import log

import numpy as np

AFFORDABLE = 10  # times as many candidates as wanted
MOST_WORDS = 6  # that decide, the rarest; a query over more costs the index more than it saves


@dataclass(frozen=True, slots=True)
class Lexeme:
    """What the collection knows of one form of a word that was asked."""

    word_number: int
    lexeme: str
    is_stem: bool
    document_frequency: int


@dataclass(frozen=True, slots=True)
class _Word:
    """Lexemes of which a chunk holds one, by its language, where it holds the word."""

    lexemes: tuple[str, ...]
    document_frequency: int
    weight: int  # its idf in millionths: sums of them can be compared


def idf(document_frequency: int, chunk_count: int) -> float:
    """Robertson & Zaragoza 2009, with 1 added so that it stays positive."""
    return log(1 + (chunk_count - document_frequency + 0.5) / (document_frequency + 0.5))


def any_of(lexemes: Iterable[str]) -> str:
    """A tsquery of lexemes as the database knows them: quoted, so that they are nothing but words."""
    return " | ".join(_quote(lexeme) for lexeme in lexemes)


def likely_best(found: Sequence[Lexeme], *, chunk_count: int, wanted: int) -> str:
    """The tsquery of all sets of words whose weights, together, reach a bar, which is set so that `wanted` chunks are
    expected to match; fewer where the next lower bar would be expected to let in more than is affordable.

    A rare word reaches the bar alone, a common one with others: WAND's idea (Broder et al. 2003), for an index that has
    no scores.
    """
    words = _words(found, chunk_count)[:MOST_WORDS]
    return _at_least(_bar(words, chunk_count, wanted), words)


def _words(found: Sequence[Lexeme], chunk_count: int) -> list[_Word]:
    """Rarest first. A word's stems decide; its exact forms only where no stem is known."""
    forms: dict[int, list[Lexeme]] = {}
    for lexeme in found:
        forms.setdefault(lexeme.word_number, []).append(lexeme)
    words = {}
    for of_word in forms.values():
        deciding = [lexeme for lexeme in of_word if lexeme.is_stem] or of_word
        frequency = min(chunk_count, sum(lexeme.document_frequency for lexeme in deciding))
        lexemes = tuple(sorted(lexeme.lexeme for lexeme in deciding))
        words[lexemes] = _Word(lexemes, frequency, max(1, round(idf(frequency, chunk_count) * 1e6)))
    return sorted(words.values(), key=lambda word: (word.document_frequency, word.lexemes))


def _bar(words: Sequence[_Word], chunk_count: int, wanted: int) -> int:
    """Words are taken to be independent: the expected share of chunks with just this set of words, for every set."""
    shares, weights = np.ones(1), np.zeros(1, dtype=np.int64)
    for word in words:
        share = word.document_frequency / chunk_count
        shares = np.concatenate([shares * (1 - share), shares * share])
        weights = np.concatenate([weights, weights + word.weight])
    bars, set_of = np.unique(weights[1:], return_inverse=True)  # without the empty set
    expected = np.cumsum(np.bincount(set_of, shares[1:])[::-1])[::-1] * chunk_count  # at this bar or above it
    enough, affordable = bars[expected >= wanted], bars[expected <= wanted * AFFORDABLE]
    return int(max(enough[-1] if len(enough) else bars[0], affordable[0] if len(affordable) else bars[-1]))


def _at_least(bar: int, words: Sequence[_Word]) -> str:
    left = [sum(word.weight for word in words[number:]) for number in range(len(words) + 1)]

    @cache
    def reach(number: int, bar: int) -> str | None:
        """For the words from this number on; "" where nothing more is needed, None where the bar is out of reach."""
        if bar <= 0:
            return ""
        if left[number] < bar:
            return None
        with_it, without_it = reach(number + 1, bar - words[number].weight), reach(number + 1, bar)
        word = f"({any_of(words[number].lexemes)})"
        ways = [f"{word} & ({with_it})" if with_it else word] if with_it is not None else []
        return " | ".join([*ways, without_it] if without_it is not None else ways)

    query = reach(0, bar)
    assert query  # the bar is the weight of some set of the words
    return query


def _quote(lexeme: str) -> str:
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"
