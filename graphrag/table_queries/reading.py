"""Reads a question as a plan over a table, if every word of it is understood: a wrong sum is worse than none."""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from graphrag.ingestion.tables.columns import Role
from graphrag.ingestion.tables.typed_tables import KIND, VALUE, Integers, TypedColumn, TypedTable
from graphrag.linguistics.language import fold, stop_words
from graphrag.linguistics.lexicon import is_agent, parts_of_speech
from graphrag.table_queries.columns import (
    amount_column,
    asked_grain,
    counted_label,
    counted_number,
    is_key,
    is_money,
    is_price,
    is_stock,
    label_column,
    match_score,
    named_number,
)
from graphrag.table_queries.conditions import (
    lacks_debts,
    read_answers,
    read_comparisons,
    read_counted,
    read_days,
    read_filled,
    read_losses,
    read_open,
    read_sold_out,
    read_states,
)
from graphrag.table_queries.plans import (
    BESIDE_COLUMN,
    COMPARED,
    Aggregate,
    Arithmetic,
    Grain,
    Operator,
    PeriodChange,
    RowFilter,
    TablePlan,
    has_row_each,
    select_rows,
)
from graphrag.table_queries.words import MOST_WORDS, NEAR, QuestionReading, Word, question_rules

SUMMED = ("share", "total")
_TOKENS = re.compile(r"\w+")
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class ReadPlan:
    plan: TablePlan
    understood: int  # words, those that name columns twice


@dataclass(frozen=True)
class TableRequest:
    """A question's request: an operation or a superlative, «» where it has none, of which rows, and of which column."""

    reading: QuestionReading
    operation: str
    superlative: str
    filters: tuple[RowFilter, ...]
    alternatives: tuple[RowFilter, ...]  # two groups that are compared
    is_listing: bool
    in_percent: bool = False  # a change or difference

    @cached_property
    def amount(self) -> int | None:
        return self.added[0] if self.added else amount_column(self.reading)

    @cached_property
    def added(self) -> tuple[int, int] | None:
        """Return two columns of numbers that are added up: «piezas + mano de obra», "labour and materials"."""
        named = sorted(
            (min(words), max(words), place)
            for place, words in self.reading.headers.items()
            if self.reading.table.columns[place].role in (Role.AMOUNT, Role.LEVEL)
        )
        columns, words = self.reading.table.columns, self.reading.words
        for (_, last, one), (first, _, other) in pairwise(named):
            between = self.reading.folded[words[last].end : words[first].start] if last < first else ""
            if columns[one].unit == columns[other].unit and question_rules().added.fullmatch(between):
                return one, other
        return None

    @cached_property
    def is_of_amount(self) -> bool:
        """Return whether numbers are asked for, not how many rows there are."""
        rules = question_rules()
        patterns = (rules.money, rules.quantity, rules.judging)
        return named_number(self.reading) is not None or any(map(self.says, patterns))

    @property
    def counts_times(self) -> bool:
        """Return whether it is asked how often something was done: the verb says what the rows are."""
        rules, counted = question_rules(), self.reading.counted_words[:1]
        is_told = not self.says(rules.overdue)
        return is_told and any(rules.occasions.fullmatch(self.reading.words[number].folded) for number in counted)

    @cached_property
    def over(self) -> RowFilter | None:
        """Return the filter of what is above or below another column."""
        return next((each for each in self.filters if each.operator in BESIDE_COLUMN), None)

    @cached_property
    def is_changing(self) -> bool:
        """Return whether it is asked how periods changed, each against the one before."""
        rules = question_rules()
        is_of_two = bool(self.alternatives or self.superlative or self.over)
        return self.is_greatest_change or (
            self.says(rules.changed)
            and not is_of_two
            and (_tells_each(self.reading) or asked_grain(self.reading) is not None)
        )

    @cached_property
    def is_greatest_change(self) -> bool:
        """Return whether it is asked which period rose or fell most against the one before."""
        rules = question_rules()
        is_of_one = self.says(rules.risen) != self.says(rules.fallen)
        return self.superlative == "maximum" and is_of_one and not self.alternatives and not self.over

    @cached_property
    def chosen(self) -> Integers:
        return select_rows(self.reading.table, self.filters)

    @property
    def taken(self) -> set[int]:
        return {each.column for each in self.filters}

    def says(self, pattern: re.Pattern[str]) -> bool:
        return pattern.search(self.reading.folded) is not None


def asks_to_compute(question: str, *, or_how_much: bool = False) -> bool:
    """Return whether a question counts, averages, ranks or compares: no row of a table answers that by itself.

    "How much …?" may be one row's or the sum of several.
    """
    rules, folded = question_rules(), fold(question).replace("’", "'")
    patterns = (
        *(pattern for name, pattern in rules.operations.items() if or_how_much or name != "total"),
        *rules.superlatives.values(),
    )
    return any(pattern.search(folded) for pattern in patterns)


