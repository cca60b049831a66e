"""Totals, changes and rankings computed from a table and added to its document's text."""

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, groupby

from graphrag.ingestion.tables import series
from graphrag.ingestion.tables.columns import Column, Role, total_rows, type_columns
from graphrag.ingestion.tables.series import ComputedLine, Wording, decimals_of, lines_across, time_of
from graphrag.linguistics.cell_values import Number
from graphrag.linguistics.periods import Period, Unit, trend
from graphrag.models import Heading, ParsedText, SourceLocation, Table, TemporalContext
from graphrag.parsers.source_locations import cell_range, corners, letters
from graphrag.parsers.text import clean

FEWEST_VALUES = 2
MOST_COLUMNS = 20  # of a table that are summed up
MOST_PERIODS = 120  # lines of a table on its periods
MOST_DAYS = 40  # of which each gets a line
MOST_NAMED = 3  # rows that share an extreme
_SUMMED_UP = frozenset({Role.AMOUNT, Role.LEVEL, Role.SHARE, Role.RUNNING})


@dataclass(frozen=True)
class Grid:
    """A table with what its columns and rows are."""

    table: Table
    caption: str
    columns: Sequence[Column]
    totals: set[int]
    year: int  # of periods that name none
    language: str

    @cached_property
    def rows(self) -> list[int]:
        return [index for index in range(len(self.table.rows)) if index not in self.totals]

    @cached_property
    def periods(self) -> list[Period | None]:
        """A row each; totals have none. The first days of months that follow one another are months."""
        unit, dated = self.unit, self._dated
        if unit is None or unit == "day":
            return dated
        within = series.all_within(dated, unit)
        are_first = all(day.first_day == period.first_day for day, period in within.items())
        return [period and within.get(period) for period in dated] if are_first else dated

    @cached_property
    def _dated(self) -> list[Period | None]:
        found = series.row_periods(self.columns)
        if not found:
            return [None] * len(self.table.rows)
        known = {period: period.of_year(self.year) for period in set(found) if period}
        return [known[period] if period and index not in self.totals else None for index, period in enumerate(found)]

    @cached_property
    def measures(self) -> list[Column]:
        return [column for column in self.columns if column.role in _SUMMED_UP]

    @cached_property
    def labels(self) -> Sequence[Hashable] | None:
        return series.labels_of_series(self.columns, self._dated)

    @cached_property
    def unit(self) -> Unit | None:
        return series.unit_of_rows(self.labels, self._dated) if self.labels is not None else None

    @cached_property
    def trended(self) -> list[Column]:
        """Return the columns whose trend is described, amounts first."""
        able = [column for column in self.measures if column.role is not Role.SHARE]
        return sorted(able, key=lambda column: column.role is not Role.AMOUNT)

    def times(self) -> Iterator[tuple[int, TemporalContext]]:
        """Yield (start of the row in the text, temporal context) for each dated row."""
        changes = self._changes()
        measure = self.trended[0].header if len(self.trended) > 1 else ""
        for index, period in enumerate(self.periods):
            day = period.first_day if period else None
            if not period or not day:
                continue
            change = changes.get(index)
            label = trend(change, self.unit, self.language, measure=measure) if change is not None and self.unit else ""
            yield self.table.rows[index].start_char, TemporalContext(day, period.unit, change, label)

    def _changes(self) -> dict[int, float]:
        """Return the first measure's change against the period before, as row number → share."""
        if not self.unit or not self.trended or self.labels is None:
            return {}
        by_label: dict[Hashable, list[int]] = {}
        for row in self.rows:
            by_label.setdefault(self.labels[row], []).append(row)
        found = {}
        for rows in by_label.values():
            points = series.points(replace(self.trended[0], role=Role.LEVEL), self.periods, self.unit, rows)
            for number, point in points.items():
                share = series.change(points, number, unit=self.unit, finest=self.unit)
                if share is not None:
                    found[point.first] = share
        return found

    def lines(self) -> Iterator[ComputedLine]:
        across = list(lines_across(self.table, self.columns, self.rows, year=self.year, language=self.language))
        if across:
            yield from across
            return
        for column in self.measures[:MOST_COLUMNS]:
            yield from self._summary(column)
        yield from self._over_time()

    def name(self, column: Column) -> str:
        position = letters(self.table.first_column + column.place)
        return column.header or Wording(self.language).say("column", letters=position)

    def cells(self, column: Column, first: int, last: int) -> str:
        place = self.table.first_column + column.place
        return cell_range((place, self.table.rows[first].number), (place, self.table.rows[last].number))

    def _summary(self, column: Column) -> Iterator[ComputedLine]:
        rows = [row for row in self.rows if column.numbers[row] is not None]
        values = [value for row in rows if (value := column.numbers[row]) is not None]
        if len(values) < FEWEST_VALUES:
            return
        wording = self.wording(column)
        cells = self.cells(column, rows[0], rows[-1])
        periods = [period for row in rows if (period := self._shown(row))]
        span = wording.range(periods) if periods else ""
        words = {"column": self.name(column), "count": wording.count(len(values)), "range": span}
        if column.role is Role.AMOUNT:
            yield ComputedLine(wording.say("total", value=wording.number(series.total(values)), **words), cells)
        for key, extreme in (("minimum", min(values)), ("maximum", max(values))):
            where = self._where([row for row in rows if column.numbers[row] == extreme])
            yield ComputedLine(wording.say(key, value=wording.number(extreme), of=where, **words), cells)
        if column.role is not Role.RUNNING:
            average = wording.number(series.mean(values), decimals=max(wording.decimals, 2))
            yield ComputedLine(wording.say("mean", value=average, **words), cells)

    def wording(self, column: Column) -> Wording:
        values = [value for value in column.numbers if value is not None]
        return Wording(self.language, decimals_of(values), column.unit)

    def _where(self, rows: Sequence[int]) -> str:
        """« (Dorada, diciembre de 2025)»; empty where too many rows share the extreme, or have no name."""
        names = [name for row in rows[: MOST_NAMED + 1] if (name := self._row_name(row))]
        return f" ({'; '.join(names)})" if names and len(rows) <= MOST_NAMED else ""

    def _row_name(self, row: int) -> str:
        texts = (column.values[row] for column in self.columns if column.is_text and column.values[row])
        period = self._shown(row)
        words = [str(next(texts, "")), Wording(self.language).period(period) if period else ""]
        return ", ".join(word for word in words if word)

    def _shown(self, row: int) -> Period | None:
        """The fifteenth of each month says the month."""
        period = self.periods[row]
        return period.within(self.unit) if period and self.unit else period

    def _over_time(self) -> Iterator[ComputedLine]:
        """The whole table's periods, whole years too, then those of each label, as many as are worth reading."""
        measures = self.measures[:MOST_COLUMNS]
        unit, count = self._unit_of_lines(len(measures))
        if unit is None:
            return
        left = MOST_PERIODS - count
        is_single = self.labels is not None and len(set(self.labels)) == 1
        for column in measures:
            yield from self._series(column, unit, self.rows, "", is_single=is_single)
            if unit in ("month", "quarter"):
                years = list(self._series(column, "year", self.rows, "", is_single=False))
                yield from years if len(years) > 1 else ()
        if self.labels is None or is_single:
            return
        labels = list(dict.fromkeys(self.labels[row] for row in self.rows if self.periods[row]))
        for label in labels:
            rows = [row for row in self.rows if self.labels[row] == label]
            for column in measures:
                lines = list(self._series(column, unit, rows, _written(label), is_single=True))
                left -= len(lines)
                if left < 0:
                    return
                yield from lines

    def _unit_of_lines(self, measures: int) -> tuple[Unit | None, int]:
        """The finest that gives few lines enough, and how many."""
        finest = series.finest_unit(self.periods)
        if finest is None or not measures:
            return None, 0
        order: list[Unit] = ["day", "month", "quarter", "year"]
        for unit in order[order.index(finest) :]:
            found = set(series.all_within(self.periods, unit).values())
            if unit == "day" and (self.unit != "day" or len(found) > MOST_DAYS):
                continue
            if len(found) * measures <= MOST_PERIODS:
                return unit, len(found) * measures
        return None, 0

    def _series(
        self, column: Column, unit: Unit, rows: Sequence[int], label: str, *, is_single: bool
    ) -> Iterator[ComputedLine]:
        """A line a period. Of what has no sum: its mean, where there are several values."""
        finest = series.finest_unit(self.periods) or unit
        points = series.points(column, self.periods, unit, rows)
        wording = self.wording(column)
        title = ", ".join(part for part in (self.name(column), label) if part)
        if column.role is Role.RUNNING and not is_single:
            return
        for number, point in points.items():
            period = Period(unit, number)
            is_mean = point.count > 1 and column.role is not Role.AMOUNT
            is_still = is_mean or column.role is Role.SHARE
            share = None if is_still else series.change(points, number, unit=unit, finest=finest)
            before = points.get(number - 1)
            if share is None or before is None:
                key = "mean_of_period" if is_mean else "period"
                sentence = wording.say(
                    key, column=title, period=wording.period(period), value=self._point_number(wording, point.value)
                )
                cells = self.cells(column, point.first, point.last)
            else:
                old = (Period(unit, number - 1), before.value)
                sentence = wording.change(title, (period, point.value), old, share, unit)
                cells = self.cells(column, min(point.first, before.first), max(point.last, before.last))
            yield ComputedLine(sentence, cells, time_of(period, share, self.language))

    def _point_number(self, wording: Wording, value: Number) -> str:
        is_exact = isinstance(value, int) or round(value, wording.decimals) == value
        return wording.number(value, decimals=wording.decimals if is_exact else max(2, wording.decimals))


