"""Degree to which a passage supports a statement."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from functools import lru_cache

import numpy as np

from agent.verification.alignment import Alignment
from agent.verification.facts import wrong_moments, wrong_quantities, wrong_rates
from agent.verification.polarity import (
    is_reversed,
    wrong_modality,
    wrong_polarity,
    wrong_quantifiers,
    wrong_sides,
)
from agent.verification.reading import ComparedText, read
from agent.verification.roles import is_turned
from agent.verification.statements import content_of
from graphrag.embeddings.bundled import BundledEmbeddings
from graphrag.extractive_answers.table_answers import markdown_rows
from graphrag.linguistics.dates import Moment
from graphrag.linguistics.language import content_stems, fold, language_of, stem, words
from graphrag.linguistics.names import same_name
from graphrag.linguistics.sentences import is_heading, plain, trim_space
from graphrag.models import Passage, Span
from graphrag.parsers.source_locations import split_rows


def disagreements(
    statement: ComparedText, passage: ComparedText, *, beside: ComparedText, today: Moment | None = None
) -> tuple[str, ...]:
    """Return the reasons why the passage doesn't support the statement, each once.

    `beside` is the document's title and headers.
    """
    both = Alignment(statement, passage)
    reasons = [
        *wrong_quantities(both, beside, today),
        *wrong_moments(both, beside, today),
        *_wrong_names(both, beside),
        *wrong_rates(both),
        *wrong_sides(both),
        *wrong_polarity(both),
        *(["direction"] if is_reversed(both) else []),
        *(["role"] if is_turned(both) else []),
        *(["quantifier"] if wrong_quantifiers(both) else []),
        *(["modality"] if wrong_modality(both) else []),
    ]
    return tuple(dict.fromkeys(reasons))


def _wrong_names(both: Alignment, beside: ComparedText) -> Iterator[str]:
    statement, passage = both.statement, both.passage
    known = {word.folded for word in (*passage.words, *beside.words)}
    named = {passage.words[place].folded for place in passage.names}
    if statement.language != "en" or passage.language != "en":  # elsewhere an article goes before a common noun
        named |= {passage.words[place].folded for place in passage.openers}
    opening = [at for at in statement.openers if statement.words[at].folded in named]
    for at in dict.fromkeys((*statement.names, *opening)):
        told = statement.words[at].folded
        if not any(same_name(told, word) or _is_cognate(told, word) for word in known):
            yield "name"
            continue
        candidates = {*passage.names, *(passage.openers if at in opening else ())}
        same = [place for place in candidates if same_name(told, passage.words[place].folded)]
        others = [
            place
            for place in passage.names
            if place not in same
            and not any(same_name(passage.words[place].folded, word.folded) for word in statement.words)
        ]
        others = [place for place in others if not _is_part(passage, place, same)]
        if same and others and (both.is_outvoted(same, others, told=statement.names) or both.is_mixed(same, others)):
            yield "name"


def _is_cognate(told: str, word: str) -> bool:
    return len(told) >= 5 and len(word) >= 5 and (told[:5] == word[:5])


def _is_part(passage: ComparedText, place: int, same: Sequence[int]) -> bool:
    """Return whether it is a part of the same name: the surname beside the first name."""
    return any(abs(place - other) <= 2 and passage.words[place].clause == passage.words[other].clause for other in same)


SUPPORTED, PARTLY = 0.6, 0.3
MIN_REPEATED_WORDS = 3
MEANING, SURE_MEANING = 0.45, 0.6  # cosine from which other words say it, where they share more than half, or less
HALF = 0.5
_REASONS = frozenset("por porque debido culpa causa car parce raison because due owing".split())
SHARED = 0.35  # share of its content words that such a statement must share all the same
ACROSS = 0.2  # of a statement in another language, whose names and numbers meet, or words that are spelled alike
_CONTRADICTED = 0.3  # the most that a statement gets that says something else


class Support(StrEnum):
    SUPPORTED = "supported"
    PARTLY = "partly"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True)
class SupportFinding:
    """`span`: the passage's best sentence for the statement, in its content."""

    status: Support
    score: float
    reasons: tuple[str, ...]
    span: Span


def find_support(statement: str, passage: Passage, *, today: date | None = None) -> SupportFinding:
    spans = sentence_spans(passage)
    texts = [passage.content[span.start : span.end] for span in spans]
    said = plain(content_of(statement))
    if said in (plain(content_of(line)) for line in passage.computed.splitlines()):
        return SupportFinding(Support.SUPPORTED, 1.0, (), spans[0])
    now = Moment(0, 0, year=today.year, month=today.month, day=today.day) if today else None
    shown = _as_shown(passage, texts)
    repeated = [at for at, text in enumerate(shown) if _is_repeated(text, said)]
    if repeated:
        rest = _without(said, [plain(shown[at]) for at in repeated])
        reasons = _wrong_facts(rest, passage, now) if words(rest) else ()
        return _finding(reasons, 1.0, spans[repeated[0]])
    language = language_of(said, [passage.document.language])
    told, held = read(said, language), _read_passage(passage)
    reasons = disagreements(told, held, beside=_read_beside(passage), today=now)
    best = max(range(len(spans)), key=lambda at: _closeness(said, texts[at], language))
    if language != held.language:
        best = _best_across(told, held, spans, best)
        return _finding(reasons, _score_across(told, held), spans[best])
    if passage.computed:  # which a model tells in its words
        passage = replace(passage, content=f"{passage.content}\n{plain(passage.computed)}")
    return _finding(reasons, _score(said, passage, texts, language), spans[best])


