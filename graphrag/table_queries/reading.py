"""Reads a question as a plan over a table, if every word of it is understood: a wrong sum is worse than none."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from graphrag.ingestion.tables.columns import Role
from graphrag.linguistics.language import fold
from graphrag.table_queries.columns import (
    amount_column,
    counted_label,
    counted_number,
    is_money,
    label_column,
    match_score,
    named_number,
)
from graphrag.table_queries.conditions import read_answers, read_comparisons, read_days, read_states
from graphrag.table_queries.plans import Aggregate, Operator, RowFilter, TablePlan
from graphrag.table_queries.tables import VALUE, QueryTable
from graphrag.table_queries.words import QuestionReading, question_rules


@dataclass(frozen=True, slots=True)
class ReadPlan:
    plan: TablePlan
    understood: int  # words, those that name columns twice


def read_plan(question: str, table: QueryTable, *, language: str) -> ReadPlan | None:
    """Return the plan that a question asks of a table; None where a word is left that may be a condition."""
    reading = QuestionReading(question, language, table)
    rules = question_rules()
    operation = next((name for name, pattern in rules.operations.items() if reading.asks(pattern)), "")
    superlative = next((name for name, pattern in rules.superlatives.items() if reading.asks(pattern)), "")
    if superlative and operation in ("mean", "total") and reading.is_header(rules.operations[operation]):
        operation = ""  # the highest «media»: a column
    filters = [*read_states(reading), *read_days(reading), *read_comparisons(reading)]
    filters += read_answers(reading, {each.column for each in filters})
    taken = {each.column for each in filters}
    alternatives: tuple[RowFilter, ...] = ()
    for each, words in reading.values:
        if each.column in taken or words <= reading.known:  # the words are a value of another column
            continue
        first = min(words)
        is_compared = operation == "difference" or superlative or rules.compared.search(reading.folded)
        if len(each.texts) == 2 and is_compared and reading.asks(rules.comparing):
            alternatives = tuple(replace(each, texts=(text,)) for text in each.texts)
        else:
            filters.append(replace(each, operator=Operator.IS_NOT if reading.is_denied(first) else Operator.IS))
        reading.known |= words
    days = [each for each in filters if each.operator is Operator.BETWEEN]
    if len(days) == 2 and alternatives:
        return None
    if len(days) == 2 and days[0].column == days[1].column:
        filters = [each for each in filters if each not in days]
        alternatives = tuple(days)
    for words in reading.headers.values():
        reading.known |= words
    compares = any(each.operator not in (Operator.IS, Operator.IS_NOT) for each in (*filters, *alternatives))
    if rules.row_order.search(reading.folded) and not compares:
        return None  # «después de Ana»: a row beside another
    is_listing = reading.asks(rules.listing)
    reading.asks(rules.when), reading.asks(rules.who)
    reading.asks(rules.money)
    reading.asks(rules.quantity)
    is_monthly = reading.asks(rules.per_month)
    reading.asks(rules.before), reading.asks(rules.after), reading.asks(rules.not_)
    reading.known |= {number for number, word in enumerate(reading.words) if word.folded in rules.numbers}
    reading.asks(rules.top)
    reading.asks(rules.periods)
    for number in range(1, len(reading.words)):
        if rules.per.fullmatch(reading.words[number - 1].folded) and number not in reading.known:
            reading.known.add(number)  # «por pedido»: of each row
        elif rules.by.fullmatch(reading.words[number - 1].folded) and any(
            number in words and reading.table.columns[place].is_text for place, words in reading.headers.items()
        ):
            return None  # «por cliente»: a value for each
    reading.compared |= {
        each.column
        for each in filters
        if each.operator in (Operator.ABOVE, Operator.BELOW, Operator.AT_LEAST, Operator.AT_MOST)
    }
    plan = _plan(reading, operation, superlative, tuple(filters), alternatives, is_listing, is_monthly)
    if plan is None or reading.left(is_counting=operation in ("count", "share")):
        return None
    plan = _signed(reading, plan)
    return ReadPlan(plan, len(reading.known) + len(set().union(*reading.headers.values(), set())))


def _signed(reading: QuestionReading, plan: TablePlan) -> TablePlan:
    """Return the plan over spending or income alone where a column holds both, spending below zero."""
    if plan.column is None or reading.table.columns[plan.column].is_time:
        return plan
    numbers = [number for number in reading.table.columns[plan.column].numbers if number]
    if not numbers or min(numbers) > 0 or max(numbers) < 0:
        return replace(plan, factor=-1) if numbers and max(numbers) < 0 else plan
    for pattern, operator, factor in (
        (question_rules().income, Operator.ABOVE, 1),
        (question_rules().spending, Operator.BELOW, -1),
    ):
        if pattern.search(reading.folded):
            of_sign = RowFilter(plan.column, operator)
            base = (*plan.base, of_sign)
            return replace(plan, filters=(*plan.filters, of_sign), base=base, factor=factor)
    return plan


def _plan(
    reading: QuestionReading,
    operation: str,
    superlative: str,
    filters: tuple[RowFilter, ...],
    alternatives: tuple[RowFilter, ...],
    is_listing: bool,
    is_monthly: bool,
) -> TablePlan | None:
    rules, amount = question_rules(), amount_column(reading)
    is_of_amount = (
        named_number(reading) is not None
        or rules.money.search(reading.folded) is not None
        or rules.quantity.search(reading.folded) is not None
        or rules.judging.search(reading.folded) is not None
    )
    if is_of_amount and amount is None and (alternatives or operation in ("share", "total")):
        return None
    if alternatives:
        is_counted = not is_of_amount and (
            operation != "difference" or rules.operations["count"].search(reading.folded)
        )
        is_unique = all(len(_chosen(reading.table, (*filters, each))) == 1 for each in alternatives)
        if amount is None and (is_unique or not is_counted):
            return None
        column = None if is_counted and not is_unique else amount
        return TablePlan(Aggregate.DIFFERENCE, filters, column, alternatives=alternatives)
    if operation == "share":
        if not filters:
            return None
        base = tuple(each for each in filters if each.operator is Operator.BETWEEN)
        base = (*base, *(each for each in filters if each not in base and reading.opens_share(each)))
        base = base if len(base) < len(filters) else ()
        is_of_values = reading.table.headers[-1] in VALUE.values()
        return TablePlan(Aggregate.SHARE, filters, amount if is_of_amount or is_of_values else None, base=base)
    if operation in ("mean", "median"):
        if amount is None:
            return None
        aggregate = Aggregate.MONTHLY if is_monthly else Aggregate.MEAN if operation == "mean" else Aggregate.MEDIAN
        return TablePlan(aggregate, filters, amount)
    if superlative:
        return _superlative(reading, superlative, filters, amount, is_of_amount=is_of_amount)
    is_over = any(each.operator is Operator.ABOVE_COLUMN for each in filters)
    if operation == "count":
        if is_over and rules.money.search(reading.folded) and not counted_label(reading, filters):
            return None  # by how much, of each row
        units = [each for each in filters if rules.unit_header.search(fold(reading.table.headers[each.column]))]
        if units and amount is not None:
            return TablePlan(Aggregate.SUM, filters, amount)
        is_quantity = _follows_count(reading, rules.quantity)
        counted = amount if is_quantity else counted_number(reading)
        if counted is not None and is_quantity:
            return TablePlan(Aggregate.SUM, filters, counted)
        if counted is not None and reading.table.columns[counted].role is Role.AMOUNT:
            return TablePlan(Aggregate.SUM, filters, counted)
        group = counted_label(reading, filters)
        if group is None and any(
            _is_key(reading.table, each.column) for each in filters if each.operator is Operator.IS
        ):
            return None  # one row: something else of it is counted
        return TablePlan(Aggregate.COUNT, filters, group=group) if filters or group is not None else None
    if operation == "total":
        return TablePlan(Aggregate.SUM, filters, amount) if amount is not None else None
    if is_over and not is_listing:
        return None
    found = _look_up(reading, filters, is_listing)
    if found is None and filters and amount is not None and rules.money.search(reading.folded):
        chosen = _chosen(reading.table, filters)
        return TablePlan(Aggregate.SUM, filters, amount) if len(chosen) > 1 or is_money(reading, amount) else None
    return found


def _chosen(table: QueryTable, filters: Sequence[RowFilter]) -> list[int]:
    return [row for row in range(len(table.rows)) if all(each.accepts(table, row) for each in filters)]


def _is_key(table: QueryTable, place: int) -> bool:
    cells = [row.cells[place] for row in table.rows if row.cells[place]]
    return len(set(cells)) == len(cells)


def _follows_count(reading: QuestionReading, pattern: re.Pattern[str]) -> bool:
    return any(pattern.fullmatch(reading.words[number].folded) for number in reading.counted_words)


def _superlative(
    reading: QuestionReading,
    superlative: str,
    filters: tuple[RowFilter, ...],
    amount: int | None,
    *,
    is_of_amount: bool,
) -> TablePlan | None:
    columns = reading.table.columns
    group, is_named = label_column(reading, {each.column for each in filters if each.operator is Operator.IS})
    if group is None:
        return None
    if superlative in ("earliest", "latest"):
        time = next((place for place, column in enumerate(columns) if column.is_time), None)
        aggregate = Aggregate.MINIMUM if superlative == "earliest" else Aggregate.MAXIMUM
        return None if time is None else TablePlan(aggregate, filters, time, group, is_grouped=False)
    column, measure = amount if is_of_amount else None, named_number(reading)
    rules = question_rules()
    is_of_row = measure is not None and rules.of_row.search(reading.folded) is not None
    if (is_of_row or rules.of_row_noun.search(reading.folded)) and not rules.operations["total"].search(reading.folded):
        is_named = False
    labels = [row.cells[group] for row in reading.table.rows]
    if column is None and len(set(labels)) == len(labels):  # one row each: there is nothing to count
        column = amount
    if column is None and (is_of_amount or not is_named):
        return None
    asks_value = measure is not None and all(
        min(reading.headers[measure]) <= min(words) for place, words in reading.headers.items() if place != measure
    )
    return TablePlan(
        Aggregate(superlative),
        filters,
        column,
        group,
        is_grouped=is_named,
        asks_value=asks_value and not is_named,
        keep=_number_asked(reading),
    )


def _number_asked(reading: QuestionReading) -> int:
    """Return how many are asked for: «los tres», "top 5"; one where no number says so."""
    numbers = question_rules().numbers
    if match := question_rules().top.search(reading.folded):
        return int(match[1])
    of_time = {
        number
        for match in question_rules().periods.finditer(reading.folded)
        for number, word in enumerate(reading.words)
        if match.start() <= word.start < match.end()
    }
    told = [
        numbers[word.folded]
        for number, word in enumerate(reading.words)
        if word.folded in numbers and number not in of_time
    ]
    return told[0] if told else 1


def _look_up(reading: QuestionReading, filters: tuple[RowFilter, ...], is_listing: bool) -> TablePlan | None:
    taken = {each.column for each in filters}
    if not filters:
        return None
    named = [place for place in reading.headers if place not in taken]
    times = [place for place, column in enumerate(reading.table.columns) if column.is_time and place not in taken]
    if question_rules().when.search(reading.folded) and times:
        named = [place for place in named if place in times] or (times if len(times) == 1 else [])
        return (
            TablePlan(Aggregate.CELL, filters, max(named, key=lambda place: match_score(reading, place)))
            if named
            else None
        )
    chosen = _chosen(reading.table, filters)
    people = [
        place
        for place, header in enumerate(reading.table.headers)
        if place not in taken and question_rules().who_header.search(fold(header))
    ]
    if len(chosen) == 1 and len(people) == 1 and question_rules().who.search(reading.folded):
        return TablePlan(Aggregate.CELL, filters, people[0])
    if len(chosen) == 1 and named:
        scores = {place: match_score(reading, place) for place in named}
        best = [place for place in named if scores[place] == max(scores.values())]
        return TablePlan(Aggregate.CELL, filters, best[0]) if len(best) == 1 else None
    rules, amount = question_rules(), amount_column(reading)
    is_number = rules.quantity.search(reading.folded) or rules.money.search(reading.folded)
    if len(chosen) == 1 and amount is not None and is_number:
        return TablePlan(Aggregate.CELL, filters, amount)
    group, is_named = label_column(reading, taken)
    noun = rules.asked_noun.search(reading.folded)
    asked = {number for number, word in enumerate(reading.words) if noun and noun.start(1) <= word.start < noun.end(1)}
    valued = set().union(*(words for _, words in reading.values), set())
    is_list = is_listing and group is not None and (is_named or (bool(asked) and asked <= valued))
    return TablePlan(Aggregate.LIST, filters, group=group) if is_list else None
