"""Tables joined by a column that they share: orders with the customers that they name."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from graphrag.ingestion.tables.columns import Role
from graphrag.ingestion.tables.typed_tables import Integers, TypedColumn, TypedTable
from graphrag.linguistics.language import fold, stem
from graphrag.table_queries.columns import is_key
from graphrag.table_queries.plans import TablePlan

MOST_TABLES = 6  # of which pairs are tried
MOST_VALUES = 20_000  # different ones of a column that may be shared
FEWEST_SHARED = 2
LEAST_FOUND = 0.8  # of the different values of a column, in the other table's key


def join_tables(tables: Sequence[TypedTable]) -> Iterator[tuple[int, int, TypedTable]]:
    """Yield (n, m, table): the rows of table n, each with the cells of the row of table m that its column names.

    Rows that name none have empty cells. Columns of the other table whose header both have are called after the key.
    """
    few = enumerate(tables[:MOST_TABLES])
    for (number, many), (other, one) in permutations([pair for pair in few if pair[1].is_sheet], 2):
        if places := _shared_columns(many, one):
            yield number, other, _joined(many, one, *places)


def reads_joined(plan: TablePlan, width: int) -> bool:
    """Return whether a plan reads a column beyond the first `width`, which are those of the rows' own table."""
    named = (plan.column, plan.group, plan.per, *(each.column for each in (*plan.filters, *plan.alternatives)))
    places = [place for place in named if place is not None]
    return any(place >= width for place in places)


def _shared_columns(many: TypedTable, one: TypedTable) -> tuple[int, int] | None:
    """Return the column of `many` that names rows of `one`, and the column there that tells these apart."""
    for key, column in enumerate(one.columns):
        if not _may_name(column) or not is_key(one, key):
            continue
        for place, other in enumerate(many.columns):
            if _may_name(other) and not is_key(many, place) and _is_found(other, column):
                return place, key
    return None


def _may_name(column: TypedColumn) -> bool:
    return (column.is_text or column.role is Role.CODE) and FEWEST_SHARED <= len(column.values) <= MOST_VALUES


def _is_found(column: TypedColumn, key: TypedColumn) -> bool:
    """Return whether most values of a column are the key's; numbers only where both have a word of their headers."""
    shared = set(map(fold, column.values)) & set(map(fold, key.values))
    if len(shared) < max(FEWEST_SHARED, LEAST_FOUND * len(column.values)):
        return False
    return column.is_text or bool(_header_stems(column) & _header_stems(key))


def _header_stems(column: TypedColumn) -> set[str]:
    return {stem(word, "es") for word in fold(column.header).split()}


def _joined(many: TypedTable, one: TypedTable, place: int, key: int) -> TypedTable:
    rows = {fold(text): row for row, text in ((row, one.columns[key].cell(row)) for row in range(len(one))) if text}
    of_text = np.array([rows.get(fold(text), -1) if text else -1 for text in many.columns[place].texts], np.int32)
    named = of_text[many.columns[place].codes]
    taken = set(many.headers)
    added = [
        _taken_from(column, named, f"{column.header} {one.headers[key]}" if column.header in taken else column.header)
        for number, column in enumerate(one.columns)
        if number != key
    ]
    return replace(many, columns=[*many.columns, *added])


def _taken_from(column: TypedColumn, rows: Integers, header: str) -> TypedColumn:
    """Return a column's cells of these rows, empty ones for -1."""
    is_none = rows < 0
    return replace(
        column,
        header=header,
        codes=np.where(is_none, 0, column.codes[rows]).astype(np.int32),
        numbers=np.where(is_none, np.nan, column.numbers[rows]),
        first_days=np.where(is_none, 0, column.first_days[rows]).astype(np.int32),
        last_days=np.where(is_none, 0, column.last_days[rows]).astype(np.int32),
    )
