"""Where a statement says something else than its passage: another number, date, name, unit or direction, or denies it.

Every fact of the statement is looked for in the passage. Where the passage has it, but has another of its kind in the
place that the statement speaks of (the same words stand around it), the statement has taken the wrong one.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agent.verification.alignment import Alignment
from agent.verification.arithmetic import is_computed
from agent.verification.moments import Moment
from agent.verification.names import same_name
from agent.verification.negation import is_negative
from agent.verification.quantities import RATES, UNITS, Quantity
from agent.verification.reading import Reading, Sign
from agent.verification.relations import agrees, is_reversed
from agent.verification.roles import CONVERSE, is_turned

MARGIN = 1.1  # how much more must stand around the other one
_AGENT = re.compile(r"(?:eur|euse|eure|er|or|ora)s?$")
LEAST = 0.12
MARGIN_ACROSS, LEAST_ACROSS = 1.3, 0.35  # fewer words meet in two languages
SENTENCE = 0.5  # share of the statement from which a sentence of the passage says the same, or denies it


def disagreements(
    statement: Reading, passage: Reading, *, beside: Reading, today: Moment | None = None
) -> tuple[str, ...]:
    """Why the passage does not carry the statement, each reason once. `beside`: the document's title and headers."""
    both = Alignment(statement, passage)
    reasons = [
        *_wrong_quantities(both, beside, today),
        *_wrong_moments(both, beside, today),
        *_wrong_names(both, beside),
        *_wrong_rates(both),
        *_wrong_sides(both),
        *_wrong_denials(both),
        *_wrong_polarity(both),
        *(["direction"] if is_reversed(both) else []),
        *(["role"] if is_turned(both) else []),
    ]
    return tuple(dict.fromkeys(reasons))


@dataclass(frozen=True, slots=True)
class _Fact:
    """A number or a date of the statement, and where the passage has it and others of its kind."""

    place: int
    same: tuple[int, ...]
    others: tuple[int, ...]
    claimed: Mapping[int, Sequence[int]]  # those of the others that the statement has, too: its places of them


def _is_elsewhere(both: Alignment, fact: _Fact) -> bool:
    """Whether more stands around another of its kind than around the same one."""
    least, margin = (LEAST_ACROSS, MARGIN_ACROSS) if both.is_across else (LEAST, MARGIN)
    best = max((both.nearness(fact.place, place) for place in fact.same), default=0.0)
    for place in fact.others:
        nearness = both.nearness(fact.place, place)
        if nearness > least and nearness > margin * best and not _is_taken(both, fact, place, nearness, best):
            return True
    return False


def _is_taken(both: Alignment, fact: _Fact, place: int, nearness: float, best: float) -> bool:
    """Whether the other belongs to another of the statement: changed round, the two would fit no better."""
    for rival in fact.claimed.get(place, ()):
        turned = max((both.nearness(rival, each) for each in fact.same), default=0.0)
        if both.nearness(rival, place) + best >= nearness + turned:
            return True
        if both.nearness(rival, place) >= nearness:
            return True
    return False


def _wrong_quantities(both: Alignment, beside: Reading, today: Moment | None) -> Iterator[str]:
    statement, passage = both.statement, both.passage
    placed, computes = [], False
    for told in statement.quantities:
        known = [held for held in passage.quantities if told.is_same(held)]
        same = [held for held in known if told.fits(held)]
        if same:
            placed.append((told, same))
        elif known:
            yield "unit"
        elif told.is_article:
            if _has_other_unit(both, told):
                yield "unit"
        elif any(told.is_same(held) for held in beside.quantities) or _resumes(told, statement):
            continue
        elif _is_year(told, passage) or is_computed(told, statement, passage, today):
            computes = True  # what it speaks of belongs to several numbers
        else:
            yield "number"
    if not computes and any(_is_of_another(both, told, same) for told, same in placed):
        yield "number"
    if _is_turned_round(both):
        yield "number"


_TOWARDS = frozenset({"a", "to", "hasta", "until", "contra", "contre", "against", "frente"})


def _is_turned_round(both: Alignment) -> bool:
    """«de 950 a 800» of what the passage says «de 800 a 950»."""
    return any(
        one.is_same(second) and other.is_same(first) and not one.is_same(first)
        for one, other in _spans_of(both.statement)
        for first, second in _spans_of(both.passage)
    )


def _spans_of(reading: Reading) -> Iterator[tuple[Quantity, Quantity]]:
    for one, other in pairwise(reading.quantities):
        between = [word.folded for word in reading.words if one.end <= word.start < other.start]
        if len(between) <= 3 and set(between) & _TOWARDS:
            yield one, other


def _resumes(told: Quantity, statement: Reading) -> bool:
    """«los dos cables», "the three partners": of what was named one by one."""
    before = statement.words[max(0, statement.place(told.start) - 1)].folded
    return not told.unit and told.bare <= {2.0, 3.0, 4.0} and before in {"the", "los", "las", "les", "ces", "these"}


def _has_other_unit(both: Alignment, told: Quantity) -> bool:
    """«una semana» of what the passage says «un día»."""
    if not told.unit:
        return False
    at = both.statement.place(told.start)
    return any(
        held.unit == told.unit and held.is_article and both.nearness(at, both.passage.place(held.start)) > 2 * LEAST
        for held in both.passage.quantities
    )


