"""The columns of a table: their types, and what they are good for."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

from graphrag.linguistics import cell_values
from graphrag.linguistics.cell_values import ENOUGH, MISSING, Number
from graphrag.linguistics.dates import YEARS
from graphrag.linguistics.language import fold
from graphrag.linguistics.periods import Period, of_day
from graphrag.models import Cell, Table


class Role(StrEnum):
    AMOUNT = "amount"  # has a sum
    LEVEL = "level"  # prices, stocks: has a mean and rises and falls, but no sum
    SHARE = "share"  # percentages, temperatures: a change of them in per cent says nothing
    RUNNING = "running"  # already a sum
    CODE = "code"  # only looks like a number
    YEAR = "year"
    MONTH = "month"


_YEAR = frozenset("ano ejercicio year annee an exercice".split())
_MONTH = frozenset("mes month mois".split())
_RUNNING = frozenset("acumulado acumulada acumuladas acumulados cumul cumule cumulee cumulative ytd running".split())
_SHARE = frozenset(
    "porcentaje pourcentage percent percentage pct tasa taux rate ratio temperatura temperature temp grados"
    " degres degrees humedad humidite humidity ph nota note score puntuacion rating edad age latitud longitud"
    " latitude longitude indice index".split()
)
_LEVEL = frozenset(
    "precio precios prix price prices tarifa tarifas tarif tarifs unitario unitaria unitaire unit cotizacion"
    " cours stock existencias inventario inventory inventaire saldo solde balance plantilla effectif effectifs"
    " headcount poblacion population presion pression pressure medio media moyen moyenne average mean promedio"
    " nivel niveau level".split()
)
_AMOUNT = frozenset(
    "venta ventas ingreso ingresos importe importes total cantidad cantidades unidades uds cajas palets kg kilos"
    " toneladas litros coste costes costo costos gasto gastos facturacion beneficio horas pedidos clientes piezas"
    " ventes vente chiffre montant montants quantite quantites unites caisses cartons palettes tonnes litres cout"
    " couts depense depenses recette recettes heures commandes clients pieces sale sales revenue amount amounts"
    " quantity qty units boxes cases pallets tons cost costs expense expenses income profit turnover hours orders"
    " customers eur usd gbp cuota cuotas".split()
)
_NUMBER = frozenset("numero num no nr n number".split())  # alone it is a name, «número de cajas» is an amount
_NUMBER_OF = _NUMBER | {"nombre"}
_CODE = frozenset(
    "id ids identificador identifiant identifier codigo codigos code codes cod ref referencia reference sku ean"
    " isbn telefono telefonos telephone phone tel movil mobile fax cp zip postal postcode nif cif dni siret siren"
    " iban cuenta compte account lote lot batch factura facture invoice albaran expediente dossier ticket pedido"
    " commande order cliente client customer empleado employe employee linea ligne line semana semaine week"
    " matricula serie serial version puesto posicion position rank rango rang".split()
)
_PER = re.compile(r"(?:[€$£]|eur|usd|gbp)\s*/|/\s*(?:kg|t|l|h|ud|u|m2|m3|hora|heure|hour|unidad|unite|unit)\b")
_WORDS = re.compile(r"[a-z]+")
_FEWEST_CODES = 5
MOST_GAPS = 1.5  # numbers from the first to the last of counted ones, for each that is there
_CODE_DIGITS = 9


def role(header: str, values: Sequence[Number], *, unit: str = "") -> Role:
    folded = fold(header)
    found = _WORDS.findall(folded)
    words = frozenset(found)
    if words & _YEAR and all(value in YEARS for value in values):
        return Role.YEAR
    if words & _MONTH and all(value in range(1, 13) for value in values):
        return Role.MONTH
    if unit == "%" or "%" in header or "°" in header or words & _SHARE:
        return Role.SHARE
    if words & _RUNNING:
        return Role.RUNNING
    if words & _LEVEL or _PER.search(folded):
        return Role.LEVEL
    if words & _AMOUNT or unit or set(header) & set("€$£"):
        return Role.AMOUNT
    if words & _CODE or "#" in header or (len(found) == 1 and words <= _NUMBER):
        return Role.CODE
    return Role.CODE if not words & _NUMBER_OF and _are_codes(values) else Role.AMOUNT


def says_what_is_measured(name: str) -> bool:
    """Sales, costs, a rate: rows of such names are not of one kind."""
    return bool(frozenset(_WORDS.findall(fold(name))) & (_AMOUNT | _LEVEL | _SHARE | _RUNNING)) or "%" in name


def _are_codes(values: Sequence[Number]) -> bool:
    """Years; or as many different whole numbers as cells, counted up (a few may lack) or long and of one length."""
    if not all(isinstance(value, int) for value in values):
        return False
    if all(1990 <= value <= 2040 for value in values):
        return True
    if len(values) < _FEWEST_CODES or len(set(values)) < len(values):
        return False
    is_rising = all(before < after for before, after in pairwise(values))
    are_counted = is_rising and values[-1] - values[0] < MOST_GAPS * len(values)
    lengths = {len(str(abs(value))) for value in values}
    return are_counted or (len(lengths) == 1 and lengths.pop() >= _CODE_DIGITS)


_TOTALS = frozenset(
    "total totales totals totaux subtotal subtotales subtotals suma sumas sum somme sommes media promedio moyenne"
    " average mean".split()
)
_LONG_TOTALS = frozenset(
    "sub total;sub-total;sous-total;sous total;sous-totaux;total general;gran total;grand total;total generale;"
    "totaux generaux;suma total;somme totale".split(";")
)
_MAY_BE_TOTAL = re.compile(
    r"\W*(?:(?:sub|sous|gran|grand)[\s-]*)?(?:tot(?:al|aux)|sum|somme|media|promedio|moyenne|average|mean)",
    re.IGNORECASE,
)
_OPENS_TOTAL = re.compile(r"(?:sub[\s-]?|sous-)?tot(?:al|aux)\b")


@dataclass(frozen=True)
class Column:
    """Its values are all numbers, all periods, or all texts; None where a cell has nothing of that type."""

    place: int  # in the table, from 0
    header: str
    values: Sequence[Number | Period | str | None]
    role: Role | None = None  # of numbers
    unit: str = ""

    @cached_property
    def numbers(self) -> list[Number | None]:
        return [value if isinstance(value, int | float) else None for value in self.values]

    @cached_property
    def periods(self) -> list[Period | None]:
        return [value if isinstance(value, Period) else None for value in self.values]

    @property
    def is_time(self) -> bool:
        return any(isinstance(value, Period) for value in self.values)

    @property
    def is_text(self) -> bool:
        return self.role is None and not self.is_time


def type_columns(table: Table, *, language: str, year: int = 0) -> list[Column]:
    """One a header. `year`: of dates that name none."""
    return [
        _typed(
            place,
            header,
            [row.values[place] if place < len(row.values) else None for row in table.rows],
            language=language,
            year=year,
        )
        for place, header in enumerate(table.headers)
    ]


def _typed(place: int, header: str, cells: Sequence[Cell], *, language: str, year: int) -> Column:
    kinds = {type(cell) for cell in cells}
    texts = {cell for cell in set(cells) if isinstance(cell, str) and cell and cell.lower() not in MISSING}
    periods, numbers = _read(texts, language, year)
    filled = sum(cell is not None and (not isinstance(cell, str) or cell in texts) for cell in cells)
    as_periods = [_period(cell, periods) for cell in cells] if periods or kinds & {date, datetime} else []
    if _count(as_periods) and _count(as_periods) >= ENOUGH * filled:
        return Column(place, header, as_periods)
    as_numbers = [_number(cell, numbers.values) for cell in cells] if numbers.values or kinds & {int, float} else []
    if _count(as_numbers) and _count(as_numbers) >= ENOUGH * filled:
        known = [value for value in as_numbers if value is not None]
        return Column(place, header, as_numbers, role(header, known, unit=numbers.unit), numbers.unit)
    return Column(place, header, [cell if isinstance(cell, str) else None for cell in cells])


def _read(texts: set[str], language: str, year: int) -> tuple[dict[str, Period], cell_values.Numbers]:
    """Texts that are mostly something else are read as nothing."""
    ordered = sorted(texts)
    some = cell_values.sample(ordered)
    nothing = cell_values.Numbers({}, "")
    if len(cell_values.read_numbers(some, language=language).values) * 2 > len(some):
        return {}, cell_values.read_numbers(ordered, language=language)
    if len(cell_values.read_periods(some, language=language, year=year)) * 2 > len(some):
        return cell_values.read_periods(ordered, language=language, year=year), nothing
    return {}, nothing


def _period(cell: Cell, texts: dict[str, Period]) -> Period | None:
    if isinstance(cell, date):
        return of_day(cell.date() if isinstance(cell, datetime) else cell)
    return texts.get(cell) if isinstance(cell, str) else None


def _number(cell: Cell, texts: dict[str, Number]) -> Number | None:
    if isinstance(cell, str):
        return texts.get(cell)
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return None
    if isinstance(cell, int):
        return cell if abs(cell) < 10**15 else None  # a code, and more than a spreadsheet can hold
    return cell if math.isfinite(cell) and abs(cell) < 1e100 else None


def _count(values: Sequence[object]) -> int:
    return len(values) - values.count(None)


def total_rows(table: Table, columns: Sequence[Column]) -> set[int]:
    """Return the rows that sum up others: by their words, or by their numbers if the words leave it open."""
    known = [column for column in columns if column.role is Role.AMOUNT]
    labels = [column for column in columns if column.role is None]
    sums = [0.0] * len(known)
    all_sums = list(sums)
    found = set()
    for index, row in enumerate(table.rows):
        numbers = [column.numbers[index] for column in known]
        word = next((cell for cell in row.values if cell is not None), None)
        is_last = index == len(table.rows) - 1
        verdict = _says_total(word) if isinstance(word, str) else None
        if verdict is None and is_last and labels and all(column.values[index] is None for column in labels):
            verdict = False
        if verdict or (verdict is False and (_is_sum(numbers, sums) or _is_sum(numbers, all_sums))):
            found.add(index)
            sums = [0.0] * len(known)
            continue
        for place, number in enumerate(numbers):
            if number is not None:
                sums[place] += number
                all_sums[place] += number
    return found


def _says_total(cell: str) -> bool | None:
    """False: perhaps, if the numbers agree."""
    if not _MAY_BE_TOTAL.match(cell):
        return None
    folded = " ".join(fold(cell).strip(" :.*=-").split())
    if folded in _TOTALS | _LONG_TOTALS or folded.startswith(("subtotal ", "sous-total ")):
        return True
    return False if _OPENS_TOTAL.match(folded) else None


def _is_sum(numbers: Sequence[Number | None], sums: Sequence[float]) -> bool:
    pairs = [(number, total) for number, total in zip(numbers, sums, strict=True) if number is not None]
    return bool(pairs) and all(math.isclose(number, total, rel_tol=1e-6, abs_tol=1e-6) for number, total in pairs)
