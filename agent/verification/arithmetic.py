"""Numbers that a statement computes from others: sums, differences, shares, changes, days between dates."""

from collections.abc import Iterator
from datetime import date
from itertools import combinations, pairwise, permutations

from agent.verification.moments import Moment
from agent.verification.quantities import RATES, TIME, UNITS, Quantity
from agent.verification.reading import Reading

_TIMES = frozenset({"fois", "veces", "times"})
MOST = 8  # operands
_YEAR, _MONTH = UNITS["year"][1], UNITS["month"][1]  # days
_NEAR_BY = 9  # characters


def is_computed(told: Quantity, statement: Reading, passage: Reading, today: Moment | None = None) -> bool:
    """From numbers of the passage that the statement gives, too; a share needs one of its two alone."""
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
    if any(word.folded in _TIMES and 0 <= word.start - told.end <= 1 for word in statement.words):
        halves = {100 / value for value in told.values if value}  # «deux fois moins» is the half
        if any(held.unit == "%" and halves & held.values for held in passage.quantities):
            return True
    listed = [moment.start for moment in statement.moments]
    return not told.unit and len(listed) > 1 and float(len(listed)) in told.values  # «dos veces: el lunes y el jueves»


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
            if told.unit == "%":
                yield 100 * abs(one - other) / other
                yield 100 * one / other
    for three in combinations(operands, 3):
        yield sum(three)


def _multiples(given: list[Quantity], told: Quantity, statement: Reading) -> Iterator[float]:
    """«14 € por dos noches, a 7 € cada una»; how often an hour has «cada 20 minutos»."""
    others = [other for other in statement.quantities if other is not told]
    counts = [min(other.values) for other in others if not other.unit]
    for known in given:
        value = min(known.values)
        yield from (value * count for count in counts if known.fits(told))
        if value and not told.unit:
            yield from (min(other.values) / value for other in others if other.unit == known.unit)
        if known.unit == TIME and value and not told.unit:
            yield from (_unit_of(statement, place) / value for place in statement.rates)
        if known.unit == "%":
            yield from (count * value / 100 for count in counts)


def _unit_of(reading: Reading, place: int) -> float:
    word = reading.words[place].folded
    return RATES.get(word) or UNITS[word][1]


def _shares(given: list[Quantity], told: Quantity, passage: Reading) -> Iterator[float]:
    if told.unit != "%":
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


def _days(told: Quantity, statement: Reading, passage: Reading, today: Moment | None) -> Iterator[float]:
    if told.unit != TIME:
        return
    moments = [*statement.moments, *passage.moments, *([today] if today else [])]
    days = {day for moment in moments if (day := _day(moment))}
    for one, other in combinations(sorted(days)[: 3 * MOST], 2):
        yield float((other - one).days)
        months = 12 * (other.year - one.year) + other.month - one.month - (other.day < one.day)
        yield from (_YEAR * (months // 12), _MONTH * (months % 12), _MONTH * months)  # «1 año y 7 meses»


def _day(moment: Moment) -> date | None:
    if moment.year is None or moment.month is None or moment.day is None:
        return None
    try:
        return date(moment.year, moment.month, moment.day)
    except ValueError:
        return None
