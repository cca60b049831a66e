"""What two compared statements differ by, where both give one number of the same thing."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from graphrag.extractive_answers.extraction import Statement
from graphrag.extractive_answers.quantities import Quantity, find_quantities, write_number, write_quantity
from graphrag.ingestion.cell_values import read_numbers
from graphrag.language import content_words, fold, labelled, stem
from graphrag.periods import percent

_DIFFERENCE = {"es": "Diferencia", "fr": "Différence", "en": "Difference"}
_ASIDE = re.compile(r"\([^()]*\)|, [+−-]\d.*|[,;] (?:contra|frente a|contre|against|up from|down from) .*")
_CELL = re.compile(r"(?P<header>[^:;]+): (?P<value>[^;]+)")
_SHARES = frozenset(("%", "°C"))  # of which a difference in per cent misleads


def say_difference(
    question: str, labels: Sequence[str], statements: Sequence[Statement], *, language: str
) -> str | None:
    """«Diferencia (diciembre − noviembre): 1.950 − 1.600 = 350 (+21,9 %)»; the smaller is taken from the larger."""
    if len(statements) != 2:
        return None
    one, other = (_read(question, statement, language) for statement in statements)
    shared = [unit for unit in one if unit in other and len(one[unit]) == len(other[unit]) == 1]
    if len(shared) != 1:
        return None
    pairs = [(one[shared[0]][0], labels[0]), (other[shared[0]][0], labels[1])]
    (less, less_label), (more, more_label) = sorted(pairs, key=lambda pair: pair[0].value)
    if less.value == more.value:
        return None
    result = write_quantity(replace(more, value=more.value - less.value), language)
    share = percent(more.value / less.value - 1, language) if less.value > 0 and more.unit not in _SHARES else ""
    terms = f"{write_number(more.value, language)} − {write_number(less.value, language)} = {result}"
    label = f"{_DIFFERENCE[language]} ({more_label} − {less_label})"
    return labelled(label, f"{terms}{f' ({share})' if share else ''}", language)


def _read(question: str, statement: Statement, language: str) -> dict[str, list[Quantity]]:
    """Its quantities by what they count: a column's name, else their unit."""
    found: dict[str, list[Quantity]] = defaultdict(list)
    text = _ASIDE.sub("", statement.text)
    for thing, said in _asked_cells(question, text, language) if statement.is_row else [("", text)]:
        for quantity in _whole_number(said, statement.language) or find_quantities(said, statement.language):
            if quantity.value not in [other.value for other in found[f"{thing}|{quantity.unit}"]]:
                found[f"{thing}|{quantity.unit}"].append(quantity)
    return {unit: quantities for unit, quantities in found.items() if quantities}


def _whole_number(cell: str, language: str) -> list[Quantity]:
    """Of a cell that is nothing else: 1950 pallets are no year."""
    numbers = read_numbers([cell.strip(" .")], language=language)
    return [Quantity(float(value), numbers.unit) for value in numbers.values.values()]


def _asked_cells(question: str, row: str, language: str) -> list[tuple[str, str]]:
    """Those whose header the question has a word of; all where it has none of any."""
    wanted = {stem(word, language) for word in content_words(question, language)}
    cells = [(match["header"].strip(), match["value"]) for match in _CELL.finditer(row)]
    things = [(header.partition(",")[0], value) for header, value in cells]  # «Ventas, mayo de 2025: 900»
    named = [cell for cell in things if wanted & {stem(word, language) for word in content_words(cell[0], language)}]
    return [(fold(thing), value) for thing, value in named or things]
