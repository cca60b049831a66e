"""The conditions of a question: states, yes and no, dates, comparisons of numbers."""

import re
from calendar import monthrange
from collections import Counter
from collections.abc import Iterator
from datetime import date

from graphrag.ingestion.tables.columns import Role
from graphrag.linguistics.date_tokens import months
from graphrag.linguistics.dates import read_dates
from graphrag.linguistics.language import fold
from graphrag.linguistics.numbers import read_quantities
from graphrag.table_queries.columns import amount_column, is_money
from graphrag.table_queries.plans import Operator, RowFilter
from graphrag.table_queries.words import QuestionReading, question_rules


def read_states(reading: QuestionReading) -> Iterator[RowFilter]:
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


def read_answers(reading: QuestionReading, taken: set[int]) -> Iterator[RowFilter]:
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


def read_days(reading: QuestionReading) -> list[RowFilter]:
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


def read_comparisons(reading: QuestionReading) -> Iterator[RowFilter]:
    """Yield «más de 500», and «por debajo del mínimo», where a column is called so."""
    rules, columns = question_rules(), reading.table.columns
    for quantity in read_quantities(reading.question, reading.language):
        before = fold(reading.question[: quantity.start]).replace("’", "'")
        for pattern, operator in (
            (rules.more, Operator.ABOVE),
            (rules.less, Operator.BELOW),
            (rules.least, Operator.AT_LEAST),
        ):
            if pattern.search(before) and (place := amount_column(reading)) is not None:
                reading.know(pattern.search(before).start(), quantity.end)  # type: ignore[union-attr]
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
            reading.know(*found.span())
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
            if place not in least and column.role in (Role.AMOUNT, Role.LEVEL) and not is_money(reading, place)
        ]
        others = [
            place for place in others if rules.quantity_header.search(fold(reading.table.headers[place]))
        ] or others
        if len(least) == 1 and others:
            reading.asks(rules.below_column)
            yield RowFilter(others[0], Operator.BELOW_COLUMN, number=least[0])
