"""Numbers, amounts and units as they are written in Spanish, French and English.

It is our own reader: of the gold set's half for tuning, text2num with Babel reads .49/.63/.63 of the texts right
(es/fr/en, values alone), Babel's parse_decimal .38/.42/.39, quantulum3 .59 (English), price-parser .11/.30/.31.
"""

import re
from bisect import bisect_left
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Annotated, Any, Literal, NamedTuple

from babel.numbers import format_decimal
from pydantic import BeforeValidator

from graphrag.linguistics.date_tokens import months
from graphrag.linguistics.dates import YEARS, read_dates
from graphrag.linguistics.language import STEMMERS, fold, stop_words
from graphrag.linguistics.periods import breaking_spaces, spoken
from graphrag.linguistics.rules import AnyCase, Rules, WordList, WordSet, read_rules

TIME = "time"
WHOLE = "whole"  # the unit of «un tercio»
MOST_DECIMALS = 6
MILLION = 1_000_000


def _by_word(raw: Mapping[Any, str]) -> dict[str, Any]:
    return {word: value for value, words in raw.items() for word in words.split()}


def _with_compounds(raw: Mapping[Any, str]) -> dict[str, Any]:
    """Add «vigesimosegunda» to «vigésimo» and «segunda»."""
    table = _by_word(raw)
    tens = [word for word, value in table.items() if value in range(10, 100, 10) and word.endswith("o")]
    return {ten + one: table[ten] + value for ten in tens for one, value in table.items() if value < 10} | table


Factor = Annotated[float, BeforeValidator(lambda written: float(Fraction(str(written))))]
ByWord = Annotated[dict[str, int], BeforeValidator(_by_word)]


class Unit(NamedTuple):
    measure: str
    size: Factor  # in the base of what is measured
    symbols: WordSet  # behind digits, or a currency's before them
    words: WordList


class NumberWords(Rules):
    """The words of a language."""

    numbers: ByWord  # below a hundred
    hundreds: ByWord
    scales: ByWord
    ordinals: Annotated[dict[str, int], BeforeValidator(_with_compounds)]
    parts: ByWord
    added: ByWord
    words: dict[str, WordSet]


class NameCue(Rules):
    """Pattern of digits that name something and count nothing, behind some words."""

    after: WordList
    pattern: AnyCase


class NumberRules(Rules):
    languages: dict[str, NumberWords]
    suffixes: ByWord
    collectives: ByWord
    units: dict[str, Unit]
    ranges: dict[str, WordSet]
    rates: ByWord
    named: list[NameCue]
    named_after: AnyCase
    words: dict[str, WordSet]

    @cached_property
    def starters(self) -> dict[str, frozenset[str]]:
        """Words that a number may begin with, by language."""
        return {
            language: frozenset(self.prices).union(
                table.numbers, table.hundreds, table.scales, table.ordinals, table.parts, table.words["articles"],
                table.words["halves"], self.words["half_nouns"],
            )
            for language, table in self.languages.items()
        }  # fmt: skip

    @cached_property
    def counted(self) -> frozenset[str]:
        """Words that an article may count."""
        tables = [word for each in self.languages.values() for word in (*each.hundreds, *each.parts, *each.ordinals)]
        halves = [word for each in self.languages.values() for word in each.words["halves"]]
        return self.unit_openers.union(self.scales, self.collectives, tables, halves)

    @cached_property
    def scales(self) -> dict[str, int]:
        return {word: value for words in self.languages.values() for word, value in words.scales.items()}

    @cached_property
    def unit_words(self) -> dict[str, str]:
        """Units by their names: folded words with a space between them."""
        return {" ".join(_tokens(fold(name))[0]): key for key, unit in self.units.items() for name in unit.words}

    @cached_property
    def symbols(self) -> dict[str, str]:
        return {" ".join(_tokens(symbol)[0]): key for key, unit in self.units.items() for symbol in unit.symbols}

    @cached_property
    def prices(self) -> dict[str, str]:
        """Currencies by their folded symbols."""
        return {fold(symbol): key for symbol, key in self.symbols.items() if self.is_money(key)}

    @cached_property
    def unit_openers(self) -> frozenset[str]:
        return frozenset(fold(name.partition(" ")[0]) for name in (*self.unit_words, *self.symbols))

    @cached_property
    def days(self) -> dict[str, float]:
        """Days of the units of time and of the rates: 7 of "weekly" and of "week"."""
        units = {name: self.units[key] for name, key in (self.unit_words | self.symbols).items()}
        return self.rates | {name: unit.size for name, unit in units.items() if unit.measure == TIME}

    @cached_property
    def names(self) -> dict[str, re.Pattern[str]]:
        return {words: cue.pattern for cue in self.named for words in cue.after or [""]}

    def is_money(self, unit: str) -> bool:
        return unit != "" and self.units[unit].measure in self.words["currencies"]


