"""Columns that a question means: the one that names things, the one whose numbers are asked for."""

import re
from collections.abc import Sequence

import numpy as np

from graphrag.ingestion.tables.columns import Role
from graphrag.ingestion.tables.typed_tables import VALUE, TypedTable
from graphrag.linguistics.language import fold
from graphrag.table_queries.plans import Operator, RowFilter
from graphrag.table_queries.words import QuestionReading, question_rules

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
    times = [place for place in reading.headers if columns[place].is_time and place not in taken]
    people = [place for place in texts if rules.who_header.search(fold(reading.table.headers[place]))]
    if people and rules.who.search(reading.folded):
        return people[0], True
    named = [place for place in texts if place in reading.headers]
    if not named and codes and (rules.numbered.search(reading.folded) or not texts):
        named = codes
    named = named or ([] if codes else times)
    if named:
        return max(named, key=lambda place: (match_score(reading, place), -min(reading.headers[place]))), True
    texts = [place for place in texts if not _are_codes(reading, place)] or texts
    counts = {place: len(columns[place].values) for place in texts}
    return max(texts, key=lambda place: (counts[place], -place), default=None), bool(codes)


def _are_codes(reading: QuestionReading, place: int) -> bool:
    return all(map(_CODE.fullmatch, reading.table.columns[place].values))


def match_score(reading: QuestionReading, place: int) -> float:
    """Return how well the question names a column.

    Each word counts less the more columns it is of; a name that is said whole counts more.
    """
    words = reading.headers.get(place, set())
    held = len({reading.words[number].stem for number in words})
    size = len(reading.content(place))
    return sum(1 / sum(number in others for others in reading.headers.values()) for number in words) + held / max(
        size, 1
    )


def named_number(reading: QuestionReading) -> int | None:
    """Return the column of numbers that the question names best."""
    columns = reading.table.columns
    named = [
        place
        for place in reading.headers
        if columns[place].role not in (None, Role.CODE, Role.YEAR, Role.MONTH) and place not in reading.compared
    ]
    scores = {place: match_score(reading, place) for place in named}
    found = [place for place in named if scores[place] == max(scores.values())]
    return found[0] if len(found) == 1 else None


def amount_column(reading: QuestionReading) -> int | None:
    """Return the column whose numbers are meant; None where several may be."""
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
    return next((found[0] for found in choices if len(found) == 1), None)


def is_money(reading: QuestionReading, place: int) -> bool:
    header, rules = fold(reading.table.headers[place]), question_rules()
    return reading.table.columns[place].unit in ("€", "$", "£") or rules.money_header.search(header) is not None


def counted_number(reading: QuestionReading) -> int | None:
    named, counted = named_number(reading), reading.counted_words
    return named if named is not None and reading.headers[named] & set(counted) else None


def counted_label(reading: QuestionReading, filters: Sequence[RowFilter]) -> int | None:
    """Return the column whose different values are counted: «¿cuántos proveedores …?»."""
    taken = {each.column for each in filters if each.operator is Operator.IS}
    group, is_named = label_column(reading, taken)
    return group if is_named and reading.headers.get(group or 0, set()) & set(reading.counted_words) else None


def is_key(table: TypedTable, place: int) -> bool:
    """Return whether a column tells the rows apart."""
    column = table.columns[place]
    return len(column.values) == np.count_nonzero(column.codes)
