"""The conditions of a question: states, yes and no, dates, comparisons of numbers."""

import re
from calendar import monthrange
from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta

import numpy as np

from graphrag.ingestion.tables.columns import Role
from graphrag.ingestion.tables.typed_tables import MONTH, TypedColumn
from graphrag.linguistics.date_tokens import months
from graphrag.linguistics.dates import read_dates
from graphrag.linguistics.language import fold
from graphrag.linguistics.numbers import Quantity, read_quantities
from graphrag.table_queries.columns import amount_column
from graphrag.table_queries.plans import Operator, RowFilter
from graphrag.table_queries.words import QuestionReading, StateRules, question_rules

MOST_STATES = 8  # different ones of a column


def read_states(reading: QuestionReading) -> Iterator[RowFilter]:
    """Yield the filter of a state that the question asks for in its own words: «sin pagar» is Estado = Pendiente."""
    rules = question_rules()
    for place, words in reading.headers.items():  # "no return date yet", of what is not back
        column = reading.table.columns[place]
        if column.is_time and _is_partly_filled(column) and reading.is_denied(min(words)):
            reading.known |= words
            yield RowFilter(place, Operator.EMPTY)
            return
    taken: set[int] = set()
    for state in rules.states:
        if (
            state.asked.search(reading.folded)
            and (found := _column_of_state(reading, state))
            and found.column not in taken
        ):
            reading.asks(state.asked)
            taken.add(found.column)
            yield found


def lacks_debts(reading: QuestionReading) -> bool:
    """Return whether the question is about a debt, of which no column tells."""
    debt = question_rules().states[0]
    return debt.asked.search(reading.folded) is not None and _column_of_state(reading, debt) is None


def _column_of_state(reading: QuestionReading, state: StateRules) -> RowFilter | None:
    for place, column in enumerate(reading.table.columns):
        texts = set(column.values) if len(column.values) <= MOST_STATES else set()
        is_state = column.is_text and len(texts) > 1
        held = tuple(text for text in texts if state.cells.search(fold(text)))
        if is_state and held and len(held) < len(texts) and _is_of_state(reading, place, texts, state):
            return RowFilter(place, Operator.IS, held)
    partly = [
        place for place, column in enumerate(reading.table.columns) if column.is_time and _is_partly_filled(column)
    ]
    for place in partly:
        if place in reading.headers:  # «Livrée le», of what has been delivered
            is_denied = any(map(reading.is_denied, reading.headers[place]))
            return RowFilter(place, Operator.EMPTY if is_denied else Operator.FILLED)
    debt, paid = question_rules().states[:2]
    for place in partly if state in (debt, paid) else ():
        if question_rules().paid_header.search(fold(reading.table.headers[place])):
            return RowFilter(place, Operator.EMPTY if state is debt else Operator.FILLED)
    return None


def _is_partly_filled(column: TypedColumn) -> bool:
    return bool(column.codes.any()) and not column.codes.all()


def read_answers(reading: QuestionReading, taken: set[int]) -> Iterator[RowFilter]:
    """Yield the filters of columns of yes and no that the question names: «con seguro», «sin seguro»."""
    rules = question_rules()
    for place, words in reading.headers.items():
        texts = set(reading.table.columns[place].values)
        if len(texts) > MOST_STATES:
            continue
        agreed = tuple(text for text in texts if rules.affirmative.search(fold(text)))
        denied = tuple(text for text in texts if rules.negative.search(fold(text)))
        is_whole = len({reading.words[number].stem for number in words}) >= len(reading.content(place))
        if is_whole and place not in taken and agreed and denied and len(agreed) + len(denied) == len(texts):
            reading.known |= words
            yield RowFilter(place, Operator.IS, denied if reading.is_denied(min(words)) else agreed)


def _is_of_state(reading: QuestionReading, place: int, texts: set[str], state: StateRules) -> bool:
    """Return whether a column says of rows how far they are: each of its texts is of some state, or is yes or no."""
    rules = question_rules()
    folded = [fold(text) for text in texts]
    if all(rules.affirmative.search(text) or rules.negative.search(text) for text in folded):
        is_of_money = state in rules.states[:2] and rules.paid_header.search(fold(reading.table.headers[place]))
        return place in reading.headers or bool(is_of_money)
    says_states = all(any(state.cells.search(text) for state in rules.states[:2]) for text in folded)
    header = fold(reading.table.headers[place])
    return says_states or place in reading.headers or rules.state_header.search(header) is not None