def read_plan(question: str, table: TypedTable, *, language: str) -> ReadPlan | None:
    """Return the plan that a question asks of a table; None where a word is left that may be a condition."""
    reading = QuestionReading(question, language, table)
    request = _read_request(reading) if len(reading.words) <= MOST_WORDS else None
    if request is None:
        return None
    groupings = _read_per(reading)
    if len(groupings) > 1:
        return None  # «por cliente y por mes»
    per = next(iter(groupings), None)
    _understand_rest(reading)
    if per is not None and request.operation == "mean" and _are_apart(request, per):
        per = None  # of one row each
    if request.is_changing:
        plan = _changes(request, per)
    else:
        plan = _plan(request) if per is None else _per_value(request, per)
    left = reading.left(is_counting=request.operation in ("count", "share") and not request.counts_times)
    plan = _adding(request, plan) if plan else None
    if plan and not _fits(request, plan):
        plan = _people(request)
    if plan is None or reading.denials - reading.known or not _is_of_each(request, plan):
        return None
    if not _are_rows(request, plan, left) or (plan := _of_one_kind(request, plan)) is None:
        return None
    named = set().union(*reading.headers.values(), set())
    return ReadPlan(_signed(reading, plan), len(reading.known) + len(named) + reading.title_matches)


def _is_of_each(request: TableRequest, plan: TablePlan) -> bool:
    """Return whether a value for each is given where the question asks for one, and a period where for that."""
    reading, rules = request.reading, question_rules()
    spans = [match.span() for match in rules.each.finditer(reading.folded)]
    each = {n for n, word in enumerate(reading.words) for start, end in spans if start <= word.start < end}
    times = {place for place, column in enumerate(reading.table.columns) if column.is_time}
    is_period = bool({plan.group, plan.per} & times) and (
        plan.aggregate is not Aggregate.LIST or plan.grain is not None or len(request.chosen) == 1
    )
    is_asked = asked_grain(reading) is not None
    is_told = plan.per is not None or plan.keep > 1 or each <= reading.known
    return is_told and (is_period or not is_asked)


def _are_apart(request: TableRequest, place: int) -> bool:
    """Return whether a column tells the rows apart that the question is about."""
    codes = request.reading.table.columns[place].codes[request.chosen]
    return len(np.unique(codes)) == np.count_nonzero(codes)


def _people(request: TableRequest) -> TablePlan | None:
    """Return the list of whom the rows are of, where "who" asks for them and nothing else is."""
    rules, headers = question_rules(), request.reading.table.headers
    people = [place for place, header in enumerate(headers) if rules.who_header.search(fold(header))]
    people = [place for place in people if place not in request.taken]
    if request.operation or request.superlative or not request.says(rules.who) or len(people) != 1:
        return None
    return TablePlan(Aggregate.LIST, request.filters, group=people[0])


def _adding(request: TableRequest, plan: TablePlan) -> TablePlan | None:
    """Return the plan over both columns that the question adds up; None of what is not added: a mean, a cell."""
    if request.added is None or plan.column not in request.added or plan.arithmetic:
        return plan
    one, other = request.added
    if plan.aggregate is Aggregate.CELL and request.operation == "total":
        plan = replace(plan, aggregate=Aggregate.SUM)
    if plan.aggregate not in (Aggregate.SUM, Aggregate.MAXIMUM, Aggregate.MINIMUM, Aggregate.DIFFERENCE):
        return None
    return replace(plan, column=one, arithmetic=(Arithmetic.PLUS, other))


def _fits(request: TableRequest, plan: TablePlan) -> bool:
    """Return whether a plan gives the kind of thing that is asked for.

    No sum of percentages or of unit prices, no number for "who", no number of baskets for how much money they brought.
    """
    reading = request.reading
    is_alone = plan.aggregate is Aggregate.SUM and plan.arithmetic is None and len(request.chosen) > 1
    if is_alone and is_price(reading.table.columns[plan.column or 0]):
        return False
    if plan.aggregate is Aggregate.SUM and reading.table.columns[plan.column or 0].unit == "%":
        return False
    is_of_units = request.says(question_rules().units_sold) and plan.column not in reading.headers
    if is_of_units and plan.column is not None and is_money(reading, plan.column):
        return False
    if plan.aggregate is Aggregate.SUM and request.says(question_rules().cash) and plan.arithmetic is None:
        money = [place for place in range(len(reading.table.columns)) if is_money(reading, place)]
        if money and plan.column not in money:
            return False
    is_number = plan.aggregate in (Aggregate.SUM, Aggregate.COUNT, Aggregate.MEAN) and plan.per is None
    return not is_number or bool(request.operation) or not request.says(question_rules().who)


def _are_rows(request: TableRequest, plan: TablePlan, left: Sequence[Word]) -> bool:
    """Return whether nothing is left of the question but a noun for what the rows are: «pedidos», "pupils".

    Only of a sheet of which a value is named that has rows, and not for a unit: «metros», "kilos".
    """
    is_told = plan.per is not None or any(map(request.reading.says_whole, request.filters)) or plan.is_of_rows
    counted = [request.reading.words[number] for number in request.reading.counted_words[:1]]
    is_done = request.says(question_rules().done)  # «on a fait combien de bornes»: measured
    is_told |= bool(request.filters) and counted == left and not is_done
    is_told = is_told and len(request.chosen) > 0
    if len(left) != 1 or plan.aggregate is Aggregate.CELL or not is_told or not request.reading.table.is_sheet:
        return not left
    noun, units = left[0].folded, frozenset().union(*question_rules().units.values())
    is_noun = left[0].text.islower() and "n" in parts_of_speech(left[0].text, request.reading.language)
    number = request.reading.words.index(left[0])
    if number and question_rules().by.fullmatch(request.reading.words[number - 1].folded):
        return False  # «par chambre», of which no column tells
    is_told = bool(request.superlative) or noun.endswith(("s", "aux"))
    return is_noun and noun not in units and not request.says(question_rules().quantity) and is_told


