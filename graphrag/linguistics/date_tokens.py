"""The words of dates in Spanish, French and English, and a text as the row of tokens that dates are read from."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Annotated, Literal, NamedTuple, cast

from babel import Locale
from babel.dates import get_day_names
from pydantic import BeforeValidator

from graphrag.linguistics.language import ANSWER_LANGUAGES, fold, stop_words
from graphrag.linguistics.normalization import flatten
from graphrag.linguistics.rules import AnyCase, Pattern, Rules, WordList, read_rules

MAX_CHUNK_CHARS = 40  # of characters without a space: longer ones are no date
MAX_SHORT_CHARS = 3  # of abbreviations that are months only in a date
_Values = Annotated[dict[int, WordList], BeforeValidator(lambda raw: raw if isinstance(raw, dict) else {0: raw})]


class DateRules(Rules):
    forms: dict[str, list[Pattern]]
    grammar: dict[str, list[Pattern]]
    months: dict[str, dict[str, int]]
    unsure_months: dict[str, str]
    roman: WordList
    moved: dict[str, AnyCase]
    past: dict[str, AnyCase]
    amount: Pattern
    clock: str
    words: dict[str, dict[str, _Values]]


@lru_cache(maxsize=1)
def date_rules() -> DateRules:
    return read_rules(DateRules, "graphrag.linguistics", "dates")


@lru_cache(maxsize=1)
def months() -> dict[str, int]:
    """Folded names and abbreviations in our languages → 1 … 12."""
    return _month_names(ANSWER_LANGUAGES, "abbreviated") | _month_names(ANSWER_LANGUAGES, "wide")


def _month_names(languages: Iterable[str], width: Literal["wide", "abbreviated"]) -> dict[str, int]:
    found: dict[str, int] = {}
    for language in languages:
        names = Locale(language).months["format"][width]
        found |= {fold(month).rstrip("."): cast(int, number) for number, month in names.items()}
        found |= date_rules().months[language] if width == "abbreviated" else {}
    return found


class Token(NamedTuple):
    kind: str  # a letter, explained in rules/dates.yml
    start: int
    end: int
    value: int = 0
    parts: Mapping[str, int] = {}  # of a date in digits, and of a clock time


class _Lexicon(NamedTuple):
    language: str
    pattern: re.Pattern[str]
    words: dict[str, tuple[str, int]]  # their kind and value
    abbreviations: frozenset[str]  # of months


_SERIES = {"numbers": ("c", 1, 1), "tens": ("c", 30, 10), "ordinals": ("N", 1, 1)}  # kind, first value, step
_TOKEN = (
    r"(?P<phrase>{phrases})(?:(?<=\.)|(?!\w))|(?P<clock>{clock})"
    r"|(?P<number>\d+(?:[-–./,]\d+)*(?:\.?[ºª°]|\.er(?!\w)|'s(?!\w)|[^\W_]+)?)|(?P<word>[^\W\d]\w*)|(?P<mark>[^\w\s])"
)
_COUNTS = frozenset("cdnyY")
_MARKS = {"–": "-", "•": "|", "*": "|"} | dict.fromkeys("«»“”", '"') | {mark: mark for mark in "-/,'|&(\""}
_ROMAN = re.compile(r"([ivx]{1,5})(?:e|eme|er)?")
_NEXT_WORD = re.compile(r"\s?([^\W\d]{0,12})")
_ISO_TIME = re.compile(r"(?<=\d)t(?=\d\d:)")


@lru_cache(maxsize=4)
def _lexicon(language: str) -> _Lexicon:
    """Return the words of a language; of an unknown one, those of all, where what may be a month is one."""
    languages = [language] if language in ANSWER_LANGUAGES else list(ANSWER_LANGUAGES)
    words: dict[str, tuple[str, int]] = {}
    for name, values in ((name, values) for each in languages for name, values in date_rules().words[each].items()):
        kind, first, step = _SERIES.get(name, (name, 0, 0))
        for value, phrases in values.items():
            for place, phrase in enumerate(phrases):
                words[phrase.replace("_", " ")] = kind, value + first + step * place
    for each in languages:
        for number, day in get_day_names("wide", locale=each).items():
            words |= {fold(day): ("W", number), f"{fold(day)}s": ("W", number)}
    short, wide = (_month_names(languages, width) for width in ("abbreviated", "wide"))
    owners = date_rules().unsure_months
    alone = {word for word in short | wide if word in wide or len(word) > MAX_SHORT_CHARS}
    alone = {word for word in alone if len(languages) > 1 or owners.get(word, language) == language}
    named = {
        word: ("M" if word in alone else "V", number)
        for word, number in (short | _month_names(ANSWER_LANGUAGES, "wide")).items()
    }
    known = named | words if len(languages) == 1 else words | named
    phrases = [re.escape(word) for word in sorted(words, key=len, reverse=True) if not word.isalnum()]
    pattern = _TOKEN.replace("{phrases}", "|".join(phrases)).replace("{clock}", date_rules().clock)
    return _Lexicon(language, re.compile(pattern), known, frozenset(short.keys() - wide.keys()))


def read_tokens(text: str, language: str) -> list[Token]:
    lexicon = _lexicon(language)
    flat = _ISO_TIME.sub(" ", flatten(text).lower())
    found = [Token(".", 0, 0)] * 3
    for match in lexicon.pattern.finditer(flat):
        (start, end), last = match.span(), found[-1]
        if "\n" in text[last.end : start] and (match["mark"] or text.count("\n", last.end, start) > 1):
            found.append(Token("|", start, start))
        if match["clock"]:
            found.append(Token("T", start, end, parts={"minute": _minute(match)}))
        elif match["mark"]:
            is_abbreviation = match[0] == "." and flat[last.start : start] in lexicon.abbreviations
            is_elision = match[0] == "'" and last.end == start and last.kind not in "MZVQ"
            is_apart = match[0] in "-–" and " " in (text[start - 1 : start], text[end : end + 1])
            if not is_abbreviation and not is_elision:
                found.append(Token("=" if is_apart else _MARKS.get(match[0], "."), start, end))
        elif match["number"] or match[0][-1].isdigit():  # «2025», "Q1"
            if end - start <= MAX_CHUNK_CHARS and date_rules().amount.search(flat, max(0, start - 1), end + 2):
                found.append(Token("€", start, end))
            elif (
                last.end == start
                and found[-2].kind in "MZVQH"
                and len(match[0]) == 2
                and match["number"]
                and _NEXT_WORD.match(flat, end)[1] not in months()  # type: ignore[index]  # it also matches nothing
            ):  # «dic-25», "Q1'25", but not "26 July–11 August"
                found.append(Token("y", start, end, 2000 + int(match[0])))
            else:
                found += _of_number(match[0], start)
        else:
            opens = last.kind in ".|(\"'-=" or "\n" in text[last.end : start]
            found.append(_of_word(found, text[start:end], match[0], start, lexicon, opens=opens))
    return found


def _minute(match: re.Match[str]) -> int:
    hour = int(match["hour"])
    is_afternoon = "p" in (match["half"], match["part"]) and hour < 12
    return (hour + 12 * is_afternoon) % 24 * 60 + int(match["minute"] or 0)


def _of_word(found: list[Token], written: str, word: str, start: int, lexicon: _Lexicon, *, opens: bool) -> Token:
    """Return a word's token; one that goes on with a number takes its place: «treinta y uno», "twenty-first"."""
    kind, value = lexicon.words.get(word, ("w", 0))
    before, roman = found[-1].kind, _ROMAN.fullmatch(word)
    if kind == "c" and before in "dr" and word in months():  # «3 sept 2025», not «vingt-sept»
        kind, value = "M", months()[word]
    elif roman and written[: roman.end(1)].isupper() and roman[1].upper() in date_rules().roman:
        kind, value = "X", date_rules().roman.index(roman[1].upper()) + 1
    elif kind in "cA" and written.istitle() and not opens:  # «El Dos de Mayo», "USA Today"
        kind = "^"
    elif kind in "w#" and before in _COUNTS and written.islower() and word[-1] in "sx":
        is_phrase = lexicon.language == "en" and before == "y" and found[-2].kind in "ah.|"  # "the 2019 elections"
        kind = kind if is_phrase or word in stop_words(lexicon.language) else "%"
    elif kind == "w" and written[0].isupper():
        kind = "^"
    if kind == "M" and lexicon.language and written[0].isupper() != (lexicon.language == "en"):
        kind = "V" if word in date_rules().unsure_months else "Z"
    tens = -2 if before in "-&" else -1
    if kind in "cuN" and value < 20 <= found[tens].value and found[tens].kind == "c" and found[tens].value % 10 == 0:
        kind = "c" if kind == "u" else kind
        start_of_tens, value = found[tens].start, found[tens].value + (value or 1)
        del found[tens:]
        return Token(kind, start_of_tens, start + len(word), value)
    return Token(kind, start, start + len(word), value)


