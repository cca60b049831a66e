"""The conditions of a question: states, yes and no, dates, comparisons of numbers."""

import re
from calendar import monthrange
from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta

import numpy as np

from graphrag.ingestion.tables.columns import Role
from graphrag.ingestion.tables.typed_tables import MONTH, TypedColumn, TypedTable
from graphrag.linguistics.date_tokens import months
from graphrag.linguistics.dates import DateExpression, Moment, read_dates
from graphrag.linguistics.language import fold
from graphrag.linguistics.numbers import Quantity, read_quantities
from graphrag.table_queries.columns import amount_column, asked_grain, is_stock, match_score, owed_column
from graphrag.table_queries.plans import Operator, RowFilter
from graphrag.table_queries.words import NEAR, QuestionReading, StateRules, question_rules

MOST_STATES = 8  # different ones of a column
MOST_BETWEEN = 2  # words from a column's name to a number that it is to have
MOST_HAVING = 12  # characters from «con» to what is had
FAR = 10  # times a column's greatest number from which another unit is meant
BEHIND = 3  # words after a column's name in which it may be denied: «le reçu n'a pas été envoyé»


def read_states(reading: QuestionReading) -> Iterator[RowFilter]:
    """Yield the filter of a state that the question asks for in its own words: «sin pagar» is Estado = Pendiente."""
    rules = question_rules()
    if empty := _read_empty(reading):
        yield empty
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


def read_filled(reading: QuestionReading, taken: set[int]) -> Iterator[RowFilter]:
    """Yield the filter of what has something that others lack: "got a discount", «con descuento»."""
    having = [match.end() for match in question_rules().having.finditer(reading.folded)]
    for place, words in reading.headers.items():
        first = reading.words[min(words)]
        before = reading.words[min(words) - 1].folded if min(words) else ""
        has = any(0 <= first.start - end <= MOST_HAVING for end in having)
        has &= not question_rules().by.fullmatch(before)  # «¿cuántos tiene cada casa?»
        column = reading.table.columns[place]
        if has and place not in taken and _is_partly_filled(column) and not _says_yes_or_no(column):
            reading.known |= words
            yield RowFilter(place, Operator.FILLED)


def read_counted(reading: QuestionReading) -> Iterator[RowFilter]:
    """Yield the filter of what only some rows have, where that is counted: «¿cuántas bajas …?», "how many returns"."""
    for place, words in reading.headers.items():
        column = reading.table.columns[place]
        if words & set(reading.counted_words[:1]) and _is_partly_filled(column) and not _says_yes_or_no(column):
            yield RowFilter(place, Operator.FILLED)


def read_sold_out(reading: QuestionReading, taken: set[int]) -> Iterator[RowFilter]:
    """Yield the filter of what there is none of: "out of stock"."""
    rules = question_rules()
    counts = [place for place, column in enumerate(reading.table.columns) if is_stock(column)]
    stocks = [place for place in counts if place in reading.headers] or counts
    if stocks and not taken & set(stocks) and reading.asks(rules.sold_out):
        stock = min(stocks, key=lambda place: len(reading.content(place)))
        reading.known |= reading.headers.get(stock, set())
        yield RowFilter(stock, Operator.AT_MOST)


def read_losses(reading: QuestionReading, taken: set[int]) -> Iterator[RowFilter]:
    """Yield the filter of what made a loss."""
    rules = question_rules()
    profits = [
        place
        for place, column in enumerate(reading.table.columns)
        if column.role not in (None, Role.CODE) and rules.profit_header.search(fold(column.header))
    ]
    if len(profits) == 1 and profits[0] not in taken and reading.asks(rules.loss):
        yield RowFilter(profits[0], Operator.BELOW)


def _read_empty(reading: QuestionReading) -> RowFilter | None:
    """Return the filter of what lacks something: "no return date yet", «sin responsable», "nobody assigned"."""
    columns = reading.table.columns
    lacking = [
        place
        for place, words in reading.headers.items()
        if _is_partly_filled(columns[place])
        and not _says_yes_or_no(columns[place])
        and {n for n in reading.denials if min(words) - NEAR <= n < max(words)}
    ]
    if not lacking:
        return None
    place = max(lacking, key=lambda place: (match_score(reading, place), columns[place].is_time, -place))
    reading.denies(reading.headers[place])
    reading.known |= reading.headers[place]
    return RowFilter(place, Operator.EMPTY)


