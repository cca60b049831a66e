"""Direct answers: dates, amounts, durations and differences said before their sentence."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from typing import Literal

from babel.units import format_unit

from graphrag.causal_graph.extraction import states_cause
from graphrag.extractive_answers.answerability import is_short_answer_sure
from graphrag.extractive_answers.short_answers import AnswerKind, ShortAnswer, find_short_answer
from graphrag.extractive_answers.statements import Excerpt, ExtractedStatement
from graphrag.extractive_answers.table_answers import asks_what_is_late
from graphrag.linguistics.cell_values import read_numbers
from graphrag.linguistics.dates import only_year, read_dates
from graphrag.linguistics.language import content_stems, fold, labelled
from graphrag.linguistics.numbers import Quantity, read_quantities, write_number, write_quantity
from graphrag.linguistics.periods import Period, breaking_spaces, name, of_day, percent
from graphrag.linguistics.rules import Pattern, Rules, read_rules
from graphrag.models import Direction

Asked = Literal["distance", "duration", "age", "validity"]
_MARKUP = re.compile(r"[<>\[\]*`|{}\\]")  # of it a part would be told, which reads as something else
LONG_DAYS = 60  # from which years and months say more than days


class DirectAnswerRules(Rules):
    age: Pattern
    validity: Pattern
    duration: Pattern
    distance: Pattern
    units: dict[str, Pattern]
    ends: Pattern
    sentences: dict[str, dict[str, str]]
    difference: dict[str, str]


@lru_cache(maxsize=1)
def _rules() -> DirectAnswerRules:
    return read_rules(DirectAnswerRules, "graphrag.extractive_answers", "direct_answers")


@dataclass(frozen=True, slots=True)
class RelativeQuestion:
    asked: Asked
    unit: str = ""  # day or week, where it must be one


def read_relative(question: str) -> RelativeQuestion | None:
    """None where nothing is asked against today."""
    folded = fold(question).replace("’", "'")
    rules = _rules()
    kinds: tuple[tuple[Asked, re.Pattern[str]], ...] = (
        ("age", rules.age),
        ("validity", rules.validity),
        ("distance", rules.distance),
        ("duration", rules.duration),
    )
    asked = next((kind for kind, pattern in kinds if pattern.search(folded)), None)
    unit = next((unit for unit, pattern in _rules().units.items() if pattern.search(folded)), "")
    return RelativeQuestion(asked, unit) if asked else None


def say_relative(
    question: RelativeQuestion, statement: ExtractedStatement, *, around: str, today: date, language: str
) -> str | None:
    """Return the time from or to the statement's date: «hace 1 año y 7 meses (586 días), a 22 de noviembre de 2026».

    None if the statement has no date, or several. `around` is the rest of its document: a date without a year is of the
    only year named there.
    """
    period = _only_date(statement, only_year(around))
    if period is None or (question.asked == "validity" and not _rules().ends.search(fold(statement.text))):
        return None
    says = _rules().sentences[language]
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


def _only_date(statement: ExtractedStatement, year: int) -> Period | None:
    """The one day; else the one month or year."""
    told = read_dates(statement.text, statement.language, year=year)
    periods = {each.period for each in told if each.period}
    days = {period for period in periods if period.unit == "day"}
    found = days or periods
    return found.pop() if len(found) == 1 else None


def _length(period: Period, today: date, unit: str, language: str) -> str | None:
    """Return the time since the period, as exact as its date; None if it is now."""
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
    return _rules().sentences[language]["and"].join(_written(count, unit, language) for count, unit in counts if count)


def _written(count: int, unit: str, language: str) -> str:
    text = format_unit(count, f"duration-{unit}", length="long", locale=language)
    return breaking_spaces(text)


def direct_answer(
    question: str,
    told: Sequence[tuple[ExtractedStatement, Excerpt]],
    *,
    today: date,
    language: str,
    probability: float,
    direction: Direction | None = None,
) -> str | None:
    """Return a short answer: «48.600 €», «16 de abril de 2025»; None where the first statement gives none surely.

    Statements come with their excerpts; `probability`: that the first one answers. `direction`: of a causal question.
    """
    first, excerpt = told[0]
    relative = read_relative(question) if not asks_what_is_late(question) else None
    if relative:
        around = f"{excerpt.title} {excerpt.text}"
        return say_relative(relative, first, around=around, today=today, language=language)
    found = find_direct(question, told, language=language, direction=direction)
    if found is None or not is_short_answer_sure(
        found.kind, found.confidence, sentence=probability, is_across=first.language != language, is_row=first.is_row
    ):
        return None
    return found.text.strip().strip(" .,;:\u00a0\u202f")


def find_direct(
    question: str,
    told: Sequence[tuple[ExtractedStatement, Excerpt]],
    *,
    language: str,
    direction: Direction | None = None,
) -> ShortAnswer | None:
    """Return the short answer that the first statement gives, surely or not."""
    first, excerpt = told[0]
    is_explained = len(told) > 1 and not states_cause(first.text, language=first.language)
    if _MARKUP.search(first.text) or (direction == "causes" and is_explained):  # the reason is in the other sentence
        return None
    found = find_short_answer(
        question,
        first.text,
        language=language,
        sentence_language=first.language,
        context=f"{excerpt.title} {excerpt.text}",
        direction=direction,
    )
    return None if found and found.kind is AnswerKind.AMOUNT and _has_several(first) else found


def _has_several(statement: ExtractedStatement) -> bool:
    """Return whether a sentence has several amounts of money: which one is meant is the reader's to see."""
    amounts = [each for each in read_quantities(statement.text, statement.language) if each.is_money]
    return not statement.is_row and len({each.low for each in amounts}) > 1


