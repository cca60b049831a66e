"""Amounts, shares and counts in a sentence, with their units; in Spanish, French and English."""

import re
from dataclasses import dataclass

from babel.numbers import format_decimal

from graphrag.extractive_answers.told_dates import find_told_dates
from graphrag.language import fold, stop_words
from graphrag.periods import YEARS, spoken

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
class Quantity:
    value: float
    unit: str  # a sign, or the word after the number; empty where it has none

    @property
    def is_money(self) -> bool:
        return self.unit in _MONEY


def find_quantities(text: str, language: str) -> list[Quantity]:
    """In their order. Parts of dates, of codes (A-2517) and of times of day are none, nor are years."""
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


def _quantity(match: re.Match[str], language: str) -> Quantity | None:
    value = float(re.sub(r"\D", "", match["whole"]) + (f".{match['rest']}" if match["rest"] else ""))
    word, is_priced = fold(match["word"] or ""), bool(match["before"] or match["sign"])
    power = _POWERS.get(word, _SHORT_POWERS.get(word, 0) if is_priced else 0)
    unit = fold(match["before"] or (match["sign"] or match["next"] if power else match["after"] or word) or "")
    unit = next((sign for sign, names in _UNITS.items() if unit in names), unit)
    is_bare = not unit or unit in stop_words(language)
    if is_bare and power == 0 and match["whole"].isdecimal() and int(match["whole"]) in YEARS and not match["rest"]:
        return None
    return Quantity(value * 10**power, "" if is_bare else unit)


def write_quantity(quantity: Quantity, language: str) -> str:
    """As people of the language write it; a unit that is a word is of the sentence's language and stays away."""
    number = write_number(quantity.value, language)
    if quantity.unit not in _UNITS:
        return number
    if spoken(language) == "en":
        return f"{quantity.unit}{number}" if quantity.is_money else f"{number}{quantity.unit}"
    return f"{number} {quantity.unit}"


def write_number(value: float, language: str) -> str:
    text = format_decimal(round(value, MOST_DECIMALS), "#,##0.######", locale=spoken(language))
    return text.replace("\u202f", " ").replace("\u00a0", " ")
