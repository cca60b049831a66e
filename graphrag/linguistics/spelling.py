"""Typing errors: the word of a vocabulary that a question seems to mean."""

from collections.abc import Iterable

from rapidfuzz import process
from rapidfuzz.distance import OSA, Prefix

from graphrag.linguistics import lexicon
from graphrag.linguistics.language import fold

LEAST_CHARS = 5  # of a word in which one wrong letter still tells which word it is
LONG = 8  # two wrong letters do
ENDING = 3  # letters at the end of a word in which its forms differ


def may_be_misspelt(word: str, language: str) -> bool:
    """Return whether it could be a name or a rare word with a typing error: no code, and no word of the lexicon."""
    return len(word) >= LEAST_CHARS and word.isalpha() and not lexicon.meanings(word, language)


def nearest_word(word: str, known: Iterable[str]) -> str | None:
    """Return the known word with the fewest letters changed, left out, added or swapped (Damerau 1964), as written.

    None where that is more than one, or two of a long word, where it is the word itself, and where a word that is no
    name differs in its ending alone: that is another form of it.
    """
    asked = fold(word)
    most = 2 if len(asked) >= LONG else 1
    written = {fold(each): each for each in known}
    is_name = word[:1].isupper()
    candidates = [each for each in written if is_name or not _differs_in_ending(asked, each)]
    found = process.extractOne(asked, candidates, scorer=OSA.distance, score_cutoff=most)
    return written[found[0]] if found and found[1] else None


def _differs_in_ending(one: str, other: str) -> bool:
    return Prefix.similarity(one, other) >= max(len(one), len(other)) - ENDING
