"""Reads a question as a plan over a table, if every word of it is understood: a wrong sum is worse than none."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from graphrag.ingestion.tables.columns import Role
from graphrag.ingestion.tables.typed_tables import KIND, VALUE, Integers, TypedColumn, TypedTable
from graphrag.linguistics.language import fold
from graphrag.linguistics.lexicon import parts_of_speech
from graphrag.table_queries.columns import (
    amount_column,
    counted_label,
    counted_number,
    is_key,
    is_money,
    label_column,
    match_score,
    named_number,
)
from graphrag.table_queries.conditions import lacks_debts, read_answers, read_comparisons, read_days, read_states
from graphrag.table_queries.plans import COMPARED, Aggregate, Operator, RowFilter, TablePlan, select_rows
from graphrag.table_queries.words import QuestionReading, Word, question_rules

SUMMED = ("share", "total")


@dataclass(frozen=True, slots=True)
class ReadPlan:
    plan: TablePlan
    understood: int  # words, those that name columns twice


@dataclass(frozen=True)
class TableRequest:
    """A question's request: an operation or a superlative, «» where it has none, of which rows, and of which column."""

    reading: QuestionReading
    operation: str
    superlative: str
    filters: tuple[RowFilter, ...]
    alternatives: tuple[RowFilter, ...]  # two groups that are compared
    is_listing: bool

    @cached_property
    def amount(self) -> int | None:
        return amount_column(self.reading)

    @cached_property
    def is_of_amount(self) -> bool:
        """Return whether numbers are asked for, not how many rows there are."""
        rules = question_rules()
        patterns = (rules.money, rules.quantity, rules.judging)
        return named_number(self.reading) is not None or any(map(self.says, patterns))

    @cached_property
    def chosen(self) -> Integers:
        return select_rows(self.reading.table, self.filters)

    @property
    def taken(self) -> set[int]:
        return {each.column for each in self.filters}

    def says(self, pattern: re.Pattern[str]) -> bool:
        return pattern.search(self.reading.folded) is not None


def asks_to_compute(question: str) -> bool:
    """Return whether a question counts, averages, ranks or compares: no row of a table answers that by itself."""
    rules, folded = question_rules(), fold(question).replace("’", "'")
    patterns = (
        *(pattern for name, pattern in rules.operations.items() if name != "total"),
        *rules.superlatives.values(),
    )
    return any(pattern.search(folded) for pattern in patterns)


def read_plan(question: str, table: TypedTable, *, language: str) -> ReadPlan | None:
    """Return the plan that a question asks of a table; None where a word is left that may be a condition."""
    reading = QuestionReading(question, language, table)
    request = _read_request(reading)
    if request is None:
        return None
    _understand_rest(reading)
    per = _read_per(reading)
    plan = _plan(request) if per is None else _per_value(request, per)
    left = reading.left(is_counting=request.operation in ("count", "share"))
    if plan is None or not _are_rows(request, plan, left) or (plan := _of_one_kind(request, plan)) is None:
        return None
    named = set().union(*reading.headers.values(), set())
    return ReadPlan(_signed(reading, plan), len(reading.known) + len(named))


def _are_rows(request: TableRequest, plan: TablePlan, left: Sequence[Word]) -> bool:
    """Return whether nothing is left of the question but a noun for what the rows are: «pedidos», "pupils".

    Only of a sheet of which a value is named that has rows, and not for a unit: «metros», "kilos".
    """
    is_told = plan.per is not None or any(map(request.reading.says_whole, request.filters)) or plan.is_of_rows
    is_told = is_told and len(request.chosen) > 0
    if len(left) != 1 or plan.aggregate is Aggregate.CELL or not is_told or not request.reading.table.is_sheet:
        return not left
    noun, units = left[0].folded, frozenset().union(*question_rules().units.values())
    is_noun = left[0].text == noun and "n" in parts_of_speech(noun, request.reading.language)
    is_one = bool(request.superlative)
    return (
        is_noun and noun not in units and not request.says(question_rules().quantity) and (is_one or noun.endswith("s"))
    )


def _of_one_kind(request: TableRequest, plan: TablePlan) -> TablePlan | None:
    """Return the plan over what is budgeted or over what is spent, None where the question does not say of which."""
    table, rules = request.reading.table, question_rules()
    kinds = [place for place, header in enumerate(table.headers) if header in KIND.values()]
    if not kinds or plan.column is None or table.headers[plan.column] not in VALUE.values():
        return plan
    if kinds[0] in {each.column for each in (*plan.filters, *plan.alternatives)} | {plan.group, plan.per}:
        return plan
    spent = tuple(text for text in table.columns[kinds[0]].values if rules.reached_header.search(fold(text)))
    if not spent or not request.says(rules.spending) or request.says(rules.limit_header):
        return None
    return replace(plan, filters=(*plan.filters, RowFilter(kinds[0], Operator.IS, spent)))