def _of_number(chunk: str, start: int) -> list[Token]:
    """Return the tokens of characters with digits: of a number or a date, or of several with dashes between them."""
    for dashes in ("", "-–", "/") if len(chunk) <= MAX_CHUNK_CHARS else ():
        found: list[Token] = []
        for match in re.finditer(rf"[^{dashes}]+" if dashes else ".+", chunk):
            tokens = _of_form(match[0], start + match.start())
            if not tokens:
                break
            if found:
                found.append(Token("-", tokens[0].start - 1, tokens[0].start))
            if found and found[-2].kind in "yY" and tokens[0].kind in "dn" and len(match[0]) == 2:  # «2024-25»
                tokens = [tokens[0]._replace(kind="y", value=found[-2].value // 100 * 100 + tokens[0].value)]
            found += tokens
        else:
            return found
    return [Token("w", start, start + len(chunk))]


def _of_form(chunk: str, start: int) -> list[Token]:
    """Return the tokens of a number, a date, a quarter with its year …; none where it is nothing of these."""
    forms = ((kind, form) for kind, forms in date_rules().forms.items() for form in forms)
    kind, match = next(((kind, match) for kind, form in forms if (match := form.fullmatch(chunk))), ("", None))
    parts = {part: int(digits) for part, digits in match.groupdict().items() if digits} if match else {}
    end = start + len(chunk)
    if parts.get("year", 100) < 100:
        parts["year"] += 2000 if parts["year"] < 70 else 1900
    if "first" in parts:
        day, month = parts.pop("first"), parts.pop("second")
        day, month = (month, day) if month > 12 else (day, month)
        parts |= {"day": day, "month": month} | ({"other_month": day} if day <= 12 and day != month else {})
    if kind in "IJ½":
        is_date = 1 <= parts.get("month", 0) <= 12 and 1 <= parts.get("day", 1) <= 31
        return [Token(kind, start, end, parts=parts)] if is_date else []
    values = [(kind, parts.get("value", 0))] + [("y", year) for part, year in parts.items() if part == "year"]
    return [Token(each, start, end, value) for each, value in values]
