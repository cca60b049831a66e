"""Two things that a sentence sets in an order: cause and effect, earlier and later, more and less."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from agent.verification.alignment import Alignment
from agent.verification.opposites import opposite_of
from agent.verification.reading import Reading
from graphrag.causal_graph.extraction import extract_relations
from graphrag.models import Span
from graphrag.sentences import split_sentences

_BEFORE = re.compile(
    r"\b(?:antes (?:del?|que)|(?:previ[oa]|anterior(?:es)?) al?|avant(?: (?:que|de|d['’]))?|antérieure?s? (?:à|aux?)"
    r"|before|prior to|ahead of|precedi[oó](?: al?)?|precede al?|précède|précéda|précédé|preceded|precedes)"
    r"(?!\w| (?:by|por|par)\b)",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\b(?:despu[eé]s (?:del?|que)|luego de|tras|posterior(?:es)? al?|apr[eè]s(?! quoi)(?: que)?"
    r"|postérieure?s? (?:à|aux?)|suivit|a suivi|sigui[oó] al?|after|followed|once|une fois|una vez)"
    r"(?!\w| (?:by|por|par)\b)",
    re.IGNORECASE,
)
_THEN = re.compile(
    r"\b(?:(?:y|et|and) (?:despu[eé]s|luego|then|ensuite|puis)|luego|puis|ensuite|then|afterwards|later"
    r"|m[aá]s tarde|plus tard)\b(?! (?:de|del|que|than)\b)",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\b(?:(?P<degree>m[aá]s|menos|more|less|fewer|plus|moins)(?P<between>(?:\s+[^\W\d_]+){0,4}?)"
    r"|(?P<word>mayor(?:es)?|menor(?:es)?|mejor(?:es)?|peor(?:es)?|superior(?:es)?|inferior(?:es)?|meilleure?s?"
    r"|pires?|(?:sup|inf)érieure?s?|better|worse|later|[^\W\d_]{3,}er)(?:\s+[^\W\d_]+){0,4}?)"
    r"\s+(?P<than>que|than|à|al?)\s+(?!\d)",
    re.IGNORECASE,
)
_OPENING = re.compile(r"(?:^|[.;:!?\n]|,)\W*(?:(?:y|et|and|pero|mais|but)\s+)?$", re.IGNORECASE)
_STOP = re.compile(r"[;\n]")


@dataclass(frozen=True, slots=True)
class Relation:
    """`first` is the cause, the earlier, the greater."""

    kind: str
    first: Span
    second: Span


def is_reversed(both: Alignment) -> bool:
    """What the statement has first, the passage has second, in a relation of the same kind."""
    told = _relations(both.statement.text, both.statement.language)
    held = _relations(both.passage.text, both.passage.language) if told else ()
    return any(
        _crosses(both, one, other) and not any(each.kind == one.kind and _agrees(both, one, each) for each in held)
        for one in told
        for other in held
        if one.kind == other.kind
    )


def agrees(both: Alignment) -> bool:
    """What the statement compares, the passage compares in the same order, in whatever words."""
    told = _relations(both.statement.text, both.statement.language)
    held = _relations(both.passage.text, both.passage.language) if told else ()
    return any(
        _agrees(both, one, other)
        for one in told
        for other in held
        if one.kind == other.kind and one.kind not in ("time", "cause")
    )


def _crosses(both: Alignment, told: Relation, held: Relation) -> bool:
    straight, crossed = _met(both, told, held), _met(both, told, Relation(held.kind, held.second, held.first))
    return min(crossed) >= 1 and (sum(crossed) > sum(straight) or not min(straight))


def _agrees(both: Alignment, told: Relation, held: Relation) -> bool:
    straight, crossed = _met(both, told, held), _met(both, told, Relation(held.kind, held.second, held.first))
    return min(straight) >= 1 and sum(straight) >= sum(crossed)


def _met(both: Alignment, told: Relation, held: Relation) -> tuple[int, int]:
    """The words that the two first and the two second parts share, and that the other part does not have."""
    return (
        sum(_is_in(both, at, held.first, held.second) for at in _places(both.statement, told.first, both)),
        sum(_is_in(both, at, held.second, held.first) for at in _places(both.statement, told.second, both)),
    )


def _places(reading: Reading, span: Span, both: Alignment) -> Iterator[int]:
    for at in both.links:
        if span.start <= reading.words[at].start < span.end:
            yield at


def _is_in(both: Alignment, at: int, span: Span, other: Span) -> bool:
    starts = [both.passage.words[to].start for to in both.links[at]]
    within = any(span.start <= start < span.end for start in starts)
    return within and not any(other.start <= start < other.end for start in starts)


@lru_cache(maxsize=512)
def _relations(text: str, language: str) -> tuple[Relation, ...]:
    causes = (Relation("cause", each.cause, each.effect) for each in extract_relations(text, language=language))
    parts = [part for sentence in split_sentences(text) for part in _parted(text, sentence)]
    return (*causes, *(found for part in parts for read in _READERS for found in read(text, part)))


def _parted(text: str, sentence: Span) -> Iterator[Span]:
    start = sentence.start
    for match in _STOP.finditer(text, sentence.start, sentence.end):
        yield Span(start, match.start())
        start = match.end()
    yield Span(start, sentence.end)


def _sides(text: str, part: Span, match: re.Match[str]) -> tuple[Span, Span]:
    """What a word of order is said of, and what it leads in: «tras la riada, se cerró» has it in front."""
    comma = text.find(",", match.end(), part.end)
    if _OPENING.search(text, part.start, match.start()) or match.start() == part.start:
        if comma > 0:
            return Span(comma + 1, part.end), Span(match.end(), comma)
        return Span(match.end(), match.end()), Span(match.end(), part.end)
    return Span(part.start, match.start()), Span(match.end(), comma if comma > 0 else part.end)


def _before(text: str, part: Span) -> Iterator[Relation]:
    for match in _BEFORE.finditer(text, part.start, part.end):
        yield Relation("time", *_sides(text, part, match))


def _after(text: str, part: Span) -> Iterator[Relation]:
    for match in _AFTER.finditer(text, part.start, part.end):
        of, led_in = _sides(text, part, match)
        yield Relation("time", led_in, of)


def _then(text: str, part: Span) -> Iterator[Relation]:
    for match in _THEN.finditer(text, part.start, part.end):
        yield Relation("time", Span(part.start, match.start()), Span(match.end(), part.end))


def _compared(text: str, part: Span) -> Iterator[Relation]:
    for match in _COMPARED.finditer(text, part.start, part.end):
        told = _degree(match)
        if told:
            kind, side = told
            one, other = Span(part.start, match.start()), Span(match.end(), part.end)
            yield Relation(kind, *((one, other) if side > 0 else (other, one)))


_AMOUNTS = frozenset({"more", "high", "rise", "long"})


def _degree(match: re.Match[str]) -> tuple[str, int] | None:
    """What is compared, and its side: «más barato», "lower"."""
    if match["word"]:
        found = opposite_of(match["word"]) or opposite_of(match["word"].removesuffix("er"))
        side = 1
        if found is None:
            return (match["word"].lower(), 1) if match["than"].lower() == "than" else None
    else:
        side = -1 if match["degree"].lower() in {"menos", "less", "fewer", "moins"} else 1
        quality = match["between"].split()[-1:]
        found = (opposite_of(quality[0]) if quality else None) or ("more", 1)
        if match["than"].lower() not in {"que", "than"}:
            return None
    concept, of = found
    return ("more" if concept in _AMOUNTS else concept, side * of)


_READERS: tuple[Callable[[str, Span], Iterator[Relation]], ...] = (_before, _after, _then, _compared)
