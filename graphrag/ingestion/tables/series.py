"""Series of numbers in time, whose periods are rows or columns, and the lines computed from them."""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import reduce
from itertools import pairwise

from babel.numbers import format_decimal

from graphrag.ingestion.tables.columns import Column, Role, role, says_what_is_measured
from graphrag.linguistics.cell_values import Number
from graphrag.linguistics.dates import parse_period
from graphrag.linguistics.language import fold, words
from graphrag.linguistics.periods import UNITS, Period, Unit, against, breaking_spaces, name, percent, spoken, trend
from graphrag.linguistics.rules import read_texts
from graphrag.models import Table, TemporalContext
from graphrag.parsers.source_locations import cell_range

MOST_DECIMALS = 6
_HUGE = 1e15
SENTENCES = read_texts("graphrag.ingestion.tables", "sentences")


@dataclass(frozen=True, slots=True)
class ComputedLine:
    text: str
    cells: str  # that it was computed from
    temporal: TemporalContext | None = None


@dataclass(frozen=True, slots=True)
class Wording:
    """The sentences of a language, with a column's numbers as people of that language write them."""

    language: str
    decimals: int = 0
    unit: str = ""

    def say(self, key: str, **words: str) -> str:
        sentence = SENTENCES[spoken(self.language)][key].format(**words)
        return sentence[:1].upper() + sentence[1:]

    def number(self, value: Number, *, decimals: int | None = None) -> str:
        return written(value, self.language, decimals=self.decimals if decimals is None else decimals, unit=self.unit)

    def count(self, number: int) -> str:
        return written(number, self.language, decimals=0)

    def period(self, period: Period) -> str:
        return name(period, spoken(self.language))

    def range(self, periods: Sequence[Period]) -> str:
        """Empty for a single period."""
        first, last = min(periods, key=_first), max(periods, key=_first)
        if first == last:
            return ""
        return SENTENCES[spoken(self.language)]["range"].format(first=self.period(first), last=self.period(last))

    def change(
        self, column: str, now: tuple[Period, Number], before: tuple[Period, Number], share: float, unit: Unit
    ) -> str:
        difference = now[1] - before[1]
        words = {
            "column": column,
            "period": self.period(now[0]),
            "value": self.number(now[1]),
            "before": self.period(before[0]),
        }
        if difference == 0:
            return self.say("same", **words)
        return self.say(
            "change",
            **words,
            percent=percent(share, self.language),
            against=against(unit, self.language),
            previous=self.number(before[1]),
            verb=SENTENCES[spoken(self.language)]["up" if difference > 0 else "down"],
            difference=self.number(abs(difference)),
        )


def _first(period: Period) -> tuple[int, int]:
    day = period.first_day
    return (day.toordinal() if day else 0, period.number)


def time_of(period: Period, share: float | None, language: str) -> TemporalContext | None:
    day = period.first_day
    label = "" if share is None else trend(share, period.unit, language)
    return TemporalContext(day, period.unit, share, label) if day else None


def written(value: Number, language: str, *, decimals: int, unit: str = "") -> str:
    number = _number(value, spoken(language), decimals)
    if not unit:
        return number
    if spoken(language) == "en":
        return f"{number}%" if unit == "%" else f"{unit}{number}" if len(unit) == 1 else f"{number} {unit}"
    return f"{number} {unit}"


def _number(value: Number, language: str, decimals: int) -> str:
    if abs(value) >= _HUGE or 0 < abs(value) < 10**-MOST_DECIMALS:
        return f"{float(value):.6g}"
    pattern = "#,##0." + "#" * decimals if decimals else "#,##0"
    text = format_decimal(round(value, decimals), pattern, locale=language)
    return breaking_spaces(text)


def decimals_of(values: Sequence[Number]) -> int:
    """Return the number of decimals that the values are written with."""
    fractions = {value for value in values if isinstance(value, float)}
    return min(MOST_DECIMALS, max((_decimals(f"{value:.10g}") for value in fractions), default=0))


def _decimals(text: str) -> int:
    return MOST_DECIMALS if "e-" in text else len(text.partition(".")[2])


MOST_CHANGE = 1_000.0  # beyond it the value before was next to nothing
DAYS_APART = 3  # of dates in different months that are still of a monthly series
DENSE_DAYS = 15  # with values a month: a daily series, whose month may be incomplete
COMPLETE = 0.8  # of the days of the month before
_DATE = frozenset("fecha date dia jour day mes mois month periodo periode period trimestre quarter semana".split())
_OF_PLANS = frozenset(
    "prevista previsto prevue prevu due entrega livraison delivery vencimiento echeance limite".split()
)