def _amounts(text: str, language: str) -> list[Quantity]:
    return [each for each in read_quantities(text, language) if not (each.is_ordinal or each.is_article)]


_ASIDE = re.compile(r"\([^()]*\)|, [+−-]\d.*|[,;] (?:contra|frente a|contre|against|up from|down from) .*")
_CELL = re.compile(r"(?P<header>[^:;]+): (?P<value>[^;]+)")
_SHARES = frozenset(("%", "°C", "whole"))  # of which a difference in per cent misleads


def say_difference(
    question: str, labels: Sequence[str], statements: Sequence[ExtractedStatement], *, language: str
) -> str | None:
    """«Diferencia (diciembre − noviembre): 1.950 − 1.600 = 350 (+21,9 %)»; the smaller is taken from the larger."""
    if len(statements) != 2:
        return None
    one, other = (_read(question, statement, language) for statement in statements)
    shared = [unit for unit in one if unit in other and len(one[unit]) == len(other[unit]) == 1]
    if len(shared) != 1:
        return None
    pairs = [(one[shared[0]][0], labels[0]), (other[shared[0]][0], labels[1])]
    (less, less_label), (more, more_label) = sorted(pairs, key=lambda pair: pair[0].low)
    if less.low == more.low:
        return None
    result = write_quantity(replace(more, low=more.low - less.low, high=more.low - less.low), language)
    share = percent(more.low / less.low - 1, language) if less.low > 0 and more.unit not in _SHARES else ""
    terms = f"{write_number(more.low, language)} − {write_number(less.low, language)} = {result}"
    label = f"{_rules().difference[language]} ({more_label} − {less_label})"
    return labelled(label, f"{terms}{f' ({share})' if share else ''}", language)


def _read(question: str, statement: ExtractedStatement, language: str) -> dict[str, list[Quantity]]:
    """Its quantities by what they count: a column's name, else their unit."""
    found: dict[str, list[Quantity]] = defaultdict(list)
    text = _ASIDE.sub("", statement.text)
    for thing, said in _asked_cells(question, text, language) if statement.is_row else [("", text)]:
        for quantity in _whole_number(said, statement.language) or _amounts(said, statement.language):
            alike = found[f"{thing}|{quantity.unit or quantity.counted}"]
            if quantity.low == quantity.high and quantity.low not in [other.low for other in alike]:
                alike.append(quantity)
    return {unit: quantities for unit, quantities in found.items() if quantities}


def _whole_number(cell: str, language: str) -> list[Quantity]:
    """Return the number of a cell that is nothing else: 1950 pallets are no year."""
    numbers = read_numbers([cell.strip(" .")], language=language)
    return [Quantity(float(value), float(value), numbers.unit) for value in numbers.values.values()]


def _asked_cells(question: str, row: str, language: str) -> list[tuple[str, str]]:
    """Return the cells whose header shares a word with the question; all if none does."""
    wanted = content_stems(question, language)
    cells = [(match["header"].strip(), match["value"]) for match in _CELL.finditer(row)]
    things = [(header.partition(",")[0], value) for header, value in cells]  # «Ventas, mayo de 2025: 900»
    named = [cell for cell in things if wanted & content_stems(cell[0], language)]
    return [(fold(thing), value) for thing, value in named or things]
