"""A question beside a table: which of its words name columns and values, and which are left."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from graphrag.causal_graph.concepts import root
from graphrag.ingestion.tables.columns import Role
from graphrag.ingestion.tables.typed_tables import TypedTable
from graphrag.linguistics.date_tokens import months
from graphrag.linguistics.language import fold, stem, stop_words
from graphrag.linguistics.lexicon import parts_of_speech
from graphrag.linguistics.rules import Pattern, Rules, WordSet, read_rules
from graphrag.table_queries.plans import Operator, RowFilter

MOST_VALUES = 2_000  # of a column, different ones, that a question's words are compared with
SHORTEST = 3  # letters of a word that names a value by itself
_OF_VERB = 4  # letters of a verb's stem that begins a header: «vence», «Vencimiento»
MOST = ("maximum", "minimum")
NEAR = 4  # words before a value in which «no», «sin» denies it
_VERB = {
    "es": re.compile(r"..(?:aron|ieron|amos|imos|aban?|[ií]an?|ió)$"),
    "fr": re.compile(r"..(?:aient|ait|èrent)$"),
    "en": re.compile(r"(?!)"),
}
_PARTICIPLE = {
    "es": re.compile(r"..[ai]d[oa]s?$"),
    "fr": re.compile(r"..ée?s?$"),
    "en": re.compile(r"..ed$"),
}
_IN_BRACKETS = re.compile(r"\([^()]*\)")  # «Italia (ITA)»
_TOKEN = re.compile(r"[^\W_]+(?:[-/.](?=\w*\d)[^\W_]+)*")


class StateRules(Rules):
    asked: Pattern
    cells: Pattern


class TableQuestionRules(Rules):
    operations: dict[str, Pattern]
    superlatives: dict[str, Pattern]
    why: Pattern
    listing: Pattern
    asked_noun: Pattern
    row_order: Pattern
    steps: dict[str, Pattern]
    per_month: Pattern
    periods: Pattern
    quantity_header: Pattern
    money_header: Pattern
    expensive: Pattern
    of_row: Pattern
    of_row_noun: Pattern
    spent_header: Pattern
    judging: Pattern
    numbered: Pattern
    comparing: Pattern
    either: Pattern
    two_parts: Pattern
    different: Pattern
    people: Pattern
    paid_header: Pattern
    and_how_much: Pattern
    how_much: Pattern
    compared: Pattern
    changed: Pattern
    spending: Pattern
    income: Pattern
    above_column: Pattern
    month_before: Pattern
    when: Pattern
    who: Pattern
    who_header: Pattern
    more: Pattern
    less: Pattern
    least: Pattern
    or_more: Pattern
    or_less: Pattern
    per: Pattern
    by: Pattern
    month: Pattern
    unit_header: Pattern
    top: Pattern
    below_column: Pattern
    state_header: Pattern
    limit_header: Pattern
    least_header: Pattern
    reached_header: Pattern
    before_day: Pattern
    after_day: Pattern
    since_day: Pattern
    before: Pattern
    after: Pattern
    not_: Pattern
    money: Pattern
    quantity: Pattern
    states: tuple[StateRules, ...]
    affirmative: Pattern
    negative: Pattern
    units: dict[str, WordSet]
    times: WordSet
    numbers: dict[str, int]
    neutral: WordSet
    words: dict[str, dict[str, str]]


@lru_cache(maxsize=1)
def question_rules() -> TableQuestionRules:
    return read_rules(TableQuestionRules, "graphrag.table_queries", "questions")


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    folded: str
    stem: str
    start: int
    end: int


@dataclass
class QuestionReading:
    """A question beside a table: which of its words name columns, values, dates and operations."""

    question: str
    language: str
    table: TypedTable
    known: set[int] = field(default_factory=set)  # words that are understood, by number
    compared: set[int] = field(default_factory=set)  # columns whose numbers a filter compares

    @cached_property
    def folded(self) -> str:
        return fold(self.question).replace("’", "'")

    @cached_property
    def words(self) -> list[Word]:
        return [
            Word(match[0], fold(match[0]), stem(match[0], self.language), *match.span())
            for match in _TOKEN.finditer(self.question)
        ]

    def asks(self, pattern: re.Pattern[str]) -> bool:
        """Return whether a pattern is found; the words that it matches are understood."""
        found = list(pattern.finditer(self.folded))
        for match in found:
            self.know(match.start(), match.end())
        return bool(found)

    def is_header(self, pattern: re.Pattern[str]) -> bool:
        """Return whether the words that a pattern matches name a column."""
        named = set().union(*self.headers.values(), set())
        found = pattern.finditer(self.folded)
        spans = [(match.start(), match.end()) for match in found]
        return all(any(start <= self.words[number].start < end for number in named) for start, end in spans)

    def know(self, start: int, end: int) -> None:
        self.known |= {number for number, word in enumerate(self.words) if word.start < end and start < word.end}

    @cached_property
    def counted_words(self) -> list[int]:
        """Return the words that say what is counted: the two after «cuántos»."""
        match = question_rules().operations["count"].search(self.folded)
        after = [number for number, word in enumerate(self.words) if match and word.start >= match.end()]
        return after[:2]

    @cached_property
    def asked_words(self) -> list[int]:
        """Return the word after «qué», "which": what is asked for."""
        match = question_rules().asked_noun.search(self.folded)
        return [number for number, word in enumerate(self.words) if match and word.start == match.start(1)]

    @cached_property
    def _compared_nouns(self) -> list[int]:
        """Return the nouns right after «más», «plus de» and "most": what there is most of."""
        ends = [
            match.end() for pattern in MOST for match in question_rules().superlatives[pattern].finditer(self.folded)
        ]
        after = [next((number for number, word in enumerate(self.words) if word.start >= end), None) for end in ends]
        return [
            each for each in after if each is not None and "n" in parts_of_speech(self.words[each].text, self.language)
        ]

    def is_denied(self, number: int) -> bool:
        """Return whether «no» or «sin» stands shortly before a word."""
        before = " ".join(word.folded for word in self.words[max(0, number - NEAR) : number])
        return question_rules().not_.search(before) is not None

    @cached_property
    def headers(self) -> dict[int, set[int]]:
        """Return the columns that words of the question name, with these words."""
        found: dict[int, set[int]] = {}
        empty = stop_words(self.language)
        for place, header in enumerate(self.table.headers):
            tokens = [match[0] for match in _TOKEN.finditer(header)]
            names = [name for name in tokens if fold(name) not in empty] or tokens
            stems = {stem(name, language) for name in names for language in {self.language, self.table.language}}
            units = frozenset().union(
                *(words for unit, words in question_rules().units.items() if _has_unit(header, unit))
            )
            short = [fold(name) for name in names if len(name) >= SHORTEST and f"{name}." in header]
            roots = {root(name) for name in stems if len(name) >= SHORTEST}
            for number, word in enumerate(self.words):
                is_it = word.stem in stems or (len(word.stem) >= SHORTEST and root(word.stem) in roots)
                is_it |= len(word.stem) >= _OF_VERB and any(name.startswith(word.stem) for name in stems)
                is_it |= any(word.folded.startswith(name) for name in short) or word.folded in units
                if is_it and word.folded not in empty:
                    found.setdefault(place, set()).add(number)
        return found

    def content(self, place: int) -> list[str]:
        """Return the words of a column's header that say something."""
        found = [fold(match[0]) for match in _TOKEN.finditer(self.table.headers[place])]
        return [word for word in found if word not in stop_words(self.language)] or found

    @cached_property
    def values(self) -> list[tuple[RowFilter, set[int]]]:
        """Return a filter for each column whose values words of the question name, with these words."""
        found = []
        for place, column in enumerate(self.table.columns):
            may_be_named = column.is_text or column.role in (Role.CODE, Role.YEAR)
            if may_be_named and 0 < len(column.values) <= MOST_VALUES and (match := self._named(column.values)):
                found.append((RowFilter(place, Operator.IS, match[0]), match[1], match[2]))
        return [(each, words) for each, words, is_whole in sorted(found, key=lambda match: not match[2])]

    def _named(self, texts: Sequence[str]) -> tuple[tuple[str, ...], set[int], bool] | None:
        """Return the values that the question says whole, and True; else those that share most words with it."""
        stems: dict[str, set[int]] = {}
        for number, word in enumerate(self.words):
            stems.setdefault(word.stem, set()).add(number)
        rules = question_rules()
        told = (
            text for text in texts if not rules.affirmative.match(fold(text)) and not rules.negative.match(fold(text))
        )
        split = {text: self._stems(text) for text in told}
        whole = [text for text, held in split.items() if held and all(each in stems for each in held)]
        if whole:
            longest = [text for text in whole if not any(set(split[text]) < set(split[other]) for other in whole)]
            return tuple(longest), set().union(*(stems[each] for text in longest for each in split[text])), True
        if not split:
            return None
        counts = Counter(each for held in split.values() for each in set(held))
        empty, headed = stop_words(self.language), set().union(*self.headers.values(), set())
        shared = {
            each: numbers
            for each, numbers in stems.items()
            if each in counts
            and counts[each] < max(2, len(texts))
            and len(each) >= SHORTEST
            and not numbers & headed
            and self.words[min(numbers)].folded
            not in empty | question_rules().neutral | question_rules().numbers.keys()
        }
        held_by = {
            text: [each for each in set(held) if each in shared and self._may_name(shared[each], each, held)]
            for text, held in split.items()
        }
        most = max(map(len, held_by.values()), default=0)
        if not most:
            return None
        best = [text for text, held in held_by.items() if len(held) == most]
        return tuple(best), set().union(*(shared[each] for text in best for each in held_by[text])), False

    def says_whole(self, each: RowFilter) -> bool:
        """Return whether the question has all words of a filter's value."""
        said = {word.stem for word in self.words}
        return bool(each.texts) and all(held in said for held in self._stems(each.texts[0]))

    def _may_name(self, numbers: set[int], stem_of: str, held: Sequence[str]) -> bool:
        """Return whether a word may stand for a value by itself: a name, or what the value is in the first place."""
        is_name = any(self.words[number].text[:1].isupper() and number for number in numbers)
        return is_name or stem_of == (held[-1] if self.table.language == "en" else held[0]) or len(held) == 1

    def _stems(self, text: str) -> list[str]:
        empty = stop_words(self.language)
        found = [match[0] for match in _TOKEN.finditer(_IN_BRACKETS.sub(" ", text))]
        found = found or [match[0] for match in _TOKEN.finditer(text)]
        kept = [
            name for name in found if fold(name) not in empty or len(found) == 1 or (len(name) == 1 and name.isupper())
        ]
        if kept and len(found) > 1 and all(len(name) == 1 for name in kept):
            kept = found  # «Bajo A»
        return [stem(name, self.language) for name in kept]

    def opens_share(self, each: RowFilter) -> bool:
        """Return whether a filter says of what a share is asked: «Del gas …, ¿qué porcentaje …?», "% of the gas"."""
        words = next((words for other, words in self.values if other.column == each.column), set())
        match = question_rules().operations["share"].search(self.folded)
        if not words or match is None:
            return False
        first = min(words)
        before = [word.folded for word in self.words[max(0, first - 3) : first]]
        is_of = any(word in ("de", "del", "of", "des", "du", "d") for word in before)
        number = sum(word.start < match.end() for word in self.words)
        return is_of and (self.words[first].end <= match.start() or first - number <= 3)

    def _is_name(self, number: int) -> bool:
        """Return whether a word that is also a small one is written as a name: «IT», "May"."""
        text = self.words[number].text
        is_month = text[:1].isupper() and fold(text) in months() and number > 0
        return is_month or (len(text) > 1 and text.isupper() and not self.question.isupper())

    def left(self, *, is_counting: bool) -> list[Word]:
        """Return the words that say something and are not understood; those of the table's titles are.

        What is counted must be understood, and so must a participle where rows are counted, which may be a condition;
        beside a table within a text, every verb.
        """
        counted = {*self.counted_words[:1], *self._compared_nouns, *self.asked_words}
        empty, neutral = stop_words(self.language), question_rules().neutral
        about = {stem(match[0], self.language) for match in _TOKEN.finditer(self.table.about)}
        return [
            word
            for number, word in enumerate(self.words)
            if number not in self.known
            and (len(word.folded) > 1 or word.folded.isdigit())
            and (word.folded not in empty | neutral or self._is_name(number))
            and word.stem not in about
            and (
                number in counted
                or (number and word.text[:1].isupper())
                or not self.table.is_sheet
                or not _is_verb(word.text, self.language, may_be_state=is_counting)
            )
        ]


def _has_unit(header: str, unit: str) -> bool:
    return re.search(rf"(?:^|[\s(/]){re.escape(unit)}(?:$|[\s)/])", header) is not None


def _is_verb(word: str, language: str, *, may_be_state: bool) -> bool:
    if _PARTICIPLE[language].search(word.lower()):
        return not may_be_state
    return "v" in parts_of_speech(word, language) or _VERB[language].search(word.lower()) is not None
