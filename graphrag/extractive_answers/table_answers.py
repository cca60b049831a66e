"""The highest, the lowest, the sum and the mean of a column that a question asks for: computed where an excerpt holds
the whole table, with the cells that it is of."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import fsum, isclose
from typing import Literal

from graphrag.extractive_answers.extraction import Excerpt, Statement
from graphrag.extractive_answers.quantities import Quantity, write_number, write_quantity
from graphrag.extractive_answers.seen_tables import SeenRow, SeenTable, whole_tables
from graphrag.ingestion.cell_values import Number, read_numbers
from graphrag.language import content_words, fold, labelled, stem, words
from graphrag.periods import Period, months, name, parse_period

Reckoning = Literal["maximum", "minimum", "total", "mean"]
MIN_ROWS = 2
MAX_TERMS = 24  # of a sum that is written out
_ASKED: tuple[tuple[Reckoning, re.Pattern[str]], ...] = (
    ("mean", re.compile(r"\b(?:media|promedio|moyenne|average|mean)\b")),
    ("total", re.compile(r"\b(?:total(?:e|es|aux)?|totaux|suma|sumaron|somme|altogether|in all)\b")),
    ("maximum", re.compile(
        r"(?<!que )\bmas(?! de| que \d)\b|\b(?:mayor|mejor|maxim[oa]|record)\b"
        r"|\b(?:le|la|les) plus (?!faible|bas|petit)|\ble meilleur\b"
        r"|\bmaximum\b|\b(?:most|highest|largest|biggest|best|greatest)\b|\bplus d[e'](?! \d)")),
    ("minimum", re.compile(
        r"\bmenos(?! de)\b|\b(?:menor|peor|minim[oa])\b|\b(?:le|la|les) (?:moins|plus (?:faible|bas|petit))"
        r"|\ble pire\b|\bminimum\b"
        r"|\b(?:least|lowest|smallest|fewest|worst)\b|\bmoins d[e'](?! \d)")),
)  # fmt: skip
_CAUSE = re.compile(r"\bpor que\b|\bpourquoi\b|\bwhy\b|\bhow come\b")
_YEARS = frozenset(("ano", "annee", "an", "year"))  # headers whose numbers are no amounts
_YEAR = re.compile(r"(?:19|20)\d\d")
_TOTAL_ROW = re.compile(r"(?:sub-?|gran |grand |sous-?)?(?:total|suma|sum|somme|media|promedio|moyenne|average|mean)")
_OF = {
    "es": {"maximum": "el máximo de «{column}»", "minimum": "el mínimo de «{column}»"},
    "fr": {"maximum": "le maximum de « {column} »", "minimum": "le minimum de « {column} »"},
    "en": {"maximum": "the maximum of “{column}”", "minimum": "the minimum of “{column}”"},
}
_SIGN = re.compile(r"[€£$%]")
_UNIT = re.compile(r"\(([^\W\d][^\s()]{0,7})\)")


@dataclass(frozen=True, slots=True)
class _Column:
    header: str
    rows: tuple[SeenRow, ...]  # without totals
    values: tuple[Number, ...]
    total: SeenRow | None
    number: int  # of its header
    labels: int  # number of the header of what names the rows

    def write(self, value: float, language: str) -> str:
        """With the unit of its header: «Ventas (€)», «2025 (kWh)»."""
        sign, unit = _SIGN.search(self.header), _UNIT.search(self.header)
        if sign or not unit:
            return write_quantity(Quantity(value, sign[0] if sign else ""), language)
        return f"{write_number(value, language)} {unit[1]}"


def answer_from_table(question: str, excerpts: Sequence[Excerpt], *, language: str) -> Statement | None:
    """Of the first table that has the rows and the column that are asked for; None where that is not one."""
    asked = _asked(question)
    if asked is None:
        return None
    for excerpt in excerpts:
        columns = [column for table in whole_tables(excerpt) for column in _columns(question, table, asked, language)]
        if len(columns) == 1 and (text := _SAYS[asked](columns[0], asked, excerpt, language)):
            return Statement(text, excerpt.number, language, 1.0, is_row=True)
    return None


def _asked(question: str) -> Reckoning | None:
    """One thing alone, and not why."""
    folded = fold(question).replace("’", "'")
    if _CAUSE.search(folded):
        return None
    found = [kind for kind, pattern in _ASKED if pattern.search(folded)]
    return found[0] if len(found) == 1 else None


def _columns(question: str, table: SeenTable, asked: Reckoning, language: str) -> Iterator[_Column]:
    """Whose header the question names, of a table whose rows it asks for and of which it leaves none out."""
    rows = [row for row in table.rows if not _TOTAL_ROW.match(fold(row.cells.get(0, "")))]
    if len(rows) < MIN_ROWS or _asks_for_less(question, table, rows):
        return
    wanted = {stem(word, language) for word in content_words(question, language) if word.isalpha()}
    named = [
        number
        for number, header in enumerate(table.headers)
        if wanted & {stem(word, language) for word in words(header)}
    ]
    numeric = {
        number: values
        for number in named
        if fold(table.headers[number]) not in _YEARS and (values := _values(rows, number, table.excerpt.language))
    }
    labels = [number for number in named if number not in numeric]
    best = _most_named(question, table, list(numeric), language)
    if best is None or (asked in ("maximum", "minimum") and len(labels) != 1):
        return
    totals = [row for row in table.rows if row not in rows]
    total = totals[0] if len(totals) == 1 else None
    yield _Column(table.headers[best], tuple(rows), numeric[best], total, best, labels[0] if labels else 0)


def _most_named(question: str, table: SeenTable, numeric: list[int], language: str) -> int | None:
    """The one of which the question has most words: «2025 (kWh)» beside «2024 (kWh)»."""
    wanted = {stem(word, language) for word in words(question)}
    counts = {
        number: len(wanted & {stem(word, language) for word in words(table.headers[number])}) for number in numeric
    }
    best = [number for number in numeric if counts[number] == max(counts.values())]
    return best[0] if len(best) == 1 else None


def _asks_for_less(question: str, table: SeenTable, rows: Sequence[SeenRow]) -> bool:
    """A month, a name or a year that not all of the table is of."""
    asked = words(question)
    held = {fold(word) for word in words(f"{table.excerpt.title} {table.excerpt.text}")}
    named = {fold(word) for word in asked[1:] if word[:1].isupper() or word.isdecimal()}
    years = {int(word) for word in named if _YEAR.fullmatch(word)}
    periods = (parse_period(row.cells.get(0, "")) for row in rows)
    is_of_other_years = bool(years and {period.year for period in periods if period and period.year} - years)
    labels = {fold(word) for row in rows for word in words(row.cells.get(0, "")) if not word.isdecimal()}
    elsewhere = {fold(word) for header in table.headers for word in words(header)}
    is_of_some_rows = {fold(word) for word in asked} & (labels | set(months()) - elsewhere)
    return bool(named - held or is_of_other_years or is_of_some_rows)


def _values(rows: Sequence[SeenRow], number: int, language: str) -> tuple[Number, ...]:
    """Empty where a row has none, or dates."""
    texts = [row.cells.get(number, "") for row in rows]
    if any(parse_period(text) and not text.isdecimal() for text in texts):
        return ()
    read = read_numbers(set(texts), language=language).values
    return tuple(read[text] for text in texts) if all(text in read for text in texts) else ()


def _extreme(column: _Column, asked: Reckoning, excerpt: Excerpt, language: str) -> str | None:
    """The row that has it; where several rows are of one label, the label's with its terms."""
    groups = _by_label(column)
    sums = {label: fsum(values) for label, values in groups.items()}
    best = max(sums.values()) if asked == "maximum" else min(sums.values())
    labels = [label for label, value in sums.items() if isclose(value, best)]
    if len(labels) > 1 or len(groups) < MIN_ROWS:
        return None
    values, of = groups[labels[0]], _OF[language][asked].format(column=column.header)
    value = column.write(best, language)
    if len(values) > 1:
        terms = _terms(values, language)
        said = labelled(_label(labels[0], language), f"{terms} = {value} ({of})", language)
        return f"{said}." if terms else None
    row = next(row for row in column.rows if row.cells.get(column.labels, "") == labels[0])
    return f"{labelled(_label(labels[0], language), f'{value} ({of})', language)} — {row.text}."


