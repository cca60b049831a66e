"""Plans of table queries: filters, grouping and an aggregate, and how they are run over a table's rows."""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from itertools import pairwise
from math import fsum, isclose
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from graphrag.ingestion.tables.typed_tables import Floats, Integers, TypedColumn, TypedTable
from graphrag.linguistics.language import fold


class Aggregate(StrEnum):
    LIST = "list"  # the rows
    CELL = "cell"  # of the one row
    COUNT = "count"
    SUM = "sum"
    MEAN = "mean"
    MONTHLY = "monthly"  # the mean of each month's sum
    MEDIAN = "median"
    SHARE = "share"  # of the sum, or of the rows without a column, in per cent
    MAXIMUM = "maximum"  # of groups, or of rows
    MINIMUM = "minimum"
    DIFFERENCE = "difference"  # between two groups
    RANGE = "range"  # between the greatest and the least


class Step(StrEnum):
    """The row that is meant, beside or among those that the filters accept."""

    NEXT = "next"
    PREVIOUS = "previous"
    FIRST = "first"
    LAST = "last"


class Grain(StrEnum):
    """The periods that days are gathered in."""

    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


class PeriodChange(StrEnum):
    """The changes of each period against the one before that are wanted."""

    EACH = "each"
    RISE = "rise"
    FALL = "fall"


class Arithmetic(StrEnum):
    """The operation on two columns, row by row; between two days they are counted."""

    MINUS = "−"
    PLUS = "+"  # a missing number is none to add
    TIMES = "×"


class Operator(StrEnum):
    IS = "="
    IS_NOT = "≠"
    BETWEEN = "between"  # two days
    ABOVE = ">"
    BELOW = "<"
    AT_LEAST = "≥"
    AT_MOST = "≤"
    BELOW_COLUMN = "< column"
    ABOVE_COLUMN = "> column"
    EMPTY = "= ∅"
    FILLED = "≠ ∅"


