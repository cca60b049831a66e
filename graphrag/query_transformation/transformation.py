"""A question and what the rules understand of it, in Spanish, French and English."""

import time
from collections.abc import Sequence

from graphrag import language as languages
from graphrag.language import ANSWER_LANGUAGES, fold
from graphrag.models import Intent, TransformedQuery
from graphrag.query_transformation.decomposition import decompose
from graphrag.query_transformation.flattening import flatten, without_quotes
from graphrag.query_transformation.grammars import GRAMMARS
from graphrag.query_transformation.intent import find_intent
from graphrag.query_transformation.kinds import note_kinds
from graphrag.query_transformation.names import find_dates, find_names
from graphrag.query_transformation.parts import find_parts
from graphrag.query_transformation.topic import MOST_EARLIER, Exchange, contextualize
from graphrag.telemetry import log

FEW_WORDS = 3  # too few to tell a language by their letters
READ_CHARS = 1_000  # of a question: who writes more tells a story, whose words are all searched for


def transform(question: str, earlier: Sequence[Exchange] = ()) -> TransformedQuery:
    """`earlier`: the conversation's exchanges before it, oldest first."""
    started = time.perf_counter()
    query = _transform(question, earlier[-MOST_EARLIER:])
    milliseconds = round((time.perf_counter() - started) * 1000, 2)
    log.info("question transformed", **note_kinds(query), milliseconds=milliseconds)
    return query


def _transform(question: str, earlier: Sequence[Exchange]) -> TransformedQuery:
    language = find_language(question, earlier)
    grammar = GRAMMARS[language]
    read = question[:READ_CHARS]
    told, strategy = contextualize(read, earlier, grammar)
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
        find_names(told, grammar),
        find_dates(told, language),
        f"{told}{question[READ_CHARS:]}" if told != read else "",
        strategy=strategy,
    )


def find_language(question: str, earlier: Sequence[Exchange] = ()) -> str:
    """Of few words, the one that alone has them as its own; else that of the conversation."""
    found = languages.words(question)
    if len(found) > FEW_WORDS or not earlier:
        return languages.detect_question(question)
    owners = [
        language for language in ANSWER_LANGUAGES if any(fold(word) in languages.stop_words(language) for word in found)
    ]
    return owners[0] if len(owners) == 1 else find_language(earlier[-1].question, earlier[:-1])
