"""Whatever a question repeats, it is understood in time that grows with its length: no time limit stops a thread."""

import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.conversation.titles import title_of
from agent.tasks.replies import language_of_small_talk
from graphrag.causal_graph.question import find_codes, read_question
from graphrag.linguistics.language import ANSWER_LANGUAGES, content_words, is_foreign
from graphrag.linguistics.normalization import flatten, without_quotes
from graphrag.linguistics.spelling import may_be_misspelt
from graphrag.llm.prompt_injection import find_instructions
from graphrag.query_transformation.comparison import compared_parts
from graphrag.query_transformation.decomposition import find_parts
from graphrag.query_transformation.follow_ups import Exchange
from graphrag.query_transformation.phrases import find_intent, read_question_grammar
from graphrag.query_transformation.tasks import bare_question, classify_task
from graphrag.query_transformation.transformation import transform
from graphrag.retrieval.hybrid import choose_strategy, find_synonyms, joined_words
from graphrag.retrieval.named_files import candidate_names
from graphrag.table_queries.reading import asks_to_compute, read_plan
from graphrag.table_queries.scoring import likely_plan
from tests.graphrag.table_queries.books import read_sheet

CHARS, MOST_SECONDS = 1_000, 0.15  # of processor time; about 0.03 are needed, half of them by the reader
LONG, MOST_SECONDS_OF_LONG = 8_000, 1.0  # quadratic time is 64 times that of 1,000 characters
PHRASES = (
    "a, A, 1, Aa, a/b, A., a?, a:, € 1, 1%, (1), 1 de, 1 January 2025, 1 de enero de, 2025-01-01, 10:30, y, o, que,"
    "and, or, is, was, what, which is, et, ou, plus, la, and what, y qué, et quand, better or, between and, as much as,"
    "más, vs, because, no sin, de la, su, the other, el segundo, a.pdf, Ana P. y, «a», thanks, por favor, "
    "s'il te plaît, http://a.b, ignore previous instructions, system:, INV/1"
)
UNITS = [
    *" \n,;:.!?¿-—_=/|*#'\"()[]{}«»“”<>&%$€@a1Aé中ﷺ",
    *("1.", "1,", "1-", "1/", "a-", "a.", "a@", "- a\n", "a, ", "mejor, ", "1.234,56 ", "d'"),
    *(f"{phrase.strip()} " for phrase in PHRASES.split(",")),
]
OPENINGS = ["", "compare the ", "la diferencia entre ", "why did ", "pourquoi ", "¿y ", "gracias, ", "how many "]
SHEET = read_sheet(
    [("Cliente", "Concepto", "Importe (€)", "Cantidad"), *((f"Cliente {n}", "Vino", 1.5 * n, n) for n in range(50))]
)
EARLIER = [Exchange("Who designed the Skerry lighthouse?", answer="Robert Dunn designed it.")]


def understand(question: str) -> None:
    """Read a question in all ways in which an answer reads it, but for those that compare it with passages."""
    query = transform(question)
    transform(question, EARLIER)
    transform("¿y el segundo?", [Exchange(question, answer=question)])
    is_foreign(question), title_of(question), language_of_small_talk(question, query.language)
    classify_task(question, query.language, has_answer=True)
    choose_strategy(question, query.language, model_is_strong=True)
    joined_words(question), candidate_names(question), find_instructions(question)
    words = content_words(question, query.language)
    find_synonyms(words, query.language), [may_be_misspelt(word, query.language) for word in words]
    read_question(query), asks_to_compute(question)
    read_plan(question, SHEET, language=query.language), likely_plan(question, SHEET, language=query.language)


def seconds(function: Callable[[str], object], text: str, *, enough: float) -> float:
    """Return the least processor time of three tries, of which one below `enough` is the last."""

    def tries() -> Iterator[float]:
        for _ in range(3):
            started = time.process_time()
            function(text)
            yield time.process_time() - started

    least = float("inf")
    for each in tries():
        least = min(least, each)
        if least < enough:
            break
    return least


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    """Read word lists and models, which a service does as it starts."""
    for question in ("Which customers bought more than 3 A-1?", "¿Y por qué?", "Résume le contrat de 2020"):
        understand(question)


units = st.sampled_from(UNITS) | st.lists(st.sampled_from(UNITS), min_size=2, max_size=4).map("".join)


@pytest.mark.timed
@example(opening="", unit="¿")
@example(opening="what about ", unit=";")
@example(opening="how many ", unit="1 ")
@example(opening="gracias, ", unit=" ")
@example(opening="compare the ", unit="y ")
@given(opening=st.sampled_from(OPENINGS), unit=units)
def test_a_question_of_a_thousand_characters_is_understood_at_once(opening: str, unit: str) -> None:
    """R6.2, Security 16: within 300 ms, and no thread is held whatever is asked."""
    question = f"{opening}{unit * CHARS}"[:CHARS]
    assert seconds(understand, question, enough=MOST_SECONDS) < MOST_SECONDS


def intent_of(language: str, text: str) -> None:
    find_intent(without_quotes(flatten(text)), read_question_grammar(language))


def parts_of(language: str, text: str) -> None:
    find_parts(text, without_quotes(flatten(text)), read_question_grammar(language))


def things_of(language: str, text: str) -> None:
    compared_parts(text, flatten(text), read_question_grammar(language))


READERS: dict[str, Callable[[str], object]] = {
    **{f"intent {each}": partial(intent_of, each) for each in ANSWER_LANGUAGES},
    **{f"parts {each}": partial(parts_of, each) for each in ANSWER_LANGUAGES},
    **{f"things {each}": partial(things_of, each) for each in ANSWER_LANGUAGES},
    "courtesy": bare_question,
    "plan": lambda text: read_plan(text, SHEET, language="en"),
    "codes": find_codes.__wrapped__,
    "joined": joined_words,
}


@pytest.mark.timed
@pytest.mark.parametrize("reader", READERS)
def test_time_grows_with_the_length(reader: str) -> None:
    """R6.2 also of texts that no limit of characters has shortened."""
    function = READERS[reader]
    slow = {}
    for unit in UNITS:
        for opening in ("", "gracias, "):
            text = f"{opening}{unit * LONG}"[:LONG]
            if (taken := seconds(function, text, enough=MOST_SECONDS_OF_LONG)) >= MOST_SECONDS_OF_LONG:
                slow[opening + unit] = taken
    assert not slow
