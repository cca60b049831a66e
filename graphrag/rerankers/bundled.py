"""A reranker without a model: what a chunk's best sentence holds of the question, beside the retrieval score."""

import math
from collections.abc import Mapping, Sequence

from graphrag.language import content_stems, stem, words
from graphrag.models import Hit
from graphrag.sentences import split_sentences

SENTENCE_WEIGHT = 0.3  # measured on development sets; the retrieval score has the rest


class BundledReranker:
    async def rerank(self, query: str, hits: Sequence[Hit], *, language: str, top_k: int) -> list[Hit]:
        found = [hit for hit in hits if hit.chunk.content.strip()]
        coverage = sentence_coverage(query, [hit.chunk.content for hit in found], language=language)
        best = max((hit.score for hit in found), default=0.0) or 1.0
        scores = [
            SENTENCE_WEIGHT * share + (1 - SENTENCE_WEIGHT) * hit.score / best
            for hit, share in zip(found, coverage, strict=True)
        ]
        ranked = sorted(zip(found, scores, strict=True), key=lambda pair: -pair[1])  # stable: ties keep their order
        return [Hit(hit.chunk, score, {**hit.scores, "rerank": score}) for hit, score in ranked[:top_k]]


def sentence_coverage(query: str, texts: Sequence[str], *, language: str) -> list[float]:
    """For each text the share, in [0, 1], of the query's words that its best sentence holds; rare words weigh more."""
    wanted = set(content_stems(query, language))
    sentences = [
        [
            {found for word in words(text[span.start : span.end]) if (found := stem(word, language)) in wanted}
            for span in split_sentences(text)
        ]
        for text in texts
    ]
    weights = rarity(wanted, [set().union(*found) for found in sentences])
    total = sum(weights.values()) or 1.0
    return [max((sum(weights[word] for word in words) for words in found), default=0.0) / total for found in sentences]


def rarity(words: set[str], texts: Sequence[set[str]]) -> Mapping[str, float]:
    """BM25's idf of each word among the texts; a word that none of them holds is the rarest."""
    counts = {word: sum(word in text for text in texts) for word in words}
    return {word: math.log(1 + (len(texts) - n + 0.5) / (n + 0.5)) for word, n in counts.items()}
