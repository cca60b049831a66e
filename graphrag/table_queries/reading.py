"""Reads a question as a plan over a table, if every word of it is understood: a wrong sum is worse than none."""

import re
from calendar import monthrange
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property, lru_cache

from graphrag.causal_graph.concepts import root
from graphrag.ingestion.tables.columns import Role
from graphrag.linguistics.date_tokens import months
from graphrag.linguistics.dates import read_dates
from graphrag.linguistics.language import fold, stem, stop_words
from graphrag.linguistics.lexicon import parts_of_speech
from graphrag.linguistics.numbers import read_quantities
from graphrag.linguistics.rules import Pattern, Rules, WordSet, read_rules
from graphrag.table_queries.plans import Aggregate, Operator, RowFilter, TablePlan
from graphrag.table_queries.tables import VALUE, QueryTable

MOST_VALUES = 2_000  # of a column, different ones, that a question's words are compared with
SHORTEST = 3  # letters of a word that names a value by itself
_OF_VERB = 4  # letters of a verb's stem that begins a header: «vence», «Vencimiento»
NEAR = 4  # words before a value in which «no», «sin» denies it
_VERB = {
    "es": re.compile(r"..(?:aron|ieron|amos|imos|aban?|[ií]an?|ió)$"),
    "fr": re.compile(r"..(?:aient|ait|èrent)$"),
    "en": re.compile(r"(?!)"),
}
_CODE = re.compile(r"[A-Z]{0,5}[-/ ]?\d[\w/-]*")
_PARTICIPLE = {
    "es": re.compile(r"..[ai]d[oa]s?$"),
    "fr": re.compile(r"..ée?s?$"),
    "en": re.compile(r"..ed$"),
}
_TOKEN = re.compile(r"[^\W_]+(?:[-/.](?=\w*\d)[^\W_]+)*")


class StateRules(Rules):
    asked: Pattern
    cells: Pattern


class QuestionRules(Rules):
    operations: dict[str, Pattern]
    superlatives: dict[str, Pattern]
    listing: Pattern
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
    compared: Pattern
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
    unit_header: Pattern
    top: Pattern
    below_column: Pattern
    before: Pattern
    after: Pattern
    not_: Pattern
    money: Pattern
    quantity: Pattern
    states: tuple[StateRules, ...]
    affirmative: Pattern
    negative: Pattern
    numbers: dict[str, int]
    neutral: WordSet
    words: dict[str, dict[str, str]]