def _of_one_kind(request: TableRequest, plan: TablePlan) -> TablePlan | None:
    """Return the plan over what is budgeted or over what is spent, None where the question does not say of which."""
    table, rules = request.reading.table, question_rules()
    kinds = [place for place, header in enumerate(table.headers) if header in KIND.values()]
    if not kinds or plan.column is None or table.headers[plan.column] not in VALUE.values():
        return plan
    if kinds[0] in {each.column for each in (*plan.filters, *plan.alternatives)} | {plan.group, plan.per}:
        return plan
    spent = tuple(text for text in table.columns[kinds[0]].values if rules.reached_header.search(fold(text)))
    if not spent or not request.says(rules.spending) or request.says(rules.limit_header):
        return None
    return replace(plan, filters=(*plan.filters, RowFilter(kinds[0], Operator.IS, spent)))


def _read_request(reading: QuestionReading) -> TableRequest | None:
    rules = question_rules()
    operation = next((name for name, pattern in rules.operations.items() if reading.asks(pattern)), "")
    superlative = next((name for name, pattern in rules.superlatives.items() if reading.asks(pattern)), "")
    if reading.asks(rules.why) or rules.hour.search(reading.folded) or asks_of_unknown(reading):
        return None
    if superlative and operation in ("mean", "total") and reading.is_header(rules.operations[operation]):
        operation = ""  # the highest «media»: a column
    is_changing = rules.changed.search(reading.folded) is not None
    if is_changing:
        reading.asks(rules.against_previous)
    says_difference = rules.operations["difference"].search(reading.folded) is not None
    in_percent = (is_changing or says_difference) and rules.percent.search(reading.folded) is not None
    in_percent = in_percent and not reading.is_header(rules.percent)
    if in_percent:
        operation = "difference"
        reading.asks(rules.percent)
        reading.asks(rules.operations["difference"])
    is_of_each = is_changing or rules.above_column.search(reading.folded)
    has_two_values = (superlative and reading.asks(rules.and_how_much)) or (
        is_of_each and reading.asks(rules.by_how_much)
    )
    says_two = rules.two_parts.search(reading.folded) and not has_two_values
    if says_two or lacks_debts(reading):
        return None
    if superlative and reading.is_header(rules.superlatives[superlative]):
        superlative = ""  # «por debajo del mínimo»
    states = list(read_states(reading))
    filters = [*states, *read_days(reading), *read_comparisons(reading)]
    filters += read_answers(reading, {each.column for each in filters})
    filters += read_losses(reading, {each.column for each in filters})
    filters += read_sold_out(reading, {each.column for each in filters})
    if reading.asks(rules.overdue) and not states:
        if (still_open := read_open(reading)) is None or still_open.column in {each.column for each in filters}:
            return None
        filters.append(still_open)
    if operation in ("count", "share") or (not operation and not superlative):
        filters += read_filled(reading, {each.column for each in filters})
    reading.compared |= {each.column for each in filters if each.operator in COMPARED}
    alternatives: tuple[RowFilter, ...] = ()
    taken = {each.column for each in filters}
    for each, words in reading.values:
        if each.column in taken or words <= reading.known:  # the words are a value of another column
            continue
        is_either = rules.either.search(reading.folded) and rules.more_or_less.search(reading.folded)
        is_compared = operation == "difference" or superlative or is_either or rules.compared.search(reading.folded)
        if len(each.texts) == 2 and is_compared and reading.asks(rules.comparing):
            alternatives = tuple(replace(each, texts=(text,)) for text in each.texts)
        else:
            holds_denial = any(rules.not_.search(fold(text)) for text in each.texts)  # «No presentado»
            is_denied = (reading.denies(words) or _is_left_out(reading, words)) and not holds_denial
            filters.append(replace(each, operator=Operator.IS_NOT if is_denied else Operator.IS))
        reading.known |= words
    if reading.leaves(rules.left_out):
        return None
    filters = list(dict.fromkeys(filters))  # «el primer semestre (de enero a junio)»
    days = [each for each in filters if each.operator is Operator.BETWEEN]
    are_two = len(days) == 2 and days[0].column == days[1].column
    if are_two and alternatives:
        return None
    if are_two:
        filters = [each for each in filters if each not in days]
        if is_changing and _tells_each(reading):  # «mes a mes de febrero a agosto»
            first, last = min(each.days[0] for each in days), max(each.days[1] for each in days)
            filters.append(replace(days[0], days=(first, last)))
        else:
            alternatives = tuple(days)
            reading.asks(rules.comparing)
    compares = any(each.operator not in (Operator.IS, Operator.IS_NOT) for each in (*filters, *alternatives))
    said = rules.against_previous.sub("", reading.folded) if is_changing else reading.folded
    if rules.row_order.search(said) and not compares:
        return None  # «después de Ana»: a row beside another
    is_listing = reading.asks(rules.listing)
    if alternatives:
        reading.asks(rules.compared)
        reading.asks(rules.more_or_less)
    return TableRequest(reading, operation, superlative, tuple(filters), alternatives, is_listing, in_percent)