@dataclass(frozen=True, slots=True)
class Point:
    """The value of a period, and the first and last row that it comes from."""

    value: Number
    count: int
    first: int
    last: int
    parts: int  # days, or months, that it has values of


Points = Mapping[int, Point]  # by the period's number


def total(values: Sequence[Number]) -> Number:
    return sum(values) if all(isinstance(value, int) for value in values) else math.fsum(values)


def mean(values: Sequence[Number]) -> float:
    return math.fsum(values) / len(values)


def row_periods(columns: Sequence[Column]) -> list[Period | None]:
    """Return each row's period, from columns of months and years, else from the likeliest column of dates."""
    times = [column for column in columns if column.is_time]
    years = next((column for column in columns if column.role is Role.YEAR), None)
    yearless = next((column for column in times if all(p is None or p.year == 0 for p in column.periods)), None)
    numbered = next((column for column in columns if column.role is Role.MONTH), None)
    if years and yearless:
        pairs = zip(yearless.periods, years.numbers, strict=True)
        return [period.of_year(int(year)) if period and year else None for period, year in pairs]
    if years and numbered:
        both = zip(years.numbers, numbered.numbers, strict=True)
        return [Period("month", int(year) * 12 + int(month) - 1) if year and month else None for year, month in both]
    if times:
        return min(times, key=_unlikely).periods
    return [Period("year", int(year)) if year else None for year in years.numbers] if years else []


def _unlikely(column: Column) -> int:
    header = {fold(word) for word in words(column.header)}
    return 2 if header & _OF_PLANS else 0 if header & _DATE else 1


