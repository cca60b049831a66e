"""Plans of table queries: filters, grouping and an aggregate, and how they are run over a table's rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from math import fsum, isclose
from statistics import median

from graphrag.linguistics.cell_values import Number
from graphrag.linguistics.language import fold
from graphrag.linguistics.periods import Period
from graphrag.table_queries.tables import QueryRow, QueryTable


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


COMPARED = (Operator.ABOVE, Operator.BELOW, Operator.AT_LEAST, Operator.AT_MOST)  # with a number


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Condition on a cell of a column: it is one of the texts, or compares with a number or days."""

    column: int
    operator: Operator
    texts: tuple[str, ...] = ()
    number: Number = 0  # of BELOW_COLUMN and ABOVE_COLUMN, the other column's place
    days: tuple[date, date] = (date.min, date.max)

    def accepts(self, table: QueryTable, row: int) -> bool:
        column = table.columns[self.column]
        if self.operator in (Operator.EMPTY, Operator.FILLED):
            return bool(table.rows[row].cells[self.column]) is (self.operator is Operator.FILLED)
        if self.operator in (Operator.IS, Operator.IS_NOT):
            return (table.rows[row].cells[self.column] in self.texts) is (self.operator is Operator.IS)
        if self.operator is Operator.BETWEEN:
            period = column.periods[row]
            days = period.days if period else None
            return days is not None and self.days[0] <= days[0] and days[1] <= self.days[1]
        value = column.numbers[row]
        if self.operator in (Operator.BELOW_COLUMN, Operator.ABOVE_COLUMN):
            other = table.columns[int(self.number)].numbers[row]
            if value is None or other is None:
                return False
            return value < other if self.operator is Operator.BELOW_COLUMN else value > other
        return value is not None and _COMPARE[self.operator](value, self.number)