_Value = tuple[str, float, tuple[int, ...]]  # of a period or group: its label, its value, its rows
_MONTHS = {Grain.MONTH: 1, Grain.QUARTER: 3, Grain.YEAR: 12}
_EPOCH = date(1970, 1, 1).toordinal()
COMPARED = (Operator.ABOVE, Operator.BELOW, Operator.AT_LEAST, Operator.AT_MOST)  # with a number


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Condition on a cell of a column: it is one of the texts, or compares with a number or days."""

    column: int
    operator: Operator
    texts: tuple[str, ...] = ()
    number: float = 0  # of BELOW_COLUMN and ABOVE_COLUMN, the other column's place
    days: tuple[date, date] = (date.min, date.max)

    def accepts(self, table: TypedTable) -> NDArray[np.bool_]:
        """Return whether each row fulfils it, (n,)."""
        column = table.columns[self.column]
        match self.operator:
            case Operator.EMPTY | Operator.FILLED:
                is_empty: NDArray[np.bool_] = column.codes == 0
                return is_empty if self.operator is Operator.EMPTY else ~is_empty
            case Operator.IS | Operator.IS_NOT:
                wanted = set(self.texts)
                places = [place for place, text in enumerate(column.texts) if text in wanted]
                return np.isin(column.codes, places, invert=self.operator is Operator.IS_NOT)
            case Operator.BETWEEN:
                first, last = (day.toordinal() for day in self.days)
                return (column.first_days > 0) & (first <= column.first_days) & (column.last_days <= last)
            case Operator.BELOW_COLUMN | Operator.ABOVE_COLUMN:
                other = table.columns[int(self.number)].numbers
                return _COMPARE[self.operator](column.numbers, other)
        return _COMPARE[self.operator](column.numbers, self.number)


BESIDE_COLUMN = (Operator.BELOW_COLUMN, Operator.ABOVE_COLUMN)

_COMPARE: Mapping[Operator, Callable[[Floats, Any], NDArray[np.bool_]]] = {
    Operator.ABOVE: np.greater,
    Operator.ABOVE_COLUMN: np.greater,
    Operator.BELOW: np.less,
    Operator.BELOW_COLUMN: np.less,
    Operator.AT_LEAST: np.greater_equal,
    Operator.AT_MOST: np.less_equal,
}


@dataclass(frozen=True, slots=True)
class TablePlan:
    """A query as a tree. `column` is aggregated, the rows are counted where it is None; `group` names the groups.

    `alternatives` are the filters of two groups that are compared. `keep`: the number of groups or rows that are asked
    for.
    """

    aggregate: Aggregate
    filters: tuple[RowFilter, ...] = ()
    column: int | None = None
    group: int | None = None
    is_grouped: bool = True  # else each row is a group, which that column names
    is_of_rows: bool = False  # a list that a question asks for by a noun for what the rows are
    grain: Grain | None = None  # of a group of days
    is_of_days: bool = False  # an extreme of time, of which the day is asked for, however many rows have it
    of_means: bool = False  # the groups have their mean, not their sum
    asks_value: bool = False  # of an extreme: the number, not what has it
    arithmetic: tuple[Arithmetic, int] | None = None  # on `column` and another
    factor: int = 1  # -1 where spending is kept as negative numbers
    keep: int = 1
    alternatives: tuple[RowFilter, ...] = ()
    base: tuple[RowFilter, ...] = ()  # of a share: the filters of the whole; of changes: of the periods that are told
    step: Step | None = None  # of a cell
    per: int | None = None  # column of each of whose values, or months, the aggregate is asked for
    change: PeriodChange | None = None  # of each period's value, where `per` is a column of days; of two alternatives
    is_greatest: bool = False  # of the changes, the greatest rise or fall alone
    in_percent: bool = False  # of a change: of what was before


@dataclass(frozen=True, slots=True)
class TableReference:
    """A table of a document, by its number there, from 0, as long as the document has this content."""

    document_id: UUID
    content_hash: str
    number: int


@dataclass(frozen=True, slots=True)
class TableQuery:
    """A plan and its table, or two tables of which the second is joined to the rows of the first."""

    tables: tuple[TableReference, ...]
    plan: TablePlan


@dataclass(frozen=True, slots=True)
class QueryResult:
    """`values`: labelled, best first, the label "" where there is one value alone; `rows`: numbers of those used.

    `groups`: of a value for each, the rows of each.
    """

    values: tuple[tuple[str, float], ...]
    rows: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...] = ()


def run_plan(table: TypedTable, plan: TablePlan) -> QueryResult | None:
    """Return what a plan gives, or None where it gives nothing: no row, no number, or a tie where one is asked for."""
    chosen = select_rows(table, plan.filters)
    if plan.step and len(chosen):
        chosen = _step(table, plan.step, chosen)
    if plan.alternatives:
        return _compare(table, plan, chosen)
    if not len(chosen) and plan.aggregate is not Aggregate.COUNT:
        return None
    rows = tuple(chosen.tolist())
    match plan.aggregate:
        case Aggregate.LIST:
            return QueryResult(tuple((label, 0) for label in _labels(table, plan, chosen)), rows)
        case Aggregate.CELL:
            column = table.columns[plan.column or 0]
            cells = {column.cell(row) for row in rows} - {""}
            return QueryResult(((cells.pop(), 0),), rows) if len(cells) == 1 else None
        case Aggregate.MAXIMUM | Aggregate.MINIMUM:
            return _extreme(table, plan, chosen)
    if plan.per is not None:
        return _per_value(table, plan, chosen)
    value = _aggregate(table, plan, chosen)
    return None if value is None else QueryResult((("", value),), rows)


def select_rows(table: TypedTable, filters: Sequence[RowFilter]) -> Integers:
    """Return the numbers of the rows that all filters accept, (n,)."""
    accepted = np.ones(len(table), np.bool_)
    for each in filters:
        accepted &= each.accepts(table)
    return np.flatnonzero(accepted).astype(np.int32)


def _step(table: TypedTable, step: Step, chosen: Integers) -> Integers:
    match step:
        case Step.FIRST:
            return chosen[:1]
        case Step.LAST:
            return chosen[-1:]
        case Step.NEXT:
            beside = chosen[-1:] + 1
        case Step.PREVIOUS:
            beside = chosen[:1] - 1
    return beside[(beside >= 0) & (beside < len(table))]


def _labels(table: TypedTable, plan: TablePlan, chosen: Integers) -> list[str]:
    column = table.columns[plan.group or 0]
    if plan.grain:
        return [_period_label(table, number, plan.grain) for number in np.unique(_periods(column, chosen, plan.grain))]
    codes, firsts = np.unique(column.codes[chosen], return_index=True)
    return [column.texts[code] for code in codes[np.argsort(firsts)] if code]


def _aggregate(table: TypedTable, plan: TablePlan, chosen: Integers) -> float | None:
    if plan.aggregate is Aggregate.COUNT or (plan.column is None and plan.aggregate is not Aggregate.SHARE):
        return len(_labels(table, plan, chosen)) if plan.group is not None else len(chosen)
    if plan.aggregate is Aggregate.SHARE:
        whole, part = (_sum(table, plan, rows) for rows in (select_rows(table, plan.base), chosen))
        return 100 * part / whole if whole else None
    values = _values(table, plan, chosen)
    numbers = values[~np.isnan(values)]
    if not len(numbers):
        return None
    match plan.aggregate:
        case Aggregate.MEAN:
            return fsum(numbers) / len(numbers)
        case Aggregate.MEDIAN:
            return float(np.median(numbers))
        case Aggregate.MONTHLY:
            return _monthly(table, plan, chosen)
        case Aggregate.RANGE:
            return float(numbers.max() - numbers.min()) if len(numbers) > 1 else None
    return fsum(numbers)


def _per_value(table: TypedTable, plan: TablePlan, chosen: Integers) -> QueryResult | None:
    """The aggregate of each value, the greatest first; of each month, in their order."""
    column = table.columns[plan.per or 0]
    grain = plan.grain or Grain.MONTH
    keys: NDArray[Any] = _periods(column, chosen, grain) if column.is_time else column.codes[chosen]
    is_known = column.first_days[chosen] > 0 if column.is_time else keys > 0
    chosen, keys = chosen[is_known], keys[is_known]
    order = np.argsort(keys, kind="stable")
    found, starts = np.unique(keys[order], return_index=True)
    values = [
        (_period_label(table, key, grain) if column.is_time else column.texts[int(key)], value, tuple(rows.tolist()))
        for key, rows in zip(found, np.split(chosen[order], starts[1:]), strict=True)
        if (value := _aggregate(table, plan, rows)) is not None
    ]
    if plan.change and (len(values) < len(found) or (np.diff(found) != 1).any()):
        return None  # a period is missing
    if plan.change:
        told = set(select_rows(table, plan.base).tolist())
        values = _changes(values, plan, told)
    ordered = values if column.is_time else sorted(values, key=lambda each: -each[1])
    named, groups = tuple((label, value) for label, value, _ in ordered), tuple(rows for _, _, rows in ordered)
    return QueryResult(named, tuple(chosen.tolist()), groups) if len(values) > (0 if plan.change else 1) else None


def _changes(values: Sequence[_Value], plan: TablePlan, told: AbstractSet[int]) -> list[_Value]:
    """Return the wanted changes of each value against the one before; none where one has no percentage or an equal.

    `told` are the rows of periods that may be told.
    """
    pairs = [(before, *following) for (_, before, _), following in pairwise(values) if told >= set(following[2])]
    if plan.in_percent and any(before <= 0 for before, *_ in pairs):
        return []
    changes = [
        (label, 100 * (value - before) / before if plan.in_percent else value - before, rows)
        for before, label, value, rows in pairs
    ]
    if plan.change is PeriodChange.EACH:
        return changes
    moved = [each for each in changes if not isclose(each[1], 0, abs_tol=1e-9)]
    moved = [each for each in moved if (each[1] > 0) == (plan.change is PeriodChange.RISE)]
    if plan.is_greatest:
        moved.sort(key=lambda each: -abs(each[1]))
        return moved[:1] if len(moved) < 2 or not isclose(moved[0][1], moved[1][1]) else []
    return moved


def _periods(column: TypedColumn, chosen: Integers, grain: Grain) -> Integers:
    """Return the number of the period that each row is of, counted from 1970."""
    days: NDArray[np.datetime64] = (column.first_days[chosen] - _EPOCH).astype("datetime64[D]")
    months = days.astype("datetime64[M]").astype(np.int32)
    return (months // _MONTHS[grain]).astype(np.int32)


def has_row_each(table: TypedTable, place: int, grain: Grain) -> bool:
    """Return whether each row is of a period of its own, by a column of days."""
    column = table.columns[place]
    periods = _periods(column, np.arange(len(table), dtype=np.int32), grain)
    return bool((column.first_days > 0).all()) and len(np.unique(periods)) == len(table)


def _period_label(table: TypedTable, number: int, grain: Grain) -> str:
    """Return a period as ISO writes it; quarters as people do."""
    year, month = divmod(int(number) * _MONTHS[grain], 12)
    if grain is Grain.MONTH:
        return f"{1970 + year}-{month + 1:02}"
    quarter = f"{'Q' if table.language == 'en' else 'T'}{month // 3 + 1} " if grain is Grain.QUARTER else ""
    return f"{quarter}{1970 + year}"


def _days_label(table: TypedTable, compared: RowFilter) -> str:
    """Return a year, quarter, month or day as its period is written; other days by the first and the last of them."""
    first, last = compared.days
    if first == date.min or last == date.max:
        return describe_filter(table, compared)
    days = (first.toordinal() - _EPOCH, last.toordinal() + 1 - _EPOCH)
    begin, end = np.array(days).astype("datetime64[D]").astype("datetime64[M]")
    for grain in reversed(Grain):
        size = _MONTHS[grain]
        is_whole = (first.day, (last + timedelta(1)).day) == (1, 1) and (first.month - 1) % size == 0
        if is_whole and end - begin == size:
            return _period_label(table, int(begin.astype(np.int32)) // size, grain)
    return f"{first}" if first == last else f"{first} – {last}"


def _values(table: TypedTable, plan: TablePlan, chosen: Integers) -> Floats:
    """The numbers of the plan's column; days of one of dates."""
    numbers = _numbers(table.columns[plan.column or 0], chosen)
    if plan.arithmetic is None:
        return plan.factor * numbers
    operation, place = plan.arithmetic
    other = _numbers(table.columns[place], chosen)
    match operation:
        case Arithmetic.MINUS:
            return numbers - other
        case Arithmetic.TIMES:
            return numbers * other
    is_known = ~(np.isnan(numbers) & np.isnan(other))
    return np.where(is_known, np.nan_to_num(numbers) + np.nan_to_num(other), np.nan)