def _written(label: Hashable) -> str:
    parts = label if isinstance(label, tuple) else (label,)
    return ", ".join(str(part) for part in parts if part not in (None, ""))


MOST_LINES = 400  # of a document
CAPTION_ROWS = 3  # between a table's first row and the line over it: the headers, perhaps a blank line
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)")


def with_computed(parsed: ParsedText, *, language: str) -> ParsedText:
    """Append computed lines to the text, and add periods and changes to the rows' locations.

    The lines are in the text's language if it is supported, else in English; no offset moves.
    """
    grids = [_grid(parsed, table, language) for table in _joined(parsed.tables) if table.rows]
    times = {start: time for grid in grids for start, time in grid.times()}
    locations = tuple(
        replace(location, temporal=times[location.start_char])
        if location.temporal is None and location.cells and location.start_char in times
        else location
        for location in parsed.locations
    )
    return _extended(replace(parsed, locations=locations), grids, language)


def _joined(tables: Sequence[Table]) -> Iterator[Table]:
    """A blank line inside a table does not end it."""
    for (sheet, headers, first_column), parts in groupby(tables, key=lambda t: (t.sheet, t.headers, t.first_column)):
        yield Table(sheet, headers, first_column, tuple(chain.from_iterable(part.rows for part in parts)))


