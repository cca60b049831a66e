"""Negation, opposites, and the order of cause and effect."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from agent.verification.alignment import LEAST, MARGIN, Alignment, Fact, is_elsewhere
from agent.verification.reading import ComparedText, ComparedWord, Sign
from agent.verification.roles import CONVERSE
from graphrag.causal_graph.extraction import extract_relations
from graphrag.linguistics.lexicon import opposite_of
from graphrag.linguistics.rules import AnyCase, Rules, WordSet, read_rules
from graphrag.linguistics.sentences import split_sentences
from graphrag.models import Span


class PolarityRules(Rules):
    before: AnyCase
    after: AnyCase
    compared: AnyCase
    quantifiers: dict[str, WordSet]
    possible: WordSet


@lru_cache(maxsize=1)
def _rules() -> PolarityRules:
    return read_rules(PolarityRules, "agent.verification", "polarity")


_OPENING = re.compile(r"(?:^|[.;:!?\n]|,)\W*(?:(?:y|et|and|pero|mais|but)\s+)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Relation:
    """`first` is the cause, the earlier, the greater."""

    kind: str
    first: Span
    second: Span


def is_reversed(both: Alignment) -> bool:
    """Return whether the statement's first term is the passage's second, in a relation of the same kind."""
    held = _relations(both.passage.text, both.passage.language)
    for told in _relations(both.statement.text, both.statement.language):
        met = [_shared(both, told, other) for other in held if other.kind == told.kind]
        agrees = any(min(straight) and sum(straight) >= sum(crossed) for straight, crossed in met)
        if not agrees and any(min(crossed) for _, crossed in met):
            return True
    return False


def _shared(both: Alignment, told: Relation, held: Relation) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return how many words the first terms share, and the second; then those of each and the other's opposite."""

    def shared(part: Span, own: Span, other: Span) -> int:
        places = (at for at in both.links if _is_in(both.statement.words[at], part))
        words = ([both.passage.words[to] for to in both.links[at]] for at in places)
        return sum(
            any(_is_in(word, own) for word in each) and not any(_is_in(word, other) for word in each) for each in words
        )

    first, second = held.first, held.second
    return (
        (shared(told.first, first, second), shared(told.second, second, first)),
        (shared(told.first, second, first), shared(told.second, first, second)),
    )


def _is_in(word: ComparedWord, span: Span) -> bool:
    return span.start <= word.start < span.end


@lru_cache(maxsize=512)
def _relations(text: str, language: str) -> tuple[Relation, ...]:
    found = [Relation("cause", each.cause, each.effect) for each in extract_relations(text, language=language)]
    rules = _rules()
    for sentence in split_sentences(text):
        for order, step in ((rules.before, 1), (rules.after, -1)):
            matches = order.finditer(text, sentence.start, sentence.end)
            found += [Relation("time", *_sides(text, sentence, match)[::step]) for match in matches]
        for match in rules.compared.finditer(text, sentence.start, sentence.end):
            if told := _degree(match):
                kind, side = told
                terms = Span(sentence.start, match.start()), Span(match.end(), sentence.end)
                found.append(Relation(kind, *terms[::side]))
    return tuple(found)


def _sides(text: str, part: Span, match: re.Match[str]) -> tuple[Span, Span]:
    """Return the two sides of a word of order: «tras la riada, se cerró» has the second in front."""
    comma = text.find(",", match.end(), part.end)
    if _OPENING.search(text, part.start, match.start()) or match.start() == part.start:
        if comma > 0:
            return Span(comma + 1, part.end), Span(match.end(), comma)
        return Span(match.end(), match.end()), Span(match.end(), part.end)
    return Span(part.start, match.start()), Span(match.end(), comma if comma > 0 else part.end)


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


_AGENT = re.compile(r"(?:eur|euse|eure|er|or|ora)s?$")
SENTENCE = 0.5  # share of the statement from which a sentence of the passage says the same, or denies it
_AMOUNTS = frozenset({"rise", "more"})  # «creció el ruido», «hubo menos ruido»


def wrong_sides(both: Alignment) -> Iterator[str]:
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


def wrong_polarity(both: Alignment) -> Iterator[str]:
    """Yield "negation" if the passage denies what the statement says, in the same words or others, or the other way."""
    statement, passage = both.statement, both.passage
    if _is_the_opposite(both):
        return
    if statement.denies:
        if any(word.denies for word in statement.words) and len(both.links) >= 2 and not _speaks_of_denials(both):
            yield "negation"
        return
    for clause in {word.clause for word in passage.words if word.denies}:
        held = [place for place, word in enumerate(passage.words) if word.clause == clause and word.says]
        share = sum(place in both.met for place in held) / (len(held) or 1)
        if both.votes_of(clause) >= 1 and share >= SENTENCE:
            yield "negation"
    paired = {sign.place for sign in statement.signs}
    for at, linked in both.links.items():
        near = {place: both.nearness(at, place) for place in linked if at not in paired}
        denied = [place for place in near if passage.words[place].denied_by not in {None, *both.met}]
        best = max((near[place] for place in near if passage.words[place].denied_by is None), default=0.0)
        if any(near[place] > max(2 * LEAST, MARGIN * best) for place in denied):
            yield "negation"


def _is_the_opposite(both: Alignment) -> bool:
    """«no cerrará» of what the passage says «seguirá abierta»."""
    held = {(sign.concept, sign.side) for sign in both.passage.signs}
    denied = {(sign.concept, sign.side) for sign in both.passage.signs if sign.negated}
    return any((sign.concept, sign.side) in (held if sign.negated else denied) for sign in both.statement.signs)


def _speaks_of_denials(both: Alignment) -> bool:
    """Return whether the statement shares words with a sentence of the passage that denies something."""
    if both.statement.language != both.passage.language:  # too few words meet to tell which
        return bool(both.passage.denying_sentences)
    told = {both.passage.words[place].sentence for links in both.links.values() for place in links}
    return bool(told & both.passage.denying_sentences)


MOST_OF_BEST = 0.7  # of the share of the statement that the best sentence has, from which another one is of the same


def wrong_quantifiers(both: Alignment) -> bool:
    """Return whether a statement on all, most, some, none or one alone is made of a sentence on others of these."""
    told = _quantifiers(both.statement.words)
    held = _quantifiers(_words_of_best(both))
    return bool(told - held) and bool(held - told)


def wrong_modality(both: Alignment) -> bool:
    """Return whether it tells as a fact what the passage says may be."""
    if both.is_across or any(_is_possible(word, both.statement) for word in both.statement.words):
        return False
    return any(_is_possible(word, both.passage) for word in _words_of_best(both))


def _is_possible(word: ComparedWord, reading: ComparedText) -> bool:
    """Return whether it says that something may be; the month of May does not."""
    is_dated = any(moment.start <= word.start < moment.end for moment in reading.moments)
    return word.folded in _rules().possible and not is_dated


def _quantifiers(words: Sequence[ComparedWord]) -> set[str]:
    return {name for word in words for name, known in _rules().quantifiers.items() if word.folded in known}


def _words_of_best(both: Alignment) -> list[ComparedWord]:
    """Return the words of the passage's sentences that have most of the statement."""
    shares = both.sentence_shares
    least = MOST_OF_BEST * max(shares.values(), default=0.0)
    return [word for word in both.passage.words if shares.get(word.sentence, 0.0) >= least > 0]
