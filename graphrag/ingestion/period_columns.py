"""Tables whose columns are periods (Enero, Febrero … over numbers): each row is a series."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphrag.ingestion import series
from graphrag.ingestion.cell_values import Number
from graphrag.ingestion.column_roles import Role, role, says_what_is_measured
from graphrag.ingestion.computed_lines import Line, Wording, decimals_of, time_of
from graphrag.ingestion.typed_columns import Column
from graphrag.models import Table
from graphrag.periods import Period, Unit, parse_period
from graphrag.places import cell_range

FEWEST_PERIODS = 2
MOST_ROWS = 40  # that get lines of their own
MOST_LINES = 150
MOST_NAMED = 3  # periods that share an extreme


def period_columns(columns: Sequence[Column], *, year: int = 0) -> dict[int, Column]:
    """The columns of numbers that are headed by periods of one unit, by the period's number; empty for other tables."""
    headed = [(parse_period(column.header), column) for column in columns if column.role is not None]
    units = Counter(period.unit for period, _ in headed if period)
    if not units:
        return {}
    unit = units.most_common(1)[0][0]
    found = [(period.of_year(year), column) for period, column in headed if period and period.unit == unit]
    by_number = {period.number: column for period, column in found}
    return by_number if len(by_number) == len(found) >= FEWEST_PERIODS else {}


def lines_across(
    table: Table, columns: Sequence[Column], rows: Sequence[int], *, year: int, language: str
) -> Iterator[Line]:
    by_number = period_columns(columns, year=year)
    if not by_number:
        return
    (unit,) = {period.unit for column in by_number.values() if (period := parse_period(column.header))}
    across = _Across(table, columns, dict(sorted(by_number.items())), unit, language)
    names = [across.name(row) for row in rows]
    left = MOST_LINES
    # Rows that are named for what they measure, as sales and costs are, have no sum.
    if len(rows) > 1 and not any(says_what_is_measured(name) for name in names):
        yield from across.lines_of(rows, Wording(language).say("all_rows"))
    for row, name in zip(rows[:MOST_ROWS], names, strict=False):
        lines = list(across.lines_of([row], name))
        left -= len(lines)
        if left < 0:
            return
        yield from lines


@dataclass(frozen=True)
class _Across:
    table: Table
    columns: Sequence[Column]
    by_number: Mapping[int, Column]
    unit: Unit
    language: str

    def name(self, row: int) -> str:
        texts = [column.values[row] for column in self.columns if column.role is None]
        return ", ".join(text for text in texts if isinstance(text, str) and text)

    def lines_of(self, rows: Sequence[int], name: str) -> Iterator[Line]:
        """The series of a row, or of the sum of several, and what it comes to."""
        values = {
            number: [(row, value) for row in rows if (value := column.numbers[row]) is not None]
            for number, column in self.by_number.items()
        }
        points = {number: self._point(found) for number, found in values.items() if found}
        if len(points) < FEWEST_PERIODS:
            return
        known = [value for found in values.values() for _, value in found]
        units = {column.unit for column in self.by_number.values()}
        wording = Wording(self.language, decimals_of(known), units.pop() if len(units) == 1 else "")
        kind = role(name, known, unit=wording.unit)
        yield from self._summary(points, name, wording, kind)
        for number, point in points.items():
            period, before = Period(self.unit, number), points.get(number - 1)
            share = None if kind is Role.SHARE else series.change(points, number, unit=self.unit, finest=self.unit)
            if share is None or before is None:
                sentence = wording.say(
                    "period", column=name, period=wording.period(period), value=wording.number(point.value)
                )
                cells = self._cells(number, number, point)
            else:
                old = (Period(self.unit, number - 1), before.value)
                sentence = wording.change(name, (period, point.value), old, share, self.unit)
                cells = self._cells(number - 1, number, point)
            yield Line(sentence, cells, time_of(period, share, self.language))

    def _point(self, found: Sequence[tuple[int, Number]]) -> series.Point:
        rows = [row for row, _ in found]
        return series.Point(series.total([value for _, value in found]), len(found), min(rows), max(rows), 1)

    def _summary(self, points: Mapping[int, series.Point], name: str, wording: Wording, kind: Role) -> Iterator[Line]:
        numbers = list(points)
        values = {number: point.value for number, point in points.items()}
        cells = self._cells(numbers[0], numbers[-1], *points.values())
        periods = [Period(self.unit, number) for number in numbers]
        words = {"column": name, "range": wording.range(periods), "count": wording.count(len(points))}
        if kind in (Role.AMOUNT, Role.CODE):  # the name of a row is no column's header: «Lote» is what is counted
            yield Line(wording.say("total", value=wording.number(series.total(list(values.values()))), **words), cells)
        for key, extreme in (("minimum", min(values.values())), ("maximum", max(values.values()))):
            when = [wording.period(Period(self.unit, number)) for number in values if values[number] == extreme]
            of = f" ({'; '.join(when)})" if len(when) <= MOST_NAMED else ""
            yield Line(wording.say(key, value=wording.number(extreme), of=of, **words), cells)
        if kind is not Role.RUNNING:
            average = wording.number(series.mean(list(values.values())), decimals=max(2, wording.decimals))
            yield Line(wording.say("mean", value=average, **words), cells)

    def _cells(self, first: int, last: int, *points: series.Point) -> str:
        places = [self.table.first_column + self.by_number[number].place for number in (first, last)]
        rows = [
            self.table.rows[min(point.first for point in points)].number,
            self.table.rows[max(point.last for point in points)].number,
        ]
        return cell_range((min(places), rows[0]), (max(places), rows[1]))
