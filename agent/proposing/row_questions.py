"""Questions for a cell of a table: who does it, by when, how many."""

import re
from collections.abc import Iterator

from agent.proposing.questions import MadeQuestion, ReadDocument
from agent.proposing.wording import lowered
from graphrag.evaluation_models import Category
from graphrag.extractive_answers.extraction import Excerpt
from graphrag.extractive_answers.quantities import write_number
from graphrag.extractive_answers.seen_tables import SeenRow, SeenTable, tables
from graphrag.language import fold, words
from graphrag.periods import Period, months, name, parse_period

MOST_OF_A_COLUMN = 1  # in one table: those of its other rows would read alike
_WHO = frozenset("responsable responsible who owner quien encargado".split())
_WHEN = frozenset("plazo when by deadline due echeance fecha delai".split())
_INFINITIVE = {
    "es": re.compile(r"[A-ZÁÉÍÓÚÑ]\w+(?:ar|er|ir)(?:se)?\b"),
    "fr": re.compile(r"[A-ZÀÂÇÉÈÊÎÔŒ]\w+(?:er|ir|re)\b(?! (?:de|du|des)\b)"),
}
_WHO_OF = {"es": ("¿Quién tiene que {}?", "¿Quién es responsable de «{}»?"),
           "fr": ("Qui doit {} ?", "Qui est responsable de « {} » ?"),
           "en": ("", "Who is responsible for “{}”?")}  # fmt: skip
_WHEN_OF = {"es": ("¿Para cuándo hay que {}?", "¿Para cuándo está previsto «{}»?"),
            "fr": ("Pour quand faut-il {} ?", "Pour quand est prévu « {} » ?"),
            "en": ("", "When is “{}” planned?")}  # fmt: skip
_COUNTED = {"es": re.compile(r"[a-záéíóúñ]+(?:os|as|etes|eles)", re.I), "fr": re.compile(r"[a-zàâçéèêîô]{3,}s", re.I),
            "en": re.compile(r"[a-z]{3,}s", re.I)}  # fmt: skip
_WHOLE = re.compile(r"\d{1,3}(?:[ .,\u202f\u00a0]\d{3})*|\d+")
_IN = {"es": "en {}", "fr": "en {}", "en": "in {}"}
_VOWEL = re.compile(r"[aeiouyhâàéèêîô]", re.IGNORECASE)
_UNIT = re.compile(r"\s*\((?P<unit>[€£$%]|\w{1,5})\)\s*$")
_TOTAL = re.compile(r"\W*(?:sub-?)?(?:total|suma|sum|somme|media|moyenne|average)", re.I)


def row_questions(read: ReadDocument) -> Iterator[MadeQuestion]:
    for table in _tables(read):
        for number in range(1, len(table.headers)):
            asked = (_ask(table, row, number, read.language) for row in table.rows if len(row.cells) > 1)
            yield from [question for question in asked if question][:MOST_OF_A_COLUMN]


def _tables(read: ReadDocument) -> Iterator[SeenTable]:
    markdown = Excerpt(0, "", read.text, read.language)
    sheets = (
        Excerpt(0, "", chunk.content, read.language, chunk.start_char, chunk.places, chunk.headers)
        for chunk in read.chunks
        if chunk.headers
    )
    for excerpt in (markdown, *sheets):
        yield from tables(excerpt)


def _ask(table: SeenTable, row: SeenRow, number: int, language: str) -> MadeQuestion | None:
    label, value = row.cells.get(0, "").strip(), row.cells.get(number, "").strip()
    header = table.headers[number].strip()
    if not label or not value or not header or _TOTAL.match(label):
        return None
    question = _of_task(header, label, value, language) or _of_count(table, number, label, value, language)
    if question is None or len(words(label)) > 14:
        return None
    category: Category = "temporal" if fold(header) in _WHEN else "factual"
    return MadeQuestion(question, _written(value, language), row.text, category, "row")


def _written(value: str, language: str) -> str:
    """A spreadsheet's bare number as a person writes it."""
    return write_number(int(value), language) if value.isdecimal() and len(value) > 3 else value


def _of_task(header: str, label: str, value: str, language: str) -> str | None:
    """Of a plan's row: its label is what is to be done."""
    asks = _WHO_OF if fold(header) in _WHO else _WHEN_OF if fold(header) in _WHEN else None
    if asks is None or (asks is _WHEN_OF and not _is_time(value)) or parse_period(label):
        return None
    to_do, named = asks[language]
    is_to_do = language in _INFINITIVE and _INFINITIVE[language].match(label)
    return to_do.format(label[0].lower() + label[1:].rstrip(".")) if is_to_do else named.format(label.rstrip("."))


def _of_count(table: SeenTable, number: int, label: str, value: str, language: str) -> str | None:
    """How many, of a column that is called by what it counts: «Pedidos», "Packs"; or how much money."""
    unit = _UNIT.search(table.headers[number])
    counted = _UNIT.sub("", table.headers[number]).strip()
    if not _WHOLE.fullmatch(value) or not _COUNTED[language].fullmatch(counted):
        return None
    counted = counted.lower() if not counted.isupper() else counted
    period = _period(label, table)
    where = (_IN[language].format(name(period, language)) if period.unit != "year" else "") if period else ""
    if (period and not where) or (not period and re.fullmatch(r"[\d.,\s]+", label)):
        return None
    if unit:
        return _how_much(counted, where, language) if unit["unit"] in "€£$" and where else None
    return _how_many(counted, where, _named(table.headers[0], label, language), language)


def _period(label: str, table: SeenTable) -> Period | None:
    """A day that is the first of its month, as they all are in their column, means the month."""
    period = parse_period(label)
    if period is None or period.unit != "day":
        return period
    days = [parse_period(row.cells.get(0, "")) for row in table.rows]
    are_months = all(of.first_day.day == 1 for of in days if of and of.unit == "day" and of.first_day)
    return period.within("month") if are_months else None


def _named(header: str, label: str, language: str) -> str:
    """«al lote A-2517»: a code says nothing without what it is of."""
    is_code = len(label.split()) == 1 and any(map(str.isdigit, label))
    if language != "es":
        return lowered(label)
    if not (is_code and header.isalpha()):
        return f"a {lowered(label)}"
    return f"{'a la' if header.endswith(('a', 'ción', 'dad')) else 'al'} {header.lower()} {label}"


def _is_time(value: str) -> bool:
    return any(map(str.isdigit, value)) or any(fold(word) in months() for word in words(value))


def _how_many(counted: str, where: str, label: str, language: str) -> str:
    match language:
        case "es":
            many = "Cuántas" if counted.endswith("as") else "Cuántos"
            return f"¿{many} {counted} hubo {where}?" if where else f"¿{many} {counted} corresponden {label}?"
        case "fr":
            of = "d'" if _VOWEL.match(counted) else "de "
            return f"Combien {of}{counted} y a-t-il {f'eu {where}' if where else f'pour {label}'} ?"
    return f"How many {counted} were there {where}?" if where else f"How many {counted} are listed for {label}?"


def _how_much(counted: str, where: str, language: str) -> str:
    match language:
        case "es":
            return f"¿A cuánto ascendieron {'las' if counted.endswith('as') else 'los'} {counted} {where}?"
        case "fr":
            return f"Quel était le montant des {counted} {where} ?"
    return f"What did {counted} come to {where}?"
