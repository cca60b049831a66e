"""A causal chain in the documents' own words: the sentences that state its links, in order."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from graphrag.causal_graph.extraction import extract_relations
from graphrag.extractive_answers.statements import (
    Chain,
    ChainLink,
    Excerpt,
    ExtractedStatement,
    finished,
    opened,
    points_back,
)
from graphrag.linguistics.language import content_stems
from graphrag.linguistics.sentences import is_heading, plain
from graphrag.models import Direction

SURE = 0.55  # score from which a chain is told
THEREFORE = {"es": "Por eso:", "fr": "C'est pourquoi :", "en": "As a result:"}
BEFORE = {"es": "Lo que llevó a ello:", "fr": "Ce qui y a mené :", "en": "What led to it:"}


def word_chain(
    chains: Sequence[Chain],
    statements: Sequence[ExtractedStatement],
    excerpts: Sequence[Excerpt],
    *,
    language: str,
    direction: Direction | None = None,
    is_answered: bool = True,
) -> list[ExtractedStatement]:
    """Return the sentences of the chain that answers; none where none does. `statements` answer, the best first.

    A chain answers where its answering link is among the statements, as two ways led to it; of those that come closest,
    only the best counts. Else one answers whose score is SURE and whose answering link is of the best statement's
    document, or of any where no statement answers. The answering link is the first one where effects are asked for,
    else the last one, which is told before what led to it.
    """
    by_number = {excerpt.number: excerpt for excerpt in excerpts}
    told = [[_sentences(by_number[link.number], link) for link in chain.links] for chain in chains]
    answering = 0 if direction == "effects" else -1
    files = {excerpt.filename for excerpt in excerpts if not is_answered or excerpt.number == statements[0].number}
    agreed = (
        links
        for each in statements[: None if is_answered else 1]
        for links in told
        if each.text in [sentence.text for sentence in links[answering]]
    )
    sure = (
        links
        for chain, links in zip(chains, told, strict=True)
        if chain.score >= SURE and by_number[chain.links[answering].number].filename in files
    )
    chosen = next(agreed, None) or next(sure, None) or []
    if not chosen:
        return []
    return _joined(chosen, language) if direction == "effects" else _traced(chosen[::-1], language)


def _joined(links: Sequence[Sequence[ExtractedStatement]], language: str) -> list[ExtractedStatement]:
    """Each sentence once; «Por eso: …» before a link whose words name no cause."""
    told: list[ExtractedStatement] = []
    for new in _once(links):
        opening = f"{THEREFORE[language]} " if told and not _names_a_cause(new, told[-1]) else ""
        told += _opened(new, opening)
    return told


def _traced(links: Sequence[Sequence[ExtractedStatement]], language: str) -> list[ExtractedStatement]:
    """Each sentence once, the links from the effect back to its cause: «Lo que llevó a ello: …»."""
    told: list[ExtractedStatement] = []
    for new in _once(links):
        told += _opened(new, f"{BEFORE[language]} " if told else "")
    return told


def _once(links: Sequence[Sequence[ExtractedStatement]]) -> Iterator[list[ExtractedStatement]]:
    texts: set[str] = set()
    for sentences in links:
        new = [sentence for sentence in sentences if sentence.text not in texts]
        texts |= {sentence.text for sentence in new}
        if new:
            yield new


def _opened(sentences: Sequence[ExtractedStatement], opening: str) -> list[ExtractedStatement]:
    first, *others = (replace(sentence, text=opened(sentence.text)) for sentence in sentences)
    return [replace(first, text=f"{opening}{first.text}"), *others]


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