def _grid(parsed: ParsedText, table: Table, language: str) -> Grid:
    caption = _caption(parsed, table)
    found = {int(year) for text in (table.sheet, caption, *table.headers) for year in _YEAR.findall(text)}
    year = found.pop() if len(found) == 1 else 0
    columns = type_columns(table, language=language, year=year)
    return Grid(table, caption, columns, total_rows(table, columns), year, language)


def _caption(parsed: ParsedText, table: Table) -> str:
    """The line over the table, which holds one cell."""
    start, row = table.rows[0].start_char, table.rows[0].number
    above = [location for location in parsed.locations if location.end_char < start and location.sheet == table.sheet]
    last = above[-1] if above else None
    edges = corners(last.cells) if last else None
    is_caption = last and edges and edges[0] == edges[1] and edges[0][1] >= row - CAPTION_ROWS
    return parsed.text[last.start_char : last.end_char] if last and is_caption else ""


def _extended(parsed: ParsedText, grids: Sequence[Grid], language: str) -> ParsedText:
    text, left = [parsed.text], MOST_LINES
    length = len(parsed.text)
    headings, locations = list(parsed.headings), list(parsed.locations)
    for (sheet, caption), group in groupby(grids, key=lambda grid: (grid.table.sheet, grid.caption)):
        lines = [line for grid in group for line in grid.lines()][:left]
        left -= len(lines)
        if not lines:
            continue
        if sheet:
            of = ", ".join(part for part in (sheet, caption) if part)
            heading = _one_line(Wording(language).say("heading", sheet=of))
            headings.append(Heading(1, heading, length + 2))
            text.append(f"\n\n{heading}")
            length += 2 + len(heading)
        for number, line in enumerate(lines):
            gap, sentence = "\n" if number else "\n\n", _one_line(line.text)
            start = length + len(gap)
            text += [gap, sentence]
            length = start + len(sentence)
            locations.append(SourceLocation(start, length, sheet=sheet, cells=line.cells, temporal=line.temporal))
    return replace(parsed, text="".join(text), headings=tuple(headings), locations=tuple(locations))


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())