def _by_label(column: _Column) -> dict[str, list[Number]]:
    groups: dict[str, list[Number]] = {}
    for row, value in zip(column.rows, column.values, strict=True):
        groups.setdefault(row.cells.get(column.labels, ""), []).append(value)
    return groups


def _label(cell: str, language: str) -> str:
    """«Diciembre de 2025» where it is the first day of a month."""
    period: Period | None = parse_period(cell)
    if period is None:
        return cell
    day = period.first_day
    of_month = period.within("month") if period.unit == "day" and day and day.day == 1 else None
    text = name(of_month or period, language)
    return text[:1].upper() + text[1:]


def _total(column: _Column, asked: Reckoning, excerpt: Excerpt, language: str) -> str | None:
    terms, value = _terms(column.values, language), fsum(column.values)
    if terms is None:
        return None
    said = labelled(column.header, f"{terms} = {column.write(value, language)}", language)
    total = _values([column.total], column.number, excerpt.language) if column.total else ()
    is_told = bool(total) and isclose(total[0], value, rel_tol=1e-6)
    return f"{said} — {column.total.text}." if column.total and is_told else f"{said}."


def _mean(column: _Column, asked: Reckoning, excerpt: Excerpt, language: str) -> str | None:
    terms, count = _terms(column.values, language), len(column.values)
    mean = column.write(round(fsum(column.values) / count, 2), language)
    return f"{labelled(column.header, f'({terms}) / {count} = {mean}', language)}." if terms else None


def _terms(values: Sequence[Number], language: str) -> str | None:
    """None where they are too many to be read."""
    return " + ".join(write_number(value, language) for value in values) if len(values) <= MAX_TERMS else None


_SAYS = {"maximum": _extreme, "minimum": _extreme, "total": _total, "mean": _mean}
