"""Numbers, units, dates and times of a statement against its passage."""

from collections.abc import Iterator, Sequence
from datetime import date
from functools import lru_cache
from itertools import combinations, pairwise, permutations

from agent.verification.alignment import LEAST, Alignment, Fact, is_elsewhere, starts
from agent.verification.reading import ComparedText
from graphrag.linguistics.dates import Moment
from graphrag.linguistics.numbers import TIME, Quantity, read_quantities, unit_days
from graphrag.linguistics.rules import Rules, WordSet, read_rules

_TIMES = frozenset({"fois", "veces", "times"})
LEAST_ROUND, ROUNDED = 10, 0.1  # a round number from which, and its share up to which, it stands for another
MOST_BEFORE = 20  # that an ordinal may leave before it

MOST = 8  # operands
_NEAR_BY = 9  # characters


class FactRules(Rules):
    about: WordSet
    multiplied: WordSet


@lru_cache(maxsize=1)
def _rules() -> FactRules:
    return read_rules(FactRules, "agent.verification", "facts")


def is_computed(told: Quantity, statement: ComparedText, passage: ComparedText, today: Moment | None = None) -> bool:
    """Return whether a quantity follows from numbers of the passage.

    The statement must name these numbers too; a share needs one of its two alone.
    """
    given = [
        other
        for other in statement.quantities
        if other is not told and any(other.is_same(held) for held in passage.quantities)
    ][:MOST]
    results = [
        *_results(given, told),
        *_shares(given, told, passage),
        *_multiples(given, told, statement),
        *_days(told, statement, passage, today),
    ]
    if any(_near(value, result) for value in told.values for result in results):
        return True
    if _is_rounded(told, statement, passage) or _is_counted_out(told, statement, passage):
        return True
    if any(word.folded in _TIMES and 0 <= word.start - told.end <= 1 for word in statement.words):
        halves = {100 / value for value in told.values if value}  # «deux fois moins» is the half
        if any(held.measure == "%" and halves & held.values for held in passage.quantities):
            return True
    listed = [moment.start for moment in statement.moments]
    return not told.unit and len(listed) > 1 and float(len(listed)) in told.values  # «dos veces: el lunes y el jueves»


def _is_rounded(told: Quantity, statement: ComparedText, passage: ComparedText) -> bool:
    """«más de cinco mil» of 5,120, "about 30" of 29.6: a round number, and a word that says so before either."""
    value = min(told.values)
    if told.low != told.high or value < LEAST_ROUND or float(f"{value:.1g}") != value != float(f"{value:.2g}"):
        return False
    return any(
        abs(number - value) <= ROUNDED * number and (_is_about(statement, told) or _is_about(passage, held))
        for held in passage.quantities
        if held.fits(told)
        for number in held.values
    )


def _is_about(reading: ComparedText, quantity: Quantity) -> bool:
    at = reading.place(quantity.start)
    return any(word.folded in _rules().about for word in reading.words[max(0, at - 3) : at])


def _is_counted_out(told: Quantity, statement: ComparedText, passage: ComparedText) -> bool:
    """Return whether it follows from numbers of one sentence of the passage, which the statement does not name.

    It is their sum, difference or ratio; or what stands before a rank: "the third" has two before it.
    """
    value = min(told.values)
    if value <= MOST_BEFORE and value + 1 in _ordinals(passage.text, passage.language):
        return True
    numbers = [
        (number, held, passage.words[passage.place(held.start)].sentence)
        for held in passage.quantities
        if held.fits(told)
        for number in held.values
    ]
    pairs = [
        (one, other)
        for (one, first, here), (other, second, there) in combinations(numbers[: 3 * MOST], 2)
        if first.measure == second.measure and here == there
    ]
    is_exact = float(f"{value:.1g}") != value
    if is_exact and any(value in (one + other, abs(one - other)) for one, other in pairs):
        return True
    if any(word.folded in _rules().multiplied for word in statement.words):
        return any(one and other and value in (one / other, other / one) for one, other in pairs)
    return False


@lru_cache(maxsize=256)
def _ordinals(text: str, language: str) -> frozenset[float]:
    return frozenset(quantity.low for quantity in read_quantities(text, language) if quantity.is_ordinal)


def _near(value: float, result: float) -> bool:
    return abs(value - result) <= max(0.005 * abs(result), 1e-6)


def _results(given: list[Quantity], told: Quantity) -> Iterator[float]:
    operands = [min(quantity.values) for quantity in given]
    if len(operands) > 1:
        yield sum(operands)
    for one, other in permutations(operands, 2):
        yield one - other
        yield one + other
        yield one * other
        yield one * other / 100
        if other:
            yield one / other
            if told.measure == "%":
                yield 100 * abs(one - other) / other
                yield 100 * one / other
    for three in combinations(operands, 3):
        yield sum(three)


def _multiples(given: list[Quantity], told: Quantity, statement: ComparedText) -> Iterator[float]:
    """«14 € por dos noches, a 7 € cada una»; how often an hour has «cada 20 minutos»."""
    others = [other for other in statement.quantities if other is not told]
    counts = [min(other.values) for other in others if not other.unit]
    for known in given:
        value = min(known.values)
        yield from (value * count for count in counts if known.fits(told))
        if value and not told.unit:
            yield from (min(other.values) / value for other in others if other.measure == known.measure)
        if known.measure == TIME and value and not told.unit:
            yield from (unit_days(statement.words[place].folded) / value for place in statement.rates)
        if known.measure == "%":
            yield from (count * value / 100 for count in counts)


