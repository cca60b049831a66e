"""Columns that a question means: the one that names things, the one whose numbers are asked for."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from graphrag.ingestion.tables.columns import Role
from graphrag.ingestion.tables.typed_tables import VALUE, TypedColumn, TypedTable
from graphrag.linguistics.language import fold, stem
from graphrag.linguistics.lexicon import is_agent
from graphrag.table_queries.plans import Aggregate, Grain, Operator, RowFilter, TablePlan, select_rows
from graphrag.table_queries.words import QuestionReading, is_verb, question_rules

MONEY = ("€", "$", "£")
NOUN = 0.1  # what it counts that a header's noun is said: «Cuota ordinaria», not «Estado cuota»
_CODE = re.compile(r"[A-Z]{0,5}[-/ ]?\d[\w/-]*")


def label_column(reading: QuestionReading, taken: set[int]) -> tuple[int | None, bool]:
    """Return the column that names what is asked for, and whether the question names it; else the most telling one."""
    columns, rules = reading.table.columns, question_rules()
    texts = [place for place, column in enumerate(columns) if place not in taken and column.is_text]
    codes = [
        place
        for place, column in enumerate(columns)
        if place not in taken and column.role in (Role.CODE, Role.YEAR) and place in reading.headers
    ]
    says_day = rules.occasion.search(reading.folded) is not None  # «Los tres avisos», not «F. aviso»
    times = [place for place in reading.headers if says_day and columns[place].is_time and place not in taken]
    if asked_grain(reading) and (days := [place for place, column in enumerate(columns) if column.is_time]):
        return max(days, key=lambda place: (match_score(reading, place), -place)), True
    people = [place for place in texts if rules.who_header.search(fold(reading.table.headers[place]))]
    if people and (rules.who.search(reading.folded) or _asks_for_people(reading)):
        return people[0], True
    spent = set().union(*(reading.headers.get(place, set()) for place in taken), set())
    named = [place for place in texts if place in reading.headers and not reading.headers[place] <= spent]
    if not named and codes and (rules.numbered.search(reading.folded) or not texts):
        named = codes
    named = named or ([] if codes else times)
    if named:
        return max(named, key=lambda place: (match_score(reading, place), -min(reading.headers[place]))), True
    texts = [place for place in texts if not _are_codes(reading, place)] or texts
    counts = {place: len(columns[place].values) for place in texts}
    return max(texts, key=lambda place: (counts[place], -place), default=None), bool(codes)


def asked_grain(reading: QuestionReading) -> Grain | None:
    """Return the kind of period that is asked for: «¿qué mes …?», "which quarter"."""
    match = question_rules().asked_noun.search(reading.folded)
    grains = question_rules().grains.items()
    return next((Grain(name) for name, words in grains if match and match[1] in words), None)


def _asks_for_people(reading: QuestionReading) -> bool:
    """Return whether the noun that is asked for, counted or listed is one of people; it is understood."""
    match = question_rules().listed_noun.search(reading.folded)
    listed = [n for n, word in enumerate(reading.words) if match and word.start == match.start(1)]
    headed = set().union(*reading.headers.values(), set())
    asked = [
        n
        for n in (*reading.asked_words, *reading.counted_words[:1], *listed)
        if n not in headed and is_agent(reading.words[n].folded, reading.language)
    ]
    reading.known |= set(asked)
    return bool(asked)


def _are_codes(reading: QuestionReading, place: int) -> bool:
    return all(map(_CODE.fullmatch, reading.table.columns[place].values))


def match_score(reading: QuestionReading, place: int) -> float:
    """Return how well the question names a column.

    Each word counts less the more columns it is of; a name that is said whole counts more, and so does its noun.
    """
    words = reading.headers.get(place, set())
    held = len({reading.words[number].stem for number in words})
    content = reading.content(place)
    shares = (1 / sum(number in others for others in reading.headers.values()) for number in words)
    noun = stem(content[-1 if reading.table.language == "en" else 0], reading.language) if content else ""
    is_noun_said = any(reading.words[number].stem == noun for number in words)
    return sum(shares) + held / max(len(content), 1) + NOUN * is_noun_said


def named_number(reading: QuestionReading) -> int | None:
    """Return the column of numbers that the question names best."""
    columns = reading.table.columns
    named = [place for place in reading.headers if columns[place].role not in (None, Role.CODE, Role.YEAR, Role.MONTH)]
    named = [place for place in named if place not in reading.compared] or named
    scores = {place: match_score(reading, place) for place in named}
    found = [place for place in named if scores[place] == max(scores.values())]
    return found[0] if len(found) == 1 else None


def amount_column(reading: QuestionReading) -> int | None:
    """Return the column whose numbers are meant; None where several may be."""
    if question_rules().states[0].asked.search(reading.folded) and (owed := owed_column(reading)) is not None:
        return owed
    if (taxed := _of_tax_kind(reading)) is not None:
        return taxed
    named = named_number(reading)
    if named is not None and (is_money(reading, named) or not question_rules().expensive.search(reading.folded)):
        return named
    columns, headers, rules = reading.table.columns, list(map(fold, reading.table.headers)), question_rules()
    if reading.table.headers[-1] in VALUE.values() and columns[-1].role:
        return len(columns) - 1
    numbers = [place for place, column in enumerate(columns) if column.role in (Role.AMOUNT, Role.LEVEL, Role.SHARE)]
    if len(numbers) == 1 and not rules.expensive.search(reading.folded):
        return numbers[0]
    if rules.expensive.search(reading.folded):
        wanted = [place for place in numbers if is_money(reading, place)]
        prices = [place for place in wanted if columns[place].role is Role.LEVEL]
        amounts = [place for place in wanted if columns[place].role is Role.AMOUNT]
        choices = (
            (prices, wanted)
            if re.search(r"\b(?:por|par|per|a la|each)\b", reading.folded)
            else (amounts, prices, wanted)
        )
        return next((found[0] for found in choices if len(found) == 1), None)
    if rules.money.search(reading.folded):
        wanted = [place for place in numbers if is_money(reading, place)]
    elif rules.quantity.search(reading.folded):
        wanted = [place for place in numbers if rules.quantity_header.search(headers[place])]
    else:
        wanted = [place for place in numbers if columns[place].role is Role.AMOUNT]
    amounts = [place for place in wanted if columns[place].role is Role.AMOUNT]
    spent = [place for place in wanted if rules.spent_header.search(headers[place])]
    choices = (wanted, amounts, spent) if rules.spending.search(reading.folded) else (wanted, amounts)
    if rules.how_much.search(reading.folded) and not rules.quantity.search(reading.folded):
        choices = (*choices, [place for place in amounts if is_money(reading, place)])
    return next((found[0] for found in choices if len(found) == 1), None)


def _of_tax_kind(reading: QuestionReading) -> int | None:
    """Return the column of amounts with or without tax, where the question says which; its words are understood."""
    for kind in question_rules().tax_kinds:
        headers = [
            place
            for place, column in enumerate(reading.table.columns)
            if column.role in (Role.AMOUNT, Role.LEVEL) and kind.header.search(fold(column.header))
        ]
        if len(headers) == 1 and reading.asks(kind.asked):
            return headers[0]
    return None


def owed_column(reading: QuestionReading) -> int | None:
    """Return the column of what is still to be paid, of money, 0 where nothing is."""
    header = question_rules().owed_header
    found = [
        place
        for place, column in enumerate(reading.table.columns)
        if column.role in (Role.AMOUNT, Role.LEVEL)
        and header.search(fold(column.header))
        and (column.numbers == 0).any()
    ]
    return found[0] if len(found) == 1 else None


def is_stock(column: TypedColumn) -> bool:
    """Return whether a column says how many there are of something, and not how many there should be."""
    rules, header = question_rules(), fold(column.header)
    is_limit = rules.least_header.search(header) or rules.limit_header.search(header)
    is_money = bool(column.unit in MONEY or set(header) & set(MONEY))
    return (
        column.role is not None
        and not is_limit
        and not is_money
        and rules.counted_unit_header.search(header) is not None
    )


def is_price(column: TypedColumn) -> bool:
    return question_rules().unit_price_header.search(fold(column.header)) is not None


def is_money(reading: QuestionReading, place: int) -> bool:
    return is_money_column(reading.table.columns[place])


def is_money_column(column: TypedColumn) -> bool:
    return column.unit in MONEY or question_rules().money_header.search(fold(column.header)) is not None


def currency_column(table: TypedTable) -> int | None:
    """Return the column that says the currency of each row's amounts."""
    currency = question_rules().currency
    named = (
        place
        for place, column in enumerate(table.columns)
        if column.is_text and column.values and all(currency.fullmatch(fold(text).strip()) for text in column.values)
    )
    return next(named, None)