def _read_request(reading: QuestionReading) -> TableRequest | None:
    rules = question_rules()
    operation = next((name for name, pattern in rules.operations.items() if reading.asks(pattern)), "")
    superlative = next((name for name, pattern in rules.superlatives.items() if reading.asks(pattern)), "")
    if reading.asks(rules.why):
        return None
    if superlative and operation in ("mean", "total") and reading.is_header(rules.operations[operation]):
        operation = ""  # the highest «media»: a column
    says_two = rules.two_parts.search(reading.folded) and not (superlative and reading.asks(rules.and_how_much))
    if says_two or lacks_debts(reading):
        return None
    if superlative and reading.is_header(rules.superlatives[superlative]):
        superlative = ""  # «por debajo del mínimo»
    filters = [*read_states(reading), *read_days(reading), *read_comparisons(reading)]
    filters += read_answers(reading, {each.column for each in filters})
    reading.compared |= {each.column for each in filters if each.operator in COMPARED}
    alternatives: tuple[RowFilter, ...] = ()
    taken = {each.column for each in filters}
    for each, words in reading.values:
        if each.column in taken or words <= reading.known:  # the words are a value of another column
            continue
        is_compared = operation == "difference" or superlative or rules.compared.search(reading.folded)
        if len(each.texts) == 2 and is_compared and reading.asks(rules.comparing):
            alternatives = tuple(replace(each, texts=(text,)) for text in each.texts)
        else:
            filters.append(replace(each, operator=Operator.IS_NOT if reading.is_denied(min(words)) else Operator.IS))
        reading.known |= words
    days = [each for each in filters if each.operator is Operator.BETWEEN]
    if len(days) == 2 and days[0].column == days[1].column:
        if alternatives:
            return None
        filters = [each for each in filters if each not in days]
        alternatives = tuple(days)
    compares = any(each.operator not in (Operator.IS, Operator.IS_NOT) for each in (*filters, *alternatives))
    if rules.row_order.search(reading.folded) and not compares:
        return None  # «después de Ana»: a row beside another
    is_listing = reading.asks(rules.listing)
    return TableRequest(reading, operation, superlative, tuple(filters), alternatives, is_listing)


def _understand_rest(reading: QuestionReading) -> None:
    """Mark the words that name columns and those that only ask."""
    rules = question_rules()
    reading.known.update(*reading.headers.values())
    for pattern in (
        *(rules.when, rules.who, rules.money, rules.quantity, rules.per_month),
        *(rules.before, rules.after, rules.not_, rules.top, rules.periods),
    ):
        reading.asks(pattern)
    reading.known |= {number for number, word in enumerate(reading.words) if word.folded in rules.numbers}


def _read_per(reading: QuestionReading) -> int | None:
    """Return the column of each of whose values, or months, a question asks: «por cliente», "each month"."""
    rules, columns = question_rules(), reading.table.columns
    groups = {
        number: place for place, words in reading.headers.items() if _has_groups(columns[place]) for number in words
    }
    times = [place for place, column in enumerate(columns) if column.is_time]
    per = None
    for number in range(1, len(reading.words)):
        before, word = reading.words[number - 1].folded, reading.words[number].folded
        if rules.by.fullmatch(before) and number in groups:
            per = groups[number]
        elif rules.by.fullmatch(before) and rules.month.fullmatch(word) and times:
            per = times[0]
        elif not rules.per.fullmatch(before):
            continue
        reading.known |= {number - 1, number}  # «por pedido»: of each row
    return per


def _has_groups(column: TypedColumn) -> bool:
    is_repeated = 2 * len(column.values) <= int(np.count_nonzero(column.codes))
    return column.is_text or (is_repeated and not column.is_time)


def _per_value(request: TableRequest, per: int) -> TablePlan | None:
    """Return the count, sum or mean for each value of a column."""
    if request.superlative or request.alternatives or request.operation not in ("", "total", "count", "mean"):
        return None
    filters = tuple(each for each in request.filters if each.column != per)
    is_counted = request.operation == "count" and counted_number(request.reading) is None
    if not is_counted and request.amount is None:
        return None
    aggregate = Aggregate.COUNT if is_counted else Aggregate.MEAN if request.operation == "mean" else Aggregate.SUM
    return TablePlan(aggregate, filters, None if is_counted else request.amount, per=per)