def _shares(given: list[Quantity], told: Quantity, passage: ComparedText) -> Iterator[float]:
    if told.measure != "%":
        return
    for part, whole in pairwise(passage.quantities):  # «tres de cada cinco»
        if whole.start - part.end <= _NEAR_BY and min(whole.values):
            yield 100 * min(part.values) / min(whole.values)
    for known in given:
        for held in list(passage.quantities)[: 3 * MOST]:
            one, other = min(known.values), min(held.values)
            if one and other and known.fits(held):
                yield 100 * one / other
                yield 100 * other / one


def _days(told: Quantity, statement: ComparedText, passage: ComparedText, today: Moment | None) -> Iterator[float]:
    if told.measure != TIME:
        return
    moments = [*statement.moments, *passage.moments, *([today] if today else [])]
    days = {day for moment in moments if (day := _day(moment))}
    year, month = unit_days("year"), unit_days("month")
    for one, other in combinations(sorted(days)[: 3 * MOST], 2):
        yield float((other - one).days)
        months = 12 * (other.year - one.year) + other.month - one.month - (other.day < one.day)
        yield from (year * (months // 12), month * (months % 12), month * months)  # «1 año y 7 meses»


def _day(moment: Moment) -> date | None:
    if moment.year is None or moment.month is None or moment.day is None:
        return None
    try:
        return date(moment.year, moment.month, moment.day)
    except ValueError:
        return None


_TOWARDS = frozenset({"a", "to", "hasta", "until", "contra", "contre", "against", "frente"})


def wrong_quantities(both: Alignment, beside: ComparedText, today: Moment | None) -> Iterator[str]:
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


def _spans_of(reading: ComparedText) -> Iterator[tuple[Quantity, Quantity]]:
    for one, other in pairwise(reading.quantities):
        between = [word.folded for word in reading.words if one.end <= word.start < other.start]
        if len(between) <= 3 and set(between) & _TOWARDS:
            yield one, other


def _resumes(told: Quantity, statement: ComparedText) -> bool:
    """«los dos cables», "the three partners": of what was named one by one."""
    before = statement.words[max(0, statement.place(told.start) - 1)].folded
    return not told.unit and told.values <= {2.0, 3.0, 4.0} and before in {"the", "los", "las", "les", "ces", "these"}


def _has_other_unit(both: Alignment, told: Quantity) -> bool:
    """«una semana» of what the passage says «un día»."""
    if not told.unit:
        return False
    at = both.statement.place(told.start)
    return any(
        held.measure == told.measure
        and held.is_article
        and both.nearness(at, both.passage.place(held.start)) > 2 * LEAST
        for held in both.passage.quantities
    )


def _is_of_another(both: Alignment, told: Quantity, same: Sequence[Quantity]) -> bool:
    """Return whether the passage has the number, but another one where the statement has it."""
    if told.is_article:
        return False
    statement, passage = both.statement, both.passage
    others = [
        held for held in passage.quantities if held not in same and held.measure == told.measure and not held.is_article
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


def _is_year(told: Quantity, passage: ComparedText) -> bool:
    return any(moment.year in told.values or moment.day in told.values for moment in passage.moments)


def wrong_rates(both: Alignment) -> Iterator[str]:
    """«al mes» where the passage has «al trimestre»."""
    statement, passage = both.statement, both.passage
    for at in statement.rates:
        said = unit_days(statement.words[at].folded)
        lists_weekdays = said == unit_days("week") and sum(each.weekday is not None for each in statement.moments) > 1
        if set(both.links.get(at, ())) & set(passage.rates) or not passage.rates or lists_weekdays:
            continue
        held = [unit_days(passage.words[place].folded) for place in passage.rates]
        if said not in held and max((both.nearness(at, place) for place in passage.rates), default=0.0) > 2 * LEAST:
            yield "unit"


def wrong_moments(both: Alignment, beside: ComparedText, today: Moment | None) -> Iterator[str]:
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


def _is_told_otherwise(told: Moment, passage: ComparedText, beside: ComparedText) -> bool:
    return (
        _is_said_beside(told, passage, beside) or _is_said_as_number(told, passage) or _in_parts(told, passage, beside)
    )


def _is_said_beside(told: Moment, passage: ComparedText, beside: ComparedText) -> bool:
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
    mine = starts(passage, same)
    fact = Fact(statement.place(told.start), mine, starts(passage, others), claimed)
    sentences = {passage.words[place].sentence for place in mine}
    untold = [place for place, rivals in claimed.items() if not rivals and passage.words[place].sentence in sentences]
    return is_elsewhere(both, fact) or both.is_outvoted(
        mine,
        untold,
        told=starts(statement, statement.moments),
        known=starts(passage, passage.moments),
        clearly=True,
    )


def _knows_moments(passage: ComparedText, told: Moment) -> bool:
    return any(told.said() & held.said() for held in passage.moments)


def _in_parts(told: Moment, passage: ComparedText, beside: ComparedText) -> bool:
    """Its day and month in one place, its year in another."""
    held = [*passage.moments, *beside.moments]
    parts = [name for name in told.said() if not any(getattr(each, name) == getattr(told, name) for each in held)]
    whole = [each for each in held if each.said() & told.said() and not told.contradicts(each)]
    return not parts and bool(whole)


def _is_said_as_number(told: Moment, passage: ComparedText) -> bool:
    """A year, an hour: «2024» in a code or a table is read as a number."""
    number = told.year if told.said() == {"year"} else None
    if told.said() == {"minute"} and told.minute is not None:
        number = told.minute // 60
        return any({number, (number - 12) % 24, number + 12} & held.values for held in passage.quantities)
    return number is not None and any(number in held.values for held in passage.quantities)
