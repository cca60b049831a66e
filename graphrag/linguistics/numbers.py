"""Numbers, amounts and units as they are written in Spanish, French and English."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Annotated, Any

from babel.numbers import format_decimal
from pydantic import BeforeValidator

from graphrag.linguistics.dates import YEARS, breaking_spaces, find_told_dates, spoken
from graphrag.linguistics.language import fold, stop_words
from graphrag.linguistics.rules import Rules, WordList, WordSet, read_rules

TIME = "time"


def _by_word(raw: Mapping[Any, str] | Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping of each of the words of its keys."""
    return {word: value for words, value in raw.items() for word in str(words).split()}


def _days_of_words(raw: Mapping[int, str]) -> dict[str, int]:
    return {word: days for days, words in raw.items() for word in words.split()}


Factor = Annotated[float, BeforeValidator(lambda written: float(Fraction(str(written))))]


class NumberRules(Rules):
    small: dict[str, WordList]
    tens: dict[str, dict[str, int]]
    hundreds: dict[str, dict[str, int]]
    scales: dict[str, dict[str, int]]
    and_words: dict[str, str]
    ones: dict[str, WordSet]
    dozens: dict[str, int]
    parts: dict[str, dict[str, int]]
    spanish_parts: dict[str, int]
    suffixes: dict[str, int]
    powers: dict[str, int]
    units: dict[str, Annotated[dict[str, Factor], BeforeValidator(_by_word)]]
    rates: Annotated[dict[str, int], BeforeValidator(_days_of_words)]
    only_after_digits: WordSet
    signs: dict[str, WordSet]

    @cached_property
    def values(self) -> dict[str, dict[str, int]]:
        """Numbers below a hundred, by language."""
        return {
            language: {word: number for number, word in enumerate(small)}
            | dict.fromkeys(self.ones[language], 1)
            | self.tens[language]
            for language, small in self.small.items()
        }

    @cached_property
    def scale_words(self) -> dict[str, int]:
        return {word: value for scales in self.scales.values() for word, value in scales.items()}

    @cached_property
    def measures(self) -> dict[str, tuple[str, float]]:
        """Each unit's kind of measure and size, by its word."""
        return {word: (kind, size) for kind, sizes in self.units.items() for word, size in sizes.items()}

    @cached_property
    def is_priced(self) -> re.Pattern[str]:
        return re.compile(
            rf"\s?(?:{'|'.join(name for sign in '€£$' for name in self.signs[sign] if name.isalpha())})\b"
        )


@lru_cache(maxsize=1)
def number_rules() -> NumberRules:
    return read_rules(NumberRules, "graphrag.linguistics", "numbers")


def unit_days(word: str) -> float:
    """Return the days of a rate or of a unit of time: 7 of "weekly" and of "week"."""
    return number_rules().rates.get(word) or number_rules().measures[word][1]


def read_number(words: Sequence[str], start: int, language: str) -> tuple[int, int] | None:
    """(value, end) of the longest number that begins at `start`, of folded words; None where none does."""
    rules = number_rules()
    if language not in rules.values:
        return None
    values, hundreds, scales = rules.values[language], rules.hundreds[language], rules.scales[language]
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
        elif word == rules.and_words[language] and at > start and at + 1 < len(words) and words[at + 1] in values:
            at += 1
            continue
        elif dozen := rules.dozens.get(word, rules.dozens.get(word.rstrip("s"))):
            return max(1, group) * dozen, at + 1
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
    rules = number_rules()
    if language not in rules.values:
        return None
    parts, ones = rules.parts[language], rules.values[language]
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
        and following in rules.spanish_parts
        and words[start + 2 : start + 3] in (["parte"], ["partes"])
    ):
        part, end = rules.spanish_parts[following], start + 3
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
_JOINT = re.compile(r"[\s'’-]*")
_REACH = 24  # characters behind a number in which its scale and unit stand
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
    rules = number_rules()
    for match in _NUMBER.finditer(text):
        values = _quantity_values(match["whole"], match["mark"], match["decimals"])
        scale, unit, end = _scale_and_unit(text, match.end())
        before = (match["before"] or "").strip()
        family, factor = rules.measures[unit] if unit else rules.measures.get(before, ("", 1.0))
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
    rules = number_rules()
    following = list(_WORD.finditer(text, at, min(len(text), at + _REACH)))
    scale, end = 1.0, at
    words = [fold(match.group()) for match in following]
    index = 0
    while index < len(words) and _joins(text, end, following[index].start()):
        word, touching = words[index], following[index].start() == end
        if word in rules.scale_words and not (word == "mil" and scale > 1):
            scale *= rules.scale_words[word]
        elif word in rules.suffixes and _is_scale(words, index, touching, following[index].group()):
            scale *= rules.suffixes[word]
        elif not (word in {"de", "d"} and scale > 1):
            break
        end, index = following[index].end(), index + 1
    if set(words[index : index + 2]) in _PER_CENT and _joins(text, end, following[index].start()):
        return scale, "%", following[index + 1].end()
    if index < len(words) and _joins(text, end, following[index].start()) and words[index] in rules.measures:
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
    rules = number_rules()
    if language not in rules.values:
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
        if fold(unit) in rules.only_after_digits:
            unit, stop = "", matches[end - 1].end()
        family, factor = rules.measures[unit] if unit else ("", 1.0)
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
_SHORT_POWERS = {"k": 3, "m": 6}  # only before a currency: «340 m» are metres
_MONEY = frozenset("€£$")


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
        if told.period.unit == "year" and number_rules().is_priced.match(fold(text[told.end : told.end + 12])):
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
    rules = number_rules()
    value = float(re.sub(r"\D", "", match["whole"]) + (f".{match['rest']}" if match["rest"] else ""))
    word, is_priced = fold(match["word"] or ""), bool(match["before"] or match["sign"])
    power = rules.powers.get(word, _SHORT_POWERS.get(word, 0) if is_priced else 0)
    unit = fold(match["before"] or (match["sign"] or match["next"] if power else match["after"] or word) or "")
    unit = next((sign for sign, names in rules.signs.items() if unit in names), unit)
    is_bare = not unit or unit in stop_words(language)
    if is_bare and power == 0 and match["whole"].isdecimal() and int(match["whole"]) in YEARS and not match["rest"]:
        return None
    return AmountInText(value * 10**power, "" if is_bare else unit)


def write_quantity(quantity: AmountInText, language: str) -> str:
    """Write a quantity as usual in the language; a unit that is a word is left to the sentence."""
    number = write_number(quantity.value, language)
    if quantity.unit not in number_rules().signs:
        return number
    if spoken(language) == "en":
        return f"{quantity.unit}{number}" if quantity.is_money else f"{number}{quantity.unit}"
    return f"{number} {quantity.unit}"


def write_number(value: float, language: str) -> str:
    text = format_decimal(round(value, MOST_DECIMALS), "#,##0.######", locale=spoken(language))
    return breaking_spaces(text)