def _says_yes_or_no(column: TypedColumn) -> bool:
    rules = question_rules()
    folded = map(fold, column.values)
    return all(rules.affirmative.search(text) or rules.negative.search(text) for text in folded)


def read_open(reading: QuestionReading) -> RowFilter | None:
    """Return the filter of what is not done or not paid, which is understood of what is overdue."""
    rules = question_rules()
    for state in (rules.states[0], rules.states[4]):
        if found := _column_of_state(reading, state):
            return found
    return None


def lacks_debts(reading: QuestionReading) -> bool:
    """Return whether the question is about a debt, of which no column tells."""
    debt = question_rules().states[0]
    return debt.asked.search(reading.folded) is not None and _column_of_state(reading, debt) is None


def _column_of_state(reading: QuestionReading, state: StateRules) -> RowFilter | None:
    columns = reading.table.columns
    for place in sorted(range(len(columns)), key=lambda place: -match_score(reading, place)):
        column = columns[place]
        texts = set(column.values) if len(column.values) <= MOST_STATES else set()
        is_state = column.is_text and len(texts) > 1
        held = tuple(text for text in texts if _is_in_state(text, state, is_answer=_says_yes_or_no(column)))
        if is_state and held and len(held) < len(texts) and _is_of_state(reading, place, texts, state):
            return RowFilter(place, Operator.IS, held)
    partly = [
        place for place, column in enumerate(reading.table.columns) if column.is_time and _is_partly_filled(column)
    ]
    for place in partly:
        if place in reading.headers:  # «Livrée le», of what has been delivered
            is_denied = reading.denies(reading.headers[place])
            return RowFilter(place, Operator.EMPTY if is_denied else Operator.FILLED)
    rules = question_rules()
    debt, paid = rules.states[:2]
    for place in partly if state in (debt, paid) else ():
        if rules.paid_header.search(fold(reading.table.headers[place])):
            return RowFilter(place, Operator.EMPTY if state is debt else Operator.FILLED)
    owed = owed_column(reading)
    if owed is not None and state in (debt, paid):
        return RowFilter(owed, Operator.ABOVE if state is debt else Operator.AT_MOST)
    return None


def _is_in_state(text: str, state: StateRules, *, is_answer: bool) -> bool:
    """Return whether a cell says a state; of a column of yes and no, «no» is that of what is lacking."""
    rules, folded = question_rules(), fold(text)
    if not is_answer:
        return state.cells.search(folded) is not None
    pattern = rules.negative if state.cells.search("no") else rules.affirmative
    return pattern.search(folded) is not None


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
            yield RowFilter(place, Operator.IS, denied if reading.denies(words, after=BEHIND) else agreed)


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


def _compares_ends(reading: QuestionReading) -> bool:
    """Return whether «de enero a marzo» are two that are compared, not all that is from one to the other."""
    rules, folded = question_rules(), reading.folded
    others = (rules.each, rules.against_previous, rules.periodic, *rules.superlatives.values())
    is_of_periods = asked_grain(reading) is not None or any(pattern.search(folded) for pattern in others)
    is_of_two = any(pattern.search(folded) for pattern in (rules.changed, rules.operations["difference"]))
    return is_of_two and not is_of_periods


def _ends(told: DateExpression) -> Iterator[tuple[date, date]]:
    """Yield the first and the last period of a range; a time that is no range as it is."""
    first, last = told.first or date.min, told.last or date.max
    if len(told.moments) != 2 or any(each.fortnight or each.weekday for each in told.moments):
        yield first, last
        return
    begin, end = told.moments
    yield first, _period_of(first, begin)[1]
    yield _period_of(last, end)[0], last


