"""How long ago, how long until, since when, how old, still valid: a told date against today's."""

import re
from dataclasses import dataclass
from datetime import date
from typing import Literal

from babel.units import format_unit

from graphrag.extractive_answers.extraction import Statement
from graphrag.extractive_answers.told_dates import find_told_dates, only_year
from graphrag.language import fold
from graphrag.periods import Period, name, of_day

Asked = Literal["distance", "duration", "age", "validity"]
LONG_DAYS = 60  # from which years and months say more than days
_SPAN = r"(?:dias?|semanas?|mes(?:es)?|anos?|jours?|semaines?|mois|ans?|annees?|days?|weeks?|months?|years?)"
_AGE = re.compile(r"\bque edad\b|\bcuantos anos (?:tiene|cumple)|\bquel age\b|\bhow old\b")
_VALIDITY = re.compile(
    r"\b(?:sigue|siguen|continua|todavia|aun|esta|estan)\b.*\b(?:vigente|valid|en vigor)"
    r"|\b(?:ha|han) (?:caducad|vencid|expirad)"
    r"|\b(?:esta|estan) (?:caducad|vencid)|\b(?:caduco|vencio|expiro) (?:ya|el|la)\b"
    r"|\b(?:encore|toujours) (?:valable|valide|en vigueur|en cours)"
    r"|\best-(?:il|elle) (?:valable|valide|en vigueur|perime|expire)"
    r"|\b(?:a-t-(?:il|elle)|est) (?:expire|perime)"
    r"|\bstill (?:valid|in force|current|good|running|in effect)\b"
    r"|\b(?:has|have)\b.* (?:expired|lapsed|run out)\b|\bis\b.* (?:expired|out of date)\b"
)
_DURATION = re.compile(
    rf"\bdesde (?:hace )?cuant|\bcuant\w+ (?:tiempo|{_SPAN}) lleva|\bdepuis (?:combien|quand)\b|\bsince when\b"
    rf"|\b(?:for )?how (?:long|many {_SPAN}) (?:has|have)\b(?!.* (?:until|left|passed|elapsed))"
)
_DISTANCE = re.compile(
    rf"\bhace cuant|\bcuant\w+ (?:(?:tiempo|{_SPAN}) )?(?:hace|falta|faltan|queda|quedan|han? pasado)\b"
    rf"|\bdentro de cuant"
    rf"|\bil y a combien\b|\bdans combien\b"
    rf"|\bcombien (?:de (?:temps|{_SPAN}) )?(?:reste|manque|s'est-il ecoule|se sont ecoules|avant|jusqu)"
    rf"|\bcombien de (?:temps|{_SPAN}) y a-t-il\b"
    rf"|\bhow (?:long|many {_SPAN}) (?:ago|until|till|before|left|remain|is it (?:since|until)|(?:has"
    rf"|have) (?:passed|elapsed)|(?:are|is) left|(?:are|is) there until)\b|\bin how many {_SPAN}\b|\bhow soon\b"
)
_UNITS = {
    "day": re.compile(r"\b(?:cuantos dias|(?:combien de|dans combien de) jours|how many days)\b"),
    "week": re.compile(r"\b(?:cuantas semanas|combien de semaines|how many weeks)\b"),
}
_ENDS = re.compile(
    r"\bvenc|\bcaduc|\bexpir|\bhasta\b|\btermin|\bfinaliz|\bjusqu|\bechea|\bprend(?:ra)? fin\b|\bse termine"
    r"|\bvalable|\bperim"
    r"|\buntil\b|\bends?\b|\bended\b|\bvalid\b|\bruns? out\b|\bvalid[oae]s?\b"
)
_SENTENCES = {
    "es": {"past": "hace {length}", "future": "dentro de {length}", "today": "hoy", "since": "desde hace {length}",
           "over": "vencido hace {length}", "left": "vence dentro de {length}", "on": "a {today}", "and": " y "},
    "fr": {"past": "il y a {length}", "future": "dans {length}", "today": "aujourd'hui", "since": "depuis {length}",
           "over": "expiré depuis {length}", "left": "encore {length}", "on": "au {today}", "and": " et "},
    "en": {"past": "{length} ago", "future": "in {length}", "today": "today", "since": "for {length}",
           "over": "expired {length} ago", "left": "{length} left", "on": "as of {today}", "and": " and "},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RelativeQuestion:
    asked: Asked
    unit: str = ""  # day or week, where it must be one


def read_relative(question: str) -> RelativeQuestion | None:
    """None where nothing is asked against today."""
    folded = fold(question).replace("’", "'")
    kinds: tuple[tuple[Asked, re.Pattern[str]], ...] = (
        ("age", _AGE), ("validity", _VALIDITY), ("distance", _DISTANCE), ("duration", _DURATION)
    )  # fmt: skip
    asked = next((kind for kind, pattern in kinds if pattern.search(folded)), None)
    unit = next((unit for unit, pattern in _UNITS.items() if pattern.search(folded)), "")
    return RelativeQuestion(asked, unit) if asked else None


def say_relative(
    question: RelativeQuestion, statement: Statement, *, around: str, today: date, language: str
) -> str | None:
    """«hace 1 año y 7 meses (586 días), a 22 de noviembre de 2026»; None where the statement tells no date, or several.

    `around` is what else its document says: a date without a year is of the one year that is named there."""
    period = _only_date(statement, only_year(around))
    if period is None or (question.asked == "validity" and not _ENDS.search(fold(statement.text))):
        return None
    says = _SENTENCES[language]
    day = period.first_day or today
    as_of = says["on"].format(today=name(of_day(today), language))
    if question.asked == "age" and day < today:
        return f"{_written(_full_months(day, today) // 12, 'year', language)}, {as_of}"
    length = _length(period, today, question.unit, language)
    if length is None:
        return says["today"]
    key = _tense(question.asked, is_past=day <= today)
    return f"{says[key].format(length=length)}, {as_of}"


def _tense(asked: Asked, *, is_past: bool) -> str:
    if asked == "validity":
        return "over" if is_past else "left"
    if asked == "duration" and is_past:
        return "since"
    return "past" if is_past else "future"


def _only_date(statement: Statement, year: int) -> Period | None:
    """The one day; else the one month or year."""
    periods = {told.period for told in find_told_dates(statement.text, statement.language, year=year)}
    days = {period for period in periods if period.unit == "day"}
    found = days or periods
    return found.pop() if len(found) == 1 else None


def _length(period: Period, today: date, unit: str, language: str) -> str | None:
    """As exact as the date is; None where it is now."""
    if period.unit != "day":
        now = of_day(today).within(period.unit)
        count = abs(now.number - period.number) if now else 0
        return _written(count, period.unit, language) if count else None
    day = period.first_day or today
    days = abs((today - day).days)
    if days == 0:
        return None
    if unit == "week" and days >= 7:
        return _joined([(days // 7, "week"), (days % 7, "day")], language)
    if days < LONG_DAYS or unit:
        return _written(days, "day", language)
    months = _full_months(*sorted((day, today)))
    return f"{_joined([(months // 12, 'year'), (months % 12, 'month')], language)} ({_written(days, 'day', language)})"


def _full_months(first: date, last: date) -> int:
    return (last.year - first.year) * 12 + last.month - first.month - (last.day < first.day)


def _joined(counts: list[tuple[int, str]], language: str) -> str:
    return _SENTENCES[language]["and"].join(_written(count, unit, language) for count, unit in counts if count)


def _written(count: int, unit: str, language: str) -> str:
    text = format_unit(count, f"duration-{unit}", length="long", locale=language)
    return text.replace("\u202f", " ").replace("\u00a0", " ")
