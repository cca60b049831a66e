"""What a statement denies, or tells the other way round: no for yes, rise for fall."""

import re
from collections.abc import Iterator, Sequence

from agent.verification.alignment import Alignment
from agent.verification.belonging import LEAST, MARGIN, Fact, is_elsewhere
from agent.verification.negation import is_negative
from agent.verification.reading import Reading, Sign
from agent.verification.relations import agrees
from agent.verification.roles import CONVERSE

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
    """Where more stands around one of the other side; «subió … y bajó …» has one of each."""
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


def _stands_alone(sign: Sign, statement: Reading) -> bool:
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
        if others:
            best = max((both.nearness(at, place) for place in same), default=0.0)
            if any((near := both.nearness(at, place)) > 2 * LEAST and near > MARGIN * best for place in others):
                yield "negation"


def wrong_polarity(both: Alignment) -> Iterator[str]:
    """In other words than the passage: it denies what the statement says, or the other way round."""
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
    """Not by a word that the passage has as well: «la prohibición», "the ban"."""
    words = both.statement.words
    own = (word for at, word in enumerate(words) if is_negative(word.folded) and not _is_repeated(both, at))
    return any(word.denies for word in words) or any(own)


def _is_repeated(both: Alignment, at: int) -> bool:
    form = both.statement.words[at].form
    return any(both.passage.words[to].form == form for to in both.links.get(at, ()))


def _speaks_of_denials(both: Alignment) -> bool:
    """Whether the statement shares words with a sentence of the passage that denies something."""
    if both.statement.language != both.passage.language:  # too few words meet to tell which
        return bool(both.passage.denying_sentences)
    told = {both.passage.words[place].sentence for links in both.links.values() for place in links}
    return bool(told & both.passage.denying_sentences)
