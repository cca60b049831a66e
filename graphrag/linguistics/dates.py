"""The dates, periods and clock times in a text in Spanish, French or English.

This is our own reader: of the dates in the gold set's half for tuning, dateparser, parsedatetime, datefinder and
Microsoft's recognizers find 5 to 63 %, the fastest in 5 ms for 200 words.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

from graphrag.linguistics.date_tokens import date_rules, months, read_tokens
from graphrag.linguistics.language import fold
from graphrag.linguistics.periods import UNITS, Days, Period, of_day, of_month

YEARS = range(1900, 2101)  # a number before is a year only after «en», "since" …
MAX_PERIOD_CHARS = 40  # of a text that is one
MAX_LOOKBEHIND = 4  # tokens
MAX_CLAUSE_CHARS = 60  # before a date, in which a verb says more of it
_Match = re.Match[str]


@dataclass(frozen=True, slots=True)
class Moment:
    """The parts of a date or a clock time that a text names; the others are None."""

    start: int
    end: int
    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    quarter: int | None = None
    half: int | None = None
    fortnight: int | None = None
    minute: int | None = None  # of the day, or of half of it
    other_month: int | None = None  # where day and month may be the other way round: 3/4

    def said(self) -> frozenset[str]:
        return frozenset(name for name in _PARTS if getattr(self, name) is not None)

    def contradicts(self, other: "Moment") -> bool:
        shared = self.said() & other.said()
        if self._agrees_turned(other) or other._agrees_turned(self):
            shared -= {"day", "month"}
        return any(not _alike(name, getattr(self, name), getattr(other, name)) for name in shared)

    def _agrees_turned(self, other: "Moment") -> bool:
        return self.other_month is not None and (self.other_month, self.month) == (other.month, other.day)

    def days(self, year: int) -> Days | None:
        """Return its days, those of `year` where it names none; None where that is 0."""
        year = self.year or year
        if year and self.month and self.day:
            is_day = self.day <= monthrange(year, self.month)[1]
            return (date(year, self.month, self.day),) * 2 if is_day else None
        if not year or not (self.year or self.month or self.quarter or self.half):
            return None
        part, size = (self.month, 1) if self.month else (self.quarter, 3) if self.quarter else (self.half, 6)
        first, last = _around(date(year, ((part or 1) - 1) * size + 1, 1), size if part else 12)
        if self.fortnight:
            return (first, first.replace(day=15)) if self.fortnight == 1 else (first.replace(day=16), last)
        return first, last


_PARTS = ("year", "month", "day", "weekday", "quarter", "half", "fortnight", "minute")


def _alike(name: str, one: int, other: int) -> bool:
    return one == other or (name == "minute" and abs(one - other) == 720)


@dataclass(frozen=True, slots=True)
class DateExpression:
    """A date, a period or a clock time in a text.

    `first` and `last` are its days, None where the year or the document's date that they depend on is unknown.
    `moments` are the parts that it names, of a range those of both ends; relative dates, decades and centuries have
    none.
    """

    start: int
    end: int
    first: date | None = None
    last: date | None = None
    moments: tuple[Moment, ...] = ()

    @property
    def period(self) -> Period | None:
        """The day, month, quarter or year that it is, where it is one."""
        if self.first is None or self.first == self.last:
            return of_day(self.first) if self.first else None
        periods = (of_day(self.first).within(unit) for unit in UNITS)
        return next((period for period in periods if period and period.days == (self.first, self.last)), None)


def read_dates(text: str, language: str, *, reference: date | None = None, year: int = 0) -> tuple[DateExpression, ...]:
    """Return the dates, periods and clock times of a text in their order.

    `reference`, the document's own date, is what relative dates are counted from. Dates that name no year are of
    `year`, else of the reference's. 05/06/2025 has no days in English, where it may be in May or in June.
    """
    year = year or (reference.year if reference else 0)
    return _read(text, language, None if language == "en" else True, reference, year)


def parse_period(text: str, *, day_first: bool | None = None, year: int = 0) -> Period | None:
    """Parse a text that is a time and nothing else.

    «05/06/2025» is one only if `day_first` is known; «4 de mayo» only if the `year` is.
    """
    if len(text) > MAX_PERIOD_CHARS or not (any(map(str.isdigit, text)) or fold(text).strip(" .") in months()):
        return None
    found = _read(text, "", day_first, None, year)
    dated = [each for each in found if all(one.said() - {"minute", "weekday"} for one in each.moments)]
    rest = "".join(text[one.end : other.start] for one, other in pairwise([_START, *found, _END]))
    if len(dated) != 1 or len(dated[0].moments) != 1 or any(map(str.isalnum, rest)):
        return None
    (moment,) = dated[0].moments
    if moment.year is None and moment.quarter:
        return Period("quarter", moment.quarter - 1)
    if moment.year is None and moment.month and not (moment.day or moment.fortnight):
        return of_month(0, moment.month)
    return dated[0].period if moment.year is None or moment.year in YEARS else None


def only_year(text: str) -> int:
    """The year that a text names where it names one; else 0."""
    moments = (moment for each in read_dates(text, "") for moment in each.moments)
    found = {moment.year for moment in moments if moment.year in YEARS}
    return (found.pop() or 0) if len(found) == 1 else 0


@lru_cache(maxsize=2048)
def _read(
    text: str, language: str, day_first: bool | None, reference: date | None, year: int
) -> tuple[DateExpression, ...]:
    return tuple(_Reading(text, language, day_first, reference, year).expressions())


_START, _END = DateExpression(0, 0), DateExpression(MAX_PERIOD_CHARS, MAX_PERIOD_CHARS)
_DAYS = {"z": 1, "k": 7, "v": 15}
_MONTHS = {"x": 1, "q": 3, "s": 6, "l": 12, "E": 12, "D": 120}


def _shifted(day: date, months_later: int) -> date:
    """Return the same day so many months later; of a shorter month its last."""
    year, month = divmod(day.year * 12 + day.month - 1 + months_later, 12)
    last = date(year + month // 11, (month + 1) % 12 + 1, 1) - timedelta(1)
    return last.replace(day=min(day.day, last.day))


def _around(day: date, size: int, away: int = 0) -> Days:
    """Return the days of the period of so many months that a day is in, or of the `away`-th after it."""
    first = _shifted(day.replace(month=(day.month - 1) // size * size + 1, day=1), away * size)
    return first, _shifted(first, size) - timedelta(1)


def _week_of(day: date) -> Days:
    monday = day - timedelta(day.weekday())
    return monday, monday + timedelta(6)


@dataclass(slots=True)
class _Found:
    """Result of a rule: [begin, stop) of the tokens, the parts that it names, its days where these do not tell them."""

    rule: str
    begin: int
    stop: int
    moment: Moment | None = None
    days: Days | None = None


_RANGE = re.compile(r"(?:[-=/t]|Ut?)o?a?z?W?")
_LISTED = re.compile(r",?[&,]o?a?z?W?")
_OF = re.compile(r"[,of]*a?")  # «mayo del año pasado»
_NUMBERED = re.compile(r"#\.?$")
_BETWEEN = re.compile(r"b[aoz]*W?$")
_WEEK_OF = re.compile(r"k[ofj]?a?W?$")
_VALUED = {
    "day": "dcrN", "month": "MZV", "quarter": "rNOdLRQ", "half": "rNOH", "fortnight": "rN", "century": "XrNdc",
    "decade": "ndcyYK", "year": "yY",
}  # fmt: skip
_MOST = {"day": 31, "quarter": 4, "half": 2, "fortnight": 2, "century": 21}


@lru_cache(maxsize=8)
def _grammar(language: str) -> list[tuple[str, frozenset[str], list[re.Pattern[str]]]]:
    """Return a language's rules in their order, each with the kinds of tokens of which it needs one."""
    named = ((name.split(), patterns) for name, patterns in date_rules().grammar.items())
    return [
        (rule, frozenset(needed), patterns)
        for (rule, needed, *languages), patterns in named
        if not languages or language in languages
    ]


