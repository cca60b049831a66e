"""Which sentences of the evidence answer a question, if any."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain

from graphrag.extractive_answers.matching import Said, Wanted
from graphrag.language import fold, words
from graphrag.models import Place, Span
from graphrag.places import named_cells, split_rows
from graphrag.sentences import is_heading, plain
from graphrag.table_dates import asks_what_is_late, late_rows, say_late

MAX_STATEMENTS = 3
MAX_LATE = 10  # rows
NEAR_BEST = 4.0  # in score: further below the best sentence another one is not worth adding
SAME = 0.6  # share of words from which two sentences say the same
MIN_WORDS = 4

# What has a form of its own is in a sentence or is not.
_FORMS = (
    (re.compile(r"\bt[ée]l[ée]fono|\btéléphone|\b(?:tele)?phone\b", re.I), re.compile(r"\+?\d(?:[ .()-]*\d){6,}")),
    (re.compile(r"\be-?mail\b|\bcorreo electrónico|\bcourriel|\badresse électronique", re.I), re.compile(r"\S@\S")),
)
_IDENTIFIER = re.compile(r"(?=.*\d)(?:.*[^\W\d]|.*\d{3}).*")  # H2, 2019: a question that names one is about it
_PERIOD_BEFORE = re.compile(r"\([^()]*\)(?= ?: [^\W\d])")  # «(noviembre de 2025: 1.000): sube 250» is of December
_TABLE_RULE = re.compile(r"[\s|:-]+")


@dataclass(frozen=True, slots=True)
class Excerpt:
    number: int  # its mark in the answer
    title: str
    text: str
    language: str
    start_char: int = 0  # in its document, like the offsets of its places
    places: tuple[Place, ...] = ()
    headers: tuple[str, ...] = ()  # of the table whose rows it holds
    suspicious: tuple[Span, ...] = ()  # of its text: what speaks to a language model, and answers nothing
    score: float = 0.35  # how well it matches the question, in [0, 1]; where nobody judged it, as in a doubtful case

    @property
    def is_of_table(self) -> bool:
        return any(place.cells for place in self.places)


@dataclass(frozen=True, slots=True)
class Statement:
    text: str
    number: int
    language: str
    score: float
    is_row: bool = False  # of a table; several make a list


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    excerpt: Excerpt
    is_statement: bool


def extract_answer(
    question: str,
    excerpts: Sequence[Excerpt],
    *,
    language: str,
    parts: Sequence[str] = (),
    today: date | None = None,
) -> list[Statement]:
    """At most three sentences, the best first, and one for each part of the question; empty where none answers. A
    question for what is late gets the rows of tables that are so today."""
    if today and asks_what_is_late(question) and (late := _late(question, excerpts, language, today)):
        return late
    sentences = [sentence for excerpt in excerpts for sentence in _sentences(excerpt)]
    candidates = [
        number
        for number, sentence in enumerate(sentences)
        if sentence.is_statement and _is_of_form(question, sentence.text)
    ]
    if not candidates or _names_something_else(question, excerpts):
        return []
    if parts:
        found = [extract_answer(part, excerpts, language=language, today=today)[:1] for part in parts]
        statements = distinct(chain.from_iterable(found))
        return statements[:MAX_STATEMENTS] or extract_answer(question, excerpts, language=language, today=today)
    wanted = Wanted(question, language, _said(sentences))
    scores = {number: wanted.score(number) for number in candidates}
    ranked = sorted(candidates, key=lambda number: -scores[number])
    first = ranked[0]
    if not wanted.is_answered_by(first, is_across=sentences[first].excerpt.language != language):
        return []
    met = wanted.met_by(first)  # rows are alike in all that they do not say themselves
    good = [
        _statement(sentences[number], scores[number])
        for number in ranked
        if scores[number] >= scores[first] - NEAR_BEST
        and (met <= wanted.met_by(number) or not sentences[number].excerpt.is_of_table)
    ]
    return distinct(good)[:MAX_STATEMENTS]


def _statement(sentence: _Sentence, score: float) -> Statement:
    excerpt = sentence.excerpt
    return Statement(finished(plain(sentence.text)), excerpt.number, excerpt.language, score, excerpt.is_of_table)


def _said(sentences: Sequence[_Sentence]) -> list[Said]:
    return [
        Said(
            _PERIOD_BEFORE.sub("", sentence.text) if sentence.excerpt.is_of_table else sentence.text,
            sentence.excerpt.title,
            sentence.excerpt.number,
            sentence.excerpt.score,
        )
        for sentence in sentences
    ]


def _late(question: str, excerpts: Sequence[Excerpt], language: str, today: date) -> list[Statement]:
    """A row each, the open ones first."""
    found = []
    for excerpt in excerpts:
        lines = [excerpt.text[span.start : span.end].strip() for span in _split(excerpt)]
        rows = [{number: value for number, _, value in named_cells(line, excerpt.headers)} for line in lines]
        names = _named_values(question, [value for row in rows for value in row.values()])
        for late in late_rows(excerpt.headers, rows, today=today, language=excerpt.language):
            if names <= {fold(word) for value in rows[late.row].values() for word in words(value)}:
                text = f"{plain(lines[late.row])} — {say_late(late, today=today, language=language)}."
                found.append((late.done is not None, Statement(text, excerpt.number, excerpt.language, 1.0, True)))
    return [statement for _, statement in sorted(found, key=lambda pair: pair[0])][:MAX_LATE]


def _named_values(question: str, values: Sequence[str]) -> set[str]:
    """The capitalised words of the question, but its first, that a table has in its cells: only those rows count."""
    named = {fold(word) for word in words(question)[1:] if word[:1].isupper() or _IDENTIFIER.fullmatch(word)}
    return named & {fold(word) for value in values for word in words(value)}


def _split(excerpt: Excerpt) -> Sequence[Span]:
    spans = split_rows(excerpt.text, excerpt.places, start=excerpt.start_char)
    return [span for span in spans if not any(s.start < span.end and span.start < s.end for s in excerpt.suspicious)]


def _sentences(excerpt: Excerpt) -> Iterator[_Sentence]:
    for span in _split(excerpt):
        text = excerpt.text[span.start : span.end]
        yield _Sentence(text, excerpt, not _is_no_statement(text, excerpt) and len(words(text)) >= MIN_WORDS)


def _is_no_statement(text: str, excerpt: Excerpt) -> bool:
    """Headings, rules, and what only stands over a table: no sentence and no row."""
    said = plain(text)
    is_over_table = excerpt.is_of_table and not said.endswith(".") and "; " not in said
    return is_heading(text) or said == excerpt.title or is_over_table or _TABLE_RULE.fullmatch(text) is not None


def _is_of_form(question: str, text: str) -> bool:
    return all(shows.search(text) for asks, shows in _FORMS if asks.search(question))


def _names_something_else(question: str, excerpts: Sequence[Excerpt]) -> bool:
    """Whether the question names an identifier (H3, 2019) that none of the excerpts holds."""
    named = {fold(word) for word in words(question) if _IDENTIFIER.fullmatch(word)}
    held = {fold(word) for excerpt in excerpts for word in words(f"{excerpt.title} {excerpt.text}")}
    return bool(named - held)


def distinct(statements: Iterator[Statement] | Sequence[Statement]) -> list[Statement]:
    """Of several that say the same, the first."""
    kept: list[tuple[Statement, set[str]]] = []
    for statement in statements:
        own = {fold(word) for word in words(statement.text)}
        if statement.is_row or all(len(own & other) < SAME * min(len(own), len(other)) for _, other in kept):
            kept.append((statement, own))
    return [statement for statement, _ in kept]


def finished(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…", ":", "»", '"')) else f"{text}."
