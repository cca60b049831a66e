"""What a cause or an effect is, however a document words it, and how surely two of them are the same."""

import re
from collections.abc import Sequence
from functools import lru_cache

from graphrag.language import CACHED_WORDS, fold, stem, stop_words

NAME_WEIGHT = 2.0  # of a name or a code, against a common word
ALIKE = 0.5  # trigrams that two words must share: «presión» and "pressure" have .55, chance less
RESTATED = 0.9  # at most, where one says all of the other and more
TELLING = 3.0  # weight of shared words with which a restatement is sure
_WORD = re.compile(r"\w+(?:[-./]\w*\d\w*|[.,]\d+)*|\w+")  # «A-2517» and «3,5» stay one word
_DOUBLED = re.compile(r"(.)\1")
_SPELLINGS = str.maketrans(
    {"y": "i", "k": "c", "q": "c", "z": "s", "h": None, "-": None}
)  # of one word in two languages
_INFLECTION = 2  # letters that a stem lacks of the name it was taken from


def concept_words(text: str, language: str) -> tuple[str, ...]:
    """Folded stems in order, without function words; names and codes whole, and capitalised.

    All words, folded, where none says anything; none where there is no word.
    """
    found = _WORD.findall(text)
    kept = [
        _concept_word(word, number, text, language)
        for number, word in enumerate(found)
        if _says_something(word, language)
    ]
    return tuple(kept or map(fold, found))


def concept_key(text: str, language: str) -> str:
    """The same for two texts that differ in accents, articles, punctuation and endings."""
    return " ".join(map(fold, concept_words(text, language)))


def _says_something(word: str, language: str) -> bool:
    if _is_code(word):
        return True
    return not (len(word) == 1 and word.isalpha()) and fold(word) not in stop_words(language)


def _is_code(word: str) -> bool:
    return any(map(str.isdigit, word)) and any(map(str.isalpha, word))


def _concept_word(word: str, number: int, text: str, language: str) -> str:
    if _is_code(word):
        return fold(word).upper()
    if word[0].isupper() and (number > 0 and not text.isupper()):  # the first word has a capital letter anyway
        return fold(word).capitalize()
    return stem(fold(word), language)  # folded first: who leaves out accents means the same


def similarity(one: Sequence[str], other: Sequence[str]) -> float:
    """In [0, 1]: how surely two concepts are the same, or one restates the other. The languages may differ.

    Takes `concept_words`. 1 for equal ones, 0 where either has no words; the order of words does not count.
    """
    if not one or not other:
        return 0.0
    shared_one, shared_other = _shared(one, other), _shared(other, one)
    total_one, total_other = _weight(one), _weight(other)
    both = (shared_one + shared_other) / (total_one + total_other)
    restated = max(shared_one / total_one, shared_other / total_other)
    telling = min(1.0, min(shared_one, shared_other) / TELLING)
    return min(1.0, max(both, RESTATED * restated * telling))


def _weight(words: Sequence[str]) -> float:
    return sum(map(_weight_of, words))


def _weight_of(word: str) -> float:
    return NAME_WEIGHT if word[:1].isupper() or _is_code(word) else 1.0


def _shared(words: Sequence[str], others: Sequence[str]) -> float:
    """The weight of the words that the others have, or have in another form."""
    return sum(_weight_of(word) * max(word_similarity(word, other) for other in others) for word in words)


def word_similarity(one: str, other: str) -> float:
    """In [0, 1]. Codes and numbers are the same or not; words may be spelled as in another language."""
    if one == other or (folded := fold(one)) == fold(other):
        return 1.0
    if any(map(str.isdigit, one + other)):
        return 0.0
    longer, shorter = sorted((folded, fold(other)), key=lambda word: (-len(word), word))
    if (
        one[:1].isupper() != other[:1].isupper()
        and longer.startswith(shorter)
        and len(longer) - len(shorter) <= _INFLECTION
    ):
        return 1.0  # «Lindazo», and its stem where it began a sentence
    grams, other_grams = _trigrams(one), _trigrams(other)
    alike = 2 * len(grams & other_grams) / (len(grams) + len(other_grams)) if grams and other_grams else 0.0
    return alike if alike >= ALIKE else 0.0


@lru_cache(maxsize=CACHED_WORDS)
def _trigrams(word: str) -> frozenset[str]:
    spelled = "^" + _DOUBLED.sub(r"\1", fold(word)).translate(_SPELLINGS)
    return frozenset(spelled[at : at + 3] for at in range(len(spelled) - 2))