def _is_of_another(both: Alignment, told: Quantity, same: Sequence[Quantity]) -> bool:
    """Whether the passage has the number, but another one where the statement has it."""
    if told.is_article:
        return False
    statement, passage = both.statement, both.passage
    others = [
        held for held in passage.quantities if held not in same and held.unit == told.unit and not held.is_article
    ]
    if not others:
        return False
    claimed = {
        passage.place(held.start): [
            statement.place(other.start) for other in statement.quantities if other is not told and other.is_same(held)
        ]
        for held in others
    }
    mine, theirs = _starts(passage, same), _starts(passage, others)
    untold = [
        passage.place(held.start) for held in others if not any(held.is_same(other) for other in statement.quantities)
    ]
    fact = _Fact(statement.place(told.start), mine, theirs, claimed)
    return (
        _is_elsewhere(both, fact)
        or both.is_outvoted(mine, untold, told=theirs, reaching=False)
        or both.is_mixed(mine, untold)
    )


def _starts(reading: Reading, facts: Iterable[Quantity | Moment]) -> tuple[int, ...]:
    return tuple(reading.place(fact.start) for fact in facts)


def _is_year(told: Quantity, passage: Reading) -> bool:
    return any(moment.year in told.values or moment.day in told.values for moment in passage.moments)


def _wrong_moments(both: Alignment, beside: Reading, today: Moment | None) -> Iterator[str]:
    for told in both.statement.moments:
        if today and not told.contradicts(today) and told.said() >= {"day", "month"}:
            continue
        alike = [held for held in both.passage.moments if told.said() & held.said()]
        same = [held for held in alike if not told.contradicts(held)]
        if same:
            if _is_of_another_day(both, told, same, [held for held in alike if told.contradicts(held)]):
                yield "date"
        elif not _is_told_otherwise(told, both.passage, beside):
            yield "date"


def _is_told_otherwise(told: Moment, passage: Reading, beside: Reading) -> bool:
    return (
        _is_said_beside(told, passage, beside) or _is_said_as_number(told, passage) or _in_parts(told, passage, beside)
    )


def _is_said_beside(told: Moment, passage: Reading, beside: Reading) -> bool:
    if _knows_moments(passage, told):
        return False
    return any(told.said() & held.said() and not told.contradicts(held) for held in beside.moments)


def _is_of_another_day(both: Alignment, told: Moment, same: Sequence[Moment], others: Sequence[Moment]) -> bool:
    statement, passage = both.statement, both.passage
    claimed = {
        passage.place(held.start): [
            statement.place(other.start)
            for other in statement.moments
            if other is not told and other.said() & held.said() and not other.contradicts(held)
        ]
        for held in others
    }
    mine = _starts(passage, same)
    fact = _Fact(statement.place(told.start), mine, _starts(passage, others), claimed)
    sentences = {passage.words[place].sentence for place in mine}
    untold = [place for place, rivals in claimed.items() if not rivals and passage.words[place].sentence in sentences]
    return _is_elsewhere(both, fact) or both.is_outvoted(
        mine,
        untold,
        told=_starts(statement, statement.moments),
        known=_starts(passage, passage.moments),
        clearly=True,
    )


def _knows_moments(passage: Reading, told: Moment) -> bool:
    return any(told.said() & held.said() for held in passage.moments)


def _in_parts(told: Moment, passage: Reading, beside: Reading) -> bool:
    """Its day and month in one place, its year in another."""
    held = [*passage.moments, *beside.moments]
    parts = [name for name in told.said() if not any(getattr(each, name) == getattr(told, name) for each in held)]
    whole = [each for each in held if each.said() & told.said() and not told.contradicts(each)]
    return not parts and bool(whole)


def _is_said_as_number(told: Moment, passage: Reading) -> bool:
    """A year, an hour: «2024» in a code or a table is read as a number."""
    number = told.year if told.said() == {"year"} else None
    if told.said() == {"minute"} and told.minute is not None:
        number = told.minute // 60
        return any({number, (number - 12) % 24, number + 12} & held.values for held in passage.quantities)
    return number is not None and any(number in held.values for held in passage.quantities)


def _wrong_names(both: Alignment, beside: Reading) -> Iterator[str]:
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


def _is_part(passage: Reading, place: int, same: Sequence[int]) -> bool:
    """Of the same name: the surname beside the first name."""
    return any(abs(place - other) <= 2 and passage.words[place].clause == passage.words[other].clause for other in same)


def _wrong_rates(both: Alignment) -> Iterator[str]:
    """«al mes» where the passage has «al trimestre»."""
    statement, passage = both.statement, both.passage
    for at in statement.rates:
        said = _unit(statement, at)
        lists_weekdays = said == UNITS["week"][1] and sum(each.weekday is not None for each in statement.moments) > 1
        if set(both.links.get(at, ())) & set(passage.rates) or not passage.rates or lists_weekdays:
            continue
        held = [_unit(passage, place) for place in passage.rates]
        if said not in held and max((both.nearness(at, place) for place in passage.rates), default=0.0) > 2 * LEAST:
            yield "unit"


def _unit(reading: Reading, place: int) -> float:
    word = reading.words[place].folded
    return RATES.get(word) or UNITS[word][1]


def _wrong_sides(both: Alignment) -> Iterator[str]:
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
        if _is_elsewhere(both, _Fact(told.place, mine, (sign.place,), claimed)):
            yield "negation" if sign.negated != told.negated else "direction"
    untold = [place for place, rivals in claimed.items() if not rivals]
    if same and (both.is_outvoted(mine, untold, told=(told.place,)) or both.is_mixed(mine, untold)):
        yield "direction"


_AMOUNTS = frozenset({"rise", "more"})  # «creció el ruido», «hubo menos ruido»


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


def _wrong_denials(both: Alignment) -> Iterator[str]:
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


def _wrong_polarity(both: Alignment) -> Iterator[str]:
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
