"""What a question must be searched for, part by part."""

from graphrag.language import words
from graphrag.models import Intent
from graphrag.query_transformation.comparison import things_apart
from graphrag.query_transformation.flattening import flatten, without_quotes
from graphrag.query_transformation.grammar import Grammar
from graphrag.query_transformation.parts import find_parts
from graphrag.query_transformation.reference import is_bare_question_word, understood_alone

MOST_PARTS = 6


def decompose(question: str, intent: Intent, grammar: Grammar) -> tuple[str, ...]:
    """Each part understood alone; none where the question asks one thing."""
    flat = flatten(question)
    things = things_apart(question, flat, grammar) if intent is Intent.COMPARATIVE else ()
    found = things or _parts(question, flat, grammar)
    return found if 1 < len(found) <= MOST_PARTS and all(words(part) for part in found) else ()


def _parts(question: str, flat: str, grammar: Grammar) -> tuple[str, ...]:
    first, *later = [question[start:end] for start, end in find_parts(question, without_quotes(flat), grammar)] or [""]
    if later and is_bare_question_word(first, grammar):  # «¿cuándo y dónde se firmó?»
        first = understood_alone(first, later[0], grammar)
    return first, *(understood_alone(part, first, grammar) for part in later)