def _signed(reading: QuestionReading, plan: TablePlan) -> TablePlan:
    """Return the plan over spending or income alone where a column holds both, spending below zero."""
    if plan.column is None or reading.table.columns[plan.column].is_time:
        return plan
    numbers = reading.table.columns[plan.column].numbers
    has_income, has_spending = bool((numbers > 0).any()), bool((numbers < 0).any())
    if not has_income or not has_spending:
        return replace(plan, factor=-1) if has_spending else plan
    rules = question_rules()
    for pattern, operator, factor in ((rules.income, Operator.ABOVE, 1), (rules.spending, Operator.BELOW, -1)):
        if pattern.search(reading.folded):
            of_sign = RowFilter(plan.column, operator)
            return replace(plan, filters=(*plan.filters, of_sign), base=(*plan.base, of_sign), factor=factor)
    return plan


def _plan(request: TableRequest) -> TablePlan | None:
    if request.is_of_amount and request.amount is None and (request.alternatives or request.operation in SUMMED):
        return None
    if request.alternatives:
        return _difference(request)
    if request.says(question_rules().changed):
        return None  # against what came before
    match request.operation:
        case "share":
            return _share(request)
        case "mean" if request.superlative and request.amount is not None and (grouped := _superlative(request)):
            return replace(grouped, column=request.amount, is_grouped=True, of_means=True, asks_value=False)
        case "mean" | "median" if request.amount is not None:
            is_monthly = request.says(question_rules().per_month)
            return TablePlan(Aggregate("monthly" if is_monthly else request.operation), request.filters, request.amount)
        case "mean" | "median":
            return None
    if request.superlative:
        return _superlative(request)
    if request.operation == "count":
        return _count(request)
    if request.operation == "total":
        return None if request.amount is None else TablePlan(Aggregate.SUM, request.filters, request.amount)
    is_over = any(each.operator is Operator.ABOVE_COLUMN for each in request.filters)
    if not request.filters or (is_over and not request.is_listing):
        return None
    return _look_up(request) or _spent(request)


def _difference(request: TableRequest) -> TablePlan | None:
    table, filters = request.reading.table, request.filters
    rules = question_rules()
    asks_count = request.operation != "difference" or request.says(rules.operations["count"])
    asks_count = asks_count and not request.says(rules.how_much)
    is_one_row_each = all(len(select_rows(table, (*filters, each))) == 1 for each in request.alternatives)
    is_counted = not request.is_of_amount and asks_count and not is_one_row_each
    if request.amount is None and not is_counted:
        return None
    column = None if is_counted else request.amount
    return TablePlan(Aggregate.DIFFERENCE, filters, column, alternatives=request.alternatives)


def _share(request: TableRequest) -> TablePlan | None:
    """The whole is what is of the same time, and of what the question opens with."""
    reading, filters = request.reading, request.filters
    if not filters:
        return None
    whole = tuple(each for each in filters if each.operator is Operator.BETWEEN or reading.opens_share(each))
    holds_values = reading.table.headers[-1] in VALUE.values()
    return TablePlan(
        Aggregate.SHARE,
        filters,
        request.amount if request.is_of_amount or holds_values else None,
        base=whole if len(whole) < len(filters) else (),
    )


def _count(request: TableRequest) -> TablePlan | None:
    """Count rows, or the different values of a column; a number that is counted, «horas» or «kWh», is summed up."""
    reading, rules, filters = request.reading, question_rules(), request.filters
    table, group = reading.table, counted_label(request.reading, request.filters)
    if group is None and (request.says(rules.different) or table.headers[-1] in VALUE.values()):
        # «personas distintas»; and where months are rows, a thing has several.
        people = [place for place, header in enumerate(table.headers) if rules.who_header.search(fold(header))]
        group = people[0] if people and request.says(rules.people) else label_column(reading, request.taken)[0]
    is_over = any(each.operator is Operator.ABOVE_COLUMN for each in filters)
    if is_over and group is None and request.says(rules.money):
        return None  # by how much, of each row
    of_unit = any(rules.unit_header.search(fold(table.headers[each.column])) for each in filters)
    counted = [reading.words[number].folded for number in reading.counted_words]
    of_values = set().union(*(words for _, words in reading.values), set())
    quantities = [place for place, header in enumerate(table.headers) if rules.quantity_header.search(fold(header))]
    if group is None and len(quantities) == 1 and of_values & set(reading.counted_words[:1]):
        return TablePlan(Aggregate.SUM, filters, quantities[0])  # «¿cuántas hogazas …?», in rows of orders
    is_quantity = group is None and any(map(rules.quantity.fullmatch, counted))
    summed = request.amount if of_unit or is_quantity else counted_number(reading)
    if summed is not None and (of_unit or is_quantity or table.columns[summed].role is Role.AMOUNT):
        return TablePlan(Aggregate.SUM, filters, summed)
    if group is None and any(word in rules.times for word in counted):
        return None  # «¿cuántos años tiene …?»
    if group is None and any(is_key(table, each.column) for each in filters if each.operator is Operator.IS):
        return None  # one row: something else of it is counted
    return TablePlan(Aggregate.COUNT, filters, group=group) if filters or group is not None else None


