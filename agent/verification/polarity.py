"""Negation, opposites, and the order of cause and effect."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from agent.verification.alignment import LEAST, MARGIN, Alignment, Fact, is_elsewhere
from agent.verification.reading import ComparedText, Sign
from agent.verification.roles import CONVERSE
from graphrag.causal_graph.extraction import extract_relations
from graphrag.linguistics.lexicon import opposite_of
from graphrag.linguistics.negation import is_negative
from graphrag.linguistics.rules import AnyCase, Rules, read_rules
from graphrag.linguistics.sentences import split_sentences
from graphrag.models import Span


class PolarityRules(Rules):
    before: AnyCase
    after: AnyCase
    then: AnyCase
    compared: AnyCase


@lru_cache(maxsize=1)
def _rules() -> PolarityRules:
    return read_rules(PolarityRules, "agent.verification", "polarity")


_OPENING = re.compile(r"(?:^|[.;:!?\n]|,)\W*(?:(?:y|et|and|pero|mais|but)\s+)?$", re.IGNORECASE)
_STOP = re.compile(r"[;\n]")


@dataclass(frozen=True, slots=True)
class Relation:
    """`first` is the cause, the earlier, the greater."""

    kind: str
    first: Span
    second: Span


def is_reversed(both: Alignment) -> bool:
    """Return whether the statement's first term is the passage's second, in a relation of the same kind."""
    told = _relations(both.statement.text, both.statement.language)
    held = _relations(both.passage.text, both.passage.language) if told else ()
    return any(
        _crosses(both, one, other) and not any(each.kind == one.kind and _agrees(both, one, each) for each in held)
        for one in told
        for other in held
        if one.kind == other.kind
    )


def agrees(both: Alignment) -> bool:
    """Return whether both compare the same things in the same order, in whatever words."""
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


def _places(reading: ComparedText, span: Span, both: Alignment) -> Iterator[int]:
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
    """Return the two sides of a word of order: «tras la riada, se cerró» has the second in front."""
    comma = text.find(",", match.end(), part.end)
    if _OPENING.search(text, part.start, match.start()) or match.start() == part.start:
        if comma > 0:
            return Span(comma + 1, part.end), Span(match.end(), comma)
        return Span(match.end(), match.end()), Span(match.end(), part.end)
    return Span(part.start, match.start()), Span(match.end(), comma if comma > 0 else part.end)


def _before(text: str, part: Span) -> Iterator[Relation]:
    for match in _rules().before.finditer(text, part.start, part.end):
        yield Relation("time", *_sides(text, part, match))


def _after(text: str, part: Span) -> Iterator[Relation]:
    for match in _rules().after.finditer(text, part.start, part.end):
        of, led_in = _sides(text, part, match)
        yield Relation("time", led_in, of)


def _then(text: str, part: Span) -> Iterator[Relation]:
    for match in _rules().then.finditer(text, part.start, part.end):
        yield Relation("time", Span(part.start, match.start()), Span(match.end(), part.end))


def _compared(text: str, part: Span) -> Iterator[Relation]:
    for match in _rules().compared.finditer(text, part.start, part.end):
        told = _degree(match)
        if told:
            kind, side = told
            one, other = Span(part.start, match.start()), Span(match.end(), part.end)
            yield Relation(kind, *((one, other) if side > 0 else (other, one)))


_COMPARED_AMOUNTS = frozenset({"more", "high", "rise", "long"})


def _degree(match: re.Match[str]) -> tuple[str, int] | None:
    """Return the compared quality and its side: «más barato», "lower"."""
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
    return ("more" if concept in _COMPARED_AMOUNTS else concept, side * of)


_READERS: tuple[Callable[[str, Span], Iterator[Relation]], ...] = (_before, _after, _then, _compared)


_AGENT = re.compile(r"(?:eur|euse|eure|er|or|ora)s?$")
SENTENCE = 0.5  # share of the statement from which a sentence of the passage says the same, or denies it
_AMOUNTS = frozenset({"rise", "more"})  # «creció el ruido», «hubo menos ruido»


def wrong_sides(both: Alignment) -> Iterator[str]:
    if agrees(both):
        return
    for told in both.statement.signs:
        if told.concept in CONVERSE and not _stands_alone(told, both.statement):
            continue
        held = _of_concept(both.passage.signs, told.concept)
        same = [sign for sign in held if sign.side == told.side]
        others = [sign for sign in held if sign.side != told.side]
        if others and not (told.negated and _speaks_of_denials(both)):
            yield from _wrong_side(both, told, same, others)


def _wrong_side(both: Alignment, told: Sign, same: Sequence[Sign], others: Sequence[Sign]) -> Iterator[str]:
    """Yield the reasons why the passage's opposite sign stands nearer to the statement's words.

    «subió … y bajó …» has one sign of each side.
    """
    mine = tuple(sign.place for sign in same)
    claimed: dict[int, list[int]] = {sign.place: [] for sign in others}
    for rival in both.statement.signs:
        if rival is not told and rival.concept == told.concept and rival.side != told.side:
            nearest = max(claimed, key=lambda place: both.nearness(rival.place, place))
            claimed[nearest].append(rival.place)
    for sign in others:
        if sign.negated and not told.negated and both.statement.denies:
            continue
        if is_elsewhere(both, Fact(told.place, mine, (sign.place,), claimed)):
            yield "negation" if sign.negated != told.negated else "direction"
    untold = [place for place, rivals in claimed.items() if not rivals]
    if same and (both.is_outvoted(mine, untold, told=(told.place,)) or both.is_mixed(mine, untold)):
        yield "direction"


def _of_concept(signs: Sequence[Sign], concept: str) -> list[Sign]:
    found = [sign for sign in signs if sign.concept == concept]
    return found or [sign for sign in signs if {sign.concept, concept} == _AMOUNTS]


def _stands_alone(sign: Sign, statement: ComparedText) -> bool:
    """No verb whose ends might have changed places: «el vendedor», «antes del 1 de julio»."""
    if _AGENT.search(statement.words[sign.place].folded):
        return True
    end = statement.words[min(sign.place + 3, len(statement.words) - 1)].end
    start = statement.words[sign.place].end
    return sign.concept == "before" and any(start <= moment.start < end for moment in statement.moments)


def wrong_denials(both: Alignment) -> Iterator[str]:
    statement, passage = both.statement, both.passage
    paired = {sign.place for sign in statement.signs}
    for at, linked in both.links.items():
        word = statement.words[at]
        if at in paired or (_speaks_of_denials(both) if word.negated else _denies(both)):
            continue
        same = [place for place in linked if passage.words[place].negated == word.negated]
        others = [place for place in linked if passage.words[place].negated != word.negated]
        others = [p for p in others if word.by not in both.links and passage.words[p].by not in both.met]
        if others:
            best = max((both.nearness(at, place) for place in same), default=0.0)
            if any((near := both.nearness(at, place)) > 2 * LEAST and near > MARGIN * best for place in others):
                yield "negation"


def wrong_polarity(both: Alignment) -> Iterator[str]:
    """Yield "negation" if the passage denies, in other words, what the statement says, or the other way round."""
    statement, passage = both.statement, both.passage
    denied = {word.clause for word in passage.words if word.denies}
    if _is_the_opposite(both):
        return
    if not statement.denies:
        for clause in denied:
            held = [place for place, word in enumerate(passage.words) if word.clause == clause and word.says]
            share = sum(place in both.met for place in held) / (len(held) or 1)
            if both.votes_of(clause) >= 1 and share >= SENTENCE:
                yield "negation"
    elif any(word.denies for word in statement.words) and len(both.links) >= 2 and not _speaks_of_denials(both):
        yield "negation"


def _is_the_opposite(both: Alignment) -> bool:
    """«no cerrará» of what the passage says «seguirá abierta»."""
    held = {(sign.concept, sign.side) for sign in both.passage.signs}
    denied = {(sign.concept, sign.side) for sign in both.passage.signs if sign.negated}
    return any((sign.concept, sign.side) in (held if sign.negated else denied) for sign in both.statement.signs)


def _denies(both: Alignment) -> bool:
    """Return whether the statement denies by a word that the passage lacks: «la prohibición», "the ban"."""
    words = both.statement.words
    own = (word for at, word in enumerate(words) if is_negative(word.folded) and not _is_repeated(both, at))
    return any(word.denies for word in words) or any(own)


def _is_repeated(both: Alignment, at: int) -> bool:
    form = both.statement.words[at].form
    return any(both.passage.words[to].form == form for to in both.links.get(at, ()))


def _speaks_of_denials(both: Alignment) -> bool:
    """Return whether the statement shares words with a sentence of the passage that denies something."""
    if both.statement.language != both.passage.language:  # too few words meet to tell which
        return bool(both.passage.denying_sentences)
    told = {both.passage.words[place].sentence for links in both.links.values() for place in links}
    return bool(told & both.passage.denying_sentences)
