"""Answer types: the kind of thing that a question asks for, and the sentences that hold one it does not name itself."""

import re
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from functools import lru_cache

from graphrag.linguistics.dates import read_dates
from graphrag.linguistics.language import all_stop_words, fold, words
from graphrag.linguistics.rules import AnyCase, Pattern, Rules, WordSet, read_rules

Shows = Callable[[str, Set[str]], bool]  # a sentence, the question's words without case and accents

_CAPITAL = "[A-ZÁÉÍÓÚÑÀÂÇÈÊÎÔÛŒ]"
_NAME = re.compile(rf"{_CAPITAL}\w+(?:[’'-]\w+)*")


class AnswerKindRules(Rules):
    place: Pattern
    numerals: WordSet
    money: AnyCase
    amount: AnyCase  # of money, with its sign or word
    season: AnyCase
    reason: AnyCase
    negated: AnyCase
    asks: dict[str, AnyCase]


@lru_cache(maxsize=1)
def _rules() -> AnswerKindRules:
    return read_rules(AnswerKindRules, "graphrag.extractive_answers", "answer_kinds")


_DIGITS = re.compile(r"\d+(?:[.,\u00a0\u202f]\d+)*")


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    shows: Shows


def wanted_kinds(question: str) -> list[Kind]:
    return [Kind(name, shows) for name, shows in _SHOWS.items() if _rules().asks[name].search(question)]


def denies_reason(sentence: str) -> bool:
    return _rules().negated.search(sentence) is not None


def _is_new(found: str, asked: Set[str]) -> bool:
    return any(fold(word) not in asked for word in words(found))


def _has_number(sentence: str, asked: Set[str]) -> bool:
    found = {*_DIGITS.findall(sentence), *(_rules().numerals & {fold(word) for word in words(sentence)})}
    return bool(found - asked)


def _has_count(sentence: str, asked: Set[str]) -> bool:
    return _has_number(_rules().amount.sub(" ", sentence), asked)


def _has_money(sentence: str, asked: Set[str]) -> bool:
    return _rules().money.search(sentence) is not None


def _has_date(sentence: str, asked: Set[str]) -> bool:
    dates = [sentence[each.start : each.end] for each in read_dates(sentence, "")]
    return any(_is_new(found, asked) for found in [*dates, *_rules().season.findall(sentence)])


def _has_name(sentence: str, asked: Set[str]) -> bool:
    """A capital says little of a function word, which begins the sentence, and nothing of a code, a day or a month."""
    capitalised = (found for found in _NAME.findall(sentence) if not any(map(str.isdigit, found)))
    names = {fold(word) for found in capitalised for word in words(found)} - asked - all_stop_words()
    dates = (sentence[each.start : each.end] for each in read_dates(sentence, "")) if names else ()
    return bool(names - {fold(word) for found in dates for word in words(found)})


def _has_place(sentence: str, asked: Set[str]) -> bool:
    return any(_is_new(found, asked) for found in _rules().place.findall(sentence))


def _has_reason(sentence: str, asked: Set[str]) -> bool:
    return _rules().reason.search(sentence) is not None and not denies_reason(sentence)


_SHOWS: Mapping[str, Shows] = {
    "number": _has_number,
    "count": _has_count,
    "money": _has_money,
    "date": _has_date,
    "person": _has_name,
    "place": _has_place,
    "reason": _has_reason,
}