def _tells_each(reading: QuestionReading) -> bool:
    """Return whether changes are asked of each period: «cada mes», "month on month", "quarterly"."""
    rules = question_rules()
    return any(pattern.search(reading.folded) for pattern in (rules.against_previous, rules.each, rules.periodic))


def _is_left_out(reading: QuestionReading, words: set[int]) -> bool:
    """Return whether a value stands right after «sin contar», "except for", «sauf», which are understood then."""
    start = reading.words[min(words)].start
    for match in question_rules().left_out.finditer(reading.folded):
        between = _TOKENS.findall(reading.folded[match.end() : start]) if match.end() <= start else None
        if between is not None and len(between) <= NEAR:
            reading.know(*match.span())
            return True
    return False


def asks_of_unknown(reading: QuestionReading) -> bool:
    """Return whether a verb after «cuánto» says what is measured, of which no column tells: «¿cuánto pesa …?»."""
    rules = question_rules()
    match = rules.how_much.search(reading.folded)
    after = next((n for n, word in enumerate(reading.words) if match and word.start >= match.end()), None)
    if after is None or after in set().union(*reading.headers.values(), set()):
        return False
    word = reading.words[after]
    compared = (rules.changed, rules.above_column)
    patterns = (rules.money, rules.quantity, rules.spending, rules.income, rules.worth, *rules.operations.values())
    is_verb = reading.language != "en" and "v" in parts_of_speech(word.text, reading.language)
    is_known = word.folded in rules.neutral | reading.empty or any(
        p.search(word.folded) for p in (*patterns, *compared)
    )
    return is_verb and not is_known


def _understand_rest(reading: QuestionReading) -> None:
    """Mark the words that name columns and those that only ask."""
    rules = question_rules()
    reading.known.update(*reading.headers.values())
    for pattern in (
        *(rules.when, rules.who, rules.money, rules.quantity, rules.per_month),
        *(rules.before, rules.after, rules.top, rules.periods),
    ):
        reading.asks(pattern)
    reading.known |= {number for number, word in enumerate(reading.words) if word.folded in rules.numbers}


def _read_per(reading: QuestionReading) -> set[int]:
    """Return the columns of each of whose values, or months, a question asks: «por cliente», "each month".

    What a question before it asked, which stands behind it in brackets, counts where it asks for none.
    """
    rules, columns = question_rules(), reading.table.columns
    named = sorted(reading.headers, key=lambda place: -len(reading.content(place)))  # «Sponsor», not «Sponsor fee»
    groups = {number: place for place in named if _has_groups(columns[place]) for number in reading.headers[place]}
    times = [place for place, column in enumerate(columns) if column.is_time]
    groupings: dict[int, int] = {}  # column → where its word begins
    for number in range(1, len(reading.words)):
        before, word = reading.words[number - 1].folded, reading.words[number].folded
        if number in reading.known:
            continue  # «por cobrar»
        if rules.by.fullmatch(before) and number in groups and not _is_of_several(word, reading.table, groups[number]):
            groupings.setdefault(groups[number], reading.words[number].start)
        elif rules.by.fullmatch(before) and rules.month.fullmatch(word) and times:
            groupings.setdefault(times[0], reading.words[number].start)
        elif not rules.per.fullmatch(before) or not _is_of_rows(reading, number):
            continue
        reading.known |= {number - 1, number}  # «por pedido»: of each row
    own, _, _ = reading.folded.partition(" (")
    return {place for place, start in groupings.items() if start < len(own)} or set(groupings)


def _is_of_rows(reading: QuestionReading, number: int) -> bool:
    """Return whether a word names a column, what the table is about, or says nothing."""
    word, is_header = reading.words[number], any(number in words for words in reading.headers.values())
    return is_header or word.stem in reading.titles or word.folded in question_rules().neutral | reading.empty


def _is_of_several(word: str, table: TypedTable, place: int) -> bool:
    """Return whether a word is a plural where its column is called in the singular: «por bicis», of money for these."""
    return word.endswith("s") and not any(name.endswith("s") for name in fold(table.headers[place]).split())


def _has_groups(column: TypedColumn) -> bool:
    is_repeated = 2 * len(column.values) <= int(np.count_nonzero(column.codes))
    return column.is_text or (is_repeated and not column.is_time)