@lru_cache(maxsize=1)
def number_rules() -> NumberRules:
    return read_rules(NumberRules, "graphrag.linguistics", "numbers")


def unit_days(word: str) -> float:
    return number_rules().days[word]


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount as it is written: «3 M€» is 3,000,000 of the unit €, «de 5 a 7 días» from 5 to 7 of the unit day."""

    low: float
    high: float
    unit: str = ""  # of the table; empty where things are counted
    counted: str = ""  # the word behind a number without a unit
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)
    is_ordinal: bool = False
    is_article: bool = False  # «una hora»: it may count nothing
    ends: tuple["Quantity", ...] = field(default=(), compare=False)  # of a range, each by itself

    @property
    def measure(self) -> str:
        return number_rules().units[self.unit].measure if self.unit else ""

    @property
    def values(self) -> frozenset[float]:
        """Both ends in the base of what is measured: metres of kilometres, per cent of a share."""
        size = number_rules().units[self.unit].size if self.unit else 1.0
        return frozenset({round(self.low * size, 9), round(self.high * size, 9)})

    @property
    def is_money(self) -> bool:
        return number_rules().is_money(self.unit)

    def is_same(self, other: "Quantity") -> bool:
        if (not self.unit or not other.unit) and {self.low, self.high} & {other.low, other.high}:
            return True
        return any(_near(one, two, self.measure) for one in self.values for two in other.values)

    def fits(self, other: "Quantity") -> bool:
        """Return whether their units allow them to be the same; a bare number may be of any."""
        return self.measure == other.measure or not self.unit or not other.unit


def _near(one: float, two: float, measure: str) -> bool:
    if measure == TIME and one >= 90:  # a year has 360, 364, 365 or 366 days, a month 28 to 31
        return abs(one - two) <= 0.02 * one
    return abs(one - two) <= 1e-6 * max(abs(one), abs(two))


_GROUPED = re.compile(r"(\d{1,3})((?:([.,'’\s])\d{3})(?:\3\d{3})*)(?:([.,])(\d+))?")
_DECIMAL = re.compile(r"(\d+)([.,])(\d+)")


def usual_mark(language: str) -> str:
    """Return the decimal mark of a language; "" where it is not known."""
    return "." if language == "en" else "," if language in STEMMERS else ""


def decimal_mark(body: str) -> str:
    """Return the decimal mark of digits that are clear about it; "" for «1.250» and «1250»."""
    if match := _GROUPED.fullmatch(body):
        if match[4]:
            return match[4] if match[4] != match[3] else ""
        is_plain = len(match[2]) == 4  # one group of three: either thousands or decimals
        if match[3] not in ".," or (is_plain and match[1] != "0"):
            return ""
        return match[3] if is_plain else {".": ",", ",": "."}[match[3]]
    decimal = _DECIMAL.fullmatch(body)
    return decimal[2] if decimal else ""


def read_digits(body: str, decimal: str) -> int | float | None:
    """Read digits with their marks; `decimal` decides «1.250». None for codes and for what stays ambiguous."""
    own = decimal_mark(body) or decimal
    if body.isdecimal():
        return int(body) if len(body) == 1 or int(body[0]) else None  # a code, a telephone
    grouped = _GROUPED.fullmatch(body)
    if grouped and grouped[3] in ".," and not own:
        return None
    if grouped and grouped[3] != own and grouped[1] != "0":
        digits = grouped[1] + "".join(filter(str.isdecimal, grouped[2]))
        return float(f"{digits}.{grouped[5]}") if grouped[5] else int(digits)
    plain = _DECIMAL.fullmatch(body)
    return float(f"{plain[1]}.{plain[3]}") if plain and plain[2] == own else None


def read_words(words: Sequence[str], start: int, language: str, group: int = 0) -> tuple[int, int, bool] | None:
    """Return the value, the end and whether it is an ordinal, of the longest number that begins at a word.

    `words` are folded and padded at their end. `group` is 1 behind the article of "a hundred".
    """
    table = number_rules().languages[language]
    total, at, end, is_ordinal = 0, start, start, False
    while not is_ordinal or words[at] in table.ordinals:
        word = words[at]
        if (value := table.numbers.get(word)) is not None:
            if language == "fr" and value == 20 and group % 100 == 4:  # quatre-vingts
                group += 76
            elif language == "en" and value >= 10 and total == 0 and 12 < group < 21:  # nineteen eighty-four
                group = group * 100 + value
            elif _fits(group, value, language) or (value == 0 and at == start):
                group += value
            else:
                break
        elif hundred := table.hundreds.get(word):
            if group >= 100 or (language == "es" and group) or (language == "en" and not group):
                break
            group = hundred * max(1, group)
        elif (scale := table.scales.get(word)) and (group or total or (scale == 1000 and language != "en")):
            is_product = 0 < total < scale and total + group < scale  # «dos mil millones»; «dos millones mil» is a sum
            total = (total + group) * scale if is_product else total + max(1, group) * scale
            group = 0
        elif (value := table.ordinals.get(word)) and (is_ordinal or language != "es" or not (group or total)):
            is_teen = language == "es" and is_ordinal and group == 10 and value < 10  # «décimo segunda»
            if value < 100 and not is_teen and not _fits(group, value, language):
                break
            group, is_ordinal = (group + value if value < 100 else max(1, group) * value), True
        elif word not in table.words["and"] or end == start or not _joins(words, at, group, language):
            break
        at += 1
        end = end if word in table.words["and"] else at
    return (total + group, end, is_ordinal) if end > start else None


def _fits(group: int, value: int, language: str) -> bool:
    """Return whether a value below a hundred may follow: 3 after 20, 17 after soixante."""
    if group % 100 == 0 or (language == "fr" and group % 100 in (60, 80) and value < 20):
        return value > 0
    is_french_teen = language == "fr" and group % 100 % 20 == 10 and value in (7, 8, 9)
    return is_french_teen or (group % 10 == 0 and group % 100 >= 20 and 0 < value < 10)


def _joins(words: Sequence[str], at: int, group: int, language: str) -> bool:
    """Return whether an "and" is within a number: «treinta y uno», « vingt et un », "a hundred and one"."""
    table = number_rules().languages[language]
    following = table.numbers.get(words[at + 1], table.ordinals.get(words[at + 1], 100))
    if language == "en":
        return 0 < following < 100 and group % 100 == 0 and words[at + 2] not in table.hundreds
    return group % 100 >= 20 and group % 10 == 0 and following in ((1, 11) if language == "fr" else range(1, 10))


_SPACE = r"[ \u00a0\u202f\u2009]"
_BODY = rf"(?:\d{{1,3}}(?:{_SPACE}\d{{3}}(?!\d))+(?!{_SPACE}?\d)|\d+)"
# A letter goes on behind them: «d'euros», "twenty-one", "2-hour", a line that is wrapped.
_JOINT = r"(?:[-‐‑'’](?=[^\W\d_]))?[^\S\n]*(?:\n(?=[a-zà-ÿ]))?"
_BEHIND = " \t\n\r\u00a0\u202f\u2009-‐‑'’"
_TOKEN = re.compile(
    r"(?:[^\W\d_]++(?![-‐._$]?\d|\$)"
    r"|(?<!\w)(?:[A-Za-z]{1,2}\$|(?:EUR|USD|GBP|CHF|CAD|AUD|MXN|ARS|JPY)(?=\d))"
    r"|[^\W\d_]{0,2}m[23](?!\w)|[^\W\d_]+[-‐._]?\d[\w./-]*|[./@#_=\\]\d[\w./:\\-]*"  # km2, A-2517, /10.0.0.5
    rf"|(?<!\w)(?:(?<![\w)])[-−±])?{_BODY}(?:[.,:/'’–—-]{_BODY})*"
    rf"|[^\W\d_]+|.){_JOINT}",
    re.DOTALL,
)
_MARKED = re.compile(r"(?<!\d)\d++(?:[.,]\d++)+")
_FRACTION = re.compile(r"(\d{1,2})[/⁄](\d{1,3})")
_DENOMINATORS = frozenset({2, 3, 4, 5, 6, 8, 10, 16, 100})  # others are dates, or of what is out of how many
_APOSTROPHE = re.compile(r"(?<=\d)['’](?=\d\d?$)")
_YEAR = re.compile(r"(?:1\d|20)\d\d(?:[-–](?:1\d|20)\d\d)?")
_ZEROS = re.compile(r"^0+(?=\d+$)")
_MILLIONS = re.compile(r"\d{1,3}(?:.\d{3})*(?:.000){2}", re.DOTALL)
_THREE = re.compile(r"\d{3}")
_DASH = re.compile(r"(?<=\d)[-–—](?=\d)")
_PADDING = 8
_NEAR = 4  # words around a number among which a month may make it part of a date
_REACH = 40  # characters of a date
_LONGEST_NAME = 5  # words of a unit
_LONGEST = 40  # characters of digits with their marks
_MOST_DIGITS = 6  # without marks; longer ones are codes
_OPENS = frozenset(("", *".!?:;\n(•-—–¿¡«“"))  # before a sentence's first word


def _tokens(text: str) -> tuple[list[str], list[int]]:
    """Split a text into words, digits with their marks, and other characters; return these and where they begin."""
    pieces = _TOKEN.findall(text)
    return [piece.rstrip(_BEHIND) or piece[0] for piece in pieces], [*accumulate(map(len, pieces), initial=0)]


@lru_cache(maxsize=2048)
def read_quantities(text: str, language: str) -> tuple[Quantity, ...]:
    """Return the quantities of a text in their order: no dates, times and codes, no numbers of pages, houses or rooms.

    Words are read in Spanish, French and English, digits in any language.
    """
    return tuple(_Reader(text, language).read())


Kind = Literal["digits", "words", "ordinal", "share", "half", "article"]


class _Number(NamedTuple):
    low: float
    high: float
    kind: Kind


class _Amount(NamedTuple):
    quantity: Quantity
    first: int  # token
    to: int  # token behind it
    scale: float = 1.0


class _Reader:
    """The tokens of a text: `words` are folded, `raw` as written; both are padded, so also before their start.

    `at` is the token that is read next; a method that reads something moves it on.
    """

    def __init__(self, text: str, language: str) -> None:
        self.text, self.language, self.usual = text, language, usual_mark(language)
        self.rules, self.empty = number_rules(), stop_words(language)
        self.table = self.rules.languages.get(language) or self.rules.languages["und"]
        raw, starts = _tokens(text)
        self.raw, self.starts = raw + [""] * _PADDING, starts + [len(text)] * _PADDING
        self.words = list(map(fold, self.raw))
        marks = set(map(decimal_mark, _MARKED.findall(text))) - {""}
        self.decimal = self.usual if not marks or self.usual in marks else " "  # «1.250» has none
        self.at, self.last = 0, -1  # token behind the last amount

    def read(self) -> Iterator[Quantity]:
        words, found, next_ = self.words, [], 0
        starters = self.rules.starters.get(self.language, frozenset())
        for place, word in enumerate(words[:-_PADDING]):
            is_digits = word[-1:].isdigit() and not word[0].isalpha()
            if place < next_ or not (is_digits or word in starters or self._is_half_more(place)):
                continue
            if word in self.table.words["articles"] and words[place + 1] not in self.rules.counted:
                continue
            if end := self._name_end(place):
                next_ = bisect_left(self.starts, end, place + 1)
            elif amount := self._range(place):
                found.append(amount)
                next_ = self.last = amount.to
            elif not is_digits:  # «habitación doscientos cuatro»
                next_ = self.at
        return self._without_dates(found)

    def _end(self, token: int) -> int:
        return self.starts[token] + len(self.raw[token])

    def _touches(self, token: int) -> bool:
        return self._end(token - 1) == self.starts[token]

    def _is_content(self, token: int) -> bool:
        return self.words[token].isalpha() and self.words[token] not in self.empty

    def _take(self, words: Container[str]) -> bool:
        self.at += (is_there := self.words[self.at] in words)
        return is_there

    def _name_end(self, first: int) -> int | None:
        """Return where a time, a decade or a code ends that begins at a token."""
        words, start = self.words, self.starts[first]
        for cue in ("", words[first - 1], f"{words[first - 2]} {words[first - 1]}"):
            if (pattern := self.rules.names.get(cue)) and (match := pattern.match(self.text, start)):
                return match.end()
        return None

    def _range(self, first: int) -> _Amount | None:
        found = self._amount(first)
        if found is None or found.quantity.is_ordinal:
            return found
        articles = self.table.words["articles"] | self.table.words["definite"]
        for opener in (found.first - 1 - (self.words[found.first - 1] in articles), None):  # «entre el 10 y el 15 %»
            word = "" if opener is None else self.words[opener] or "\n"
            if self.words[found.to] in self.rules.ranges.get(word, ()):
                self.last, next_ = found.to, found.to + 1
                next_ += self.words[next_] in articles and self.words[next_ + 1][-1:].isdigit()
                if (other := self._amount(next_)) and (joined := self._join(found, other, opener)):
                    return joined
        return found

    def _join(self, first: _Amount, second: _Amount, opener: int | None) -> _Amount | None:
        """Return a range; of a change («de 10 a 12 euros») its first value, with the unit of the second."""
        one, other = first.quantity, second.quantity
        is_priced = self.words[first.first] in self.rules.prices
        is_of_another = one.unit not in ("", other.unit) and not (is_priced and not other.unit)
        if is_of_another or other.is_ordinal or other.is_article:
            return None
        if second.scale > 1 == first.scale and one.high < other.low / second.scale:  # «3 a 5 millones»
            one = replace(one, low=one.low * second.scale, high=one.high * second.scale)
        unit = other.unit or one.unit
        ends = (replace(one, unit=unit), replace(other, unit=unit))
        before = self.words[max(0, first.first - 5) : first.first]
        if any(word.startswith(tuple(self.rules.words["changes"])) for word in before):
            return first._replace(quantity=ends[0])
        start = one.start if opener is None else self.starts[opener]
        whole = replace(other, low=one.low, unit=unit, start=start, ends=ends)
        return second._replace(quantity=whole, first=first.first) if one.high < other.low else None

    def _amount(self, first: int) -> _Amount | None:
        rules, words = self.rules, self.words
        is_priced = words[first] in rules.prices
        self.at = number_at = first + is_priced
        is_digits = words[number_at][-1:].isdigit()
        number = self._digits() if is_digits else None if is_priced else self._words()
        if number is None:
            return None
        low, high, kind = number
        if kind == "ordinal":
            return self._ordinal(first, low)
        more, scale = self._scale(kind, low, is_priced=is_priced)
        spoken_scale = rules.scales.get(words[self.at - 1], 1)  # «seis mil»
        low, high = round((low + more) * scale, 9), round((high + more) * scale, 9)
        unit = rules.prices[words[first]] if is_priced else ""
        own, end = self._unit(self.at, is_digits=is_digits, is_share=kind == "share")
        if own and (not unit or rules.is_money(own)):
            unit, self.at = own, end
            half = self._half_more(is_unit=True)
            low, high, kind = low + half, high + half, "words" if half or more else kind
        if rules.is_money(unit) and self.usual == "," and "," in words[number_at] and words[self.at] != "/":
            low = high = (read_digits(words[number_at], " ") or low / scale) * scale  # «$1,250» as in Mexico
        sign, start = words[first - 1], self.starts[first]
        is_below = unit.startswith("°") and " ".join(words[self.at : self.at + 2]) in rules.words["below_zero"]
        self.at += 2 * is_below
        is_signed = is_digits and sign in ("-", "−") and self._touches(first) and not self._touches(first - 1)
        if is_signed or is_below or (unit.startswith("°") and sign in self.table.words["minus"]):
            low, high, start = -high, -low, start if is_below else self.starts[first - 1]
        if not unit and (
            (kind in ("half", "article") and scale == 1)
            or (kind == "digits" and scale == 1 and self._names(first))
            or (kind == "words" and self._is_name(first, low))
            or (kind in ("digits", "words") and rules.named_after.match(self.text, self._end(self.at - 1)))
        ):
            return None
        is_rate = first == self.last or words[first - 1] in rules.words["rated"]  # «5 € a week», "twice a week"
        if kind == "article" and unit and (is_rate or words[self.at - 1] in rules.words["uncounted"]):
            return None
        counted = words[self.at] if not unit and self._is_content(self.at) else ""
        unit = unit or (WHOLE if kind == "share" else "")
        is_article = kind in ("article", "half")
        quantity = Quantity(low, high, unit, counted, start, self._end(self.at - 1), is_article=is_article)
        return _Amount(quantity, first, self.at, max(scale, spoken_scale))

    def _ordinal(self, first: int, value: float) -> _Amount | None:
        last, rules = self.at - 1, self.rules.words
        is_compound = self.text[self._end(last) : self._end(last) + 1] == "-"  # "second-hand"
        is_meant = self._is_content(self.at) or self.words[first - 1] in self.table.words["definite"]
        is_vague = (
            last == first and self.words[last] in rules["before_nouns"] and not is_meant
        )  # «primero», not «el primero»
        is_name = self.raw[first][:1].isupper() and self.raw[self.at][:1].isupper()
        if is_compound or is_vague or is_name or self.words[self.at] in rules["periods"]:
            return None
        quantity = Quantity(value, value, start=self.starts[first], end=self._end(last), is_ordinal=True)
        return _Amount(quantity, first, self.at)

    def _digits(self) -> _Number | None:
        word = self.words[self.at]
        word = _APOSTROPHE.sub(",", word) if self.language == "es" else word  # «1'5 litros»
        self.at += 1
        if share := _FRACTION.fullmatch(word):
            part, whole = int(share[1]), int(share[2])
            return _Number(part / whole, part / whole, "share") if whole in _DENOMINATORS and part < whole else None
        bodies = [body.lstrip("-−±") for body in _DASH.split(word)] if len(word) <= _LONGEST else []
        read = [read_digits(_ZEROS.sub("", body), self.decimal) for body in bodies]
        values = [float(value) for value in read if value is not None]
        if len(values) < len(read) or values != sorted(set(values)) or not 1 <= len(values) <= 2:
            return None
        low, high = values[0], values[-1]
        if word[0] in "-−":
            low, high = -low, high if len(values) > 1 else -low
        dotted = self.at + (self.words[self.at] == "." and self._touches(self.at))
        is_ending = self.words[dotted] in self.table.words["endings"] and not self.raw[dotted].isupper()  # 3.º, 1er
        if is_ending and self._touches(dotted) and low == high and low.is_integer():
            self.at = dotted + 1
            return _Number(low, high, "ordinal")
        if share := _FRACTION.fullmatch(self.words[self.at]):  # 1 1/2
            self.at += 1
            low, high = low + int(share[1]) / int(share[2]), high + int(share[1]) / int(share[2])
        return _Number(low, high, "digits")

    def _words(self) -> _Number | None:
        words, table, first = self.words, self.table, self.at
        if self._is_half_more(first):
            return _Number(1, 1, "half")
        is_article = self._take(table.words["articles"])
        if self._take(table.words["halves"]):
            self._take(table.words["articles"] if self.language == "en" else ())
            counts = words[self.at] in self.rules.scales or words[self.at] in self.rules.collectives
            if counts or self._unit(self.at)[0]:
                return _Number(0.5, 0.5, "half")
        self.at = first
        if share := self._share():
            return _Number(share, share, "share")
        self.at = first + (is_article and self.language == "en")
        is_counted = words[self.at] in table.hundreds or words[self.at] in table.scales
        if self.at > first and not is_counted:
            return _Number(1, 1, "article")
        number = read_words(words, self.at, self.language, group=self.at - first) if table.numbers else None
        if number is None:
            return None
        counted, self.at, is_ordinal = number
        value: float = counted
        if is_ordinal:
            return _Number(value, value, "ordinal")
        if words[self.at] in table.words["decimal"] and words[self.at + 1] in table.numbers:  # «dos coma cinco»
            value = float(f"{counted}.{table.numbers[words[self.at + 1]]}")
            self.at += 2
        elif words[self.at : self.at + 3] == ["(", str(counted), ")"]:  # «quince (15) días»
            self.at += 3
        return _Number(value, value, "article" if value == 1 and self.at == first + 1 else "words")

    def _scale(self, kind: Kind, value: float, *, is_priced: bool) -> tuple[float, float]:
        """Read «y medio» and «millones»; return what they add to a number, and by what they multiply the sum."""
        if kind == "share":
            return 0.0, 1.0
        rules, words = self.rules, self.words
        last = rules.scales.get(words[self.at - 1], 1) if kind == "words" else 1
        more, scale = (0.0 if kind == "half" else self._half_more()) * last, 1.0
        while kind in ("digits", "half") or value % 1 or (more and last == 1):
            factor = rules.scales.get(words[self.at]) or (self._suffix(is_priced=is_priced) if kind == "digits" else 0)
            if not factor or 1 < scale >= factor:
                break
            self.at += 1
            scale *= factor
        if scale == 1000 and self.language == "es" and _THREE.fullmatch(words[self.at]):  # «15 mil 500»
            more = int(words[self.at]) / 1000
            self.at += 1
        if scale == MILLION and self.language == "es" and words[self.at + 1] == "mil" and words[self.at].isdecimal():
            more = int(words[self.at]) / 1000  # «1 millón 200 mil»
            self.at += 2
        if collective := rules.collectives.get(words[self.at]):
            scale *= collective
            self.at += 1
        more = more or (self._half_more() if scale > 1 else 0.0)
        return more, scale

    def _suffix(self, *, is_priced: bool) -> int:
        """Return the scale of «3 M€», "5k users", "£2m"; none of "3 m" and of «3M», a name."""
        suffix, to = self.raw[self.at], self.at + 1
        if suffix == "m":
            return 1_000_000 if is_priced else 0
        is_counting = (
            is_priced or self._is_content(to) or self.words[to] in self.rules.prices or self.words[to] in ("de", "d")
        )
        return self.rules.suffixes.get(suffix, 0) if is_counting or not suffix.isupper() else 0

    def _is_half_more(self, token: int) -> bool:
        """Return whether «y media» is behind a unit."""
        table, (unit, joint, half) = self.table.words, self.words[token : token + 3]
        return joint in table["and"] and half in self.table.added and unit in self.rules.unit_words

    def _half_more(self, *, is_unit: bool = False) -> float:
        """Read «y medio», « et demie », "and a half"; behind a unit not «y media docena»."""
        first = self.at
        if self._take(self.table.words["and"]):
            self._take(self.table.words["articles"] if self.language == "en" else ())
            is_other = self.words[self.at + 1] in self.rules.collectives or self._unit(self.at + 1)[0]
            if not (is_unit and is_other) and (part := self.table.added.get(self.words[self.at])):
                self.at += 1
                return 1 / part
        self.at = first
        return 0.0

    def _share(self) -> float | None:
        """Read a part of a whole: «dos tercios», «la cuarta parte», "half", "three quarters"."""
        words, table, first, empty = self.words, self.table, self.at, self.rules.words["not_parts"]
        word = words[first]
        if word in self.rules.words["half_nouns"]:
            self.at += 1
            is_other = words[first - 1] in table.ordinals or words[self.at] in empty
            return None if is_other or (word == "half" and self._is_content(self.at)) else 0.5
        is_alone = (self.language == "fr" and word in table.words["part_nouns"]) or words[first + 1] == "parte"
        count = 1 if is_alone or word in table.words["articles"] else table.numbers.get(word, 0)
        self.at += not is_alone
        name = words[self.at]
        part = table.parts.get(name, 0)
        self.at += 1
        is_written = words[self.at] in ("parte", "partes")
        self.at += is_written
        after = words[self.at]
        if not 0 < count < part or after in empty or words[self.at + 1] in empty or (count > 1 and name[-1] != "s"):
            return None
        is_noun = (
            is_written or name in table.words["part_nouns"] or not self._is_content(self.at) or after.endswith("ed")
        )
        is_clear = count > 1 or after in ("de", "du", "des", "d") or (is_noun and not (is_alone and not is_written))
        return float(Fraction(count, part)) if is_clear else None

    def _unit(self, first: int, *, is_digits: bool = False, is_share: bool = False) -> tuple[str, int]:
        """Return the unit at a token, and the token behind it; "" where there is none."""
        rules, words = self.rules, self.words
        before = words[first - 1]
        is_scaled = before in rules.scales or before in rules.collectives or self.raw[first - 1] in rules.suffixes
        is_scaled = is_scaled or (is_digits and _MILLIONS.fullmatch(before) is not None)  # «2.000.000 de euros»
        if words[first] in ("de", "d", "of") and (is_share or is_scaled):
            first += 1 + (is_share and words[first + 1] in self.table.words["articles"])
        word, raw = words[first], self.raw
        if word not in rules.unit_openers or word in self.table.words["not_units"]:
            return "", first
        for end in range(first + _LONGEST_NAME, first, -1):
            symbol = rules.symbols.get(" ".join(raw[first:end])) if is_digits else None
            if unit := symbol or rules.unit_words.get(" ".join(words[first:end])):
                break
        else:
            return "", first
        is_preposition = raw[first] == "in" and words[end].isalpha() and words[end] not in rules.words["dimensions"]
        is_elided = len(word) == 1 and self.text[self._end(first) : self._end(first) + 1] in ("'", "’")
        if is_preposition or is_elided:
            return "", first
        weighs = words[end] in ("of", "de") or rules.words["weighing"].intersection(words[max(0, first - 4) : first])
        return ("lb" if unit == "£" and word != "£" and weighs else unit), end

    def _is_name(self, first: int, value: float) -> bool:
        """Return whether a number in words is of a name, or is none: «Siete Islas», « neuf »."""
        if value == 0 or (self.at == first + 1 and self.words[first] in self.rules.words["before_nouns"]):
            return not self._is_content(self.at)
        before, is_title = self.words[first - 1], self.raw[first][:1].isupper() and self.raw[self.at][:1].isupper()
        return (is_title and before not in _OPENS) or before in self.rules.words["labels"]

    def _names(self, first: int) -> bool:
        """Return whether digits name something and count nothing: a page, a code, a house, a year."""
        words, raw, rules, to = self.words, self.raw, self.rules.words, self.at
        digits, before = raw[first], first - 1
        while words[before] in (".", ":", "o", "is", "es", "est") and words[before - 1]:
            before -= 1
        is_initial = words[before - 1] in _OPENS
        is_capital = raw[before].isalpha() and not raw[before].islower()  # a name, but where a sentence begins
        is_negation = words[first - 1] == "no" and self.language == "es"  # «somos ocho, no 11»
        is_verb = words[to] in rules["verbs"] or (
            self._is_content(to) and raw[to].islower() and not self._is_plural(to)
        )
        is_named = (
            self._is_content(before) and is_verb and not words[before].endswith(("n", "mos"))
        )  # «Apollo 11 landed»
        is_capital = is_capital and (not is_initial or not raw[before][1:].islower() or is_named)
        is_long = len(digits) > _MOST_DIGITS or (len(digits) == 5 and raw[to].istitle())  # 28013 Madrid
        return (
            (words[before] in rules["labels"] and first != self.last and not is_negation)
            or (raw[to][:1].isalpha() and self._touches(to))
            or (is_capital and before == first - 1 and not self.text.isupper())
            or (digits.isdecimal() and (is_long or (digits[0] == "0" and len(digits) > 1)))
            or (words[first - 1] == "," and not rules["streets"].isdisjoint(words[max(0, first - 5) : first]))
            or (words[first - 1] in ("", "\n") and words[to] in (".", ")") and self._touches(to))
            or (words[first - 1] == "(" and words[to] == ")" and _YEAR.fullmatch(digits) is not None)
            or (_YEAR.fullmatch(digits) is not None and self._is_year(first))
        )

    def _is_plural(self, token: int) -> bool:
        word = self.words[token]
        is_plural = word.endswith(("s", "x")) or word in self.rules.words["plurals"]
        return self._is_content(token) and self.raw[token].islower() and is_plural and word not in self.table.numbers

    def _is_year(self, first: int) -> bool:
        """Return whether four digits are a year, not «2024 cajas» or "2024 library cards"."""
        before, cues = self.words[first - 1], self.rules.words["year_cues"]
        is_joined = before == "," or before in self.rules.words["year_joints"]
        counts = self._is_plural(self.at)
        if int(self.raw[first][:4]) not in YEARS:
            return (before in cues or is_joined) and not counts
        is_far = not is_joined and self._is_content(self.at) and self._is_plural(self.at + 1)
        return before in cues or not (counts or is_far)

    def _without_dates(self, found: Sequence[_Amount]) -> Iterator[Quantity]:
        """Drop what is part of a date. Dates are looked for only around numbers with a month near by."""
        for quantity, first, to, scale in found:
            near = self.words[max(0, first - _NEAR) : to + _NEAR]
            if quantity.unit or scale > 1 or months().keys().isdisjoint(near):
                yield quantity
                continue
            begin = max(0, quantity.start - _REACH)
            around = self.text[begin : quantity.end + _REACH]
            dates = [moment for each in read_dates(around, self.language) for moment in each.moments]
            after = 5 if 1000 <= quantity.low < YEARS[0] else 0  # «14 de julio de 1789»
            start, end = quantity.start - begin, quantity.end - begin
            if not any(date.start < end and start < date.end + after for date in dates):
                yield quantity


def write_quantity(quantity: Quantity, language: str) -> str:
    """Write a quantity as usual in the language; a unit that is a word is left to the sentence."""
    low, high = (write_number(abs(value), language) for value in (quantity.low, quantity.high))
    sign, number = "-" if quantity.low < 0 else "", low if quantity.low == quantity.high else f"{low}–{high}"
    if not quantity.unit or quantity.unit in number_rules().words["unwritten"]:
        return f"{sign}{number}"
    if spoken(language) != "en" or quantity.unit[0].isalpha():
        return f"{sign}{number} {quantity.unit}"
    return f"{sign}{quantity.unit}{number}" if quantity.is_money else f"{sign}{number}{quantity.unit}"


def write_number(value: float, language: str) -> str:
    text = format_decimal(round(value, MOST_DECIMALS), "#,##0.######", locale=spoken(language))
    return breaking_spaces(text)