def _finding(reasons: tuple[str, ...], score: float, span: Span) -> SupportFinding:
    if reasons:
        status = Support.PARTLY if score >= SUPPORTED else Support.UNSUPPORTED
        return SupportFinding(status, round(min(score, _CONTRADICTED), 3), reasons, span)
    if score >= SUPPORTED:
        return SupportFinding(Support.SUPPORTED, round(score, 3), (), span)
    return SupportFinding(
        Support.PARTLY if score >= PARTLY else Support.UNSUPPORTED, round(score, 3), ("overlap",), span
    )


def sentence_spans(passage: Passage) -> list[Span]:
    """Return the spans of its sentences and rows, without the space around them; one at least."""
    found = split_rows(passage.content, passage.locations, start=passage.start_char)
    return [trim_space(passage.content, span) for span in found] or [Span(0, 0)]


def _as_shown(passage: Passage, texts: Sequence[str]) -> list[str]:
    """The rows of Markdown tables with their headers, as answers tell them."""
    rows = markdown_rows(passage.content)
    return [rows.get(plain(text)) or text for text in texts] if rows else list(texts)


def _is_repeated(sentence: str, statement: str) -> bool:
    """Word for word: that holds in every language."""
    text = plain(sentence)
    return not is_heading(sentence) and len(words(text)) >= MIN_REPEATED_WORDS and text in statement


def _without(statement: str, sentences: Sequence[str]) -> str:
    for sentence in sorted(sentences, key=len, reverse=True):
        statement = statement.replace(sentence, " ")
    return statement.strip(" .;,—-")


def _wrong_facts(rest: str, passage: Passage, today: Moment | None) -> tuple[str, ...]:
    """Return the figures, dates and names added to a sentence of the passage that contradict it."""
    told = read(rest, language_of(rest, [passage.document.language]))
    found = disagreements(told, _read_passage(passage), beside=_read_beside(passage), today=today)
    return tuple(reason for reason in found if reason in ("number", "date", "name", "unit"))


def _read_passage(passage: Passage) -> ComparedText:
    return read(passage.content, passage.document.language)


def _read_beside(passage: Passage) -> ComparedText:
    """Return the passage's metadata as text: its title, its file, its columns, its dates, what was computed from it."""
    times = (place.temporal.date.isoformat() for place in passage.locations if place.temporal)
    known = [
        passage.document.title,
        passage.document.filename,
        *passage.headers,
        *dict.fromkeys(times),
        plain(passage.computed),
    ]
    return read("\n".join(known), passage.document.language)


def _score(statement: str, passage: Passage, texts: Sequence[str], language: str) -> float:
    wanted = content_stems(statement, language)
    both = Alignment(read(statement, language), _read_passage(passage))
    alike = len(both.links) / (sum(word.says for word in both.statement.words) or 1)
    share = max(_share(wanted, passage.content, language), alike)
    if share >= SUPPORTED or share < SHARED:
        return share
    meaning = max(_similarities(statement, tuple(texts)))
    is_said = meaning >= (MEANING if share >= HALF else SURE_MEANING) and not _invents_reason(both)
    return SUPPORTED if is_said else share


def _invents_reason(both: Alignment) -> bool:
    """«… por una huelga» of which the passage has no word."""
    words = both.statement.words
    for at, word in enumerate(words):
        if word.folded in _REASONS:
            reason = [to for to in range(at + 1, min(len(words), at + 6)) if words[to].says]
            if reason and not any(to in both.links for to in reason):
                return True
    return False


def _share(wanted: set[str], text: str, language: str) -> float:
    held = {form for word in words(text) for form in (stem(word, language), fold(word))}
    return len(wanted & held) / len(wanted) if wanted else 0.0


def _closeness(statement: str, sentence: str, language: str) -> float:
    wanted = content_stems(statement, language)
    return -1.0 if is_heading(sentence) else _share(wanted, sentence, language)


def _best_across(told: ComparedText, held: ComparedText, spans: Sequence[Span], best: int) -> int:
    """The sentence that has most of the names, numbers and words alike."""
    shares = Alignment(told, held).sentence_shares
    if not shares:
        return best
    start = next(word.start for word in held.words if word.sentence == max(shares, key=lambda each: shares[each]))
    return next((at for at, span in enumerate(spans) if span.start <= start < span.end), best)


def _score_across(told: ComparedText, held: ComparedText) -> float:
    """Return the score of a passage in another language, where equal figures, dates and names say most."""
    both = Alignment(told, held)
    share = len(both.links) / (sum(word.says for word in told.words) or 1)
    anchors = sum(any(quantity.is_same(other) for other in held.quantities) for quantity in told.quantities)
    anchors += sum(any(moment.said() & other.said() for other in held.moments) for moment in told.moments)
    anchors += sum(at in both.links for at in told.names)
    most = 1.0 if len(both.links) > 1 else HALF  # one word in common, be it a name, says only what it is about
    return min(most, SUPPORTED * share / ACROSS) if not anchors else min(most, SUPPORTED * (0.5 + share / ACROSS))


@lru_cache(maxsize=256)
def _similarities(statement: str, sentences: tuple[str, ...]) -> tuple[float, ...]:
    vectors = np.asarray(_embeddings().embed_documents([statement, *sentences]))
    return tuple(float(value) for value in vectors[1:] @ vectors[0]) or (0.0,)


@lru_cache(maxsize=1)
def _embeddings() -> BundledEmbeddings:
    return BundledEmbeddings()