_COMPARE: Mapping[Operator, Callable[[Number, Number], bool]] = {
    Operator.ABOVE: lambda one, other: one > other,
    Operator.BELOW: lambda one, other: one < other,
    Operator.AT_LEAST: lambda one, other: one >= other,
    Operator.AT_MOST: lambda one, other: one <= other,
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
    asks_value: bool = False  # of an extreme: the number, not what has it
    factor: int = 1  # -1 where spending is kept as negative numbers
    keep: int = 1
    alternatives: tuple[RowFilter, ...] = ()
    base: tuple[RowFilter, ...] = ()  # of a share: the filters of the whole


@dataclass(frozen=True, slots=True)
class QueryResult:
    """`values`: labelled, best first, the label "" where there is one value alone; `rows`: what they come from."""

    values: tuple[tuple[str, Number], ...]
    rows: tuple[QueryRow, ...]
    of: int  # rows of the table


def run_plan(table: QueryTable, plan: TablePlan) -> QueryResult | None:
    """Return what a plan gives, or None where it gives nothing: no row, no number, or a tie where one is asked for."""
    chosen = select_rows(table, plan.filters)
    if plan.alternatives:
        return _compare(table, plan, chosen)
    if not chosen and plan.aggregate is not Aggregate.COUNT:
        return None
    rows = tuple(table.rows[row] for row in chosen)
    match plan.aggregate:
        case Aggregate.LIST:
            return QueryResult(tuple((row, 0) for row in _labels(table, plan, chosen)), rows, len(table.rows))
        case Aggregate.CELL:
            cells = {table.rows[row].cells[plan.column or 0] for row in chosen} - {""}
            return QueryResult(((cells.pop(), 0),), rows, len(table.rows)) if len(cells) == 1 else None
        case Aggregate.MAXIMUM | Aggregate.MINIMUM:
            return _extreme(table, plan, chosen)
    value = _aggregate(table, plan, chosen)
    return None if value is None else QueryResult((("", value),), rows, len(table.rows))


def select_rows(table: QueryTable, filters: Sequence[RowFilter]) -> list[int]:
    """Return the numbers of the rows that all filters accept."""
    return [row for row in range(len(table.rows)) if all(each.accepts(table, row) for each in filters)]


def _labels(table: QueryTable, plan: TablePlan, chosen: Sequence[int]) -> list[str]:
    place = plan.group if plan.group is not None else 0
    return list(dict.fromkeys(table.rows[row].cells[place] for row in chosen if table.rows[row].cells[place]))


def _aggregate(table: QueryTable, plan: TablePlan, chosen: Sequence[int]) -> Number | None:
    if plan.aggregate is Aggregate.COUNT or (plan.column is None and plan.aggregate is not Aggregate.SHARE):
        return len(_labels(table, plan, chosen)) if plan.group is not None else len(chosen)
    if plan.aggregate is Aggregate.SHARE:
        whole, part = (_sum(table, plan, rows) for rows in (select_rows(table, plan.base), chosen))
        return 100 * part / whole if whole else None
    numbers = [value for row in chosen if (value := _value(table, plan, row)) is not None]
    if not numbers:
        return None
    match plan.aggregate:
        case Aggregate.MEAN:
            return fsum(numbers) / len(numbers)
        case Aggregate.MEDIAN:
            return median(numbers)
        case Aggregate.MONTHLY:
            return _monthly(table, plan, chosen)
    return _sum(table, plan, chosen)


def _value(table: QueryTable, plan: TablePlan, row: int) -> Number | None:
    value = table.columns[plan.column or 0].numbers[row]
    return None if value is None else plan.factor * value


def _sum(table: QueryTable, plan: TablePlan, chosen: Sequence[int]) -> Number:
    if plan.column is None:
        return len(chosen)
    return fsum(value for row in chosen if (value := _value(table, plan, row)) is not None)


def _monthly(table: QueryTable, plan: TablePlan, chosen: Sequence[int]) -> Number | None:
    time = next((each for each in table.columns if each.is_time), None)
    if time is None:
        return None
    months: dict[Period, float] = {}
    for row in chosen:
        period, value = time.periods[row], _value(table, plan, row)
        if period and value is not None and (month := period.within("month")):
            months[month] = months.get(month, 0.0) + value
    return fsum(months.values()) / len(months) if months else None


def _extreme(table: QueryTable, plan: TablePlan, chosen: Sequence[int]) -> QueryResult | None:
    """The groups with the most or least; None where the last that counts has an equal that does not."""
    is_most = plan.aggregate is Aggregate.MAXIMUM
    rows_of: dict[str, list[int]] = {}
    for row in chosen:
        if label := table.rows[row].cells[plan.group or 0]:
            rows_of.setdefault(label if plan.is_grouped else f"{row}", []).append(row)
    values: dict[str, Number] = {}
    for label, rows in rows_of.items():
        if plan.column is not None and table.columns[plan.column].is_time:
            days = [period.first_day for row in rows if (period := table.columns[plan.column].periods[row])]
            known = [day.toordinal() for day in days if day]
            if known:
                values[label] = max(known) if is_most else min(known)
        elif plan.column is None or any(_value(table, plan, row) is not None for row in rows):
            values[label] = _sum(table, plan, rows)
    ordered = sorted(values.items(), key=lambda item: -item[1] if is_most else item[1])
    best = ordered[: plan.keep]
    if len(best) < plan.keep or (len(ordered) > plan.keep and isclose(ordered[plan.keep][1], best[-1][1])):
        return None
    of_best = tuple(table.rows[row] for label, _ in best for row in rows_of[label])
    named = tuple((table.rows[rows_of[label][0]].cells[plan.group or 0], value) for label, value in best)
    return QueryResult(named, of_best, len(table.rows))


def _compare(table: QueryTable, plan: TablePlan, chosen: Sequence[int]) -> QueryResult | None:
    """The two groups, the greater first; none where a group has no rows."""
    values, rows = [], []
    for each in plan.alternatives:
        of_group = [row for row in chosen if each.accepts(table, row)]
        if not of_group:
            return None
        label = each.texts[0] if each.texts else ""
        values.append((label or f"{each.days[0]:%Y-%m-%d}", _sum(table, plan, of_group)))
        rows += [table.rows[row] for row in of_group]
    ordered = sorted(values, key=lambda value: -value[1])
    return QueryResult(tuple(ordered), tuple(rows), len(table.rows))


def describe_filter(table: QueryTable, each: RowFilter) -> str:
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