def _changes(request: TableRequest, per: int | None) -> TablePlan | None:
    """Return the plan for how each period changed against the one before, or for those that rose or fell."""
    reading, rules, columns = request.reading, question_rules(), request.reading.table.columns
    times = [place for place, column in enumerate(columns) if column.is_time]
    grains = {grain for grain, words in rules.grains.items() for word in reading.words if word.folded in words}
    rises, falls = reading.asks(rules.risen), reading.asks(rules.fallen)
    reading.asks(rules.changed)
    reading.asks(rules.periodic)
    if len(times) != 1 or len(grains) != 1 or (rises and falls) or per not in (None, *times):
        return None
    days = tuple(each for each in request.filters if each.column in times and each.operator is Operator.BETWEEN)
    filters = tuple(each for each in request.filters if each not in days)
    if set(times) & {each.column for each in filters}:
        return None
    if request.operation not in ("", "total", "difference") or request.amount is None:
        return None
    if request.superlative and _asks_of_column(reading, {*range(len(columns))} - {*times}):
        return None  # "which department …"
    if asked_grain(reading) is None and not request.superlative:  # of each period, not of those that rose
        rises = falls = False
    elif not (rises or falls):
        return None
    if columns[request.amount].role is Role.LEVEL and not _are_apart(request, times[0]):
        return None  # no sum of prices
    change = PeriodChange.RISE if rises else PeriodChange.FALL if falls else PeriodChange.EACH
    [grain] = grains
    return TablePlan(
        Aggregate.SUM,
        filters,
        request.amount,
        base=days,
        per=times[0],
        grain=Grain(grain),
        change=change,
        is_greatest=bool(request.superlative),
        in_percent=request.in_percent,
    )


def _asks_of_column(reading: QuestionReading, places: Set[int]) -> bool:
    """Return whether the noun after "which" names one of these columns."""
    match = question_rules().asked_noun.search(reading.folded)
    named = set().union(*(words for place, words in reading.headers.items() if place in places), set())
    return match is not None and any(reading.words[number].start == match.start(1) for number in named)


def _per_value(request: TableRequest, per: int) -> TablePlan | None:
    """Return the count, sum or mean for each value of a column, or by how much one column is above another."""
    if request.superlative or request.alternatives or request.says(question_rules().changed):
        return None
    if request.over:
        return _difference_of_columns(request, request.over, per)
    if request.operation not in ("", "total", "count", "mean"):
        return None
    filters = tuple(each for each in request.filters if each.column != per)
    is_counted = request.operation == "count" and counted_number(request.reading) is None
    if request.amount is None:
        is_counted |= not request.operation and not request.is_of_amount  # «avisos por barrio»
        if not is_counted:
            return None
    aggregate = Aggregate.COUNT if is_counted else Aggregate.MEAN if request.operation == "mean" else Aggregate.SUM
    return TablePlan(aggregate, filters, None if is_counted else request.amount, per=per)


def _signed(reading: QuestionReading, plan: TablePlan) -> TablePlan:
    """Return the plan over spending or income alone where a column holds both, spending below zero."""
    if plan.column is None or reading.table.columns[plan.column].is_time:
        return plan
    numbers = reading.table.columns[plan.column].numbers
    has_income, has_spending = bool((numbers > 0).any()), bool((numbers < 0).any())
    if not has_income or not has_spending:
        return replace(plan, factor=-1) if has_spending else plan
    rules = question_rules()
    for pattern, operator, factor in ((rules.income, Operator.ABOVE, 1), (rules.spending, Operator.BELOW, -1)):
        if pattern.search(reading.folded):
            of_sign = RowFilter(plan.column, operator)
            return replace(plan, filters=(*plan.filters, of_sign), base=(*plan.base, of_sign), factor=factor)
    return plan


def _plan(request: TableRequest) -> TablePlan | None:
    if request.is_of_amount and request.amount is None and (request.alternatives or request.operation in SUMMED):
        return None
    if request.alternatives:
        return _difference(request)
    if request.in_percent:
        return None  # against what?
    if request.over and request.says(question_rules().each):
        return None  # of each of what no column tells
    if computed := _of_two_columns(request):
        return computed
    if request.reading.leaves(question_rules().changed):
        return None  # against what came before
    match request.operation:
        case "share":
            return _share(request)
        case "mean" if request.superlative and request.amount is not None and (grouped := _superlative(request)):
            return replace(grouped, column=request.amount, is_grouped=True, of_means=True, asks_value=False)
        case "mean" | "median" if request.amount is not None:
            is_monthly = request.says(question_rules().per_month)
            return TablePlan(Aggregate("monthly" if is_monthly else request.operation), request.filters, request.amount)
        case "mean" | "median":
            return None
    if request.superlative:
        return _superlative(request)
    if occasion := _occasion(request):
        return occasion
    if request.operation == "count":
        return _count(request)
    if request.operation == "total":
        return None if request.amount is None else TablePlan(Aggregate.SUM, request.filters, request.amount)
    is_over = any(each.operator is Operator.ABOVE_COLUMN for each in request.filters)
    if not request.filters or (is_over and not request.is_listing):
        return None
    return _look_up(request) or _spent(request)


