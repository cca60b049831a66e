"""A causal chain in the documents' own words: the sentences that state its links, in order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graphrag.causal_graph.extraction import extract_relations
from graphrag.extractive_answers.statements import (
    Chain,
    ChainLink,
    Excerpt,
    ExtractedStatement,
    distinct,
    finished,
    opened,
    points_back,
)
from graphrag.linguistics.language import content_stems
from graphrag.linguistics.sentences import is_heading, plain
from graphrag.models import Direction

SURE = 0.55  # score from which a chain is told
MAX_BESIDE = 2  # statements after the chain
THEREFORE = {"es": "Por eso:", "fr": "C'est pourquoi :", "en": "As a result:"}


@dataclass(frozen=True, slots=True)
class WordedChain:
    told: tuple[ExtractedStatement, ...]  # cause to effect; empty where no chain answers
    beside: tuple[ExtractedStatement, ...]


def word_chain(
    chains: Sequence[Chain],
    statements: Sequence[ExtractedStatement],
    excerpts: Sequence[Excerpt],
    *,
    language: str,
    direction: Direction | None = None,
) -> WordedChain:
    """Return the chain that answers, then what else does; only `statements`, the best first, where no chain answers.

    A chain whose score is below SURE answers where its answering link is the best statement, as two ways led to it.
    The answering link is the first one where effects are asked for, else the last one.
    """
    by_number = {excerpt.number: excerpt for excerpt in excerpts}
    told = [[_sentences(by_number[link.number], link) for link in chain.links] for chain in chains]
    best = statements[0].text if statements else None
    answering = 0 if direction == "effects" else -1
    agreed = (links for links in told if best in [sentence.text for sentence in links[answering]])
    sure = (links for chain, links in zip(chains, told, strict=True) if chain.score >= SURE)
    links = next(sure, None) or next(agreed, None)
    if links is None:
        return WordedChain((), tuple(statements))
    first = list({sentence.text: sentence for sentences in links for sentence in sentences}.values())
    beside = [statement for statement in distinct([*first, *statements]) if statement not in first]
    return WordedChain(tuple(_joined(links, language)), tuple(beside[:MAX_BESIDE]))


def _joined(links: Sequence[Sequence[ExtractedStatement]], language: str) -> list[ExtractedStatement]:
    """Each sentence once; «Por eso: …» before a link whose words name no cause."""
    told: list[ExtractedStatement] = []
    texts: set[str] = set()
    for sentences in links:
        new = [sentence for sentence in sentences if sentence.text not in texts]
        texts |= {sentence.text for sentence in new}
        opening = f"{THEREFORE[language]} " if new and told and not _names_a_cause(new, told[-1]) else ""
        for sentence in new:
            told.append(replace(sentence, text=f"{opening}{opened(sentence.text)}"))
            opening = ""
    return told


def _names_a_cause(sentences: Sequence[ExtractedStatement], before: ExtractedStatement) -> bool:
    """Return whether the sentences name a cause: by a causal word, a pronoun, or by repeating the last effect."""
    text = " ".join(sentence.text for sentence in sentences)
    language = sentences[0].language
    repeated = content_stems(text, language) & content_stems(before.text, language)
    return bool(repeated or points_back(text) or extract_relations(text, language=language))


def _sentences(excerpt: Excerpt, link: ChainLink) -> list[ExtractedStatement]:
    """Return the sentences of a link whole, as citations are checked against them."""
    spans = excerpt.sentences[link.first : link.last + 1]
    texts = [excerpt.text[span.start : span.end] for span in spans]
    return [
        ExtractedStatement(finished(plain(text)), link.number, excerpt.language, 1.0)
        for text in texts
        if not is_heading(text)
    ]
