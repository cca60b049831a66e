"""Which entities a question means, and which of them mean nearly the same, among those that share a root of a word."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import log
from uuid import UUID

from graphrag.causal_graph.concepts import similarity
from graphrag.graph_models import EntityLink
from graphrag.language import CACHED_WORDS

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
_SPELLINGS = (("ph", "f"), ("th", "t"), ("y", "i"))
_DOUBLE = re.compile(r"([a-z])\1")


@lru_cache(maxsize=CACHED_WORDS)
def root(word: str) -> str:
    """The first letters of a folded stem as several languages have them: «presion» and «pression» share "presi".

    A code stays whole.
    """
    if any(character.isdigit() for character in word):
        return word
    for written, spoken in _SPELLINGS:
        word = word.replace(written, spoken)
    return _DOUBLE.sub(r"\1", word)[:ROOT_CHARS]


def roots(words: Iterable[str]) -> list[str]:
    return sorted({root(word) for word in words})


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
