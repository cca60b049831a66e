"""Concepts of the causal graph, and linking a question's words to its entities."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import log
from uuid import UUID

from graphrag.linguistics.language import CACHED_WORDS, fold, stem, stop_words
from graphrag.models.graph import Entity, EntityLink

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
    """Return the confidence, in [0, 1], that two concepts are the same or that one restates the other.

    Takes `concept_words`, which may be of different languages. It is 1 for equal ones and 0 if either has no words; the
    order of words doesn't count.
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
    """Return the similarity of two words, in [0, 1].

    Codes and numbers are the same or not; words may be spelled as in another language.
    """
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


LINKED = 0.25  # as similar are two entities at least of which one can stand for the other in a chain
WORTH_COMPARING = 0.3  # of the roots of both, as many are shared: a tenth of the time that comparing takes
MOST_LINKS = 8  # that an entity brings
MOST_STARTS = 10
BESIDE = 0.5  # as surely as what a near chunk states is meant what its document states elsewhere
MOST_NEAR = 200  # entities that near chunks and their documents state
ROOT_CHARS = 5
SAME_ROOT = 0.8  # what a word counts of which only the root is the same
# What else the question says, and what else the entity says, makes it less sure that this one is meant.
UNMATCHED_OF_QUESTION, UNMATCHED_OF_ENTITY = 0.3, 0.5
_LINK_SPELLINGS = (("ph", "f"), ("th", "t"), ("y", "i"))
_DOUBLE = re.compile(r"([a-z])\1")


@lru_cache(maxsize=CACHED_WORDS)
def root(word: str) -> str:
    """The first letters of a folded stem as several languages have them: «presion» and «pression» share "presi".

    A code stays whole.
    """
    if any(character.isdigit() for character in word):
        return word
    for written, spoken in _LINK_SPELLINGS:
        word = word.replace(written, spoken)
    return _DOUBLE.sub(r"\1", word)[:ROOT_CHARS]


def roots(words: Iterable[str]) -> list[str]:
    return sorted({root(word) for word in words})


def count_roots(entities: Iterable[Entity]) -> Counter[str]:
    """Return how many of the entities hold each root."""
    known = {entity.id: entity.key.split(" ") for entity in entities}
    return Counter(held for words in known.values() for held in roots(words))


def rank_starts(
    words: Sequence[str], entities: Mapping[UUID, Sequence[str]], frequencies: Mapping[str, int]
) -> list[tuple[UUID, float]]:
    """The entities, each with its words, that a question of these words means best, and how surely, in (0, 1].

    `frequencies`: by root, how many entities have it.
    """
    scores = {entity: _meant(words, held, frequencies) for entity, held in entities.items()}
    best = sorted(scores, key=lambda entity: (-scores[entity], entity))
    return [(entity, scores[entity]) for entity in best[:MOST_STARTS] if scores[entity]]


def _meant(asked: Sequence[str], held: Sequence[str], frequencies: Mapping[str, int]) -> float:
    weights = {root(word): 1 / (1 + log(max(frequencies.get(root(word), 1), 1))) for word in asked}
    matches = {root(word): 1.0 if word in asked else SAME_ROOT for word in held if root(word) in weights}
    if not matches:
        return 0.0
    of_question = sum(weights[shared] * match for shared, match in matches.items()) / sum(weights.values())
    of_entity = sum(matches.values()) / len(set(roots(held)))
    return 1 / (1 + UNMATCHED_OF_QUESTION * (1 / of_question - 1) + UNMATCHED_OF_ENTITY * (1 / of_entity - 1))


def choose_links(entity: UUID, words: Sequence[str], candidates: Mapping[UUID, Sequence[str]]) -> list[EntityLink]:
    """The nearest of the candidates, each with its words."""
    known = frozenset(map(root, words))
    links = [
        EntityLink(entity, other, similarity(words, held))
        for other, held in candidates.items()
        if _overlap(known, frozenset(map(root, held))) >= WORTH_COMPARING
    ]
    near = sorted(links, key=lambda link: (-link.similarity, link.other_id))
    return [link for link in near[:MOST_LINKS] if link.similarity >= LINKED]


def _overlap(some: frozenset[str], others: frozenset[str]) -> float:
    return 2 * len(some & others) / (len(some) + len(others))