@lru_cache(maxsize=1)
def question_rules() -> QuestionRules:
    return read_rules(QuestionRules, "graphrag.table_queries", "questions")


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
    table: QueryTable
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
            self._know(match.start(), match.end())
        return bool(found)

    def _know(self, start: int, end: int) -> None:
        self.known |= {number for number, word in enumerate(self.words) if word.start < end and start < word.end}

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
            short = [fold(name) for name in names if len(name) >= SHORTEST and f"{name}." in header]
            roots = {root(name) for name in stems if len(name) >= SHORTEST}
            for number, word in enumerate(self.words):
                is_it = word.stem in stems or (len(word.stem) >= SHORTEST and root(word.stem) in roots)
                is_it |= len(word.stem) >= _OF_VERB and any(name.startswith(word.stem) for name in stems)
                is_it |= any(word.folded.startswith(name) for name in short)
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
            if column.is_text or column.role in (Role.CODE, Role.YEAR):
                texts = list(dict.fromkeys(row.cells[place] for row in self.table.rows if row.cells[place]))
                if 0 < len(texts) <= MOST_VALUES and (match := self._named(texts)):
                    found.append((RowFilter(place, Operator.IS, match[0]), match[1], match[2]))
        return [(each, words) for each, words, is_whole in sorted(found, key=lambda match: not match[2])]

    def _named(self, texts: Sequence[str]) -> tuple[tuple[str, ...], set[int], bool] | None:
        """Return the values that the question says whole, and True; else those that share most words with it."""
        stems: dict[str, set[int]] = {}
        for number, word in enumerate(self.words):
            stems.setdefault(word.stem, set()).add(number)
        split = {text: self._stems(text) for text in texts}
        whole = [text for text, held in split.items() if held and all(each in stems for each in held)]
        if whole:
            longest = [text for text in whole if not any(set(split[text]) < set(split[other]) for other in whole)]
            return tuple(longest), set().union(*(stems[each] for text in longest for each in split[text])), True
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

    def _may_name(self, numbers: set[int], stem_of: str, held: Sequence[str]) -> bool:
        """Return whether a word may stand for a value by itself: a name, or what the value is in the first place."""
        is_name = any(self.words[number].text[:1].isupper() and number for number in numbers)
        return is_name or stem_of == (held[-1] if self.table.language == "en" else held[0]) or len(held) == 1

    def _stems(self, text: str) -> list[str]:
        empty = stop_words(self.language)
        found = [match[0] for match in _TOKEN.finditer(text)]
        kept = (
            name for name in found if fold(name) not in empty or len(found) == 1 or (len(name) == 1 and name.isupper())
        )
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

        What is counted must be understood, and so must a participle where rows are counted, which may be a condition.
        """
        counted = _after_count(self)[:1]
        empty, neutral = stop_words(self.language), question_rules().neutral
        about = {stem(match[0], self.language) for match in _TOKEN.finditer(self.table.about)}
        return [
            word
            for number, word in enumerate(self.words)
            if number not in self.known
            and (len(word.folded) > 1 or word.folded.isdigit())
            and (word.folded not in empty | neutral or self._is_name(number))
            and word.stem not in about
            and (number in counted or not _is_verb(word.text, self.language, may_be_state=is_counting))
        ]


def _is_verb(word: str, language: str, *, may_be_state: bool) -> bool:
    if _PARTICIPLE[language].search(word.lower()):
        return not may_be_state
    return "v" in parts_of_speech(word, language) or _VERB[language].search(word.lower()) is not None


@dataclass(frozen=True, slots=True)
class ReadPlan:
    plan: TablePlan
    understood: int  # words, those that name columns twice


def read_plan(question: str, table: QueryTable, *, language: str) -> ReadPlan | None:
    """Return the plan that a question asks of a table; None where a word is left that may be a condition."""
    reading = QuestionReading(question, language, table)
    rules = question_rules()
    operation = next((name for name, pattern in rules.operations.items() if reading.asks(pattern)), "")
    superlative = next((name for name, pattern in rules.superlatives.items() if reading.asks(pattern)), "")
    filters = [*_states(reading), *_dates(reading), *_numbers(reading)]
    filters += _answers(reading, {each.column for each in filters})
    taken = {each.column for each in filters}
    alternatives: tuple[RowFilter, ...] = ()
    for each, words in reading.values:
        if each.column in taken or words <= reading.known:  # the words are a value of another column
            continue
        first = min(words)
        is_compared = operation == "difference" or superlative or rules.compared.search(reading.folded)
        if len(each.texts) == 2 and is_compared and reading.asks(rules.comparing):
            alternatives = tuple(replace(each, texts=(text,)) for text in each.texts)
        else:
            filters.append(replace(each, operator=Operator.IS_NOT if reading.is_denied(first) else Operator.IS))
        reading.known |= words
    days = [each for each in filters if each.operator is Operator.BETWEEN]
    if len(days) == 2 and alternatives:
        return None
    if len(days) == 2 and days[0].column == days[1].column:
        filters = [each for each in filters if each not in days]
        alternatives = tuple(days)
    for words in reading.headers.values():
        reading.known |= words
    is_listing = reading.asks(rules.listing)
    reading.asks(rules.when), reading.asks(rules.who)
    reading.asks(rules.money)
    reading.asks(rules.quantity)
    is_monthly = reading.asks(rules.per_month)
    reading.asks(rules.before), reading.asks(rules.after), reading.asks(rules.not_)
    reading.known |= {number for number, word in enumerate(reading.words) if word.folded in rules.numbers}
    reading.asks(rules.top)
    reading.asks(rules.periods)
    for number, word in enumerate(reading.words[1:], start=1):
        if rules.per.fullmatch(reading.words[number - 1].folded) and number not in reading.known:
            reading.known.add(number)  # «por pedido»: of each row
        elif rules.by.fullmatch(reading.words[number - 1].folded) and any(
            number in words and reading.table.columns[place].is_text for place, words in reading.headers.items()
        ):
            return None  # «por cliente»: a value for each
    reading.compared |= {
        each.column
        for each in filters
        if each.operator in (Operator.ABOVE, Operator.BELOW, Operator.AT_LEAST, Operator.AT_MOST)
    }
    plan = _plan(reading, operation, superlative, tuple(filters), alternatives, is_listing, is_monthly)
    if plan is None or reading.left(is_counting=operation in ("count", "share")):
        return None
    plan = _signed(reading, plan)
    return ReadPlan(plan, len(reading.known) + len(set().union(*reading.headers.values(), set())))


def _signed(reading: QuestionReading, plan: TablePlan) -> TablePlan:
    """Return the plan over spending or income alone where a column holds both, spending below zero."""
    if plan.column is None or reading.table.columns[plan.column].is_time:
        return plan
    numbers = [number for number in reading.table.columns[plan.column].numbers if number]
    if not numbers or min(numbers) > 0 or max(numbers) < 0:
        return replace(plan, factor=-1) if numbers and max(numbers) < 0 else plan
    for pattern, operator, factor in (
        (question_rules().income, Operator.ABOVE, 1),
        (question_rules().spending, Operator.BELOW, -1),
    ):
        if pattern.search(reading.folded):
            of_sign = RowFilter(plan.column, operator)
            base = (*plan.base, of_sign)
            return replace(plan, filters=(*plan.filters, of_sign), base=base, factor=factor)
    return plan


def _plan(
    reading: QuestionReading,
    operation: str,
    superlative: str,
    filters: tuple[RowFilter, ...],
    alternatives: tuple[RowFilter, ...],
    is_listing: bool,
    is_monthly: bool,
) -> TablePlan | None:
    rules, amount = question_rules(), _amount(reading)
    is_of_amount = (
        _named_number(reading) is not None
        or rules.money.search(reading.folded) is not None
        or rules.quantity.search(reading.folded) is not None
        or rules.judging.search(reading.folded) is not None
    )
    if is_of_amount and amount is None and (alternatives or operation in ("share", "total")):
        return None
    if alternatives:
        is_counted = not is_of_amount and (
            operation != "difference" or rules.operations["count"].search(reading.folded)
        )
        return TablePlan(Aggregate.DIFFERENCE, filters, None if is_counted else amount, alternatives=alternatives)
    if operation == "share":
        if not filters:
            return None
        base = tuple(each for each in filters if each.operator is Operator.BETWEEN)
        base = (*base, *(each for each in filters if each not in base and reading.opens_share(each)))
        base = base if len(base) < len(filters) else ()
        is_of_values = reading.table.headers[-1] in VALUE.values()
        return TablePlan(Aggregate.SHARE, filters, amount if is_of_amount or is_of_values else None, base=base)
    if operation in ("mean", "median"):
        if amount is None:
            return None
        aggregate = Aggregate.MONTHLY if is_monthly else Aggregate.MEAN if operation == "mean" else Aggregate.MEDIAN
        return TablePlan(aggregate, filters, amount)
    if superlative:
        return _superlative(reading, superlative, filters, amount, is_of_amount=is_of_amount)
    is_over = any(each.operator is Operator.ABOVE_COLUMN for each in filters)
    if operation == "count":
        if is_over and rules.money.search(reading.folded) and not _counted_label(reading, filters):
            return None  # by how much, of each row
        units = [each for each in filters if rules.unit_header.search(fold(reading.table.headers[each.column]))]
        if units and amount is not None:
            return TablePlan(Aggregate.SUM, filters, amount)
        is_quantity = _follows_count(reading, rules.quantity)
        counted = amount if is_quantity else _counted_number(reading)
        if counted is not None and is_quantity:
            return TablePlan(Aggregate.SUM, filters, counted)
        if counted is not None and reading.table.columns[counted].role is Role.AMOUNT:
            return TablePlan(Aggregate.SUM, filters, counted)
        group = _counted_label(reading, filters)
        return TablePlan(Aggregate.COUNT, filters, group=group) if filters or group is not None else None
    if operation == "total":
        return TablePlan(Aggregate.SUM, filters, amount) if amount is not None else None
    if is_over and not is_listing:
        return None
    found = _look_up(reading, filters, is_listing)
    if found is None and filters and amount is not None and rules.money.search(reading.folded):
        chosen = _chosen(reading.table, filters)
        return TablePlan(Aggregate.SUM, filters, amount) if len(chosen) > 1 or _is_money(reading, amount) else None
    return found


def _chosen(table: QueryTable, filters: Sequence[RowFilter]) -> list[int]:
    return [row for row in range(len(table.rows)) if all(each.accepts(table, row) for each in filters)]


def _after_count(reading: QuestionReading) -> list[int]:
    """Return the words that say what is counted: the two after «cuántos»."""
    match = question_rules().operations["count"].search(reading.folded)
    after = [number for number, word in enumerate(reading.words) if match and word.start >= match.end()]
    return after[:2]


def _follows_count(reading: QuestionReading, pattern: re.Pattern[str]) -> bool:
    return any(pattern.fullmatch(reading.words[number].folded) for number in _after_count(reading))


def _counted_number(reading: QuestionReading) -> int | None:
    named, counted = _named_number(reading), _after_count(reading)
    return named if named is not None and reading.headers[named] & set(counted) else None


def _counted_label(reading: QuestionReading, filters: Sequence[RowFilter]) -> int | None:
    """Return the column whose different values are counted: «¿cuántos proveedores …?»."""
    taken = {each.column for each in filters if each.operator is Operator.IS}
    group, is_named = _label(reading, taken)
    return group if is_named and reading.headers.get(group or 0, set()) & set(_after_count(reading)) else None


def _superlative(
    reading: QuestionReading,
    superlative: str,
    filters: tuple[RowFilter, ...],
    amount: int | None,
    *,
    is_of_amount: bool,
) -> TablePlan | None:
    columns = reading.table.columns
    group, is_named = _label(reading, {each.column for each in filters if each.operator is Operator.IS})
    if group is None:
        return None
    if superlative in ("earliest", "latest"):
        time = next((place for place, column in enumerate(columns) if column.is_time), None)
        aggregate = Aggregate.MINIMUM if superlative == "earliest" else Aggregate.MAXIMUM
        return None if time is None else TablePlan(aggregate, filters, time, group, is_grouped=False)
    column, named_number = amount if is_of_amount else None, _named_number(reading)
    rules = question_rules()
    is_of_row = named_number is not None and rules.of_row.search(reading.folded) is not None
    if (is_of_row or rules.of_row_noun.search(reading.folded)) and not rules.operations["total"].search(reading.folded):
        is_named = False
    labels = [row.cells[group] for row in reading.table.rows]
    if column is None and len(set(labels)) == len(labels):  # one row each: there is nothing to count
        column = amount
    if column is None and (is_of_amount or not is_named):
        return None
    asks_value = named_number is not None and all(
        min(reading.headers[named_number]) <= min(words)
        for place, words in reading.headers.items()
        if place != named_number
    )
    return TablePlan(
        Aggregate(superlative),
        filters,
        column,
        group,
        is_grouped=is_named,
        asks_value=asks_value and not is_named,
        keep=_number_asked(reading),
    )


def _number_asked(reading: QuestionReading) -> int:
    """Return how many are asked for: «los tres», "top 5"; one where no number says so."""
    numbers = question_rules().numbers
    if match := question_rules().top.search(reading.folded):
        return int(match[1])
    of_time = {
        number
        for match in question_rules().periods.finditer(reading.folded)
        for number, word in enumerate(reading.words)
        if match.start() <= word.start < match.end()
    }
    told = [
        numbers[word.folded]
        for number, word in enumerate(reading.words)
        if word.folded in numbers and number not in of_time
    ]
    return told[0] if told else 1


def _look_up(reading: QuestionReading, filters: tuple[RowFilter, ...], is_listing: bool) -> TablePlan | None:
    taken = {each.column for each in filters}
    if not filters:
        return None
    named = [place for place in reading.headers if place not in taken]
    times = [place for place, column in enumerate(reading.table.columns) if column.is_time and place not in taken]
    if question_rules().when.search(reading.folded) and times:
        named = [place for place in named if place in times] or (times if len(times) == 1 else [])
        return (
            TablePlan(Aggregate.CELL, filters, max(named, key=lambda place: _score(reading, place))) if named else None
        )
    chosen = _chosen(reading.table, filters)
    people = [
        place
        for place, header in enumerate(reading.table.headers)
        if place not in taken and question_rules().who_header.search(fold(header))
    ]
    if len(chosen) == 1 and len(people) == 1 and question_rules().who.search(reading.folded):
        return TablePlan(Aggregate.CELL, filters, people[0])
    if len(chosen) == 1 and named:
        scores = {place: _score(reading, place) for place in named}
        best = [place for place in named if scores[place] == max(scores.values())]
        return TablePlan(Aggregate.CELL, filters, best[0]) if len(best) == 1 else None
    rules, amount = question_rules(), _amount(reading)
    is_number = rules.quantity.search(reading.folded) or rules.money.search(reading.folded)
    if len(chosen) == 1 and amount is not None and is_number:
        return TablePlan(Aggregate.CELL, filters, amount)
    group, is_named = _label(reading, taken)
    is_list = is_listing and group is not None and (is_named or not is_number)
    return TablePlan(Aggregate.LIST, filters, group=group) if is_list else None


def _label(reading: QuestionReading, taken: set[int]) -> tuple[int | None, bool]:
    """Return the column that names what is asked for, and whether the question names it; else the most telling one."""
    columns, rules = reading.table.columns, question_rules()
    texts = [place for place, column in enumerate(columns) if place not in taken and column.is_text]
    codes = [
        place
        for place, column in enumerate(columns)
        if place not in taken and column.role in (Role.CODE, Role.YEAR) and place in reading.headers
    ]
    times = [place for place in reading.headers if columns[place].is_time and place not in taken]
    people = [place for place in texts if rules.who_header.search(fold(reading.table.headers[place]))]
    if people and rules.who.search(reading.folded):
        return people[0], True
    named = [place for place in texts if place in reading.headers]
    if not named and codes and (rules.numbered.search(reading.folded) or not texts):
        named = codes
    named = named or ([] if codes else times)
    if named:
        return max(named, key=lambda place: (_score(reading, place), -min(reading.headers[place]))), True
    texts = [place for place in texts if not _are_codes(reading, place)] or texts
    counts = {place: len({row.cells[place] for row in reading.table.rows}) for place in texts}
    return max(texts, key=lambda place: (counts[place], -place), default=None), bool(codes)


def _are_codes(reading: QuestionReading, place: int) -> bool:
    return all(_CODE.fullmatch(row.cells[place]) for row in reading.table.rows if row.cells[place])


def _score(reading: QuestionReading, place: int) -> float:
    """Return how well the question names a column: each word counts less the more columns it is of, and a whole name more."""
    words = reading.headers.get(place, set())
    held = len({reading.words[number].stem for number in words})
    size = len(reading.content(place))
    return sum(1 / sum(number in others for others in reading.headers.values()) for number in words) + held / max(
        size, 1
    )


def _named_number(reading: QuestionReading) -> int | None:
    """Return the column of numbers that the question names best."""
    columns = reading.table.columns
    named = [
        place
        for place in reading.headers
        if columns[place].role not in (None, Role.CODE, Role.YEAR, Role.MONTH) and place not in reading.compared
    ]
    scores = {place: _score(reading, place) for place in named}
    found = [place for place in named if scores[place] == max(scores.values())]
    return found[0] if len(found) == 1 else None


def _amount(reading: QuestionReading) -> int | None:
    """Return the column whose numbers are meant; None where several may be."""
    named = _named_number(reading)
    if named is not None and (_is_money(reading, named) or not question_rules().expensive.search(reading.folded)):
        return named
    columns, headers, rules = reading.table.columns, list(map(fold, reading.table.headers)), question_rules()
    if reading.table.headers[-1] in VALUE.values() and columns[-1].role:
        return len(columns) - 1
    numbers = [place for place, column in enumerate(columns) if column.role in (Role.AMOUNT, Role.LEVEL, Role.SHARE)]
    if len(numbers) == 1 and not rules.expensive.search(reading.folded):
        return numbers[0]
    if rules.expensive.search(reading.folded):
        wanted = [place for place in numbers if _is_money(reading, place)]
        prices = [place for place in wanted if columns[place].role is Role.LEVEL]
        amounts = [place for place in wanted if columns[place].role is Role.AMOUNT]
        choices = (
            (prices, wanted)
            if re.search(r"\b(?:por|par|per|a la|each)\b", reading.folded)
            else (amounts, prices, wanted)
        )
        return next((found[0] for found in choices if len(found) == 1), None)
    if rules.money.search(reading.folded):
        wanted = [place for place in numbers if _is_money(reading, place)]
    elif rules.quantity.search(reading.folded):
        wanted = [place for place in numbers if rules.quantity_header.search(headers[place])]
    else:
        wanted = [place for place in numbers if columns[place].role is Role.AMOUNT]
    amounts = [place for place in wanted if columns[place].role is Role.AMOUNT]
    spent = [place for place in wanted if rules.spent_header.search(headers[place])]
    choices = (wanted, amounts, spent) if rules.spending.search(reading.folded) else (wanted, amounts)
    return next((found[0] for found in choices if len(found) == 1), None)


def _is_money(reading: QuestionReading, place: int) -> bool:
    header, rules = fold(reading.table.headers[place]), question_rules()
    return reading.table.columns[place].unit in ("€", "$", "£") or rules.money_header.search(header) is not None


def _states(reading: QuestionReading) -> Iterator[RowFilter]:
    """Yield the filter of a state that the question asks for in its own words: «sin pagar» is Estado = Pendiente."""
    rules = question_rules()
    for state in rules.states:
        if not state.asked.search(reading.folded):
            continue
        for place, column in enumerate(reading.table.columns):
            texts = {row.cells[place] for row in reading.table.rows} - {""}
            is_state = column.is_text and 1 < len(texts) <= 8
            held = tuple(text for text in texts if state.cells.search(fold(text)))
            if is_state and held and len(held) < len(texts) and _is_of_state(reading, place, texts):
                reading.asks(state.asked)
                yield RowFilter(place, Operator.IS, held)
                return
        for place, words in reading.headers.items():  # «Livrée le», of what has been delivered
            cells = [row.cells[place] for row in reading.table.rows]
            if reading.table.columns[place].is_time and not all(cells) and any(cells):
                is_denied = any(map(reading.is_denied, words))
                reading.asks(state.asked)
                yield RowFilter(place, Operator.EMPTY if is_denied else Operator.FILLED)
                return


def _answers(reading: QuestionReading, taken: set[int]) -> Iterator[RowFilter]:
    """Yield the filters of columns of yes and no that the question names: «con seguro», «sin seguro»."""
    rules = question_rules()
    for place, words in reading.headers.items():
        texts = {row.cells[place] for row in reading.table.rows} - {""}
        agreed = tuple(text for text in texts if rules.affirmative.search(fold(text)))
        denied = tuple(text for text in texts if rules.negative.search(fold(text)))
        is_whole = len({reading.words[number].stem for number in words}) >= len(reading.content(place))
        if is_whole and place not in taken and agreed and denied and len(agreed) + len(denied) == len(texts):
            reading.known |= words
            yield RowFilter(place, Operator.IS, denied if reading.is_denied(min(words)) else agreed)


def _is_of_state(reading: QuestionReading, place: int, texts: set[str]) -> bool:
    """Return whether a column says of rows how far they are: each of its texts is of some state, or is yes or no."""
    rules = question_rules()
    folded = [fold(text) for text in texts]
    if all(rules.affirmative.search(text) or rules.negative.search(text) for text in folded):
        return place in reading.headers
    return (
        all(any(state.cells.search(text) for state in rules.states[:2]) for text in folded)
        or place in reading.headers
        or any(
            word in fold(reading.table.headers[place])
            for word in (
                "estado",
                "etat",
                "statut",
                "status",
                "state",
                "situacion",
                "paiement",
                "reglement",
                "pago",
                "cobro",
            )
        )
    )


def _dates(reading: QuestionReading) -> list[RowFilter]:
    """Return filters for the dates that the question names."""
    times = [place for place, column in enumerate(reading.table.columns) if column.is_time]
    if not times:
        return []
    years = Counter(
        period.year for place in times for period in reading.table.columns[place].periods if period and period.year
    )
    year = years.most_common(1)[0][0] if years else 0
    found = []
    for told in read_dates(reading.question, reading.language, year=year or 2000):
        if told.first is None or told.last is None:
            continue
        words = {number for number, word in enumerate(reading.words) if word.start < told.end and told.start < word.end}
        named = [place for place in times if place in reading.headers and reading.headers[place] - words]
        place = (named or times)[0]
        days = (told.first, told.last)
        before = fold(" ".join(word.text for word in reading.words[max(0, min(words) - 3) : min(words)]))
        if re.search(rf"(?:{question_rules().before.pattern})(?:\s\w+)?$", before):
            days = (date.min, date.fromordinal(days[0].toordinal() - 1))
        elif re.search(r"\b(?:despues|apres|after|a partir)\b", before):
            days = (date.fromordinal(days[1].toordinal() + 1), date.max)
        elif re.search(r"\b(?:desde|depuis|since)\b", before):
            days = (days[0], date.max)
        reading.known |= words
        found.append(RowFilter(place, Operator.BETWEEN, days=days))
    for number, word in enumerate(reading.words):  # "for May", which may be another word
        before = reading.words[number - 1].folded if number else ""
        is_month = number not in reading.known and word.text[:1].isupper() and word.folded in months()
        if is_month and year and question_rules().month_before.fullmatch(before):
            month = months()[word.folded]
            days = (date(year, month, 1), date(year, month, monthrange(year, month)[1]))
            found.append(RowFilter(times[0], Operator.BETWEEN, days=days))
            reading.known.add(number)
    return found


def _numbers(reading: QuestionReading) -> Iterator[RowFilter]:
    """Yield «más de 500», and «por debajo del mínimo», where a column is called so."""
    rules, columns = question_rules(), reading.table.columns
    for quantity in read_quantities(reading.question, reading.language):
        before = fold(reading.question[: quantity.start]).replace("’", "'")
        for pattern, operator in (
            (rules.more, Operator.ABOVE),
            (rules.less, Operator.BELOW),
            (rules.least, Operator.AT_LEAST),
        ):
            if pattern.search(before) and (place := _amount(reading)) is not None:
                reading._know(pattern.search(before).start(), quantity.end)  # type: ignore[union-attr]
                yield RowFilter(place, operator, number=quantity.low)
                break
    if found := rules.above_column.search(reading.folded):
        limits = [
            place
            for place in reading.headers
            if re.search(r"budget|presupuest|max|limit", fold(reading.table.headers[place]))
        ]
        limits = [place for place in limits if columns[place].role]
        others = [
            place
            for place, column in enumerate(columns)
            if place not in limits and column.role in (Role.AMOUNT, Role.LEVEL)
        ]
        others = [
            place
            for place in others
            if re.search(r"actual|real|reel|gast|depens|spent|stock|exist", fold(reading.table.headers[place]))
        ] or others
        if len(limits) == 1 and others:
            reading._know(*found.span())
            yield RowFilter(others[0], Operator.ABOVE_COLUMN, number=limits[0])
    if rules.below_column.search(reading.folded):
        least = [
            place
            for place in reading.headers
            if re.search(r"\bmin", fold(reading.table.headers[place])) and columns[place].role
        ]
        others = [
            place
            for place, column in enumerate(columns)
            if place not in least and column.role in (Role.AMOUNT, Role.LEVEL) and not _is_money(reading, place)
        ]
        others = [
            place for place in others if rules.quantity_header.search(fold(reading.table.headers[place]))
        ] or others
        if len(least) == 1 and others:
            reading.asks(rules.below_column)
            yield RowFilter(others[0], Operator.BELOW_COLUMN, number=least[0])
