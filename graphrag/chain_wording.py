"""A causal chain in the documents' own words: the sentences that state its links, in order."""

from collections.abc import Sequence
from dataclasses import dataclass

from graphrag.answer_extraction import Excerpt, Statement, distinct, finished
from graphrag.models import Span
from graphrag.places import split_rows
from graphrag.sentences import is_heading, plain

SURE = 0.55  # score from which a chain is told
MAX_BESIDE = 2  # statements after the chain


@dataclass(frozen=True, slots=True)
class ToldLink:
    """A link's quote: characters of the document that the numbered excerpt is of."""

    number: int
    quote: Span


@dataclass(frozen=True, slots=True)
class ToldChain:
    """Every link of it is in an excerpt."""

    links: tuple[ToldLink, ...]
    score: float
    answering: int  # which of the links says what was asked for


def word_chain(
    chains: Sequence[ToldChain], statements: Sequence[Statement], excerpts: Sequence[Excerpt]
) -> list[Statement]:
    """The chain that answers, then what else does; `statements`, the best first, where none is sure to.

    A chain that is not sure by itself answers where its answering link is the best statement: two ways led to it.
    """
    by_number = {excerpt.number: excerpt for excerpt in excerpts}
    told = [[_sentences(by_number[link.number], link) for link in chain.links] for chain in chains]
    best = statements[0].text if statements else None
    agreed = (
        links
        for chain, links in zip(chains, told, strict=True)
        if best in [sentence.text for sentence in links[chain.answering]]
    )
    sure = (links for chain, links in zip(chains, told, strict=True) if chain.score >= SURE)
    links = next(sure, None) or next(agreed, None)
    if links is None:
        return list(statements)
    first = list({sentence.text: sentence for sentences in links for sentence in sentences}.values())
    beside = [statement for statement in distinct([*first, *statements]) if statement not in first]
    return [*first, *beside[:MAX_BESIDE]]


def _sentences(excerpt: Excerpt, link: ToldLink) -> list[Statement]:
    """Whole, as the check of citations reads them."""
    start, end = link.quote.start - excerpt.start_char, link.quote.end - excerpt.start_char
    texts = [
        excerpt.text[span.start : span.end]
        for span in split_rows(excerpt.text, excerpt.places, start=excerpt.start_char)
        if excerpt.text[max(span.start, start) : min(span.end, end)].strip()
    ]
    return [
        Statement(finished(plain(text)), link.number, excerpt.language, 1.0) for text in texts if not is_heading(text)
    ]