def _numbers(column: TypedColumn, chosen: Integers) -> Floats:
    if not column.is_time:
        return column.numbers[chosen]
    days = column.first_days[chosen]
    return np.where(days > 0, days, np.nan)


def are_days(table: TypedTable, plan: TablePlan) -> bool:
    """Return whether a plan's values are days of the calendar, not numbers nor how many days there are."""
    return plan.column is not None and plan.arithmetic is None and table.columns[plan.column].is_time


def _sum(table: TypedTable, plan: TablePlan, chosen: Integers) -> float:
    if plan.column is None:
        return len(chosen)
    values = _values(table, plan, chosen)
    return fsum(values[~np.isnan(values)])


def _monthly(table: TypedTable, plan: TablePlan, chosen: Integers) -> float | None:
    time = next((each for each in table.columns if each.is_time), None)
    if time is None:
        return None
    values = _values(table, plan, chosen)
    is_known = (time.first_days[chosen] > 0) & ~np.isnan(values)
    months = np.unique(_periods(time, chosen[is_known], Grain.MONTH))
    return fsum(values[is_known]) / len(months) if len(months) else None


def _extreme(table: TypedTable, plan: TablePlan, chosen: Integers) -> QueryResult | None:
    """The groups with the most or least; None where the last that counts has an equal that does not."""
    group = table.columns[plan.group or 0]
    chosen = chosen[group.codes[chosen] > 0]
    values = np.ones(len(chosen)) if plan.column is None else _values(table, plan, chosen)
    chosen, values = chosen[~np.isnan(values)], values[~np.isnan(values)]
    keys = group.codes[chosen] if plan.is_grouped else chosen
    if plan.grain:
        keys = _periods(group, chosen, plan.grain)
    found, places = np.unique(keys, return_inverse=True)
    is_most = plan.aggregate is Aggregate.MAXIMUM
    if are_days(table, plan):
        gathered = np.full(len(found), -np.inf if is_most else np.inf)
        (np.maximum if is_most else np.minimum).at(gathered, places, values)
    else:
        gathered = np.bincount(places, weights=values, minlength=len(found))
        if plan.of_means:
            gathered = gathered / np.bincount(places, minlength=len(found))
    order = np.argsort(-gathered if is_most else gathered, kind="stable")
    best = order[: plan.keep]
    if plan.is_of_days:
        row = int(chosen[order[0]]) if len(order) else 0
        return QueryResult(((group.cell(row), float(gathered[order[0]])),), (row,)) if len(order) else None
    if len(best) < plan.keep or (len(order) > plan.keep and isclose(gathered[order[plan.keep]], gathered[best[-1]])):
        return None
    of_best = [chosen[places == place].tolist() for place in best]
    labels = [group.cell(rows[0]) for rows in of_best]
    if plan.grain:
        is_period = group.first_days < group.last_days  # «Février» is called so
        labels = [
            label if all(is_period[row] for row in rows) else _period_label(table, found[place], plan.grain)
            for place, label, rows in zip(best, labels, of_best, strict=True)
        ]
    named = tuple((label, float(gathered[place])) for label, place in zip(labels, best, strict=True))
    return QueryResult(named, tuple(row for rows in of_best for row in rows))


