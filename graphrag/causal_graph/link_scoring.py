"""Scores of consecutive links: how surely the effect of one is the cause of another, in whatever words."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from math import exp, log
from uuid import UUID

from graphrag.causal_graph.concepts import concept_words, root
from graphrag.causal_graph.question import FAMILY_LETTERS, causal_words, contradict, forms, holds
from graphrag.linguistics.language import CACHED_WORDS, fold
from graphrag.models.graph import CausalEdge, Entity

HEAD = 2.0  # what the word that a cause or an effect begins with weighs against its others
NAMED = 1.5  # a name or a code
SLIGHT = 0.3  # «falta de presión» is about pressure
REFERRED = 0.8  # at least: «esa bajada de pedidos», of what the document said before it
SAME_DOCUMENT = 0.15  # more for two links of one document
CACHED_NAMES = 4_096
COMMON = 100  # entities of a collection that hold a word, from which it is evidence of nothing
CODE = 2.0  # times as telling is a code, C3 or L4, that two documents share
MOST_CONTEXT = 3.0
FEWEST_DIGITS = 5  # of a number that is a name: an account, an order
# Logistic regression of `training/link_scorer.py` over `join_features`.
JOIN_WEIGHTS = {"shared": 1.68, "several": 1.5, "context": 2.53, "across": -2.08}
JOIN_BIAS = -3.54
_REFERRING = re.compile(
    r"(?:es[aeo]s?|est[aeo]s?|dich[ao]s?|tal(?:es)?|ce|cet|cette|ces|th[ai]t|this|th[eo]se|such)\s", re.IGNORECASE
)
_SLIGHT = frozenset(
    """falta exceso caida bajada subida aumento reduccion perdida problema baja sube reduce aumenta acumulacion
    aparicion parada manque exces chute baisse hausse augmentation reduction perte probleme accumulation absence
    apparition arret lack excess fall drop rise increase decrease loss problem shortage stop
    dia semana mes hora dos tres primero ultimo jour semaine mois annee heure deux trois premier dernier day week month
    year hour two three first last""".split()
)
Words = tuple[str, ...]


class LinkScorer:
    """Scores for the links of one neighbourhood.

    `frequencies`: by root, how many entities of the collection hold it, as far as COMMON; a root that is missing is
    held by one. Two documents are joined from a confidence of `threshold`.
    """

    def __init__(
        self,
        edges: Iterable[CausalEdge],
        links: Mapping[tuple[UUID, UUID], float],
        frequencies: Mapping[str, int],
        *,
        threshold: float,
    ) -> None:
        self._edges = list(edges)
        self._links = links
        self._frequencies = frequencies
        self._threshold = threshold
        self._words: dict[tuple[UUID, str], Words] = {}
        self._weighed: dict[Words, dict[str, float]] = {}

    def followers(self, one: CausalEdge) -> Iterable[CausalEdge]:
        """Return the edges that may continue this one, which excludes nearly all pairs without scoring them."""
        shared: set[UUID | str] = {one.effect.id, one.document.id, *self._linked.get(one.effect.id, ())}
        shared |= _families(self._of(one.effect, one))
        found = {edge.id: edge for key in shared for edge in self._by_key.get(key, ()) if edge is not one}
        return found.values()

    @cached_property
    def _by_key(self) -> dict[UUID | str, list[CausalEdge]]:
        """Index the edges by what an edge before them may share: the cause, its words, the document."""
        found: dict[UUID | str, list[CausalEdge]] = {}
        for edge in self._edges:
            keys: set[UUID | str] = {edge.cause.id, edge.document.id, *_families(self._of(edge.cause, edge))}
            for key in keys:
                found.setdefault(key, []).append(edge)
        return found

    @cached_property
    def _linked(self) -> dict[UUID, list[UUID]]:
        found: dict[UUID, list[UUID]] = {}
        for one, other in self._links:
            found.setdefault(one, []).append(other)
        return found

    def between(self, one: CausalEdge, other: CausalEdge) -> float:
        """Return the confidence, in [0, 1], that the second edge continues the first.

        «A, por lo que B. Eso provocó C»: «eso» is A with its B. Edges of two documents need evidence beyond a word in
        common: see `join_features`.
        """
        if one.document.id != other.document.id:
            surety = self._joined(one, other)
        elif one.effect.id == other.cause.id or _is_continued(one, other):
            return 1.0
        else:
            linked = self._links.get((one.effect.id, other.cause.id), 0.0)
            surety = max(linked, self._shared(one, other, self._of(one.effect, one), self._of(other.cause, other)))
        return 0.0 if surety and contradict(one.effect.name, other.cause.name) else surety

    def _joined(self, one: CausalEdge, other: CausalEdge) -> float:
        features = self.join_features(one, other)
        if not features["shared"]:
            return 0.0
        score = JOIN_BIAS + sum(JOIN_WEIGHTS[name] * value for name, value in features.items())
        surety = 1 / (1 + exp(-score))
        return surety if surety >= self._threshold else 0.0

    def join_features(self, one: CausalEdge, other: CausalEdge) -> dict[str, float]:
        """Return what speaks for two edges of different documents being about the same event.

        `shared`: the summed rarity of the roots that the effect of one and the cause of the other share, without those
        that their other ends share too: these are the subject of both, and in a restatement all are; `several`: whether
        these are two or more; `context`: the summed rarity of the other roots that their quotes share; `across`:
        whether the documents are in two languages, which share no small words.
        """
        subject = self._ends(one.cause, one) & self._ends(other.effect, other)
        shared = self._ends(one.effect, one) & self._ends(other.cause, other) - subject
        context = self._said(one) & self._said(other) - shared
        return {
            "shared": sum(map(self._rarity_of, shared)),
            "several": float(len(shared) > 1),
            "context": min(MOST_CONTEXT, sum(map(self._rarity_of, context))),
            "across": float(one.document.language != other.document.language),
        }

    def _ends(self, entity: Entity, edge: CausalEdge) -> frozenset[str]:
        return _telling(self._of(entity, edge))

    def _said(self, edge: CausalEdge) -> frozenset[str]:
        language = edge.document.language
        return _telling(tuple(forms(edge.quote, language) - causal_words(language)))

    def _rarity_of(self, held: str) -> float:
        """Return the rarity of a root in the collection, in [0, 1]; of a code more, in [0, CODE]."""
        rarity = max(0.0, 1 - log(max(self._frequencies.get(held, 1), self._quoting[held])) / log(COMMON))
        return rarity * (CODE if any(map(str.isdigit, held)) else 1.0)

    @cached_property
    def _quoting(self) -> Counter[str]:
        """Return by root how many documents of the neighbourhood say it in a quote."""
        said: dict[UUID, set[str]] = {}
        for edge in self._edges:
            said.setdefault(edge.document.id, set()).update(self._said(edge))
        return Counter(held for roots in said.values() for held in roots)

    def _shared(self, one: CausalEdge, other: CausalEdge, effect: Words, cause: Words) -> float:
        if _families(effect).isdisjoint(_families(cause)):
            return 0.0
        alike = max(self._share(effect, cause), self._share(cause, effect))
        if not alike:
            return 0.0
        alike = min(1.0, alike + SAME_DOCUMENT)
        follows = one.start_char <= other.start_char
        return max(alike, REFERRED) if follows and _REFERRING.match(other.cause.name) else alike

    def _share(self, words: Words, others: Words) -> float:
        """Return the share of the words' weight that the others hold too, in [0, 1]."""
        weights = self._weights(words)
        shared = [word for word in weights if holds(_folded(others), word)]
        if all(map(_is_slight, shared)):
            return 0.0
        return sum(weights[word] for word in shared) / sum(weights.values())

    def _weights(self, words: Words) -> dict[str, float]:
        if words in self._weighed:
            return self._weighed[words]
        weights = self._weighed[words] = {}
        head = next((word for word in words if not _is_slight(word)), None)
        for word in words:
            weight = self._rarity.get(fold(word), 1.0) * (NAMED if _is_name(word) else 1.0)
            weights[fold(word)] = weight * (SLIGHT if _is_slight(word) else HEAD if word == head else 1.0)
        return weights

    @cached_property
    def _rarity(self) -> dict[str, float]:
        counts = Counter(
            word
            for edge in self._edges
            for word in {fold(word) for end in (edge.cause, edge.effect) for word in self._of(end, edge)}
        )
        return {word: log(1 + len(self._edges) / count) for word, count in counts.items()}

    def _of(self, entity: Entity, edge: CausalEdge) -> Words:
        key = entity.id, edge.document.language
        if key not in self._words:
            self._words[key] = concept_words(entity.name, edge.document.language)
        return self._words[key]


def _is_continued(one: CausalEdge, other: CausalEdge) -> bool:
    is_same_place = one.document.id == other.document.id and other.start_char < one.end_char
    return is_same_place and one.start_char < other.end_char and one.effect.name in other.cause.name


@lru_cache(maxsize=CACHED_NAMES)
def _folded(words: Words) -> frozenset[str]:
    return frozenset(map(fold, words))


@lru_cache(maxsize=CACHED_NAMES)
def _families(words: Words) -> frozenset[str]:
    """Two words of one family have the same one here."""
    return frozenset(word[:FAMILY_LETTERS] for word in _folded(words))


@lru_cache(maxsize=CACHED_NAMES)
def _telling(words: Words) -> frozenset[str]:
    """Return the roots of the words that may tell one event from others: no «falta», no «7»."""
    telling = (word for word in words if not _is_slight(word))
    return frozenset(root(fold(word)) for word in telling if not (word.isdigit() and len(word) < FEWEST_DIGITS))


def _is_name(word: str) -> bool:
    return word[:1].isupper() or any(map(str.isdigit, word))


@lru_cache(maxsize=CACHED_WORDS)
def _is_slight(word: str) -> bool:
    return any(slight.startswith(fold(word)) for slight in _SLIGHT) and len(word) > 2
