"""Numbers, amounts and units as they are written in Spanish, French and English."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from babel.numbers import format_decimal

from graphrag.linguistics.dates import YEARS, find_told_dates, spoken
from graphrag.linguistics.language import fold, stop_words

_SMALL: dict[str, str] = {
    "es": "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis"
    " diecisiete"
    " dieciocho diecinueve veinte veintiuno veintidos veintitres veinticuatro veinticinco veintiseis veintisiete"
    " veintiocho"
    " veintinueve",
    "fr": "zero un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize",
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen"
    " eighteen nineteen",
}
_TENS: dict[str, dict[str, int]] = {
    "es": {"treinta": 30, "cuarenta": 40, "cincuenta": 50, "sesenta": 60, "setenta": 70, "ochenta": 80, "noventa": 90},
    "fr": {
        "vingt": 20, "vingts": 20, "trente": 30, "quarante": 40, "cinquante": 50, "soixante": 60, "septante": 70,
        "huitante": 80, "nonante": 90,
    },
    "en": {
        "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
    },
}  # fmt: skip
_HUNDREDS: dict[str, dict[str, int]] = {
    "es": {
        "cien": 100, "ciento": 100, "doscientos": 200, "trescientos": 300, "cuatrocientos": 400, "quinientos": 500,
        "seiscientos": 600, "setecientos": 700, "ochocientos": 800, "novecientos": 900,
        "doscientas": 200, "trescientas": 300, "cuatrocientas": 400, "quinientas": 500, "seiscientas": 600,
        "setecientas": 700, "ochocientas": 800, "novecientas": 900,
    },
    "fr": {"cent": 100, "cents": 100},
    "en": {"hundred": 100, "hundreds": 100},
}  # fmt: skip
SCALES: dict[str, dict[str, int]] = {
    "es": {"mil": 10**3, "millon": 10**6, "millones": 10**6, "billon": 10**12, "billones": 10**12},
    "fr": {
        "mille": 10**3, "million": 10**6, "millions": 10**6, "milliard": 10**9, "milliards": 10**9,
    },
    "en": {
        "thousand": 10**3, "thousands": 10**3, "million": 10**6, "millions": 10**6, "billion": 10**9, "billions": 10**9,
        "bn": 10**9,
    },
}  # fmt: skip
_AND = {"es": "y", "fr": "et", "en": "and"}
_ONES: dict[str, frozenset[str]] = {
    "es": frozenset({"un", "una", "uno"}),
    "fr": frozenset({"un", "une"}),
    "en": frozenset({"one"}),
}
_DOZENS = {"docena": 12, "decena": 10, "quincena": 15, "douzaine": 12, "dizaine": 10, "quinzaine": 15, "dozen": 12}
_PARTS: dict[str, dict[str, int]] = {
    "es": {"mitad": 2, "tercio": 3, "tercios": 3, "cuarto": 4, "cuartos": 4, "quinto": 5, "quintos": 5},
    "fr": {"moitie": 2, "tiers": 3, "quart": 4, "quarts": 4, "cinquieme": 5, "cinquiemes": 5, "dixieme": 10},
    "en": {
        "half": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fifth": 5, "fifths": 5, "tenth": 10,
    },
}  # fmt: skip
_SPANISH_PARTS = {"tercera": 3, "terceras": 3, "cuarta": 4, "cuartas": 4, "quinta": 5, "quintas": 5, "decima": 10}


def _values(language: str) -> dict[str, int]:
    small = {word: number for number, word in enumerate(_SMALL[language].split())}
    return small | dict.fromkeys(_ONES[language], 1) | _TENS[language]


VALUES: Mapping[str, Mapping[str, int]] = {language: _values(language) for language in _SMALL}


def read_number(words: Sequence[str], start: int, language: str) -> tuple[int, int] | None:
    """(value, end) of the longest number that begins at `start`, of folded words; None where none does."""
    if language not in VALUES:
        return None
    values, hundreds, scales = VALUES[language], _HUNDREDS[language], SCALES[language]
    total, group, at, end = 0, 0, start, start
    while at < len(words):
        word = words[at]
        if word in values:
            value = values[word]
            is_four_twenties = language == "fr" and word.startswith("vingt") and group % 100 == 4
            if not is_four_twenties and not _fits(group, value, language):
                break
            group = group - 4 + 80 if is_four_twenties else group + value
        elif word in hundreds:
            if group % 100 > 9 or (language == "es" and group) or group >= 100:
                break
            group = hundreds[word] if language == "es" else max(1, group) * 100
        elif word in scales and (at > start or scales[word] == 1_000):
            counted = total + group if _multiplies(total, group, scales[word]) else max(1, group)
            total, group = counted * scales[word] + (0 if counted == total + group else total), 0
        elif word == _AND[language] and at > start and at + 1 < len(words) and words[at + 1] in values:
            at += 1
            continue
        elif word in _DOZENS or word.rstrip("s") in _DOZENS:
            return (max(1, group) * _DOZENS.get(word, _DOZENS.get(word.rstrip("s"), 1)), at + 1)
        else:
            break
        at += 1
        end = at
    return (total + group, end) if end > start else None


def _multiplies(total: int, group: int, scale: int) -> bool:
    """«dos mil millones» is 2,000 millions; «dos millones mil» is a sum."""
    return 0 < total < scale and (total + group) < scale


def _fits(group: int, value: int, language: str) -> bool:
    if language == "fr" and group % 100 in (60, 80) and value < 20:
        return True
    if group == 0 or group % 100 == 0:
        return value > 0
    return group % 10 == 0 and group % 100 >= 20 and 0 < value < 10


def read_share(words: Sequence[str], start: int, language: str) -> tuple[float, int] | None:
    """(percent, end) of a part of the whole: «dos tercios», «la mitad», "three quarters"."""
    if language not in VALUES:
        return None
    parts = _PARTS[language]
    ones = VALUES[language]
    word = words[start]
    if parts.get(word) == 2:
        return 50.0, start + 1
    count = ones.get(word, 1 if word in {"la", "le", "a", "the"} else None)
    if count is None or start + 1 >= len(words):
        return None
    following = words[start + 1]
    part = parts.get(following)
    end = start + 2
    if (
        part is None
        and language == "es"
        and following in _SPANISH_PARTS
        and words[start + 2 : start + 3] in (["parte"], ["partes"])
    ):
        part, end = _SPANISH_PARTS[following], start + 3
    if part is None or part == 2 or not 0 < count < part:
        return None
    if word in {"la", "le", "the"} and language != "es" and following not in {"tiers", "quart"}:
        return None  # "the third quarter" is no share
    return float(Fraction(100 * count, part)), end


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
        """Return whether their units allow them to be the same; a bare number may be of any."""
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
        values = _quantity_values(match["whole"], match["mark"], match["decimals"])
        scale, unit, end = _scale_and_unit(text, match.end())
        before = (match["before"] or "").strip()
        family, factor = UNITS[unit] if unit else UNITS.get(before, ("", 1.0))
        if scale == 1 and text[match.end() : match.end() + 1].isalpha() and not unit:
            continue  # a code: 3B
        bare = frozenset(round(value * scale, 9) for value in values)
        yield Quantity(frozenset(round(value * factor, 9) for value in bare), family, match.start(), end, bare=bare)


def _quantity_values(whole: str, mark: str | None, decimals: str | None) -> set[float]:
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
    """Return whether only spaces and hyphens stand between the words of a number; digits stand by themselves."""
    is_joined = all(_joins(text, matches[at].end(), matches[at + 1].start()) for at in range(first, end - 1))
    before = text[max(0, matches[first].start() - 2) : matches[first].start()].strip()
    return is_joined and not before[-1:].isdigit()


MOST_DECIMALS = 6
_SPACES = " \u00a0\u202f"
_SIGNS = r"[€£$]"
_WHOLE = rf"\d{{1,3}}(?:[{_SPACES}]\d{{3}}(?!\d))+|\d{{1,3}}(?:MARK\d{{3}}(?!\d))+|\d+"
_LEAP_YEAR = 2000  # «29 de febrero» is a date in whatever year
_POWERS = {
    "mil": 3,
    "mille": 3,
    "thousand": 3,
    "milliard": 9,
    "milliards": 9,
    "billion": 9,
    "billions": 9,
} | dict.fromkeys(("millon", "millones", "million", "millions"), 6)
_SHORT_POWERS = {"k": 3, "m": 6}  # only before a currency: «340 m» are metres
_UNITS = {
    "€": {"€", "euro", "euros", "eur"},
    "£": {"£", "libra", "libras", "pound", "pounds", "gbp"},
    "$": {"$", "dolar", "dolares", "dollar", "dollars", "usd"},
    "%": {"%"},
    "°C": {"°c", "ºc"},
}
_MONEY = frozenset("€£$")
_IS_PRICED = re.compile(rf"\s?(?:{'|'.join(name for sign in '€£$' for name in _UNITS[sign] if name.isalpha())})\b")


@dataclass(frozen=True, slots=True)
class AmountInText:
    value: float
    unit: str  # a sign, or the word after the number; empty where it has none

    @property
    def is_money(self) -> bool:
        return self.unit in _MONEY


def find_quantities(text: str, language: str) -> list[AmountInText]:
    """Return the quantities in a text in their order; years and parts of dates, codes (A-2517) and times are none."""
    hidden = list(text)
    for told in find_told_dates(text, language, year=_LEAP_YEAR):
        if told.period.unit == "year" and _IS_PRICED.match(fold(text[told.end : told.end + 12])):
            continue  # 1900 euros
        hidden[told.start : told.end] = "#" * (told.end - told.start)
    return [
        quantity
        for match in _pattern(language).finditer("".join(hidden))
        if (quantity := _quantity(match, language)) is not None
    ]


def _pattern(language: str) -> re.Pattern[str]:
    mark, decimal = (r",", r"\.") if language == "en" else (r"\.", ",")
    return re.compile(
        rf"(?<![\w.,:/#-])(?:(?P<before>{_SIGNS})[{_SPACES}]?)?(?P<whole>{_WHOLE.replace('MARK', mark)})"
        rf"(?:{decimal}(?P<rest>\d+))?(?![\d:/#])(?!-\d)(?![.,]\d)(?!\w)"
        rf"(?=[{_SPACES}]?(?P<after>[%€£$]|[°º]C\b)|[{_SPACES}](?P<word>[^\W\d]+)"
        rf"(?:[{_SPACES}]?(?P<sign>{_SIGNS})|[{_SPACES}](?:de |d['’])?(?P<next>[^\W\d]+))?|)"
    )


def _quantity(match: re.Match[str], language: str) -> AmountInText | None:
    value = float(re.sub(r"\D", "", match["whole"]) + (f".{match['rest']}" if match["rest"] else ""))
    word, is_priced = fold(match["word"] or ""), bool(match["before"] or match["sign"])
    power = _POWERS.get(word, _SHORT_POWERS.get(word, 0) if is_priced else 0)
    unit = fold(match["before"] or (match["sign"] or match["next"] if power else match["after"] or word) or "")
    unit = next((sign for sign, names in _UNITS.items() if unit in names), unit)
    is_bare = not unit or unit in stop_words(language)
    if is_bare and power == 0 and match["whole"].isdecimal() and int(match["whole"]) in YEARS and not match["rest"]:
        return None
    return AmountInText(value * 10**power, "" if is_bare else unit)


def write_quantity(quantity: AmountInText, language: str) -> str:
    """Write a quantity as usual in the language; a unit that is a word is left to the sentence."""
    number = write_number(quantity.value, language)
    if quantity.unit not in _UNITS:
        return number
    if spoken(language) == "en":
        return f"{quantity.unit}{number}" if quantity.is_money else f"{number}{quantity.unit}"
    return f"{number} {quantity.unit}"


def write_number(value: float, language: str) -> str:
    text = format_decimal(round(value, MOST_DECIMALS), "#,##0.######", locale=spoken(language))
    return text.replace("\u202f", " ").replace("\u00a0", " ")