def _of_two_columns(request: TableRequest) -> TablePlan | None:
    """Return the plan over what two columns give: by how much one is above another, or what a stock is worth."""
    reading, rules = request.reading, question_rules()
    if duration := _duration(request):
        return duration
    over = request.over
    if over and request.is_listing and request.says(rules.by_how_much):
        group, is_named = label_column(reading, request.taken)
        return _difference_of_columns(request, over, group) if group is not None and is_named else None
    if over and (request.operation == "difference" or request.superlative):
        filters = tuple(each for each in request.filters if each is not over)
        column, other = _compared_columns(over)
        difference = Arithmetic.MINUS, other
        if not request.superlative:
            return TablePlan(Aggregate.SUM, filters, column, arithmetic=difference)
        group, is_named = label_column(reading, {each.column for each in filters})
        if group is None:
            return None
        return TablePlan(Aggregate.MAXIMUM, filters, column, group, is_grouped=is_named, arithmetic=difference)
    columns = reading.table.columns
    stocks = [place for place, column in enumerate(columns) if is_stock(column)]
    prices = [place for place, column in enumerate(columns) if column.role and is_price(column)]
    prices = [place for place in prices if place in reading.headers] or prices
    if request.superlative or len(stocks) != 1 or len(prices) != 1 or not reading.asks(rules.worth):
        return None
    return TablePlan(Aggregate.SUM, request.filters, prices[0], arithmetic=(Arithmetic.TIMES, stocks[0]))


def _compared_columns(over: RowFilter) -> tuple[int, int]:
    """Return the greater and the smaller column of a comparison."""
    pair = (over.column, int(over.number))
    return pair if over.operator is Operator.ABOVE_COLUMN else pair[::-1]


def _difference_of_columns(request: TableRequest, over: RowFilter, per: int) -> TablePlan | None:
    """Return the plan for by how much each value of a column is above, of those that are; each is a row."""
    rules = question_rules()
    asks_amount = request.operation in ("total", "difference") or request.says(rules.compared)
    if not asks_amount or request.operation in ("count", "mean") or not _are_apart(request, per):
        return None
    column, other = _compared_columns(over)
    return TablePlan(Aggregate.SUM, request.filters, column, arithmetic=(Arithmetic.MINUS, other), per=per)


def _duration(request: TableRequest) -> TablePlan | None:
    """Return the plan for how many days there are between two columns of days: «¿cuántos días se tarda …?»."""
    reading, columns = request.reading, request.reading.table.columns
    times = [place for place, column in enumerate(columns) if column.is_time]
    times = [place for place in times if place in reading.headers] if len(times) > 2 else times
    counted = {reading.words[number].folded for number in reading.counted_words[:1]}
    if len(times) != 2 or not counted & question_rules().days or request.taken & set(times) - _are_filled(request):
        return None
    gaps = columns[times[1]].first_days - columns[times[0]].first_days
    is_known = (columns[times[0]].first_days > 0) & (columns[times[1]].first_days > 0)
    first, last = times if np.median(gaps[is_known]) >= 0 else times[::-1]
    if request.operation not in ("mean", "median", "count"):
        return None
    is_one = len(request.chosen) == 1
    if request.operation == "count" and not is_one:
        return None
    aggregate = Aggregate.SUM if is_one else Aggregate(request.operation)
    return TablePlan(aggregate, request.filters, last, arithmetic=(Arithmetic.MINUS, first))


def _are_filled(request: TableRequest) -> set[int]:
    """Return the columns that a filter wants only to have something."""
    return {each.column for each in request.filters if each.operator is Operator.FILLED}


def _difference(request: TableRequest) -> TablePlan | None:
    table, filters = request.reading.table, request.filters
    rules = question_rules()
    asks_count = request.operation != "difference" or request.says(rules.operations["count"])
    asks_count = asks_count and not request.says(rules.how_much)
    is_one_row_each = all(len(select_rows(table, (*filters, each))) == 1 for each in request.alternatives)
    is_counted = not request.is_of_amount and asks_count and not is_one_row_each
    is_of_each = request.is_listing and request.says(rules.changed) and not request.in_percent  # which of them changed
    if is_of_each or (is_counted and table.headers[-1] in VALUE.values()):
        return None
    if request.amount is None and not is_counted:
        return None
    if request.operation == "share" or (request.in_percent and is_counted and request.reading.headers):
        return None  # how many different ones, of which only rows are counted
    ordered = _in_order_of_time(request) if request.in_percent or request.says(rules.changed) else ()
    if request.in_percent and not ordered:
        return None
    column = None if is_counted else request.amount
    asks_value = request.operation == "difference" or request.says(rules.how_much) or request.says(rules.compared)
    mean = rules.operations["mean"]
    return TablePlan(
        Aggregate.DIFFERENCE,
        filters,
        column,
        alternatives=ordered or request.alternatives,
        asks_value=asks_value or is_counted,
        of_means=column is not None and request.says(mean) and not request.reading.is_header(mean),
        change=PeriodChange.EACH if ordered else None,
        in_percent=request.in_percent,
    )


def _in_order_of_time(request: TableRequest) -> tuple[RowFilter, ...]:
    """Return the two groups that are compared, the earlier first; none where they are no periods."""
    table = request.reading.table
    begins = []
    for each in request.alternatives:
        column, rows = table.columns[each.column], select_rows(table, (each,))
        if each.operator is Operator.BETWEEN:
            begins.append(each.days[0].toordinal())
        elif column.is_time and len(rows):
            begins.append(int(column.first_days[rows[0]]))
        elif _YEAR.fullmatch(each.texts[0]):
            begins.append(int(each.texts[0]))
        else:
            return ()
    ordered = sorted(zip(begins, request.alternatives, strict=True), key=lambda pair: pair[0])
    return tuple(each for _, each in ordered) if len(set(begins)) == len(begins) else ()