def mixed_currencies(column: TypedColumn) -> tuple[str, ...]:
    """Return the currencies that the cells of a column write beside their numbers, if there are several."""
    found: dict[str, None] = {}
    for text in column.values if column.is_text else ():
        written = question_rules().currency.findall(fold(text))
        if len(written) != 1 or not re.fullmatch(r"[-+]?[\d.,\s]+", fold(text).replace(written[0], "")):
            return ()
        found[written[0]] = None
    return tuple(found) if len(found) > 1 else ()


def in_one_currency(table: TypedTable, plan: TablePlan) -> TablePlan | None:
    """Return the plan for each currency where it would add amounts of several; None where it would compare them."""
    place = currency_column(table)
    if place is None or plan.column is None or plan.aggregate in (Aggregate.LIST, Aggregate.CELL, Aggregate.COUNT):
        return plan
    column = table.columns[plan.column]
    has_own = bool(column.unit or set(column.header) & set(MONEY))
    rows = select_rows(table, plan.base if plan.aggregate is Aggregate.SHARE else plan.filters)
    if has_own or plan.per == place or not is_money_column(column) or len(set(table.columns[place].codes[rows])) < 2:
        return plan
    is_value = plan.aggregate in (Aggregate.SUM, Aggregate.MEAN, Aggregate.MEDIAN)
    return replace(plan, per=place) if is_value and plan.per is None and not plan.alternatives else None


