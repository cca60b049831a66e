"""A reranker without a model: what a chunk holds of the question, and how, beside the retrieval score."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass

from graphrag.models import Hit
from graphrag.rerankers.ranking import ranked, with_text
from graphrag.rerankers.word_matches import Held, Matches, Question, find_words, read_question

FEW_TEXTS = 50  # among fewer, one absent word would outweigh all that are there
NAME_WEIGHT = 1.6  # a name or a number says more of what is asked than its rarity among the candidates does
ALIKE = 0.5  # what another word of the same family counts


@dataclass(frozen=True, slots=True)
class Features:
    """Of one hit among others, each in [0, 1]; words count by their rarity."""

    retrieval: float  # where the score stands between the last and the best
    sentence: float  # the question's words that the best sentence holds
    passage: float  # those that the chunk or its title holds
    adjacent: float  # neighbours in the question that are neighbours in the chunk
    title: float  # the words of title and headings that the question names


# By listwise logistic regression on five development sets in three languages, then rounded; with a set left out of it,
# its own result stays above its input order.
WEIGHTS = Features(retrieval=0.2, sentence=0.2, passage=0.3, adjacent=0.2, title=0.1)


class BundledReranker:
    async def rerank(self, query: str, hits: Sequence[Hit], *, language: str, top_k: int) -> list[Hit]:
        found = with_text(hits)
        features = describe(query, found, language=language)
        return ranked(found, [combine(each) for each in features], top_k=top_k)


def combine(features: Features) -> float:
    """In [0, 1]: 1 where everything matches."""
    parts = zip(astuple(WEIGHTS), astuple(features), strict=True)
    return min(1.0, math.fsum(weight * value for weight, value in parts))


def describe(query: str, hits: Sequence[Hit], *, language: str) -> list[Features]:
    question = read_question(query, language)
    matches = find_words(question, [hit.chunk.content for hit in hits], [hit.chunk.context for hit in hits])
    weights = _weigh(question, matches)
    standing = _standing([hit.score for hit in hits])
    return [_features(place, match, question, weights) for place, match in zip(standing, matches, strict=True)]


def _standing(scores: Sequence[float]) -> list[float]:
    least, most = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - least) / (most - least) if most > least else 1.0 for score in scores]


def _weigh(question: Question, matches: Sequence[Matches]) -> dict[str, float]:
    """The share of each word in what the question asks for; they sum to 1."""
    rare = rarity(set(question.words), [set().union(*(held.exact for held in match.sentences)) for match in matches])
    weights = {word: weight * (NAME_WEIGHT if word in question.names else 1) for word, weight in rare.items()}
    total = math.fsum(weights.values())
    return {word: weight / total for word, weight in weights.items()}


def _features(retrieval: float, match: Matches, question: Question, weights: Mapping[str, float]) -> Features:
    sentence = max((_coverage(held, weights) for held in match.sentences), default=0.0)
    passage = _coverage(match.passage, weights)
    adjacent = len(match.pairs) / len(question.pairs) if question.pairs else passage
    return Features(retrieval, sentence, passage, adjacent, match.title_share)


def _coverage(held: Held, weights: Mapping[str, float]) -> float:
    # fsum: a set has no order, and equal texts must have equal scores.
    exact = math.fsum(weights[word] for word in held.exact)
    return exact + ALIKE * math.fsum(weights[word] for word in held.alike)


def rarity(words: set[str], texts: Sequence[set[str]]) -> Mapping[str, float]:
    """BM25's idf of each word among the texts; a word that none of them holds is the rarest."""
    counts = {word: sum(word in text for text in texts) for word in words}
    total = max(len(texts), FEW_TEXTS)
    return {word: math.log(1 + (total - n + 0.5) / (n + 0.5)) for word, n in counts.items()}