def _share(request: TableRequest) -> TablePlan | None:
    """The whole is what is of the same time, and of what the question opens with."""
    reading, filters = request.reading, request.filters
    if not filters:
        return None
    is_of_rows = _is_share_of_rows(request)
    whole = tuple(each for each in filters if each.operator is Operator.BETWEEN or reading.opens_share(each))
    holds_values = reading.table.headers[-1] in VALUE.values()
    return TablePlan(
        Aggregate.SHARE,
        filters,
        request.amount if (request.is_of_amount or holds_values) and not is_of_rows else None,
        base=whole if len(whole) < len(filters) else (),
    )


def _is_share_of_rows(request: TableRequest) -> bool:
    """Return whether what has the share is the rows: «quelle part des élèves», or those that have something."""
    reading = request.reading
    if any(each.operator in (Operator.FILLED, Operator.EMPTY) for each in request.filters):
        return True
    match = question_rules().operations["share"].search(reading.folded)
    empty = stop_words(reading.language)
    after = [word for word in reading.words if match and word.start >= match.end() and word.folded not in empty]
    return bool(after) and is_agent(after[0].folded, reading.language)


def _count(request: TableRequest) -> TablePlan | None:
    """Count rows, or the different values of a column; a number that is counted, «horas» or «kWh», is summed up."""
    reading, rules, filters = request.reading, question_rules(), request.filters
    table, group = reading.table, counted_label(request.reading, request.filters)
    if group is None and (request.says(rules.different) or table.headers[-1] in VALUE.values()):
        # «personas distintas»; and where months are rows, a thing has several.
        people = [place for place, header in enumerate(table.headers) if rules.who_header.search(fold(header))]
        group = people[0] if people and request.says(rules.people) else label_column(reading, request.taken)[0]
    is_over = any(each.operator is Operator.ABOVE_COLUMN for each in filters)
    if is_over and group is None and request.says(rules.money):
        return None  # by how much, of each row
    of_unit = any(rules.unit_header.search(fold(table.headers[each.column])) for each in filters)
    counted = [reading.words[number].folded for number in reading.counted_words]
    of_values = set().union(*(words for _, words in reading.values), set())
    quantities = [place for place, column in enumerate(table.columns) if is_stock(column)]
    if group is None and len(quantities) == 1 and of_values & set(reading.counted_words[:1]):
        return TablePlan(Aggregate.SUM, filters, quantities[0])  # «¿cuántas hogazas …?», in rows of orders
    is_quantity = group is None and any(map(rules.quantity.fullmatch, counted))
    if group is None and any(map(rules.money.fullmatch, counted[:1])):
        return None if request.amount is None else TablePlan(Aggregate.SUM, filters, request.amount)
    summed = request.amount if of_unit or is_quantity else counted_number(reading)
    if summed is not None and (of_unit or is_quantity or table.columns[summed].role is Role.AMOUNT):
        return TablePlan(Aggregate.SUM, filters, summed)
    if summed is not None and not is_price(table.columns[summed]):
        return TablePlan(Aggregate.SUM, filters, summed) if is_stock(table.columns[summed]) else None
    if group is None and any(word in rules.times for word in counted):
        return None  # «¿cuántos años tiene …?»
    if group is None and not filters:
        filters = tuple(read_counted(reading))
    if group is None and any(is_key(table, each.column) for each in filters if each.operator is Operator.IS):
        return None  # one row: something else of it is counted
    return TablePlan(Aggregate.COUNT, filters, group=group) if filters or group is not None else None


def _superlative(request: TableRequest) -> TablePlan | None:
    reading, filters, rules = request.reading, request.filters, question_rules()
    columns = reading.table.columns
    group, is_named = label_column(reading, {each.column for each in filters if each.operator is Operator.IS})
    if group is None:
        return None
    if not is_named and not is_key(reading.table, group):
        group = next(iter(_keys(reading.table)), group)  # «los tres avisos», which a number tells apart
    if request.superlative in ("earliest", "latest"):
        times = [place for place, column in enumerate(columns) if column.is_time or column.role is Role.YEAR]
        times = [place for place in times if place in reading.headers] or times
        time = next(iter(times), None)
        aggregate = Aggregate.MINIMUM if request.superlative == "earliest" else Aggregate.MAXIMUM
        return None if time is None else TablePlan(aggregate, filters, time, group, is_grouped=False)
    grain = asked_grain(reading) if columns[group].is_time else None
    is_counted = bool(reading.compared_nouns) and not request.is_of_amount  # "which month had most visits?"
    if grain and request.amount is not None and not is_counted:
        wanted = Aggregate(request.superlative)
        return TablePlan(wanted, filters, request.amount, group, grain=grain, keep=_number_asked(reading))
    measure = named_number(reading)
    is_of_row = (measure is not None and request.says(rules.of_row)) or request.says(rules.of_row_noun)
    is_grouped = is_named and (not is_of_row or request.says(rules.operations["total"]))
    # Where each group is one row, there is nothing to count.
    is_of_size = request.says(rules.of_row)  # «le plus gros donateur»
    column = request.amount if request.is_of_amount or is_of_size or is_key(reading.table, group) else None
    if column is None and (request.is_of_amount or not is_grouped):
        return None
    keep = _number_asked(reading)
    asked = set(reading.asked_words)  # «¿Qué reactivo cuesta más?»
    asks_value = (
        measure is not None
        and asked <= reading.headers[measure]
        and all(
            min(reading.headers[measure]) <= min(words) for place, words in reading.headers.items() if place != measure
        )
    )
    return TablePlan(
        Aggregate(request.superlative),
        filters,
        column,
        group,
        is_grouped=is_grouped,
        grain=grain,
        asks_value=asks_value and not is_grouped and keep == 1,
        keep=keep,
    )


