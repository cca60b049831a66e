"""A comparison as searches of its own: one for each of the things that it sets against each other."""

from collections.abc import Sequence

from graphrag.query_transformation.compared_things import Comparison, Span
from graphrag.query_transformation.comparing_constructions import AND, BETWEEN, OR, find_things
from graphrag.query_transformation.flattening import without_quotes
from graphrag.query_transformation.focus import beginning
from graphrag.query_transformation.grammar import Grammar
from graphrag.query_transformation.phrases import Word, read_words


def things_apart(text: str, flat: str, grammar: Grammar) -> tuple[str, ...]:
    """For each compared thing the compared with the others left out; none where it names no two things."""
    words = read_words(text, flat)
    start = beginning(without_quotes(flat), grammar.asking)
    if any(word.flat in BETWEEN | OR for word in words if word.start < start):  # «entre A y B, ¿cuál …?»
        start = 0
    compared = Comparison([word for word in words if word.start >= start], text, grammar)
    things = find_things(compared)
    return _spelled(things, compared) if things else ()


def _spelled(things: Sequence[Span], compared: Comparison) -> tuple[str, ...]:
    """Shared words in their order, one thing in the place of the first, words of comparing left out."""
    inside = {number for span in things for number in range(*span)}
    texts = []
    for thing in things:
        numbers: list[int] = []
        for number in range(len(compared.words)):
            if number == min(inside):
                numbers += range(*thing)
            if number not in inside and compared.words[number].flat not in compared.comparing.words:
                numbers.append(number)
        texts.append(_joined_text([compared.words[number] for number in numbers], compared))
    return tuple(texts)


def _joined_text(words: Sequence[Word], compared: Comparison) -> str:
    """Without the conjunctions and prepositions that the left-out things leave at the edges or beside each other."""
    loose = OR | AND | BETWEEN
    kept = [word for word in words if word.flat not in loose or word.is_name]
    empty = (
        compared.grammar.clauses.breaks | compared.grammar.clauses.prepositions | compared.grammar.clauses.determiners
    )
    while kept and kept[-1].flat in empty and not kept[-1].is_name:
        kept.pop()
    while kept and not compared.is_content(kept[0]) and kept[0].flat not in compared.grammar.clauses.determiners:
        kept.pop(0)
    spelled = ""
    for word in kept:
        glue = "" if spelled.endswith(("'", "’")) else " "
        after = compared.text[word.end : word.end + 1]
        spelled += f"{glue}{word.text}{after if after in ('’', chr(39)) and word.end < len(compared.text) - 1 else ''}"
    return spelled.strip()
