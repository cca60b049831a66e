"""Transform a question: its language, intent and parts."""

import re
import time
from collections.abc import Sequence
from typing import Any

from graphrag.errors import InvalidQuestion
from graphrag.linguistics.dates import read_dates
from graphrag.linguistics.language import words
from graphrag.linguistics.normalization import flatten, without_quotes
from graphrag.models import Intent, TemporalContext, TransformedQuery
from graphrag.observability.request_context import note
from graphrag.observability.telemetry import log
from graphrag.query_transformation.comparison import compared_parts
from graphrag.query_transformation.decomposition import find_parts
from graphrag.query_transformation.follow_ups import (
    MOST_EARLIER,
    Exchange,
    contextualize,
    find_language,
)
from graphrag.query_transformation.phrases import (
    QuestionGrammar,
    find_intent,
    find_named,
    read_question_grammar,
)
from graphrag.query_transformation.references import is_bare_question_word, understood_alone
from graphrag.query_transformation.tasks import bare_question

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def check_question(text: str, *, max_chars: int) -> str:
    """The question without surrounding space. Raises InvalidQuestion with the reason."""
    question = text.strip()
    if not question:
        raise InvalidQuestion("The question is empty: write one.", reason="empty")
    if len(question) > max_chars:
        raise InvalidQuestion(
            f"The question has {len(question)} characters; at most {max_chars} are allowed: shorten it.",
            reason="too_long",
            limit=max_chars,
        )
    if _CONTROL.search(question):
        raise InvalidQuestion("The question holds control characters: remove them.", reason="control_characters")
    return question


MOST_PARTS = 6


def decompose(question: str, intent: Intent, grammar: QuestionGrammar) -> tuple[str, ...]:
    """Each part understood alone; none where the question asks one thing."""
    flat = flatten(question)
    things = compared_parts(question, flat, grammar) if intent is Intent.COMPARATIVE else ()
    found = things or _parts(question, flat, grammar)
    return found if 1 < len(found) <= MOST_PARTS and all(words(part) for part in found) else ()


def _parts(question: str, flat: str, grammar: QuestionGrammar) -> tuple[str, ...]:
    first, *later = [question[start:end] for start, end in find_parts(question, without_quotes(flat), grammar)] or [""]
    if later and is_bare_question_word(first, grammar):  # «¿cuándo y dónde se firmó?»
        first = understood_alone(first, later[0], grammar)
    return first, *(understood_alone(part, first, grammar) for part in later)


def find_periods(question: str, language: str) -> tuple[TemporalContext, ...]:
    """Return the days, months, quarters and years that a question names with their year, each once."""
    periods = (each.period for each in read_dates(question, language))
    found = (TemporalContext(period.first_day, period.unit) for period in periods if period and period.first_day)
    return tuple(dict.fromkeys(found))


READ_CHARS = 1_000  # of a question: who writes more tells a story, whose words are all searched for


def transform(question: str, earlier: Sequence[Exchange] = ()) -> TransformedQuery:
    """`earlier`: the conversation's exchanges before it, oldest first."""
    started = time.perf_counter()
    query = _transform(question, earlier[-MOST_EARLIER:])
    milliseconds = round((time.perf_counter() - started) * 1000, 2)
    log.info("question transformed", **note_kinds(query), milliseconds=milliseconds)
    return query


def note_kinds(query: TransformedQuery) -> dict[str, Any]:
    """Log the kind of question, also in the request's last log line; return the fields."""
    kinds = {
        "language": query.language,
        "transformation": query.strategy,
        "intent": query.intent.value,
        "direction": query.direction,
        "parts": len(query.sub_queries),
        "multi_hop": query.is_multi_hop,
        "hyde": bool(query.hypothetical_answer),
    }
    note(**kinds)
    return kinds


def _transform(question: str, earlier: Sequence[Exchange]) -> TransformedQuery:
    language = find_language(question, earlier)
    grammar = read_question_grammar(language)
    read = question[:READ_CHARS]
    told, strategy = contextualize(read, earlier, grammar)
    if told == read:
        told = bare_question(read)
    flat = without_quotes(flatten(told))
    spans = find_parts(told, flat, grammar)
    intent, direction = find_intent(flat, grammar, end=spans[0][1] if len(spans) > 1 else None)
    return TransformedQuery(
        question,
        language,
        intent,
        decompose(told, intent, grammar),
        direction,
        intent is not Intent.COMPARATIVE and grammar.multi_hop.search(flat) is not None,
        find_named(told, grammar.language),
        find_periods(told, language),
        f"{told}{question[READ_CHARS:]}" if told != read else "",
        strategy=strategy,
    )
