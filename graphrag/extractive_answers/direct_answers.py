"""What alone is asked for, said before the sentence that says it: a date, an amount or a number of a quote in another
language, and how long ago or until it is."""

import re
from collections.abc import Sequence
from datetime import date

from graphrag.extractive_answers.extraction import Excerpt, Statement
from graphrag.extractive_answers.quantities import Quantity, find_quantities, write_quantity
from graphrag.extractive_answers.relative_times import read_relative, say_relative
from graphrag.extractive_answers.told_dates import find_told_dates, only_year
from graphrag.language import fold
from graphrag.periods import name
from graphrag.table_dates import asks_what_is_late

_AMOUNT = re.compile(
    r"\bcuanto (?:dinero|cost|cuesta|vale|pag|cobr|se pag|nos (?:cost|cobr))"
    r"|\bcuanto (?:ha|han|hemos) (?:costado|pagado|cobrado)|\bque (?:precio|importe|coste)\b"
    r"|\bcombien\b.*\b(?:cout|pay|factur)|\bquel (?:prix|montant|cout)\b|\bque(?:l est)? (?:le )?(?:prix|cout)\b"
    r"|\bhow much\b.*\b(?:cost|pay|paid|charge|price|spend|spent|worth)"
    r"|\bwhat (?:did|does|do|will)\b.*\b(?:cost|pay)\b|\bwhat (?:price|amount)\b"
)
_COUNT = re.compile(r"\bcuant[oa]s\b|\bcombien (?:de|d')|\bhow many\b")
_SHARE = re.compile(r"\bque porcentaje\b|\bquel pourcentage\b|\bwhat (?:percentage|percent|share)\b")
_DATE = re.compile(
    r"\bcuando\b|\b(?:que|cual) (?:dia|fecha)\b|\bquand\b|\bquelle? (?:date|jour)\b|\bwhen\b"
    r"|\b(?:what|which) (?:day|date)\b"
)
_BESIDE = re.compile(
    r"\b(?:antes|despues|hasta|avant|apres|jusqu['’]?(?:au|en|a)?|before|after|until|by)(?: de| del| el| le| la)*\s*$"
)
_SPAN = re.compile(r"\b(?:dias?|semanas?|meses|anos|jours?|semaines?|mois|annees?|days?|weeks?|months?|years?)\b")


def direct_answer(
    question: str, told: Sequence[tuple[Statement, Excerpt]], *, today: date, language: str
) -> str | None:
    """«48.600 €», «16 de abril de 2025»; None where the first statement says it clearly enough, or not clearly, or the
    others say something else. Statements come with the excerpts that they are of."""
    first, excerpt = told[0]
    relative = read_relative(question) if not asks_what_is_late(question) else None
    if relative:
        around = f"{excerpt.title} {excerpt.text}"
        return say_relative(relative, first, around=around, today=today, language=language)
    if first.language == language or first.is_row:
        return None
    folded = fold(question).replace("’", "'")
    said = [_asked_value(folded, statement, excerpt, language) for statement, excerpt in told]
    return said[0] if len(set(said) - {None}) == 1 else None


def _asked_value(question: str, statement: Statement, excerpt: Excerpt, language: str) -> str | None:
    if _DATE.search(question):
        return _the_date(statement, only_year(f"{excerpt.title} {excerpt.text}"), language)
    return _the_quantity(question, find_quantities(statement.text, statement.language), language)


def _the_date(statement: Statement, year: int, language: str) -> str | None:
    """Not one that something was before or after."""
    told = find_told_dates(statement.text, statement.language, year=year)
    periods = {each.period for each in told}
    if len(periods) != 1 or any(_BESIDE.search(fold(statement.text[: each.start])) for each in told):
        return None
    return name(periods.pop(), language)


def _the_quantity(question: str, quantities: list[Quantity], language: str) -> str | None:
    if _AMOUNT.search(question):
        fitting = [quantity for quantity in quantities if quantity.is_money]
    elif _SHARE.search(question):
        fitting = [quantity for quantity in quantities if quantity.unit == "%"]
    elif _COUNT.search(question) and not _SPAN.search(question):
        fitting = quantities
    else:
        return None
    return write_quantity(fitting[0], language) if len(set(fitting)) == 1 else None
