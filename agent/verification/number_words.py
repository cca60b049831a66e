"""Numbers written out in Spanish, French and English: «mil doscientos», «quatre-vingt-dix», «un tercio»."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

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
