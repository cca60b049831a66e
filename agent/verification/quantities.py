"""Numbers with their units, in all the writings of three languages: 9.240 €, «mil doscientos», 2,5 M€, 25 %."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from agent.verification.number_words import SCALES, VALUES, read_number, read_share
from graphrag.language import fold

_NUMBER = re.compile(
    r"(?<![\w.,])(?P<before>[€$£]\s?|[-+−])?(?P<whole>\d{1,3}(?:[.,'’\u00a0\u202f\u2009 ]\d{3}(?!\d))+|\d+)"
    r"(?:(?P<mark>[.,])(?P<decimals>\d+))?"
)
_WORD = re.compile(r"[^\W\d_]+[²³]?|%|€|\$|£|°")
_SUFFIXES = {"k": 10**3, "m": 10**6, "mio": 10**6, "mm": 10**6, "md": 10**9, "bn": 10**9, "mds": 10**9}
SCALE_WORDS = {word: value for scales in SCALES.values() for word, value in scales.items()}
_JOINT = re.compile(r"[\s'’-]*")
_REACH = 24  # characters behind a number in which its scale and unit stand
TIME = "time"


def _family(name: str, factors: dict[str, float]) -> dict[str, tuple[str, float]]:
    return {word: (name, factor) for words, factor in factors.items() for word in words.split()}


UNITS: dict[str, tuple[str, float]] = {
    **_family("€", {"€ euro euros eur": 1}),
    **_family("$", {"$ dollar dollars dolar dolares usd": 1}),
    **_family("£", {"£ gbp sterling pound pounds quid libra libras livre livres": 1}),
    **_family("fr.", {"franc francs franco francos chf": 1}),
    **_family("peso", {"peso pesos": 1}),
    **_family("%", {"% percent": 1}),
    **_family("pp", {"punto puntos point points pp": 1}),
    **_family(
        "length",
        {
            "km kilometro kilometros kilometre kilometres kilometer kilometers": 1000,
            "m metro metros metre metres meter meters": 1,
            "cm centimetro centimetros centimetre centimetres centimeter centimeters": 0.01,
            "mm milimetro milimetros millimetre millimetres millimeter millimeters": 0.001,
            "mile miles milla millas": 1609.344,
            "foot feet pie pies": 0.3048,
            "inch inches pulgada pulgadas": 0.0254,
            "yard yards yarda yardas": 0.9144,
        },
    ),
    **_family(
        TIME,  # days
        {
            "segundo segundos seconde secondes second seconds": 1 / 86400,
            "minuto minutos minute minutes min": 1 / 1440,
            "hora horas heure heures hour hours h": 1 / 24,
            "dia dias jour jours day days journee journees": 1,
            "semana semanas semaine semaines week weeks": 7,
            "mes meses mois month months": 30,
            "trimestre trimestres": 90,
            "ano anos an ans annee annees year years": 360,
        },
    ),
    **_family(
        "mass",
        {
            "kg kilo kilos kilogramo kilogramos kilogramme kilogrammes kilogram kilograms": 1000,
            "g gramo gramos gramme grammes gram grams": 1,
            "mg miligramo miligramos milligramme milligrammes milligram milligrams": 0.001,
            "lb lbs": 453.592,
            "ounce ounces onza onzas": 28.35,
            "tonelada toneladas tonne tonnes ton tons": 10**6,
        },
    ),
    **_family(
        "volume",
        {
            "l litro litros litre litres liter liters": 1,
            "ml mililitro mililitros millilitre millilitres milliliter milliliters": 0.001,
            "cl centilitro centilitros centilitre centilitres": 0.01,
            "gallon gallons galon galones": 4.546,
            "pint pints pinta pintas pinte pintes": 0.568,
            "hl hectolitro hectolitros hectolitre hectolitres": 100,
            "m3 m³": 1000,
        },
    ),
    **_family(
        "area",
        {"m2 m²": 1, "hectarea hectareas hectare hectares ha": 10**4, "km2 km²": 10**6, "acre acres": 4046.86},
    ),
    **_family("power",
        {"w watt watts vatio vatios": 1, "kw kilovatio kilovatios kilowatt kilowatts": 1000, "mw": 10**6}),
    **_family("energy", {"kwh": 1, "mwh": 1000, "gwh": 10**6}),
    **_family("°", {"° grado grados degre degres degree degrees": 1}),
    **_family("data", {"gb go gigabyte gigabytes": 1, "mb mo megabyte megabytes": 0.001, "tb terabyte": 1000}),
    **_family("pressure", {"bar bars bares": 1, "psi": 0.0689476}),
}  # fmt: skip
RATES = {
    word: days
    for words, days in {
        "diario diaria diarios diarias quotidien quotidienne quotidiens quotidiennes daily": 1,
        "semanal semanales semanalmente hebdomadaire hebdomadaires weekly": 7,
        "mensual mensuales mensualmente mensuel mensuelle mensuels mensuelles mensuellement monthly": 30,
        "trimestral trimestrales trimestriel trimestrielle trimestriels trimestrielles quarterly": 90,
        "anual anuales anualmente annuel annuelle annuels annuelles annuellement yearly annual annually": 360,
    }.items()
    for word in words.split()
}
_ONLY_AFTER_DIGITS = frozenset("m g l h w t mo go min pp".split())  # as words they are something else
_PER_CENT = ({"por", "ciento"}, {"pour", "cent"}, {"per", "cent"})


@dataclass(frozen=True, slots=True)
class Quantity:
    """`values`: all that its writing may mean (1.200), in the unit's base."""

    values: frozenset[float]
    unit: str
    start: int
    end: int
    is_article: bool = False  # «un», «una»: it may count nothing
    bare: frozenset[float] = frozenset()  # `values` without their unit

    def is_same(self, other: "Quantity") -> bool:
        if (not self.unit or not other.unit) and self.bare & other.bare:
            return True
        return any(_near(one, two, self.unit) for one in self.values for two in other.values)

    def fits(self, other: "Quantity") -> bool:
        """Whether their units allow them to be the same; a bare number may be of any."""
        return self.unit == other.unit or not self.unit or not other.unit


