"""A question beside a table: which of its words name columns and values, and which are left."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Generic, TypeVar

from graphrag.causal_graph.concepts import root
from graphrag.ingestion.tables.columns import Role
from graphrag.ingestion.tables.typed_tables import TypedTable
from graphrag.linguistics.date_tokens import months
from graphrag.linguistics.language import fold, stem, stop_words
from graphrag.linguistics.lexicon import meanings, parts_of_speech
from graphrag.linguistics.rules import Pattern, Rules, WordSet, read_rules
from graphrag.table_queries.plans import Operator, RowFilter

MOST_WORDS = 60  # of a question that is asked of tables: who writes more tells a story
MOST_VALUES = 2_000  # of a column, different ones, that a question's words are compared with
SHORTEST = 3  # letters of a word that names a value by itself
_OF_VERB = 4  # letters of a verb's stem that begins a header: «vence», «Vencimiento»
MOST = ("maximum", "minimum")
ALIKE, MEANT = 0.25, 0.5  # likeness of meaning from which a word names a column, and a value
MOST_MEANT = 60  # different values of a column, that words are compared with by meaning
FEW = 8  # different values of a column that may be states
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
_INITIALS = re.compile(r"\b(?:[A-Z]\.){2,4}|\b[A-Z]{2,4}\b")
_VOWEL = re.compile(r"[aeiouy]")
_BREAK = re.compile(r"[(),;:]")
_POSSESSIVE = re.compile(r"\w['’]s\b")
_TOKEN = re.compile(r"[^\W_]+(?:(?:[-/.](?=\w*\d)|(?<=\d),(?=\d))[^\W_]+)*")


Key = TypeVar("Key")


class StateRules(Rules):
    asked: Pattern
    cells: Pattern


class TaxKindRules(Rules):
    asked: Pattern
    header: Pattern


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
    added: Pattern
    different: Pattern
    people: Pattern
    paid_header: Pattern
    and_how_much: Pattern
    by_how_much: Pattern
    how_much: Pattern
    compared: Pattern
    changed: Pattern
    percent: Pattern
    periodic: Pattern
    units_sold: Pattern
    risen: Pattern
    fallen: Pattern
    against_previous: Pattern
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
    each: Pattern
    hour: Pattern
    month: Pattern
    unit_header: Pattern
    top: Pattern
    below_column: Pattern
    state_header: Pattern
    limit_header: Pattern
    currency: Pattern
    least_header: Pattern
    reached_header: Pattern
    before_day: Pattern
    after_day: Pattern
    since_day: Pattern
    before: Pattern
    after: Pattern
    not_: Pattern
    money: Pattern
    cash: Pattern
    quantity: Pattern
    states: tuple[StateRules, ...]
    affirmative: Pattern
    negative: Pattern
    units: dict[str, WordSet]
    times: WordSet
    days: WordSet
    numbers: dict[str, int]
    neutral: WordSet
    kin: tuple[WordSet, ...]
    tax_kinds: tuple[TaxKindRules, ...]
    overdue: Pattern
    due_header: Pattern
    worth: Pattern
    unit_price_header: Pattern
    owed_header: Pattern
    counted_unit_header: Pattern
    having: Pattern
    last_time: Pattern
    first_time: Pattern
    occasion: Pattern
    occasions: Pattern
    done: Pattern
    loss: Pattern
    profit_header: Pattern
    more_or_less: Pattern
    article: dict[str, Pattern]
    left_out: Pattern
    grains: dict[str, WordSet]
    sold_out: Pattern
    listed_noun: Pattern
    words: dict[str, dict[str, str]]


@lru_cache(maxsize=1)
def question_rules() -> TableQuestionRules:
    return read_rules(TableQuestionRules, "graphrag.table_queries", "questions")


@lru_cache(maxsize=10_000)
def kin_of(word: str) -> frozenset[int]:
    """Return the families of `kin` that a folded word is of."""
    forms = {word, word.removesuffix("s"), word.removesuffix("es")}
    return frozenset(number for number, family in enumerate(question_rules().kin) if family & forms)


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    folded: str
    stem: str
    start: int
    end: int


class Senses(Generic[Key]):
    """Index of texts by the families of meaning of their words, and those of `kin`."""

    def __init__(self, texts: Mapping[Key, str], language: str) -> None:
        self._held: dict[str | int, dict[Key, float]] = {}
        for key, text in texts.items():
            for name in _TOKEN.findall(text):
                for sense, weight in _senses(fold(name), language):
                    held = self._held.setdefault(sense, {})
                    held[key] = max(weight, held.get(key, 0.0))

    def of(self, word: Word, language: str) -> dict[Key, float]:
        """Return how surely a word means each text that it may mean, in (0, 1]."""
        found: dict[Key, float] = {}
        for sense, weight in _senses(word.folded, language):
            for key, held in self._held.get(sense, {}).items():
                found[key] = max(weight * held, found.get(key, 0.0))
        return found


def _senses(word: str, language: str) -> Iterator[tuple[str | int, float]]:
    yield from ((family, 1.0) for family in kin_of(word))
    yield from meanings(word, language).items()


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

    def leaves(self, pattern: re.Pattern[str]) -> bool:
        """Return whether a pattern is found in words that are not understood as something else: "Rose" is a name."""
        known = [self.words[number] for number in self.known]
        found = pattern.finditer(self.folded)
        return any(not any(match.start() <= word.start < match.end() for word in known) for match in found)

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
    def compared_nouns(self) -> list[int]:
        """Return the nouns right after «más», «plus de» and "most": what there is most of."""
        ends = [
            match.end() for pattern in MOST for match in question_rules().superlatives[pattern].finditer(self.folded)
        ]
        after = [next((number for number, word in enumerate(self.words) if word.start >= end), None) for end in ends]
        return [
            each for each in after if each is not None and "n" in parts_of_speech(self.words[each].text, self.language)
        ]

    @cached_property
    def _averaged_nouns(self) -> list[int]:
        """Return the nouns beside "average": "the average age", «el peso medio», though they may be verbs."""
        means = question_rules().operations["mean"].finditer(self.folded)
        spans = [match.span() for match in means]
        named = [n for n, word in enumerate(self.words) for start, end in spans if start <= word.start < end]
        beside = {n + 1 for n in named} if self.language == "en" else {each for n in named for each in (n - 1, n + 1)}
        words = enumerate(self.words)
        return [n for n, word in words if n in beside and "n" in parts_of_speech(word.text, self.language)]

    def is_denied(self, number: int) -> bool:
        """Return whether «no» or «sin» stands shortly before a word."""
        return any(n in self.denials and self._reaches(n, number) for n in range(max(0, number - NEAR), number))

    def _reaches(self, denial: int, number: int) -> bool:
        """Return whether no bracket, comma or colon stands between a denial and a word."""
        between = self.question[self.words[min(denial, number)].end : self.words[max(denial, number)].start]
        return _BREAK.search(between) is None

    def denies(self, words: Iterable[int], *, after: int = 0) -> bool:
        """Return whether words are denied, among them or up to `after` words behind them; the denial is understood."""
        words = set(words)
        first, last = max(0, min(words) - NEAR), max(words) + after
        near = range(first, min(last + 1, len(self.words)))
        denials = {n for n in near if n in self.denials - self.known and self._reaches(n, min(words))}
        self.known |= denials
        return bool(denials)

    @cached_property
    def titles(self) -> set[str]:
        """Return the stems of the words of the table's titles."""
        return {stem(name, self.language) for name in _TOKEN.findall(self.table.about)}

    @cached_property
    def empty(self) -> Set[str]:
        """Return the words that say nothing, but for nouns after an article: «le car», not «car»."""
        words, rules = stop_words(self.language), question_rules()
        nouns = {
            word.folded
            for before, word in pairwise(self.words)
            if rules.article[self.language].fullmatch(before.folded)
            and word.folded in words
            and len(word.folded) >= SHORTEST
            and "n" in parts_of_speech(word.text, self.language)
        }
        return words - nouns if nouns else words

    @cached_property
    def denials(self) -> set[int]:
        """Return the words «no», «sin», "nobody"."""
        spans = [match.span() for match in question_rules().not_.finditer(self.folded)]
        return {n for n, word in enumerate(self.words) for start, end in spans if start < word.end and word.start < end}

    @cached_property
    def headers(self) -> dict[int, set[int]]:
        """Return the columns that words of the question name, with these words: by their own words, else by meaning."""
        found = {place: set(words) for place, words in self._said_headers.items()}
        known = set().union(*found.values(), *(words for _, words in self.values), self._asking)
        senses = Senses(dict(enumerate(self.table.headers)), self.table.language)
        for number in self._telling - known:
            place = _only_best(senses.of(self.words[number], self.language), ALIKE)
            if place is not None:
                found.setdefault(place, set()).add(number)
        return found

    @cached_property
    def _telling(self) -> set[int]:
        """Return the words whose meaning may name something of the table; none of a very long question."""
        silent = self.empty | question_rules().neutral
        words = enumerate(self.words if len(self.words) <= MOST_WORDS else ())
        return {n for n, word in words if word.folded not in silent and len(word.folded) >= SHORTEST}

    @cached_property
    def _asking(self) -> set[int]:
        """Return the words of operations and superlatives."""
        rules = question_rules()
        spans = [
            match.span()
            for pattern in (*rules.operations.values(), *rules.superlatives.values())
            for match in pattern.finditer(self.folded)
        ]
        return {n for n, word in enumerate(self.words) for start, end in spans if start <= word.start < end}

    @cached_property
    def _said_headers(self) -> dict[int, set[int]]:
        found: dict[int, set[int]] = {}
        empty = stop_words(self.language)
        for place, header in enumerate(self.table.headers):
            tokens = [match[0] for match in _TOKEN.finditer(header)]
            names = [name for name in tokens if fold(name) not in empty] or tokens
            stems = {stem(name, language) for name in names for language in {self.language, self.table.language}}
            units = frozenset().union(
                *(words for unit, words in question_rules().units.items() if _has_unit(header, unit))
            )
            short = {fold(name): f"{name}." in header for name in names if self._is_short(name)}
            initials = {fold(match[0]).replace(".", "") for match in _INITIALS.finditer(header)}
            of_initials = {n for first, last in self._runs(initials) for n in range(first, last)}
            roots = {root(name) for name in stems if len(name) >= SHORTEST}
            for number, word in enumerate(self.words):
                is_it = word.stem in stems or (len(word.stem) >= SHORTEST and root(word.stem) in roots)
                is_begun = len(word.stem) >= _OF_VERB and number not in self._asking
                is_it |= is_begun and any(name.startswith(word.stem) for name in stems)
                is_it |= (
                    any(_abbreviates(name, word.folded, is_cut=is_cut) for name, is_cut in short.items())
                    or word.folded in units
                )
                is_it |= number in of_initials or (
                    word.folded.removesuffix("s") in initials and word.text[:1].isupper()
                )
                if is_it and word.folded not in empty:
                    found.setdefault(place, set()).add(number)
            if place in found and found[place] <= self._asking and len(found[place]) < len(names):
                del found[place]  # «total» of «% s/ total»
        return found

    def _is_short(self, name: str) -> bool:
        """Return whether a header's word is no word of a dictionary, or has no vowel: "Matls", «Mec.», "Hrs"."""
        is_said = len(name) >= SHORTEST or not name.isupper()
        languages = {self.language, self.table.language}
        is_word = _VOWEL.search(fold(name)) and any(parts_of_speech(name, language) for language in languages)
        return is_said and not is_word

    def _runs(self, initials: Set[str]) -> Iterator[tuple[int, int]]:
        """Yield the bounds of words next to one another that begin with these letters: «mano de obra», of «M.O.»."""
        said = [number for number, word in enumerate(self.words) if word.folded not in self.empty]
        for letters in initials:
            for first in range(len(said) - len(letters) + 1):
                run = said[first : first + len(letters)]
                is_near = run[-1] - run[0] < 2 * len(letters)
                if is_near and all(self.words[n].folded[0] == letter for n, letter in zip(run, letters, strict=True)):
                    yield run[0], run[-1] + 1

    def content(self, place: int) -> list[str]:
        """Return the words of a column's header that say something."""
        header = self.table.headers[place]
        found = [fold(match[0]) for match in _TOKEN.finditer(_IN_BRACKETS.sub(" ", header) or header)]
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
        empty, headed = self.empty, set().union(*self._said_headers.values(), set())
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
            if not _POSSESSIVE.search(text)  # «Rob's Records» is not "records"
        }
        most = max(map(len, held_by.values()), default=0)
        if not most:
            return self._meant(split) if len(split) <= MOST_MEANT else None
        best = [text for text, held in held_by.items() if len(held) == most]
        return tuple(best), set().union(*(shared[each] for text in best for each in held_by[text])), False

    def _meant(self, split: Mapping[str, Sequence[str]]) -> tuple[tuple[str, ...], set[int], bool] | None:
        """Return the value that a word means which does not say it: "cash" is «Espèces»."""
        headed = set().union(*self._said_headers.values(), self._asking)
        senses = Senses({text: text for text, held in split.items() if len(held) == 1}, self.table.language)
        found: dict[str, set[int]] = {}
        for number in self._telling - headed:
            text = _only_best(senses.of(self.words[number], self.language), MEANT)
            if text is not None:
                found.setdefault(text, set()).add(number)
        if len(found) != 1:
            return None
        text, numbers = found.popitem()
        return (text,), numbers, False

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
        stems = {name: stem(name, self.language) for name in kept}
        return [fold(name) if stems[name] in empty else stems[name] for name in kept]  # «Léa» is not «le»

    @cached_property
    def title_matches(self) -> int:
        """Return how often the table's titles say or mean a word of the question."""
        titles = Counter(fold(name) for name in _TOKEN.findall(self.table.about))
        senses = Senses({title: title for title in titles}, self.table.language)
        stems = {self.words[number].stem for number in self._telling}
        meant = {title for title in titles if stem(title, self.language) in stems}
        for number in self._telling:
            alike = senses.of(self.words[number], self.language)
            meant |= {title for title, likeness in alike.items() if likeness >= MEANT}
        return sum(titles[title] for title in meant)

    def _may_be_state(self, number: int) -> bool:
        """Return whether a word means what cells of a column of few values say."""
        return max(self._states.of(self.words[number], self.language).values(), default=0.0) >= ALIKE

    @cached_property
    def _states(self) -> Senses[str]:
        few = (column.values for column in self.table.columns if column.is_text and len(column.values) <= FEW)
        return Senses({text: text for texts in few for text in texts}, self.table.language)

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
        counted = {*self.counted_words[:1], *self.compared_nouns, *self.asked_words, *self._averaged_nouns}
        empty, neutral = self.empty, question_rules().neutral
        return [
            word
            for number, word in enumerate(self.words)
            if number not in self.known
            and (len(word.folded) > 1 or word.folded.isdigit())
            and (word.folded not in empty | neutral or self._is_name(number))
            and word.stem not in self.titles
            and parts_of_speech(word.text, self.language) != {"r"}
            and (
                number in counted
                or (number and word.text[:1].isupper())
                or not self.table.is_sheet
                or not is_verb(word.text, self.language, may_be_state=is_counting)
                or self._may_be_state(number)
            )
        ]


def _abbreviates(name: str, word: str, *, is_cut: bool) -> bool:
    """Return whether a name is a word's beginning, or has its first, its last and letters between: "qty", "matls".

    `is_cut`: a point follows it, so that it can only be the beginning.
    """
    if word.startswith(name):
        return len(name) >= SHORTEST
    if is_cut or len(word) <= len(name) or (word[0], word[-1]) != (name[0], name[-1]):
        return False
    letters = iter(word)
    return all(letter in letters for letter in name)


def _only_best(alike: Mapping[Key, float], least: float) -> Key | None:
    """Return what is alike most, if it is so alone and enough."""
    most = max(alike.values(), default=0.0)
    best = [key for key, likeness in alike.items() if likeness == most]
    return best[0] if len(best) == 1 and most >= least else None


def _has_unit(header: str, unit: str) -> bool:
    return re.search(rf"(?:^|[\s(/]){re.escape(unit)}(?:$|[\s)/])", header) is not None


def is_verb(word: str, language: str, *, may_be_state: bool) -> bool:
    """Return whether a word is a verb, or a participle that is not a state."""
    if _PARTICIPLE[language].search(word.lower()):
        return not may_be_state
    return "v" in parts_of_speech(word, language) or _VERB[language].search(word.lower()) is not None
