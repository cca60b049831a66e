"""Dates, months, years, weekdays and times of day in all the writings of three languages."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import lru_cache

from babel.dates import get_day_names

from graphrag.language import ANSWER_LANGUAGES, fold
from graphrag.periods import YEARS, months

_MONTH = r"(?P<month>[A-Za-zÀ-ÿ]{3,10})\.?"
_YEAR = r"(?P<year>(?:19|20|21)\d\d)"
_DAY = r"(?P<day>\d{1,2})(?:er|st|nd|rd|th|[ºo°])?"
_TIMES = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2})?)?"
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<!\d)" + _YEAR + r"-(?P<number>\d{2})(?:-(?P<day>\d{2}))?(?!\d)",
        r"(?<![\d/])(?P<first>\d{1,2})(?P<mark>[/.-])(?P<second>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})(?![\d/])",
        r"(?<![\d/.])(?P<number>0?[1-9]|1[0-2])/(?P<year>(?:19|20)\d\d)(?![\d/])",
        r"(?<![\d/.,])(?P<first>\d{1,2})/(?P<second>\d{1,2})(?![\d/.,])",
        r"(?<![\d.,])"
        + _DAY
        + r"(?:\s+(?:de|of))?[\s\u00a0]+"
        + _MONTH
        + r"(?:,?\s+(?:de\s+|del\s+|of\s+)?"
        + _YEAR
        + r")?(?!\w)",
        r"(?<!\w)" + _MONTH + r"\s+" + _DAY + r"(?!\d)(?:,?\s+" + _YEAR + r")?(?!\w)",
        r"(?<!\w)" + _MONTH + r",?\s+(?:de\s+|del\s+|of\s+)?" + _YEAR + r"(?!\w)",
    )
)
_HOUR = re.compile(
    r"(?<![\d.,:])(?P<hour>[01]?\d|2[0-4])\s?(?:[:hH]|h\.)\s?(?P<minute>[0-5]\d)(?!\d)(?:\s?(?P<half>[ap]\.?\s?m\b\.?))?"
    r"|(?<![\d.,:])(?P<bare>1?\d)(?:[.:](?P<more>[0-5]\d))?\s?(?P<part>[ap]\.?\s?m\b\.?)"
    r"|(?<![\d.,:])(?P<french>[01]?\d|2[0-4])\s?h(?:eures)?(?!\w)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")
_YEAR_ALONE = re.compile(r"(?<![\w.,€$£/-])(?P<year>(?:19|20)\d\d)(?![\w/-]|[.,]\d|\s?[€$£%])")
_OLD_YEAR = re.compile(
    r"(?<!\w)(?:en|in|de|desde|hacia|hasta|since|from|until|by|depuis|vers)\s+(?P<year>1[5-8]\d\d)(?![\w/.,-]\d|\s?[€$£%\d])"
)
_QUARTERS = {
    "primer": 1, "primero": 1, "segundo": 2, "tercer": 3, "tercero": 3, "cuarto": 4, "premier": 1, "deuxieme": 2,
    "second": 2, "troisieme": 3, "quatrieme": 4, "first": 1, "third": 3, "fourth": 4,
}  # fmt: skip
_QUARTER_WORDS = frozenset({"trimestre", "quarter"})
_QUARTER = re.compile(r"(?<!\w)[QT]([1-4])(?!\w)")
_UNSURE = frozenset(
    "may mars march sept set mar dec ago avr abr".split()
)  # also other words: with a day, or not at all
_LONG = 4


@dataclass(frozen=True, slots=True)
class Moment:
    """What is not said is None. `day_first`: the other reading of 3/4."""

    start: int
    end: int
    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    quarter: int | None = None
    minute: int | None = None  # of the day, or of half of it
    other_month: int | None = None  # where day and month may be the other way round

    def said(self) -> frozenset[str]:
        names = (field.name for field in fields(self) if field.name not in ("start", "end", "other_month"))
        return frozenset(name for name in names if getattr(self, name) is not None)

    def contradicts(self, other: "Moment") -> bool:
        shared = self.said() & other.said()
        if self._agrees_turned(other) or other._agrees_turned(self):
            shared -= {"day", "month"}
        return any(not _alike(name, getattr(self, name), getattr(other, name)) for name in shared)

    def _agrees_turned(self, other: "Moment") -> bool:
        return self.other_month is not None and (self.other_month, self.month) == (other.month, other.day)


def _alike(name: str, one: int, other: int) -> bool:
    return one == other or (name == "minute" and abs(one - other) == 720)


@lru_cache(maxsize=1)
def _weekdays() -> dict[str, int]:
    named = [
        (number, name)
        for language in ANSWER_LANGUAGES
        for number, name in get_day_names("wide", locale=language).items()
    ]
    plural = {f"{fold(name)}s": number for number, name in named}
    return plural | {fold(name): number for number, name in named}


@lru_cache(maxsize=2048)
def read_moments(text: str, language: str) -> tuple[Moment, ...]:
    found: list[Moment] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            moment = _dated(match)
            if moment and not _overlaps(found, moment):
                found.append(moment)
    for moment in (*_hours(text), *_in_words(text, language)):
        if not _overlaps(found, moment):
            found.append(moment)
    return tuple(sorted(found, key=lambda moment: moment.start))


def _overlaps(found: list[Moment], moment: Moment) -> bool:
    return any(other.start < moment.end and moment.start < other.end for other in found)


def _dated(match: re.Match[str]) -> Moment | None:
    parts = match.groupdict()
    year = int(parts["year"]) if parts.get("year") else None
    if year is not None and year < 100:
        year += 2000 if year < 70 else 1900
    if parts.get("first"):
        first, second = int(parts["first"]), int(parts["second"])
        if not (1 <= first <= 31 and 1 <= second <= 31 and min(first, second) <= 12):
            return None
        if second > 12:
            first, second = second, first
        turned = first if first <= 12 and first != second else None
        return Moment(match.start(), match.end(), year=year, month=second, day=first, other_month=turned)
    month = int(parts["number"]) if parts.get("number") else months().get(fold(parts["month"]).rstrip("."))
    day = int(parts["day"]) if parts.get("day") else None
    if month is None or not 1 <= month <= 12 or (day is not None and not 1 <= day <= 31):
        return None
    return Moment(match.start(), match.end(), year=year, month=month, day=day)


def _hours(text: str) -> Iterator[Moment]:
    for match in _HOUR.finditer(text):
        hour = int(match["hour"] or match["bare"] or match["french"])
        half = (match["half"] or match["part"] or "").lower()
        if half.startswith("p") and hour < 12:
            hour += 12
        yield Moment(match.start(), match.end(), minute=hour % 24 * 60 + int(match["minute"] or match["more"] or 0))


def _in_words(text: str, language: str) -> Iterator[Moment]:
    matches = list(_WORD.finditer(text))
    words = [fold(match.group()) for match in matches]
    for at, (word, match) in enumerate(zip(words, matches, strict=True)):
        if word in _weekdays():
            yield Moment(match.start(), match.end(), weekday=_weekdays()[word])
        elif (
            word in months()
            and len(word) >= _LONG - (word in {"may", "mai"})
            and _is_month(word, match.group(), language)
        ):
            yield Moment(match.start(), match.end(), month=months()[word])
        elif word in _QUARTER_WORDS and at and words[at - 1] in _QUARTERS:
            yield Moment(matches[at - 1].start(), match.end(), quarter=_QUARTERS[words[at - 1]])
    for found in _QUARTER.finditer(text):
        yield Moment(found.start(), found.end(), quarter=int(found[1]))
    for found in _YEAR_ALONE.finditer(text):
        if int(found["year"]) in YEARS:
            yield Moment(found.start(), found.end(), year=int(found["year"]))
    for found in _OLD_YEAR.finditer(text):
        yield Moment(found.start("year"), found.end("year"), year=int(found["year"]))


def _is_month(word: str, written: str, language: str) -> bool:
    if word in {"may", "march"}:
        return language == "en" and written[0].isupper()
    if word == "mars":
        return language == "fr"
    return word not in _UNSURE