def read_days(reading: QuestionReading) -> list[RowFilter]:
    """Return filters for the dates that the question names."""
    rules = question_rules()
    times = [place for place, column in enumerate(reading.table.columns) if column.is_time]
    if not times:
        return []
    years: Counter[int] = Counter()
    for place in times:
        for day, count in zip(*np.unique(reading.table.columns[place].first_days, return_counts=True), strict=True):
            years[date.fromordinal(day).year if day else 0] += count
    del years[0]
    year = years.most_common(1)[0][0] if years else 0
    found = []
    for told in read_dates(reading.question, reading.language, year=year or 2000):
        if told.first is None or told.last is None:
            continue
        words = {number for number, word in enumerate(reading.words) if word.start < told.end and told.start < word.end}
        if any(words <= of_header for place, of_header in reading.headers.items() if place not in times):
            continue  # «2025 (kWh)» beside «2024 (kWh)»
        named = [place for place in times if place in reading.headers and reading.headers[place] - words]
        of_months = [place for place in times if reading.table.headers[place] in MONTH.values()]
        place = (named or of_months or times)[0]
        days = (told.first, told.last)
        before = fold(" ".join(word.text for word in reading.words[max(0, min(words) - 3) : min(words)]))
        if rules.before_day.search(before):
            days = (date.min, days[0] - timedelta(1))
        elif rules.after_day.search(before):
            days = (days[1] + timedelta(1), date.max)
        elif rules.since_day.search(before):
            days = (days[0], date.max)
        reading.known |= words
        found.append(RowFilter(place, Operator.BETWEEN, days=days))
    for number, word in enumerate(reading.words):  # "for May", which may be another word
        before = reading.words[number - 1].folded if number else ""
        is_month = number not in reading.known and word.text[:1].isupper() and word.folded in months()
        if is_month and year and rules.month_before.fullmatch(before):
            month = months()[word.folded]
            days = (date(year, month, 1), date(year, month, monthrange(year, month)[1]))
            found.append(RowFilter(times[0], Operator.BETWEEN, days=days))
            reading.known.add(number)
    return found


def read_comparisons(reading: QuestionReading) -> Iterator[RowFilter]:
    """Yield «más de 500», "70 or more", and «por debajo del mínimo», where a column is called so."""
    rules = question_rules()
    for quantity in read_quantities(reading.question, reading.language):
        place, told = amount_column(reading), next(compared_quantities(reading.folded, quantity), None)
        if place is not None and told:
            operator, start, end = told
            reading.know(start, end)
            yield RowFilter(place, operator, number=quantity.low)
    yield from _column_comparison(reading, rules.above_column, rules.limit_header, Operator.ABOVE_COLUMN)
    yield from _column_comparison(reading, rules.below_column, rules.least_header, Operator.BELOW_COLUMN)


def compared_quantities(text: str, quantity: Quantity) -> Iterator[tuple[Operator, int, int]]:
    """Yield how a text compares with a quantity, and where it says so."""
    rules = question_rules()
    before, after = text[: quantity.start], text[quantity.end :]
    for pattern, operator in (
        (rules.more, Operator.ABOVE),
        (rules.less, Operator.BELOW),
        (rules.least, Operator.AT_LEAST),
    ):
        if match := pattern.search(before):
            yield operator, match.start(), quantity.end
    for pattern, operator in ((rules.or_more, Operator.AT_LEAST), (rules.or_less, Operator.AT_MOST)):
        if match := pattern.search(after):
            yield operator, quantity.start, quantity.end + match.end()


def _column_comparison(
    reading: QuestionReading, asked: re.Pattern[str], limit: re.Pattern[str], operator: Operator
) -> Iterator[RowFilter]:
    """Yield the comparison of a column with the one of its limits, which the question names: stock and its minimum."""
    columns, headers, rules = reading.table.columns, list(map(fold, reading.table.headers)), question_rules()
    limits = [place for place in reading.headers if columns[place].role and limit.search(headers[place])]
    reached = [
        place
        for place, column in enumerate(columns)
        if column.role in (Role.AMOUNT, Role.LEVEL) and not limit.search(headers[place])
    ]
    told = [place for place in reached if rules.reached_header.search(headers[place])]
    if len(limits) == 1 and reached and reading.asks(asked):
        yield RowFilter((told or reached)[0], operator, number=limits[0])