def _period_of(day: date, moment: Moment) -> tuple[date, date]:
    """Return the days of a moment that a day is of: its own, or all of the month, quarter or year that it names."""
    if moment.day is not None:
        return day, day
    months = 1 if moment.month else 3 if moment.quarter else 6 if moment.half else 12
    begin = (day.month - 1) // months * months + 1
    end = begin + months - 1
    return date(day.year, begin, 1), date(day.year, end, monthrange(day.year, end)[1])


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
    is_overdue = rules.overdue.search(reading.folded) is not None
    owed = [place for place in times if rules.due_header.search(fold(reading.table.headers[place]))]
    for told in read_dates(reading.question, reading.language, year=year or 2000):
        if told.first is None or told.last is None:
            continue
        words = {number for number, word in enumerate(reading.words) if word.start < told.end and told.start < word.end}
        if any(words <= of_header for place, of_header in reading.headers.items() if place not in times):
            continue  # «2025 (kWh)» beside «2024 (kWh)»
        named = [place for place in times if place in reading.headers and reading.headers[place] - words]
        days = (told.first, told.last)
        of_months = [place for place in times if _has_sheets_of(reading.table, place, days)]
        place = (named or of_months or times)[0]
        if is_overdue and len(owed) == 1 and told.first == told.last:
            reading.known |= words
            reading.asks(rules.overdue)
            found.append(RowFilter(owed[0], Operator.BETWEEN, days=(date.min, told.first - timedelta(1))))
            continue
        before = fold(" ".join(word.text for word in reading.words[max(0, min(words) - 3) : min(words)]))
        if rules.before_day.search(before):
            days = (date.min, days[0] - timedelta(1))
        elif rules.after_day.search(before):
            days = (days[1] + timedelta(1), date.max)
        elif rules.since_day.search(before):
            days = (days[0], date.max)
        reading.known |= words
        compared = _ends(told) if _compares_ends(reading) else (days,)
        found += [RowFilter(place, Operator.BETWEEN, days=each) for each in compared]
    for number, word in enumerate(reading.words):  # "for May", which may be another word
        before = reading.words[number - 1].folded if number else ""
        may_be_month = word.text[:1].isupper() or word.folded not in reading.empty
        is_month = number not in reading.known and may_be_month and word.folded in months()
        if is_month and year and rules.month_before.fullmatch(before):
            month = months()[word.folded]
            days = (date(year, month, 1), date(year, month, monthrange(year, month)[1]))
            found.append(RowFilter(times[0], Operator.BETWEEN, days=days))
            reading.known.add(number)
    return found


def _has_sheets_of(table: TypedTable, place: int, days: tuple[date, date]) -> bool:
    """Return whether a column is of the periods that sheets are called after, and some of these lie within the days."""
    column, (first, last) = table.columns[place], (day.toordinal() for day in days)
    is_within = (column.first_days >= first) & (column.last_days <= last)
    return column.header in MONTH.values() and bool(is_within.any())


def read_comparisons(reading: QuestionReading) -> Iterator[RowFilter]:
    """Yield «más de 500», "70 or more", and «por debajo del mínimo», where a column is called so."""
    rules, place = question_rules(), amount_column(reading)
    for quantity in read_quantities(reading.question, reading.language):
        told = next(compared_quantities(reading.folded, quantity), None)
        if place is not None and told and is_in_reach(reading.table.columns[place], quantity.low):
            operator, start, end = told
            reading.know(start, end)
            yield RowFilter(place, operator, number=quantity.low)
        elif equal := _equal(reading, quantity):
            yield equal
    yield from _column_comparison(reading, rules.above_column, rules.limit_header, Operator.ABOVE_COLUMN)
    yield from _column_comparison(reading, rules.below_column, rules.least_header, Operator.BELOW_COLUMN)


def is_in_reach(column: TypedColumn, number: float) -> bool:
    """Return whether a column may be compared with a number: not one that is far above all of it."""
    numbers = column.numbers[~np.isnan(column.numbers)]
    return bool(len(numbers)) and number <= FAR * float(np.abs(numbers).max())


def _equal(reading: QuestionReading, quantity: Quantity) -> RowFilter | None:
    """Return the filter of a column that is named right before a number that it has: «IVA del 10 %», «talla 38»."""
    words = {n for n, word in enumerate(reading.words) if word.start < quantity.end and quantity.start < word.end}
    for place, named in reading.headers.items():
        column = reading.table.columns[place]
        is_right_before = words and 0 < min(words) - max(named) <= MOST_BETWEEN
        codes = np.unique(column.codes[column.numbers == quantity.low]).tolist() if is_right_before else []
        if codes and not column.is_time:
            reading.known |= words | named
            return RowFilter(place, Operator.IS, tuple(column.texts[code] for code in codes))
    return None


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
