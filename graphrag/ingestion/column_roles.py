"""What a column of numbers is good for, by the words of its header in three languages and by its values."""

import re
from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise

from graphrag.ingestion.cell_values import Number
from graphrag.language import fold
from graphrag.periods import YEARS


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
    """Years; or as many different whole numbers as cells, counted up by one or long and of one length."""
    if not all(isinstance(value, int) for value in values):
        return False
    if all(1990 <= value <= 2040 for value in values):
        return True
    if len(values) < _FEWEST_CODES or len(set(values)) < len(values):
        return False
    are_counted = all(after - before == 1 for before, after in pairwise(values))
    lengths = {len(str(abs(value))) for value in values}
    return are_counted or (len(lengths) == 1 and lengths.pop() >= _CODE_DIGITS)