class _Reading:
    """One reading of a text: for each rule of the grammar a method returns what its match is, nothing where no date."""

    def __init__(self, text: str, language: str, day_first: bool | None, reference: date | None, year: int) -> None:
        self.day_first, self.reference, self.year = day_first, reference, year
        self.text, self.language = text, language
        self.tokens = read_tokens(text, language)
        self.kinds = "".join(token.kind for token in self.tokens)

    def expressions(self) -> Iterator[DateExpression]:
        found: list[_Found] = []
        left, kinds = self.kinds, set(self.kinds)
        for rule, needed, patterns in _grammar(self.language):
            for pattern in patterns if kinds & needed else ():
                left = pattern.sub(partial(self._keep, rule, found), left)
        found.sort(key=lambda each: each.begin)
        found = self._with_years(found)
        place = 0
        while place < len(found):
            ends = found[place : place + 2]
            ends = ends if len(ends) > 1 and self._is_range(*ends) else ends[:1]
            place += len(ends)
            yield self._expression(ends)

    def _keep(self, rule: str, found: list[_Found], match: _Match) -> str:
        """Add what the rule reads in a match, and mark it as read."""
        read: Callable[[str, _Match], list[_Found]] = getattr(
            self, f"_{rule}", self._parts if rule in match.re.groupindex else self._own
        )
        new = read(rule, match)
        found += new
        return "_" * len(match[0]) if new else match[0]

    def _before(self, place: int) -> str:
        return self.kinds[max(0, place - MAX_LOOKBEHIND) : place]

    def _follows(self, words: Mapping[str, re.Pattern[str]], place: int) -> bool:
        """Return whether one of the language's words stands in the clause before."""
        start = self.tokens[place].start
        pattern = words.get(self.language)
        return pattern is not None and pattern.search(self.text, max(0, start - MAX_CLAUSE_CHARS), start) is not None

    def _value(self, match: _Match, name: str) -> int | None:
        """Return the value of a group's first token."""
        return self.tokens[match.start(name)].value if match.groupdict().get(name) else None

    def _numbers(self, match: _Match, name: str) -> list[tuple[int, int, int]]:
        """Return a group's numbers, each with its span of tokens; the first and the last reach to the match's ends."""
        places = [
            place for place in range(*match.span(name)) if self.kinds[place] in _VALUED.get(name, self.kinds[place])
        ]
        begins, stops = [match.start(), *places[1:]], [*(place + 1 for place in places[:-1]), match.end()]
        return list(zip(begins, stops, (self.tokens[place].value for place in places), strict=True))

    def _parts(self, rule: str, match: _Match) -> list[_Found]:
        """Read days, months, quarters …, one or several, of which the last may have the year of all."""
        groups = [name for name in ("year", "month", "weekday") if name != rule and name in match.re.groupindex]
        parts = {name: self._value(match, name) for name in groups}
        found: list[_Found] = []
        for begin, stop, value in self._numbers(match, rule):
            if value > _MOST.get(rule, value):
                return []
            span = self.tokens[begin].start, self.tokens[stop - 1].end
            parts |= {"weekday": None} if found else {}  # it is the first one's
            named: dict[str, Any] = parts | {rule: value if value >= 0 else _MOST[rule]}  # -1 is the last of them
            moment = Moment(*span, **named)
            found.append(_Found(rule, begin, stop, moment, self._days_of_turn(moment, self._value(match, "turn"))))
        return found

    def _days_of_turn(self, moment: Moment, turn: int | None) -> Days | None:
        """Return the days of the last, this or the next one of a weekday, a month or a day of it."""
        today = self.reference
        if today is None or turn is None or moment.year:
            return None
        if moment.weekday is not None and not moment.day:
            away = (moment.weekday - today.weekday()) % 7
            return (today + timedelta(away - 7 if turn < 0 else away or 7 * turn),) * 2
        start = today if moment.day else today.replace(day=1)
        days = (moment.days(year) for year in (today.year, today.year + turn))
        return next((each for each in days if each and (not turn or (each[0] - start).days * turn > 0)), None)

    def _nth_weekday(self, rule: str, match: _Match) -> list[_Found]:
        """Read «el primer lunes de marzo», "the final Friday in May"."""
        nth, weekday = self._value(match, "nth") or 0, self._value(match, "weekday") or 0
        year, month = self._value(match, "year") or self.year, self._value(match, "month") or 0
        if not year or not nth or not -1 <= nth <= 5:
            return []
        days = [date(year, month, day) for day in range(1, monthrange(year, month)[1] + 1)]
        days = [day for day in days if day.weekday() == weekday]
        place = nth - 1 if nth > 0 else nth
        return [_Found(rule, *match.span(), days=(days[place],) * 2)] if place < len(days) else []

    def _mention(self, rule: str, match: _Match) -> list[_Found]:
        return [replace(each, rule=rule) for each in self._parts("month", match)]

    def _own(self, rule: str, match: _Match) -> list[_Found]:
        """Read a token that is all of a date."""
        token = self.tokens[match.start()]
        moment = Moment(token.start, token.end, **token.parts)
        if moment.month and not moment.day and _NUMBERED.search(self._before(match.start())):
            return []  # «Ley 1/2015»
        if moment.other_month and self.day_first is False:
            moment = replace(moment, month=moment.other_month, day=moment.month, other_month=None)
        return [_Found(rule, *match.span(), moment if token.parts else None)]

    def _week(self, rule: str, match: _Match) -> list[_Found]:
        year, week = self._value(match, "year") or 0, self._value(match, "week") or 0
        is_week = 1 <= week <= date(year, 12, 28).isocalendar().week
        return [_Found(rule, *match.span(), days=_week_of(date.fromisocalendar(year, week, 1)))] if is_week else []

    def _decade(self, rule: str, match: _Match) -> list[_Found]:
        found = []
        for begin, stop, value in self._numbers(match, rule):
            year = value + 1900 if value < 100 else value
            if year % 10 or not 1000 < year <= 2100 or value < 20:
                return []
            found.append(_Found(rule, begin, stop, days=(date(year, 1, 1), date(year + 9, 12, 31))))
        return found

    def _century(self, rule: str, match: _Match) -> list[_Found]:
        numbers = self._numbers(match, rule)
        return [
            _Found(rule, begin, stop, days=(date(100 * value - 99, 1, 1), date(100 * value, 12, 31)))
            for begin, stop, value in numbers
            if 1 <= value <= _MOST[rule]
        ]

    def _relative(self, rule: str, match: _Match, days: Callable[[date], Days]) -> list[_Found]:
        """Return a date that is counted from the reference; without days where there is none."""
        try:
            return [_Found(rule, *match.span(), days=days(self.reference) if self.reference else None)]
        except (ValueError, OverflowError):  # a thousand years ago
            return []

    def _ago(self, rule: str, match: _Match) -> list[_Found]:
        unit, count = match["unit"], self._value(match, "count") or 1
        is_in = self.kinds[match.start()] == "i"
        if is_in and ((count == 1 and unit == "z") or self._follows(date_rules().past, match.start())):
            return []  # it took so long: "in one day"
        count *= self._value(match, "sign") or 0
        if unit in _MONTHS:
            return self._relative(rule, match, lambda today: (_shifted(today, count * _MONTHS[unit]),) * 2)
        days = 14 if unit == "v" and self.language == "en" else _DAYS[unit]  # a fortnight is no «quincena»
        return self._relative(rule, match, lambda today: (today + timedelta(count * days),) * 2)

    def _turn(self, rule: str, match: _Match) -> list[_Found]:
        turn, unit, weekday = self._value(match, "turn") or 0, match["unit"], self._value(match, "weekday")
        turn *= 1 + ("twice" in match.re.groupindex)  # "the week before last"
        if self.language == "en" and self.text[self.tokens[match.start("unit")].end - 1] == "s":
            return []  # "the food will last weeks"
        if unit in _MONTHS:
            return self._relative(rule, match, lambda today: _around(today, _MONTHS[unit], turn))
        first, last = (weekday, weekday) if weekday is not None else (5 if unit == "e" else 0, 6)

        def days(today: date) -> Days:
            monday = _week_of(today)[0] + timedelta(7 * turn)
            return monday + timedelta(first), monday + timedelta(last)

        return self._relative(rule, match, days)

    def _shift(self, rule: str, match: _Match) -> list[_Found]:
        away = self._value(match, "shift") or 0
        if self.kinds[match.start()] == "L" and away > 0:
            return []  # "the next morning" is no tomorrow's
        return self._relative(rule, match, lambda today: (today + timedelta(away),) * 2)

    def _with_years(self, found: list[_Found]) -> list[_Found]:
        """Give dates the year of the other end of their range, or of the last of their list, or the last year."""
        kept = found[:1]
        for right in found[1:]:
            left = kept[-1]
            is_year = right.rule == "turn" and right.days and "l" in self.kinds[right.begin : right.stop]
            if is_year and right.days and left.moment and _OF.fullmatch(self.kinds, left.stop, right.begin):
                left.days, left.stop = left.moment.days(right.days[0].year), right.stop
            else:
                kept.append(right)
        for left, right in reversed(list(pairwise(kept))):
            if not (left.moment and right.moment and self._are_linked(left, right)) or left.moment.year:
                continue
            if right.days and not left.days:  # «de mayo a julio del año pasado»
                left.days = left.moment.days(right.days[0].year)
            left.moment = replace(left.moment, year=right.moment.year)
            days, last = self._days_of(left), self._days_of(right)
            if days and last and days > last and _RANGE.fullmatch(self.kinds, left.stop, right.begin):
                if left.moment.year:  # from December to January
                    left.moment = replace(left.moment, year=left.moment.year - 1)
                else:
                    right.days = right.moment.days(self.year + 1)
        return kept

    def _are_linked(self, left: _Found, right: _Found) -> bool:
        links = (_RANGE, _LISTED)
        return left.rule == right.rule and any(link.fullmatch(self.kinds, left.stop, right.begin) for link in links)

    def _is_range(self, left: _Found, right: _Found) -> bool:
        is_between = _BETWEEN.search(self._before(left.begin)) and self._are_linked(left, right)
        if left.rule != right.rule or not (is_between or _RANGE.fullmatch(self.kinds, left.stop, right.begin)):
            return False
        if self.kinds[left.stop] == "t" and self._follows(date_rules().moved, left.begin):
            return False
        first, last = self._days_of(left), self._days_of(right)
        return first <= last if first and last else first is last and bool(left.moment)

    def _days_of(self, found: _Found) -> Days | None:
        is_unclear = found.rule in ("mention", "unclear") or (
            found.moment and found.moment.other_month and self.day_first is None
        )
        return found.days or (found.moment.days(self.year) if found.moment and not is_unclear else None)

    def _expression(self, ends: list[_Found]) -> DateExpression:
        begin, stop = ends[0].begin, ends[-1].stop
        first, last = self._days_of(ends[0]), self._days_of(ends[-1])
        if len(ends) == 1 and ends[0].rule in ("day", "numeric") and (week := _WEEK_OF.search(self._before(begin))):
            begin -= len(week[0])
            first = last = _week_of(first[0]) if first else None
        moments = tuple(each.moment for each in ends if each.moment)
        is_known = first is not None and last is not None
        return DateExpression(
            self.tokens[begin].start,
            self.tokens[stop - 1].end,
            first[0] if first and is_known else None,
            last[1] if last and is_known else None,
            moments,
        )
