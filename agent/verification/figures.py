"""Numbers and units of a statement that its passage has not, or has of something else."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from agent.verification.alignment import Alignment
from agent.verification.arithmetic import is_computed
from agent.verification.belonging import LEAST, Fact, is_elsewhere, starts
from agent.verification.moments import Moment
from agent.verification.quantities import RATES, UNITS, Quantity
from agent.verification.reading import Reading

_TOWARDS = frozenset({"a", "to", "hasta", "until", "contra", "contre", "against", "frente"})


def wrong_quantities(both: Alignment, beside: Reading, today: Moment | None) -> Iterator[str]:
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
    mine, theirs = starts(passage, same), starts(passage, others)
    untold = [
        passage.place(held.start) for held in others if not any(held.is_same(other) for other in statement.quantities)
    ]
    fact = Fact(statement.place(told.start), mine, theirs, claimed)
    return (
        is_elsewhere(both, fact)
        or both.is_outvoted(mine, untold, told=theirs, reaching=False)
        or both.is_mixed(mine, untold)
    )


def _is_year(told: Quantity, passage: Reading) -> bool:
    return any(moment.year in told.values or moment.day in told.values for moment in passage.moments)


def wrong_rates(both: Alignment) -> Iterator[str]:
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
