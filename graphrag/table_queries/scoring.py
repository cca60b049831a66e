"""Plans that a question may mean, scored: for questions of which some words are not understood, or may mean several."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib.resources import files
from itertools import combinations, pairwise
from math import exp

import numpy as np

from graphrag.ingestion.tables.columns import Role
from graphrag.ingestion.tables.typed_tables import TypedColumn, TypedTable
from graphrag.linguistics.language import fold, stem
from graphrag.linguistics.lexicon import parts_of_speech
from graphrag.linguistics.numbers import read_quantities
from graphrag.table_queries.columns import match_score
from graphrag.table_queries.conditions import compared_quantities, is_in_reach, read_answers, read_days, read_states
from graphrag.table_queries.plans import (
    Aggregate,
    Operator,
    QueryResult,
    RowFilter,
    Step,
    TablePlan,
    run_plan,
    select_rows,
)
from graphrag.table_queries.reading import asks_of_unknown
from graphrag.table_queries.words import MOST_WORDS, QuestionReading, question_rules

MOST_ROWS = 2_000  # of a table whose plans are tried
MOST_COLUMNS = 20
MOST_FILTERS, MOST_TOGETHER, MOST_SETS = 8, 3, 12
MOST_COMPARED = 3  # columns that a number may be compared with
SUREST = {0: 0.5, 1: 0.6}  # by the number of words that a plan leaves unexplained, its least probability
_FIRST_WORDS = 3  # in which a question says what it asks for

Features = dict[str, float]


@dataclass(frozen=True, slots=True)
class ScoredPlan:
    plan: TablePlan
    result: QueryResult
    features: Features
    score: float


@dataclass(frozen=True)
class _Condition:
    """A filter, the words that say it, and how."""

    filter: RowFilter
    words: frozenset[int]
    kind: str


@lru_cache(maxsize=1)
def plan_weights() -> Mapping[str, float]:
    """Return the weights of features, fitted by `training/table_plans.py`."""
    text = files("graphrag.table_queries").joinpath("rules", "plan_weights.json").read_text("utf-8")
    return {str(name): float(weight) for name, weight in json.loads(text).items()}


def score_plans(question: str, table: TypedTable, *, language: str, weights: Mapping[str, float]) -> list[ScoredPlan]:
    """Return the plans that give something, the best first."""
    if not table.is_sheet or len(table) > MOST_ROWS or len(table.columns) > MOST_COLUMNS:
        return []
    reading = QuestionReading(question, language, table)
    asked = _Asked(reading, _read_triggers(reading), _read_conditions(reading))
    found = []
    for plan, features in asked.plans():
        if result := run_plan(table, plan):
            features |= asked.result_features(plan, result)
            score = sum(weights.get(name, 0.0) * value for name, value in features.items())
            found.append(ScoredPlan(plan, result, features, score))
    return sorted(found, key=lambda each: -each.score)


def likely_plan(question: str, table: TypedTable, *, language: str) -> ScoredPlan | None:
    """Return the plan that is most probably meant, if it is sure enough for how many words it leaves unexplained."""
    rules, reading = question_rules(), QuestionReading(question, language, table)
    changes = (rules.changed, rules.against_previous)
    refused = (*changes, rules.two_parts, rules.why, rules.left_out, rules.hour, rules.each)
    if len(reading.words) > MOST_WORDS or any(pattern.search(reading.folded) for pattern in refused):
        return None
    if asks_of_unknown(reading):
        return None
    if any(rules.by.fullmatch(word.folded) for word in reading.words):
        return None  # a value for each, which no plan gives
    plans = score_plans(question, table, language=language, weights=plan_weights())
    if not plans:
        return None
    operations = {"mean": Aggregate.MEAN, "share": Aggregate.SHARE, "median": Aggregate.MEDIAN}
    for name, aggregate in operations.items():
        is_asked = reading.asks(rules.operations[name]) and not reading.is_header(rules.operations[name])
        if is_asked and plans[0].plan.aggregate is not aggregate:
            return None
    best = plans[0].plan
    is_look_up = best.aggregate in (Aggregate.CELL, Aggregate.LIST, Aggregate.SUM, Aggregate.MEAN) and not best.step
    if is_look_up and plans[0].features["left thing"]:
        return None  # a column that the table does not have
    if best.step and not any(pattern.search(reading.folded) for pattern in rules.steps.values()):
        return None
    said = [name for name, pattern in rules.superlatives.items() if pattern.search(reading.folded)]
    is_extreme = best.aggregate in (Aggregate.MAXIMUM, Aggregate.MINIMUM)
    is_of_time = best.column is not None and table.columns[best.column].is_time
    if is_extreme and (not said or (said[0] in ("earliest", "latest")) is not is_of_time):
        return None
    if best.aggregate is Aggregate.RANGE and len(read_days(reading)) > 1:
        return None  # the difference between two days
    named = {best.column, best.group, *(each.column for each in best.filters)} & reading.headers.keys()
    if not named and not any(each.texts for each in best.filters):
        return None  # nothing says that it is about this table
    least = next((surety for left, surety in SUREST.items() if f"left{left}" in plans[0].features), 1.0)
    return plans[0] if probability(plans) >= least else None


def probability(plans: Sequence[ScoredPlan]) -> float:
    """Return how probable the answer of the best plan is, in [0, 1]: that of all plans that give the same."""
    if not plans:
        return 0.0
    best = plans[0]
    masses = [(exp(each.score - best.score), _answer(each.plan, each.result)) for each in plans]
    return sum(mass for mass, answer in masses if answer == masses[0][1]) / sum(mass for mass, _ in masses)


def _answer(plan: TablePlan, result: QueryResult) -> tuple[object, ...]:
    names = plan.aggregate in _OF_LABELS and not plan.asks_value
    return tuple(label if names else round(value, 4) for label, value in result.values)


_OF_LABELS = frozenset({Aggregate.LIST, Aggregate.CELL, Aggregate.MAXIMUM, Aggregate.MINIMUM})


def _read_triggers(reading: QuestionReading) -> list[str]:
    """Return the names of the rules that say what the question wants."""
    rules = question_rules()
    named = {
        **rules.operations,
        **rules.superlatives,
        **rules.steps,
        "when": rules.when,
        "who": rules.who,
        "money": rules.money,
        "quantity": rules.quantity,
        "compared": rules.compared,
        "either": rules.either,
        "listing": rules.listing,
    }
    return [name for name, pattern in named.items() if reading.asks(pattern)] or ["nothing"]


def _read_conditions(reading: QuestionReading) -> list[_Condition]:
    """Return what may be a filter, that of most words first."""
    found = [_Condition(each, frozenset(words), kind) for each, words, kind in _named_values(reading)]
    for kind, read in (("state", read_states), ("day", read_days)):
        known = set(reading.known)
        filters = list(read(reading))
        words = frozenset(reading.known - known)
        found += [_Condition(each, words, kind) for each in filters]
    found += [_Condition(each, frozenset(), "answer") for each in read_answers(reading, set())]
    found += _comparisons(reading)
    return sorted(found, key=lambda each: -len(each.words))[:MOST_FILTERS]


def _named_values(reading: QuestionReading) -> Iterator[tuple[RowFilter, set[int], str]]:
    for each, words in reading.values:
        if reading.is_denied(min(words)):
            yield replace(each, operator=Operator.IS_NOT), words, "denied"
        held = {reading.words[number].stem for number in words}
        parts = (stem(part, reading.language) for text in each.texts for part in fold(text).split())
        yield each, words, "whole" if all(part in held for part in parts) else "part"


def _comparisons(reading: QuestionReading) -> Iterator[_Condition]:
    columns = reading.table.columns
    numeric = [place for place, column in enumerate(columns) if column.role not in (None, Role.CODE)]
    numeric.sort(key=lambda place: -match_score(reading, place))
    for quantity in read_quantities(reading.question, reading.language):
        words = frozenset(
            n for n, word in enumerate(reading.words) if word.start < quantity.end and quantity.start < word.end
        )
        for operator, _, _ in compared_quantities(reading.folded, quantity):
            for place in [place for place in numeric if is_in_reach(columns[place], quantity.low)][:MOST_COMPARED]:
                yield _Condition(RowFilter(place, operator, number=quantity.low), words, "compared")
        for place in numeric if reading.question[quantity.start : quantity.end][:1].isdigit() else ():
            codes = np.unique(columns[place].codes[columns[place].numbers == quantity.low]).tolist()
            if codes:
                texts = tuple(columns[place].texts[code] for code in codes)
                yield _Condition(RowFilter(place, Operator.IS, texts), words, "number")


@dataclass(frozen=True)
class _Asked:
    """A question beside a table: what it may ask for, and what speaks for that."""

    reading: QuestionReading
    triggers: Sequence[str]
    conditions: Sequence[_Condition]

    @property
    def table(self) -> TypedTable:
        return self.reading.table

    @cached_property
    def wording(self) -> list[str]:
        """The words and pairs of words that are neither a column's nor a value's."""
        of_table = set().union(*self.reading.headers.values(), *(each.words for each in self.conditions))
        words = ["#" if number in of_table else word.stem for number, word in enumerate(self.reading.words)]
        return [word for word in words if word != "#"] + [f"{one} {two}" for one, two in pairwise(words) if one != two]

    @cached_property
    def opening(self) -> str:
        rules = question_rules()
        begun = " ".join(word.folded for word in self.reading.words[:_FIRST_WORDS])
        opening = (
            ("count", rules.operations["count"]),
            ("when", rules.when),
            ("who", rules.who),
            ("total", rules.operations["total"]),
        )
        return next((name for name, pattern in opening if pattern.search(begun)), "other")

    @cached_property
    def asked_columns(self) -> set[int]:
        """The columns that the noun after the question word names: «qué equipo», "which team"."""
        noun = next((n for n, word in enumerate(self.reading.words) if word.start == self._asked_noun), None)
        return {place for place, words in self.reading.headers.items() if noun in words}

    def condition_sets(self) -> list[tuple[_Condition, ...]]:
        """Filters that may be meant together, those that explain most words first."""
        sets = [
            chosen
            for size in range(MOST_TOGETHER + 1)
            for chosen in combinations(self.conditions, size)
            if len({each.filter.column for each in chosen}) == size
            and sum(len(each.words) for each in chosen) == len(frozenset().union(*(each.words for each in chosen)))
        ]
        return sorted(sets, key=lambda chosen: (-sum(len(each.words) for each in chosen), len(chosen)))[:MOST_SETS]

    def plans(self) -> Iterator[tuple[TablePlan, Features]]:
        headed = set().union(*self.reading.headers.values(), set())
        left = {self.reading.words.index(word) for word in self.reading.left(is_counting=False)} - headed
        for chosen in self.condition_sets():
            covered = frozenset().union(*(each.words for each in chosen))
            uncovered = (left | self._sayable) - covered - headed
            shared: Features = {
                f"left{min(len(uncovered), 4)}": 1.0,
                "left thing": float(any(map(self._is_thing, uncovered))),
                f"filters{len(chosen)}": 1.0,
                "covered": float(len(covered)),
            }
            for each in chosen:
                shared[f"by {each.kind}"] = shared.get(f"by {each.kind}", 0.0) + 1.0
                shared[f"by header {each.filter.column in self.reading.headers}"] = 1.0
                if len(each.filter.texts) > 1:
                    shared["several texts"] = 1.0
            rows = select_rows(self.table, tuple(each.filter for each in chosen))
            shared[f"rows{min(len(rows), 2)}"] = 1.0
            for kind, plan, measure, answer in self._of_filters(chosen, len(rows)):
                yield plan, shared | self._plan_features(kind, measure, answer, chosen, min(len(rows), 2))

    def _is_thing(self, number: int) -> bool:
        """Return whether a word is a noun, and not of what is asked for or counted, which may be the rows."""
        word = self.reading.words[number]
        is_asked = number in self._counted or word.start == self._asked_noun
        return not is_asked and "n" in parts_of_speech(word.text, self.reading.language)

    @cached_property
    def _asked_noun(self) -> int:
        match = question_rules().asked_noun.search(self.reading.folded)
        return match.start(1) if match else -1

    @cached_property
    def _sayable(self) -> frozenset[int]:
        return frozenset(number for each in self.conditions for number in each.words)

    def _of_filters(
        self, chosen: Sequence[_Condition], row_count: int
    ) -> Iterator[tuple[str, TablePlan, int | None, int | None]]:
        """Yield (kind, plan, measured column, column of the answer)."""
        filters = tuple(each.filter for each in chosen)
        taken = {each.column for each in filters if len(each.texts) == 1 or each.operator is not Operator.IS}
        columns = self.table.columns
        numbers = [p for p, column in enumerate(columns) if column.role not in (None, Role.CODE) or column.is_time]
        sums = [p for p in numbers if not columns[p].is_time and columns[p].role is not Role.YEAR]
        others = [p for p in range(len(columns)) if p not in taken]
        yield "count", TablePlan(Aggregate.COUNT, filters), None, None
        for place in others:
            if columns[place].is_text or columns[place].is_time or columns[place].role is Role.YEAR:
                yield "distinct", TablePlan(Aggregate.COUNT, filters, group=place), None, place
                yield "list", TablePlan(Aggregate.LIST, filters, group=place), None, place
            if row_count == 1:
                yield "cell", TablePlan(Aggregate.CELL, filters, place), None, place
            for step in Step:
                if (row_count == 1) == (step in (Step.NEXT, Step.PREVIOUS)) or (
                    row_count > 1 and step in (Step.FIRST, Step.LAST)
                ):
                    yield step.value, TablePlan(Aggregate.CELL, filters, place, step=step), None, place
        for place in sums if row_count > 1 else ():
            for aggregate in (Aggregate.SUM, Aggregate.MEAN, Aggregate.RANGE):
                yield aggregate.value, TablePlan(aggregate, filters, place), place, place
        for aggregate in (Aggregate.MAXIMUM, Aggregate.MINIMUM) if row_count > 1 else ():
            for measure in numbers:
                value = TablePlan(
                    aggregate, filters, measure, measure, is_grouped=False, asks_value=not columns[measure].is_time
                )
                yield f"{aggregate} value", value, measure, measure
                for place in others:
                    if place != measure:
                        yield (
                            f"{aggregate} row",
                            TablePlan(aggregate, filters, measure, place, is_grouped=False),
                            measure,
                            place,
                        )
            for place in others:
                if columns[place].is_text or columns[place].role is Role.YEAR:
                    yield f"{aggregate} count", TablePlan(aggregate, filters, None, place), None, place
        for each in filters:
            if each.operator is Operator.IS and len(each.texts) == 2:
                rest = tuple(other for other in filters if other is not each)
                two = (
                    RowFilter(each.column, Operator.IS, each.texts[:1]),
                    RowFilter(each.column, Operator.IS, each.texts[1:]),
                )
                for column in (None, *sums):
                    yield "difference", TablePlan(Aggregate.DIFFERENCE, rest, column, alternatives=two), column, column

    def _plan_features(
        self, kind: str, measure: int | None, answer: int | None, chosen: Sequence[_Condition], rows: int
    ) -> Features:
        features: Features = {f"{kind}": 1.0, f"{kind} opening {self.opening}": 1.0, f"{kind} rows {rows}": 1.0}
        features |= {f"{kind} on {name}": 1.0 for name in self.triggers}
        features[f"{kind} of {self.asked_number}"] = 1.0
        features |= {f"{kind} ~ {word}": 1.0 for word in self.wording}
        columns, used = self.table.columns, {each.filter.column for each in chosen}
        if answer is not None:
            used.add(answer)
            told = min(match_score(self.reading, answer), 2.0)
            features["answer named"] = told
            features[f"{kind} answer named"] = told
            features["answer asked"] = float(answer in self.asked_columns)
            features["answer not asked"] = float(bool(self.asked_columns) and answer not in self.asked_columns)
            features[f"{kind} {_kind(columns[answer])} opening {self.opening}"] = 1.0
            features[f"{kind} counted"] = float(bool(self._counted & self.reading.headers.get(answer, set())))
            features["answer first"] = float(answer == self._first_text)
            features[f"answer filtered {kind}"] = float(any(each.filter.column == answer for each in chosen))
        if measure is not None:
            used.add(measure)
            told = min(match_score(self.reading, measure), 2.0)
            features["measure named"] = told
            features[f"measure {_kind(columns[measure])} {kind}"] = 1.0
            features[f"measure named {kind}"] = float(told > 0)
        missed = [place for place in self.reading.headers if place not in used]
        features["missed headers"] = float(min(len(missed), 3))
        features[f"{kind} missed"] = float(any(columns[place].role is not None for place in missed))
        return features

    @cached_property
    def _counted(self) -> set[int]:
        return set(self.reading.counted_words)

    @cached_property
    def asked_number(self) -> str:
        """Tell a noun after the question word of one from one of several, in all three languages by its last letter."""
        match = question_rules().asked_noun.search(self.reading.folded)
        return "none" if match is None else "several" if match[1].endswith("s") and len(match[1]) > 3 else "one"

    @cached_property
    def _first_text(self) -> int:
        return next((place for place, column in enumerate(self.table.columns) if column.is_text), 0)

    def result_features(self, plan: TablePlan, result: QueryResult) -> Features:
        """Return features of a result: how many values it has, and whether the question says them already."""
        count = len(result.values)
        features: Features = {f"values{min(count, 3)} {plan.aggregate}": 1.0}
        if plan.aggregate in _OF_LABELS and not plan.asks_value and count == 1:
            parts = [stem(part, self.reading.language) for part in fold(result.values[0][0]).split()]
            said = {word.stem for word in self.reading.words}
            features["answer said"] = float(bool(parts) and all(part in said for part in parts))
            features["answer said of either"] = features["answer said"] * ("either" in self.triggers)
        elif count == 1:
            features[f"zero {plan.aggregate}"] = float(result.values[0][1] == 0)
            features[f"one {plan.aggregate}"] = float(result.values[0][1] == 1)
        return features


def _kind(column: TypedColumn) -> str:
    return "time" if column.is_time else "text" if column.role is None else str(column.role)