def _superlative(request: TableRequest) -> TablePlan | None:
    reading, filters, rules = request.reading, request.filters, question_rules()
    columns = reading.table.columns
    group, is_named = label_column(reading, {each.column for each in filters if each.operator is Operator.IS})
    if group is None:
        return None
    if request.superlative in ("earliest", "latest"):
        time = next((place for place, column in enumerate(columns) if column.is_time), None)
        aggregate = Aggregate.MINIMUM if request.superlative == "earliest" else Aggregate.MAXIMUM
        return None if time is None else TablePlan(aggregate, filters, time, group, is_grouped=False)
    measure = named_number(reading)
    is_of_row = (measure is not None and request.says(rules.of_row)) or request.says(rules.of_row_noun)
    is_grouped = is_named and (not is_of_row or request.says(rules.operations["total"]))
    # Where each group is one row, there is nothing to count.
    column = request.amount if request.is_of_amount or is_key(reading.table, group) else None
    if column is None and (request.is_of_amount or not is_grouped):
        return None
    asks_value = measure is not None and all(
        min(reading.headers[measure]) <= min(words) for place, words in reading.headers.items() if place != measure
    )
    return TablePlan(
        Aggregate(request.superlative),
        filters,
        column,
        group,
        is_grouped=is_grouped,
        asks_value=asks_value and not is_grouped,
        keep=_number_asked(reading),
    )


def _number_asked(reading: QuestionReading) -> int:
    """Return how many are asked for: «los tres», "top 5"; one where no number says so."""
    rules = question_rules()
    if match := rules.top.search(reading.folded):
        return int(match[1])
    spans = [match.span() for match in rules.periods.finditer(reading.folded)]  # «los seis meses»
    told = (word for word in reading.words if not any(start <= word.start < end for start, end in spans))
    return next((rules.numbers[word.folded] for word in told if word.folded in rules.numbers), 1)


def _look_up(request: TableRequest) -> TablePlan | None:
    """A cell of the one row that is meant, or the names of the rows."""
    reading, filters, rules = request.reading, request.filters, question_rules()
    columns, taken, is_one = reading.table.columns, request.taken, len(request.chosen) == 1
    named = [place for place in reading.headers if place not in taken]
    times = [place for place, column in enumerate(columns) if column.is_time and place not in taken]
    headers = enumerate(reading.table.headers)
    people = [place for place, header in headers if place not in taken and rules.who_header.search(fold(header))]
    if times and request.says(rules.when):
        named = [place for place in named if place in times] or times
        return _cell(request, named)
    if is_one and len(people) == 1 and request.says(rules.who):
        return _cell(request, people)
    if is_one and named:
        return _cell(request, named)
    if is_one and request.amount is not None and (request.says(rules.quantity) or request.says(rules.money)):
        return _cell(request, [request.amount])
    group, is_named = label_column(reading, taken)
    noun = rules.asked_noun.search(reading.folded)  # «¿Qué empresas …?», where «Empresa» is a value
    asked = {number for number, word in enumerate(reading.words) if noun and noun.start(1) == word.start}
    of_values = set().union(*(words for _, words in reading.values), set())
    if not request.is_listing or group is None or not (is_named or (asked and asked <= of_values)):
        return _list_rows(request)
    return TablePlan(Aggregate.LIST, filters, group=group)


def _list_rows(request: TableRequest) -> TablePlan | None:
    """The rows by the column that tells them apart, which «¿qué facturas …?» does not name."""
    columns, words = request.reading.table.columns, request.reading.asked_words
    keys = [
        place for place in range(len(columns)) if is_key(request.reading.table, place) and columns[place].role is None
    ]
    keys = keys or [place for place, column in enumerate(columns) if column.role is Role.CODE]
    is_several = bool(words) and request.reading.words[words[0]].folded.endswith("s")
    has_conditions = any(each.operator is not Operator.BETWEEN for each in request.filters)
    if not keys or not is_several or not has_conditions:
        return None
    return TablePlan(Aggregate.LIST, request.filters, group=keys[0], is_of_rows=True)


def _cell(request: TableRequest, places: Sequence[int]) -> TablePlan | None:
    """Return the plan for the column that the question names best; None where two are named as well."""
    scores = {place: match_score(request.reading, place) for place in places}
    best = [place for place in places if scores[place] == max(scores.values())]
    return TablePlan(Aggregate.CELL, request.filters, best[0]) if len(best) == 1 else None


def _spent(request: TableRequest) -> TablePlan | None:
    """Return the sum that «what did we spend on …?» asks for, though nothing says so."""
    amount = request.amount
    if amount is None or not request.says(question_rules().money):
        return None
    is_summed = len(request.chosen) > 1 or is_money(request.reading, amount)
    return TablePlan(Aggregate.SUM, request.filters, amount) if is_summed else None
