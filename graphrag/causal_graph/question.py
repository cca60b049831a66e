"""The subject of a causal question: its words without those that only ask for a cause or an effect."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from graphrag.causal_graph.concepts import concept_words
from graphrag.linguistics.language import fold, stem, words
from graphrag.models import Direction, TransformedQuery

# Beside the question words, which carry no meaning anywhere.
_ASKING = {
    "es": """
        causar causó causado causas causa provocar provocó provocado originar originó origen ocasionar
        ocasionó desencadenar desencadenó generar generó producir produjo deber debió debe deberse motivos
        motivó razones consecuencia consecuencias efecto efectos resultado resultados resultó repercusión
        repercusiones impacto llevó llevar condujo hizo explica explicar pasó ocurrió sucedió suceder ocurrir
        fondo raíz culpa detrás trajo
    """,
    "fr": """
        cause causes causer causé provoquer provoqué entraîner entraîné déclencher déclenché occasionner
        origine origines dû due motif motifs raisons conséquence conséquences effet effets résultat résultats
        répercussions impact conduit mené amené explique expliquer arrivé fond faute
    """,
    "en": """
        causes caused causing lead led leads trigger triggered triggers spark sparked reasons consequence
        consequences effect effects result results resulted resulting outcome outcomes impact made make makes
        explain explains behind due root followed owing responsible
    """,
}
_CODE = re.compile(r"(?<!\w)(?:(?=\w*\d)(?=\w*[^\W\d])[\w-]+|[^\W\d]+-\d[\w-]*)")  # C3, H2, A-2517: a thing's own name
_LETTERS = re.compile(r"^[^\W\d_]+")
DATE, PLAIN, NAME, CODE = 0.5, 1.0, 1.5, 2.0  # what a word weighs
FAMILY_LETTERS, FAMILY_SHARE = 5, 0.6  # of two stems' beginnings, and of the longer one, to be of one family


@dataclass(frozen=True, slots=True)
class CausalQuestion:
    language: str
    direction: Direction | None
    weights: tuple[tuple[str, float], ...]  # folded stem → how much it says of what is meant
    text: str

    @property
    def names(self) -> frozenset[str]:
        """Return the question's names and codes."""
        return frozenset(word for word, weight in self.weights if weight > PLAIN)

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(word for word, _ in self.weights)

    def share(self, held: Iterable[tuple[frozenset[str], float]], rarity: Mapping[str, float]) -> float:
        """Return the share of its words' weight that the texts hold, each word by the text that holds it best."""
        texts = list(held)
        weights = {word: weight * rarity.get(word, 1.0) for word, weight in self.weights}
        total = sum(weights.values())
        met = sum(
            weight * max((counts for forms, counts in texts if holds(forms, word)), default=0.0)
            for word, weight in weights.items()
        )
        return met / total if total else 0.0

    def contradicts(self, text: str) -> bool:
        """Return whether a text is about another thing of the kind: about oven H2, where H3 is asked for."""
        return contradict(text, self.text)


def contradict(one: str, other: str) -> bool:
    """Return whether the other names things of a kind by codes («H2») that the one lacks, having others of the kind."""
    named, wanted = find_codes(one), find_codes(other)
    kinds = {match.group() for code in named if (match := _LETTERS.match(code))}
    missing = [match.group() for code in wanted - named if (match := _LETTERS.match(code))]
    return any(letters in kinds for letters in missing)


def read_question(query: TransformedQuery) -> CausalQuestion:
    text, language = query.standalone, query.language
    asking = causal_words(language)
    names = forms(" ".join(query.entities), language)
    weights = {fold(word): _weight(word, names) for word in concept_words(text, language) if fold(word) not in asking}
    return CausalQuestion(language, query.direction, tuple(weights.items()), text)


def _weight(word: str, names: frozenset[str]) -> float:
    if any(map(str.isdigit, word)):
        return CODE if any(map(str.isalpha, word)) else DATE
    return NAME if fold(word) in names else PLAIN


@lru_cache(maxsize=4096)
def forms(text: str, language: str) -> frozenset[str]:
    """Return the forms of a document's words, comparable with a question's."""
    return frozenset(map(fold, concept_words(text, language)))


def holds(held: frozenset[str], word: str) -> bool:
    """The word itself, or one of its family: «vibr» and «vibrac», «compresor» and «compressor»."""
    if word in held:
        return True
    kin = _by_beginning(held).get(word[:FAMILY_LETTERS], ()) if len(word) >= FAMILY_LETTERS else ()
    return any(_are_family(word, other) for other in kin)


@lru_cache(maxsize=4096)
def _by_beginning(held: frozenset[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for word in held:
        found.setdefault(word[:FAMILY_LETTERS], []).append(word)
    return found


@lru_cache(maxsize=4096)
def find_codes(text: str) -> frozenset[str]:
    return frozenset(code.lower() for code in _CODE.findall(text))


def _are_family(one: str, other: str) -> bool:
    beginning = int(FAMILY_SHARE * max(len(one), len(other)))
    return one[:beginning] == other[:beginning]


@lru_cache(maxsize=8)
def causal_words(language: str) -> frozenset[str]:
    """Return the folded stems that only ask for, or state, that one thing causes another."""
    return frozenset(stem(word, language) for word in words(_ASKING.get(language, "")))
