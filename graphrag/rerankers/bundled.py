"""A reranker without a model: what a chunk's best sentence holds of the question, beside the retrieval score."""

import math
from collections.abc import Mapping, Sequence

from graphrag.language import content_words, fold, stem, words
from graphrag.models import Hit
from graphrag.sentences import split_sentences

SENTENCE_WEIGHT = 0.3  # measured on development sets; the retrieval score has the rest
FEW_TEXTS = 50  # among fewer, one absent word would outweigh all that are there


class BundledReranker:
    async def rerank(self, query: str, hits: Sequence[Hit], *, language: str, top_k: int) -> list[Hit]:
        found = [hit for hit in hits if hit.chunk.content.strip()]
        coverage = sentence_coverage(query, [hit.chunk.content for hit in found], language=language)
        best = max((hit.score for hit in found), default=0.0) or 1.0
        scores = [
            SENTENCE_WEIGHT * share + (1 - SENTENCE_WEIGHT) * (hit.score / best)
            for hit, share in zip(found, coverage, strict=True)
        ]
        ranked = sorted(zip(found, scores, strict=True), key=lambda pair: -pair[1])  # stable: ties keep their order
        return [Hit(hit.chunk, score, {**hit.scores, "rerank": score}) for hit, score in ranked[:top_k]]


def sentence_coverage(query: str, texts: Sequence[str], *, language: str) -> list[float]:
    """For each text the share, in [0, 1], of the query's words that its best sentence holds; rare words weigh more."""
    # By stem, or as written without accents: a stemmer does not always see that «averia» is «avería».
    wanted = {form: stem(word, language) for word in content_words(query, language) for form in _forms(word, language)}
    split = [[words(text[span.start : span.end]) for span in split_sentences(text)] for text in texts]
    vocabulary = {word for sentences in split for sentence in sentences for word in sentence}
    meets = {word: wanted[form] for word in vocabulary for form in _forms(word, language) if form in wanted}
    held = [[{meets[word] for word in sentence if word in meets} for sentence in sentences] for sentences in split]
    weights = rarity(set(wanted.values()), [set().union(*found) for found in held])
    total = sum(weights.values()) or 1.0
    best = [max((sum(weights[word] for word in sentence) for sentence in found), default=0.0) for found in held]
    return [min(1.0, weight / total) for weight in best]


def _forms(word: str, language: str) -> tuple[str, str]:
    return fold(word), stem(word, language)


def rarity(words: set[str], texts: Sequence[set[str]]) -> Mapping[str, float]:
    """BM25's idf of each word among the texts; a word that none of them holds is the rarest."""
    counts = {word: sum(word in text for text in texts) for word in words}
    total = max(len(texts), FEW_TEXTS)
    return {word: math.log(1 + (total - n + 0.5) / (n + 0.5)) for word, n in counts.items()}