def _occasion(request: TableRequest) -> TablePlan | None:
    """Return the plan for the last or the first day of the rows: «la dernière fois que …», "when was … last …?"."""
    reading, rules, columns = request.reading, question_rules(), request.reading.table.columns
    times = [place for place, column in enumerate(columns) if column.is_time and place not in request.taken]
    times = [place for place in times if place in reading.headers] or times
    if not times or not request.filters or request.operation or not rules.occasion.search(reading.folded):
        return None
    for pattern, aggregate in ((rules.last_time, Aggregate.MAXIMUM), (rules.first_time, Aggregate.MINIMUM)):
        if reading.asks(pattern):
            reading.asks(rules.occasion)
            return TablePlan(aggregate, request.filters, times[0], times[0], is_of_days=True)
    return None


def _number_asked(reading: QuestionReading) -> int:
    """Return how many are asked for: «los tres», "top 5"; one where no number says so."""
    rules = question_rules()
    if match := rules.top.search(reading.folded):
        return int(match[1] or match[2])
    spans = [match.span() for match in rules.periods.finditer(reading.folded)]  # «los seis meses»
    told = (word for word in reading.words if not any(start <= word.start < end for start, end in spans))
    return next((rules.numbers[word.folded] for word in told if word.folded in rules.numbers), 1)


def _look_up(request: TableRequest) -> TablePlan | None:
    """A cell of the one row that is meant, or the names of the rows."""
    reading, filters, rules = request.reading, request.filters, question_rules()
    columns, taken, is_one = reading.table.columns, request.taken, len(request.chosen) == 1
    named = [place for place in reading.headers if place not in taken]
    times = [place for place, column in enumerate(columns) if column.is_time and place not in taken]
    headers = enumerate(reading.table.headers)
    people = [place for place, header in headers if place not in taken and rules.who_header.search(fold(header))]
    if times and request.says(rules.when):
        named = [place for place in named if place in times] or times
        return _cell(request, named)
    if is_one and len(people) == 1 and request.says(rules.who):
        return _cell(request, people)
    if is_one and named:
        return _cell(request, named)
    if is_one and request.amount is not None and (request.says(rules.quantity) or request.says(rules.money)):
        return _cell(request, [request.amount])
    group, is_named = label_column(reading, taken)
    noun = rules.asked_noun.search(reading.folded)  # «¿Qué empresas …?», where «Empresa» is a value
    asked = {number for number, word in enumerate(reading.words) if noun and noun.start(1) == word.start}
    of_values = set().union(*(words for _, words in reading.values), set())
    if not request.is_listing or group is None or not (is_named or (asked and asked <= of_values)):
        return _list_rows(request)
    grain = asked_grain(reading)
    if not (grain and columns[group].is_time and has_row_each(reading.table, group, grain)):
        grain = None
    return TablePlan(Aggregate.LIST, filters, group=group, grain=grain)


def _keys(table: TypedTable) -> list[int]:
    """Return the columns that tell the rows apart: texts, else codes."""
    texts = [place for place, column in enumerate(table.columns) if column.is_text and column.codes.all()]
    keys = [place for place in texts if is_key(table, place)]
    return keys or [place for place, column in enumerate(table.columns) if column.role is Role.CODE]


def _list_rows(request: TableRequest) -> TablePlan | None:
    """The rows by the column that tells them apart, which «¿qué facturas …?» does not name."""
    words, keys = request.reading.asked_words, _keys(request.reading.table)
    is_several = bool(words) and request.reading.words[words[0]].folded.endswith("s")
    has_conditions = any(each.operator is not Operator.BETWEEN for each in request.filters)
    is_one = any(is_key(request.reading.table, each.column) for each in request.filters if each.operator is Operator.IS)
    if not keys or not is_several or not has_conditions or is_one:  # of one row, something else is asked
        return None
    return TablePlan(Aggregate.LIST, request.filters, group=keys[0], is_of_rows=True)


def _cell(request: TableRequest, places: Sequence[int]) -> TablePlan | None:
    """Return the plan for the column that the question names best; None where two are named as well."""
    scores = {place: match_score(request.reading, place) for place in places}
    best = [place for place in places if scores[place] == max(scores.values())]
    return TablePlan(Aggregate.CELL, request.filters, best[0]) if len(best) == 1 else None


def _spent(request: TableRequest) -> TablePlan | None:
    """Return the sum that «what did we spend on …?» asks for, though nothing says so."""
    amount, rules = request.amount, question_rules()
    if amount is None or not (request.says(rules.money) or request.says(rules.limit_header)):
        return None
    is_summed = len(request.chosen) > 1 or is_money(request.reading, amount)
    return TablePlan(Aggregate.SUM, request.filters, amount) if is_summed else None