def _near(one: float, two: float, unit: str) -> bool:
    if unit == TIME and one >= 90:  # a year has 360, 364, 365 or 366 days, a month 28 to 31
        return abs(one - two) <= 0.02 * one
    return abs(one - two) <= 1e-6 * max(abs(one), abs(two))


@lru_cache(maxsize=2048)
def read_quantities(text: str, language: str) -> tuple[Quantity, ...]:
    digits = list(_in_digits(text))
    words = [
        each
        for each in _in_words(text, language)
        if not any(it.start < each.end and each.start < it.end for it in digits)
    ]
    return tuple(sorted([*digits, *words], key=lambda quantity: quantity.start))


def _in_digits(text: str) -> Iterator[Quantity]:
    for match in _NUMBER.finditer(text):
        values = _values(match["whole"], match["mark"], match["decimals"])
        scale, unit, end = _scale_and_unit(text, match.end())
        before = (match["before"] or "").strip()
        family, factor = UNITS[unit] if unit else UNITS.get(before, ("", 1.0))
        if scale == 1 and text[match.end() : match.end() + 1].isalpha() and not unit:
            continue  # a code: 3B
        bare = frozenset(round(value * scale, 9) for value in values)
        yield Quantity(frozenset(round(value * factor, 9) for value in bare), family, match.start(), end, bare=bare)


def _values(whole: str, mark: str | None, decimals: str | None) -> set[float]:
    digits = "".join(filter(str.isdigit, whole))
    value = float(f"{digits}.{decimals}") if decimals else float(digits)
    if not decimals and len(whole) > len(digits) and whole.startswith("0"):
        return {float(whole.replace(",", "."))} if whole[1] in ".," else {value}
    return {value}


def _scale_and_unit(text: str, at: int) -> tuple[float, str, int]:
    """The scale, the unit's word and where they end: « millones de euros», «M€», « por ciento»."""
    following = list(_WORD.finditer(text, at, min(len(text), at + _REACH)))
    scale, end = 1.0, at
    words = [fold(match.group()) for match in following]
    index = 0
    while index < len(words) and _joins(text, end, following[index].start()):
        word, touching = words[index], following[index].start() == end
        if word in SCALE_WORDS and not (word == "mil" and scale > 1):
            scale *= SCALE_WORDS[word]
        elif word in _SUFFIXES and _is_scale(words, index, touching, following[index].group()):
            scale *= _SUFFIXES[word]
        elif not (word in {"de", "d"} and scale > 1):
            break
        end, index = following[index].end(), index + 1
    if set(words[index : index + 2]) in _PER_CENT and _joins(text, end, following[index].start()):
        return scale, "%", following[index + 1].end()
    if index < len(words) and _joins(text, end, following[index].start()) and words[index] in UNITS:
        if text[following[index].end() : following[index].end() + 1] in {"'", "’"}:  # «35 l'après-midi»
            return scale, "", end
        return scale, words[index], following[index].end()
    if index < len(words) and words[index] in {"libras", "livres", "pounds"} and "sterling" in words[index : index + 2]:
        return scale, "sterling", following[index + 1].end()
    return scale, "", end


def _is_scale(words: Sequence[str], index: int, touching: bool, written: str) -> bool:
    """«2 M€», «3k», «5 Mio»; not «5 m»."""
    if words[index] == "m":
        return written == "M" and words[index + 1 : index + 2] in (["€"], ["$"], ["£"], ["eur"], ["euros"], ["d"])
    if words[index] == "mm":
        return words[index + 1 : index + 2] in (["€"], ["$"])
    return touching or words[index] != "k"


def _joins(text: str, end: int, start: int) -> bool:
    return _JOINT.fullmatch(text, end, max(end, start)) is not None


def _in_words(text: str, language: str) -> Iterator[Quantity]:
    if language not in VALUES:
        return
    matches = list(_WORD.finditer(text))
    words = [fold(match.group()) for match in matches]
    at = 0
    while at < len(words):
        share = read_share(words, at, language)
        if share and _are_near(text, matches, at, share[1]):
            yield Quantity(frozenset({share[0]}), "%", matches[at].start(), matches[share[1] - 1].end())
            at = share[1]
            continue
        number = read_number(words, at, language)
        if number is None or not _are_near(text, matches, at, number[1]):
            at += 1
            continue
        value, end = number
        _, unit, stop = _scale_and_unit(text, matches[end - 1].end())
        if fold(unit) in _ONLY_AFTER_DIGITS:
            unit, stop = "", matches[end - 1].end()
        family, factor = UNITS[unit] if unit else ("", 1.0)
        is_article = value == 1 and (words[at] != "one")
        if value != 1 or family:
            values = frozenset({round(value * factor, 9)})
            bare = frozenset({float(value)})
            yield Quantity(values, family, matches[at].start(), stop, is_article, bare)
        at = max(end, at + 1)


def _are_near(text: str, matches: Sequence[re.Match[str]], first: int, end: int) -> bool:
    """Nothing but spaces and hyphens between the words of a number; digits stand by themselves."""
    is_joined = all(_joins(text, matches[at].end(), matches[at + 1].start()) for at in range(first, end - 1))
    before = text[max(0, matches[first].start() - 2) : matches[first].start()].strip()
    return is_joined and not before[-1:].isdigit()