def counted_number(reading: QuestionReading) -> int | None:
    """Return the column of numbers that what is counted names: «¿cuántos kilos …?», not «¿cuántos nacieron …?»."""
    named, counted = named_number(reading), reading.counted_words
    of_noun = [n for n in counted if not is_verb(reading.words[n].text, reading.language, may_be_state=False)]
    return named if named is not None and reading.headers[named] & set(of_noun) else None


def counted_label(reading: QuestionReading, filters: Sequence[RowFilter]) -> int | None:
    """Return the column whose different values are counted: «¿cuántos proveedores …?»."""
    taken = {each.column for each in filters if each.operator is Operator.IS}
    group, is_named = label_column(reading, taken)
    if group is None or reading.table.columns[group].is_time:
        return None
    said = {reading.words[n].stem for n in reading.headers.get(group, set()) & set(reading.counted_words)}
    last = reading.table.headers[group].rpartition(" / ")[2]  # of two rows of headers, «LE VIN / Appellation»
    names = {stem(word, reading.language) for word in re.findall(r"\w+", last)}
    return group if is_named and (said & names or (said and " / " not in reading.table.headers[group])) else None


def is_key(table: TypedTable, place: int) -> bool:
    """Return whether a column tells the rows apart."""
    column = table.columns[place]
    return len(column.values) == np.count_nonzero(column.codes)
