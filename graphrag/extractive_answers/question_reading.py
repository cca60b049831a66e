"""Questions as a short answer needs them: the kind of answer asked for, its words and the noun it asks about."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from graphrag.linguistics.language import fold, stem, stop_words
from graphrag.linguistics.lexicon import Meanings, find_meanings
from graphrag.linguistics.rules import AnyCase, Pattern, Rules, WordList, WordSet, read_rules

MAX_QUESTION_CHARS = 500
WORD = re.compile(r"[€$£%]|\w+(?:[-/&.,:]\w+)*")


class AnswerKind(StrEnum):
    AMOUNT = "amount"
    NUMBER = "number"
    DATE = "date"
    DURATION = "duration"
    PERSON = "person"
    ORGANISATION = "organisation"
    PLACE = "place"
    CODE = "code"
    REASON = "reason"
    CONSEQUENCE = "consequence"
    YES_NO = "yes_no"
    DEFINITION = "definition"
    LIST = "list"
    PROCEDURE = "procedure"
    TEXT = "text"


class ShortAnswerRules(Rules):
    asks: dict[AnswerKind, Pattern]  # the first that matches counts
    identity: Pattern
    yes_no: dict[str, Pattern]
    interrogatives: dict[str, WordList]
    asking: dict[str, WordList]
    helpers: WordSet
    alternative: Pattern
    word_classes: dict[str, dict[str, WordList]]
    causes: AnyCase
    effects: AnyCase
    endings: dict[str, Pattern]
    answers: dict[str, dict[str, str]]


@lru_cache(maxsize=1)
def short_answer_rules() -> ShortAnswerRules:
    return read_rules(ShortAnswerRules, "graphrag.extractive_answers", "short_answers")


def read_answer_kind(question: str, language: str) -> AnswerKind:
    """Return the kind of answer that a question asks for; TEXT where no pattern tells."""
    rules = short_answer_rules()
    folded = fold(question[:MAX_QUESTION_CHARS]).replace("’", "'")
    if language in rules.yes_no and rules.yes_no[language].search(folded) and not _asks_which(question, language):
        return AnswerKind.YES_NO
    if rules.identity.match(question):
        return AnswerKind.DEFINITION
    return next((kind for kind, pattern in rules.asks.items() if pattern.search(folded)), AnswerKind.TEXT)


def _asks_which(question: str, language: str) -> bool:
    """Return whether a question has an interrogative or offers a choice, so that yes is no answer.

    In French the same words open relative clauses; only early in a question do they ask.
    """
    found = [match.group().lower() for match in WORD.finditer(question[:MAX_QUESTION_CHARS])]
    asking = _interrogatives(language)
    is_choice = short_answer_rules().alternative.search(fold(question)) is not None
    return is_choice or "?" not in question or not asking.isdisjoint(found[:_EARLY] if language == "fr" else found)


_EARLY = 4  # words


@lru_cache(maxsize=8)
def _interrogatives(language: str) -> frozenset[str]:
    return frozenset(short_answer_rules().interrogatives.get(language, ()))


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """The words of a question that a sentence is compared with."""

    language: str
    kind: AnswerKind
    folded: frozenset[str]  # content words
    stems: frozenset[str]
    meanings: Meanings
    focus_stems: frozenset[str]  # of the noun that "which" asks for
    focus_meanings: Meanings
    first_stem: str  # of the first content word besides that noun, often the verb
    last_stem: str
    asking: tuple[float, ...]


_PREPOSITIONS = ("of", "in", "by", "to", "with", "from")


@lru_cache(maxsize=256)
def read_question(question: str, language: str) -> ReadQuestion:
    question = question[:MAX_QUESTION_CHARS]
    found = [match.group() for match in WORD.finditer(question)]
    folded = [fold(word) for word in found]
    senses = find_meanings(found, language)
    stops = stop_words(language)
    content = [at for at, word in enumerate(folded) if word not in stops and (len(word) > 1 or word.isdigit())]
    focus = _focus(found, folded, language)
    rules = short_answer_rules()
    group = {word: name for name, words in rules.asking.items() for word in words}
    at = next((at for at, word in enumerate(found) if word.lower() in group), -1)
    asked = group[found[at].lower()] if at >= 0 else ""
    if asked == "how" and group.get(folded[at + 1] if at + 1 < len(found) else "") == "how many":
        asked = "how many"
    before = classify_function_words(language).get(folded[at - 1], ()) if at > 0 else ()
    behind = classify_function_words(language).get(folded[at + 1], ()) if 0 <= at < len(folded) - 1 else ()
    has_helper = at >= 0 and not rules.helpers.isdisjoint(folded[at + 1 : at + 4])
    asking = [
        *(float(asked == name) for name in rules.asking),
        *(float(name in before) for name in _PREPOSITIONS),
        float("be" in behind),
        float(has_helper),
        float(bool(focus)),
        min(len(content), 12) / 12,
    ]
    return ReadQuestion(
        language,
        read_answer_kind(question, language),
        frozenset(folded[at] for at in content),
        frozenset(stem(found[at], language) for at in content),
        _joined(senses[at] for at in content),
        frozenset(stem(found[at], language) for at in focus),
        _joined(senses[at] for at in focus),
        next((stem(found[at], language) for at in content if at not in focus), ""),
        stem(found[content[-1]], language) if content else "",
        tuple(asking),
    )


def _focus(found: Sequence[str], folded: Sequence[str], language: str) -> list[int]:
    """Return the place of the noun that an interrogative asks for: "what *colour*", «¿cuántas *cajas*?»."""
    asks = {word for name in ("which", "how many") for word in short_answer_rules().asking[name]}
    classes = classify_function_words(language)
    for at, word in enumerate(found):
        if word.lower() in asks:
            for place in range(at + 1, min(at + 5, len(found))):
                if folded[place] not in stop_words(language) and len(folded[place]) > 1:
                    return [] if found[place][0].isupper() else [place]
                if not {"article", "be", "of"} & set(classes.get(folded[place], ())):
                    return []
    return []


def _joined(meanings: Iterator[Meanings]) -> Meanings:
    found: dict[str, float] = {}
    for each in meanings:
        for name, weight in each.items():
            found[name] = max(weight, found.get(name, 0.0))
    return found


@lru_cache(maxsize=8)
def classify_function_words(language: str) -> Mapping[str, tuple[str, ...]]:
    """Return the classes of the folded function words of a language."""
    found: dict[str, tuple[str, ...]] = {}
    for name, words in short_answer_rules().word_classes.get(language, {}).items():
        for word in words:
            found[fold(word)] = (*found.get(fold(word), ()), name)
    return found