def labels_of_series(columns: Sequence[Column], periods: Sequence[Period | None]) -> Sequence[Hashable] | None:
    """Return a label a row that tells the rows of one period apart; None if no columns do.

    It is empty, a column's value, or the values of all columns with few different texts.
    """
    nothing = [()] * len(periods)
    few = [
        column
        for column in columns
        if (column.is_text or column.role is Role.CODE) and len(set(column.values)) <= max(1, len(periods) // 2)
    ]
    candidates: list[Sequence[Hashable]] = [nothing, *(column.values for column in few)]
    if len(few) > 1:
        candidates.append(list(zip(*(column.values for column in few), strict=True)))
    return next((labels for labels in candidates if _are_apart(labels, periods)), None)


def _are_apart(labels: Sequence[Hashable], periods: Sequence[Period | None]) -> bool:
    pairs = [(label, period) for label, period in zip(labels, periods, strict=True) if period]
    return len(set(pairs)) == len(pairs) > len({label for label, _ in pairs})


def unit_of_rows(labels: Sequence[Hashable], periods: Sequence[Period | None]) -> Unit | None:
    """Return the unit of time from row to row; None if the rows are single events rather than a series.

    Dates a month apart are a monthly series.
    """
    units = {period.unit for period in periods if period}
    if len(units) != 1:
        return None
    (unit,) = units
    if unit != "day":
        return unit
    days = defaultdict(list)
    for label, period in zip(labels, periods, strict=True):
        if period:
            days[label].append(period.number)
    gaps = [after - before for found in days.values() for before, after in pairwise(sorted(found))]
    if gaps and sum(gap == 1 for gap in gaps) * 2 >= len(gaps):
        return "day"
    return _unit_of_dates([sorted(found) for found in days.values()])


def _unit_of_dates(series: Iterable[Sequence[int]]) -> Unit | None:
    dates = [[date.fromordinal(number) for number in numbers] for numbers in series]
    all_days = [day.day for found in dates for day in found]
    are_last = all((day + timedelta(1)).day == 1 for found in dates for day in found if day < date.max)
    if max(all_days) - min(all_days) > DAYS_APART and not are_last:
        return None
    steps = [
        (after.year - before.year) * 12 + after.month - before.month
        for found in dates
        for before, after in pairwise(found)
    ]
    if not steps or 0 in steps:
        return None
    step = reduce(math.gcd, steps)
    return "year" if step % 12 == 0 else "quarter" if step % 3 == 0 else "month"


def points(column: Column, periods: Sequence[Period | None], unit: Unit, rows: Iterable[int]) -> dict[int, Point]:
    """The sum of each period, or the mean where a sum has no meaning."""
    values = defaultdict(list)
    numbers, known = column.numbers, all_within(periods, unit)
    for row in rows:
        value, period = numbers[row], periods[row]
        if value is not None and period in known:
            values[known[period].number].append((row, value, period.number))
    aggregate = total if column.role is Role.AMOUNT else mean
    return {
        number: Point(
            value=found[0][1] if len(found) == 1 else aggregate([value for _, value, _ in found]),
            count=len(found),
            first=min(row for row, _, _ in found),
            last=max(row for row, _, _ in found),
            parts=len({part for _, _, part in found}),
        )
        for number, found in sorted(values.items())
    }


def all_within(periods: Iterable[Period | None], unit: Unit) -> dict[Period, Period]:
    """Each period that has one of that unit around it → that."""
    return {period: within for period in set(periods) if period and (within := period.within(unit))}


def change(found: Points, number: int, *, unit: Unit, finest: Unit) -> float | None:
    """Return the change against the period before as a share; None unless it is known and both are complete."""
    now, before = found[number], found.get(number - 1)
    if before is None or before.value <= 0 or not _are_complete(found, now, before, unit, finest):
        return None
    share = (now.value - before.value) / before.value
    return share if abs(share) <= MOST_CHANGE else None


def _are_complete(found: Points, now: Point, before: Point, unit: Unit, finest: Unit) -> bool:
    if unit == "year" and finest in ("month", "quarter"):
        return now.parts == before.parts == {"month": 12, "quarter": 4}[finest]
    if unit == finest or finest != "day":
        return True
    parts = sorted(point.parts for point in found.values())
    is_dense = parts[len(parts) // 2] >= DENSE_DAYS
    return not is_dense or min(now.parts, before.parts) >= COMPLETE * max(now.parts, before.parts)


def finest_unit(periods: Sequence[Period | None]) -> Unit | None:
    units = {period.unit for period in periods if period}
    return min(units, key=UNITS.index) if units else None


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
) -> Iterator[ComputedLine]:
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
    for row, label in zip(rows[:MOST_ROWS], names, strict=False):
        lines = list(across.lines_of([row], label))
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

    def lines_of(self, rows: Sequence[int], name: str) -> Iterator[ComputedLine]:
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
            share = None if kind is Role.SHARE else change(points, number, unit=self.unit, finest=self.unit)
            if share is None or before is None:
                sentence = wording.say(
                    "period", column=name, period=wording.period(period), value=wording.number(point.value)
                )
                cells = self._cells(number, number, point)
            else:
                old = (Period(self.unit, number - 1), before.value)
                sentence = wording.change(name, (period, point.value), old, share, self.unit)
                cells = self._cells(number - 1, number, point)
            yield ComputedLine(sentence, cells, time_of(period, share, self.language))

    def _point(self, found: Sequence[tuple[int, Number]]) -> Point:
        rows = [row for row, _ in found]
        return Point(total([value for _, value in found]), len(found), min(rows), max(rows), 1)

    def _summary(self, points: Mapping[int, Point], name: str, wording: Wording, kind: Role) -> Iterator[ComputedLine]:
        numbers = list(points)
        values = {number: point.value for number, point in points.items()}
        cells = self._cells(numbers[0], numbers[-1], *points.values())
        periods = [Period(self.unit, number) for number in numbers]
        words = {"column": name, "range": wording.range(periods), "count": wording.count(len(points))}
        if kind in (Role.AMOUNT, Role.CODE):  # the name of a row is no column's header: «Lote» is what is counted
            yield ComputedLine(wording.say("total", value=wording.number(total(list(values.values()))), **words), cells)
        for key, extreme in (("minimum", min(values.values())), ("maximum", max(values.values()))):
            when = [wording.period(Period(self.unit, number)) for number in values if values[number] == extreme]
            of = f" ({'; '.join(when)})" if len(when) <= MOST_NAMED else ""
            yield ComputedLine(wording.say(key, value=wording.number(extreme), of=of, **words), cells)
        if kind is not Role.RUNNING:
            average = wording.number(mean(list(values.values())), decimals=max(2, wording.decimals))
            yield ComputedLine(wording.say("mean", value=average, **words), cells)

    def _cells(self, first: int, last: int, *points: Point) -> str:
        places = [self.table.first_column + self.by_number[number].place for number in (first, last)]
        rows = [
            self.table.rows[min(point.first for point in points)].number,
            self.table.rows[max(point.last for point in points)].number,
        ]
        return cell_range((min(places), rows[0]), (max(places), rows[1]))