def _compare(table: TypedTable, plan: TablePlan, chosen: Integers) -> QueryResult | None:
    """The two groups, the greater first, of a change the earlier; none where a group has no rows."""
    values, rows = [], []
    for each in plan.alternatives:
        of_group = chosen[each.accepts(table)[chosen]]
        if not len(of_group):
            return None
        label = each.texts[0] if each.texts else _days_label(table, each)
        value = _sum(table, plan, of_group)
        values.append(
            (label, value / np.count_nonzero(~np.isnan(_values(table, plan, of_group))) if plan.of_means else value)
        )
        rows += of_group.tolist()
    if plan.change:
        return QueryResult(tuple(values), tuple(rows)) if values[0][1] > 0 or not plan.in_percent else None
    return QueryResult(tuple(sorted(values, key=lambda value: -value[1])), tuple(rows))


def describe_filter(table: TypedTable, each: RowFilter) -> str:
    """Return a filter as a person reads it: «Estado = Pendiente»."""
    header = table.headers[each.column]
    if each.operator in (Operator.IS, Operator.IS_NOT):
        shown = sorted(set(each.texts), key=fold)[:3]
        more = "…" if len(set(each.texts)) > len(shown) else ""
        return f"{header} {each.operator} {' / '.join(shown)}{more}"
    if each.operator is Operator.BETWEEN:
        first, last = (day.isoformat() for day in each.days)
        if each.days[0] == date.min or each.days[1] == date.max:
            return f"{header} ≤ {last}" if each.days[0] == date.min else f"{header} ≥ {first}"
        return f"{header}: {first}" if first == last else f"{header}: {first} – {last}"
    if each.operator in (Operator.EMPTY, Operator.FILLED):
        return f"{header} {each.operator}"
    if each.operator in (Operator.BELOW_COLUMN, Operator.ABOVE_COLUMN):
        return f"{header} {each.operator[0]} {table.headers[int(each.number)]}"
    return f"{header} {each.operator} {each.number:g}"
