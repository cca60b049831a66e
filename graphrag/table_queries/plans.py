"""Plans of table queries: filters, grouping and an aggregate, and how they are run over a table's rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from math import fsum, isclose
from typing import Any

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
    of_means: bool = False  # the groups have their mean, not their sum
    asks_value: bool = False  # of an extreme: the number, not what has it
    factor: int = 1  # -1 where spending is kept as negative numbers
    keep: int = 1
    alternatives: tuple[RowFilter, ...] = ()
    base: tuple[RowFilter, ...] = ()  # of a share: the filters of the whole
    step: Step | None = None  # of a cell
    per: int | None = None  # column of each of whose values, or months, the aggregate is asked for


@dataclass(frozen=True, slots=True)
class QueryResult:
    """`values`: labelled, best first, the label "" where there is one value alone; `rows`: numbers of those used."""

    values: tuple[tuple[str, float], ...]
    rows: tuple[int, ...]


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
    keys: NDArray[Any] = _months(column, chosen) if column.is_time else column.codes[chosen]
    is_known = column.first_days[chosen] > 0 if column.is_time else keys > 0
    chosen, keys = chosen[is_known], keys[is_known]
    order = np.argsort(keys, kind="stable")
    found, starts = np.unique(keys[order], return_index=True)
    values = [
        (str(key) if column.is_time else column.texts[int(key)], value)
        for key, rows in zip(found, np.split(chosen[order], starts[1:]), strict=True)
        if (value := _aggregate(table, plan, rows)) is not None
    ]
    ordered = values if column.is_time else sorted(values, key=lambda each: -each[1])
    return QueryResult(tuple(ordered), tuple(chosen.tolist())) if len(values) > 1 else None


def _months(column: TypedColumn, chosen: Integers) -> NDArray[np.datetime64]:
    days: NDArray[np.datetime64] = (column.first_days[chosen] - _EPOCH).astype("datetime64[D]")
    return days.astype("datetime64[M]")


def _values(table: TypedTable, plan: TablePlan, chosen: Integers) -> Floats:
    """The numbers of the plan's column; days of one of dates."""
    column = table.columns[plan.column or 0]
    if column.is_time:
        days = column.first_days[chosen]
        return np.where(days > 0, days, np.nan)
    return plan.factor * column.numbers[chosen]


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
    months = np.unique(_months(time, chosen[is_known]))
    return fsum(values[is_known]) / len(months) if len(months) else None


def _extreme(table: TypedTable, plan: TablePlan, chosen: Integers) -> QueryResult | None:
    """The groups with the most or least; None where the last that counts has an equal that does not."""
    group = table.columns[plan.group or 0]
    chosen = chosen[group.codes[chosen] > 0]
    values = np.ones(len(chosen)) if plan.column is None else _values(table, plan, chosen)
    chosen, values = chosen[~np.isnan(values)], values[~np.isnan(values)]
    keys = group.codes[chosen] if plan.is_grouped else chosen
    found, places = np.unique(keys, return_inverse=True)
    is_most = plan.aggregate is Aggregate.MAXIMUM
    if plan.column is not None and table.columns[plan.column].is_time:
        gathered = np.full(len(found), -np.inf if is_most else np.inf)
        (np.maximum if is_most else np.minimum).at(gathered, places, values)
    else:
        gathered = np.bincount(places, weights=values, minlength=len(found))
        if plan.of_means:
            gathered = gathered / np.bincount(places, minlength=len(found))
    order = np.argsort(-gathered if is_most else gathered, kind="stable")
    best = order[: plan.keep]
    if len(best) < plan.keep or (len(order) > plan.keep and isclose(gathered[order[plan.keep]], gathered[best[-1]])):
        return None
    of_best = [chosen[places == place].tolist() for place in best]
    named = tuple((group.cell(rows[0]), float(gathered[place])) for rows, place in zip(of_best, best, strict=True))
    return QueryResult(named, tuple(row for rows in of_best for row in rows))


def _compare(table: TypedTable, plan: TablePlan, chosen: Integers) -> QueryResult | None:
    """The two groups, the greater first; none where a group has no rows."""
    values, rows = [], []
    for each in plan.alternatives:
        of_group = chosen[each.accepts(table)[chosen]]
        if not len(of_group):
            return None
        label = each.texts[0] if each.texts else f"{each.days[0]:%Y-%m-%d}"
        values.append((label, _sum(table, plan, of_group)))
        rows += of_group.tolist()
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
        return f"{header}: {first}" if first == last else f"{header}: {first} – {last}"
    if each.operator in (Operator.EMPTY, Operator.FILLED):
        return f"{header} {each.operator}"
    if each.operator in (Operator.BELOW_COLUMN, Operator.ABOVE_COLUMN):
        return f"{header} {each.operator[0]} {table.headers[int(each.number)]}"
    return f"{header} {each.operator} {each.number:g}"
