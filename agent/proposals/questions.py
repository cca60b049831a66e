"""Questions that rules make of a document: causes, dates, rows of tables."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, zip_longest
from typing import Literal

from graphrag.causal_graph.extraction import extract_relations
from graphrag.causal_graph.grammar import read_causal_grammar
from graphrag.extractive_answers.statements import Excerpt
from graphrag.extractive_answers.table_answers import SeenRow, SeenTable, is_total, row_label, tables
from graphrag.linguistics.dates import only_year, parse_period, read_dates
from graphrag.linguistics.language import content_words, fold, stop_words, words
from graphrag.linguistics.normalization import normalize
from graphrag.linguistics.numbers import write_number
from graphrag.linguistics.rules import AnyCase, Pattern, Rules, read_rules
from graphrag.linguistics.sentences import is_heading, plain
from graphrag.llm.prompt_injection import find_instructions
from graphrag.models import Chunk, Document, Span
from graphrag.models.evaluation import Category
from graphrag.models.graph import CausalRelation, Polarity
from graphrag.parsers.source_locations import overlapping, rows_within, split_rows

MIN_CONFIDENCE = 0.7  # in a relation: below it the wording may mean something else
MIN_WORDS, MAX_WORDS = 3, 18  # of a clause that makes a question which is read at once
MAX_PHRASE_WORDS = 8  # of a noun phrase: a longer one may be a clause whose verb the grammar does not know
MIN_CONTENT_WORDS = {"why": 4, "when": 2}  # of a question without a name or a number, which may be about anything
YEAR_CHARS = 1_000  # of a document, in which its only year is looked for


class QuestionRules(Rules):
    wording: dict[str, dict[str, str]]
    points_out: dict[str, AnyCase]
    possessive: AnyCase
    at: AnyCase
    determiner: Pattern
    opening: Pattern
    common_noun: Pattern
    broken_up: Pattern
    participle: Pattern
    before_verb: Pattern
    auxiliary: Pattern


@lru_cache(maxsize=1)
def _rules() -> QuestionRules:
    return read_rules(QuestionRules, "agent.proposals", "questions")


@dataclass(frozen=True, slots=True)
class MadeQuestion:
    text: str
    answer: str  # a sentence of the document, or a value of a table
    quote: str  # of the document, as it is written there
    category: Category
    kind: str  # what it was made from: "cause", "date", "row", "model"


@dataclass(frozen=True)
class ReadDocument:
    document: Document
    chunks: Sequence[Chunk]  # all of them, in order: they tile its text

    @property
    def language(self) -> str:
        return self.document.language

    @cached_property
    def text(self) -> str:
        return "".join(chunk.content for chunk in self.chunks)

    @cached_property
    def orders(self) -> tuple[Span, ...]:
        """Spans with instructions for a language model: no question is made from them."""
        return find_instructions(self.text)

    @cached_property
    def sentences(self) -> list[str]:
        """Return the sentences of its prose: neither headings nor rows of tables nor instructions."""
        locations = overlapping((location for chunk in self.chunks for location in chunk.locations), 0, len(self.text))
        rows = set(rows_within(locations, 0))
        sentences = [span for span in split_rows(self.text, locations) if span not in rows and self.is_harmless(span)]
        texts = [self.text[span.start : span.end].strip() for span in sentences]
        return [text for text in texts if not is_heading(text) and "|" not in text]

    def is_harmless(self, span: Span) -> bool:
        return not any(order.start < span.end and span.start < order.end for order in self.orders)


def questions_by_rules(read: ReadDocument) -> list[MadeQuestion]:
    """Return one question of each kind in turn: a person wants to see different ones first."""
    kinds = (causal_questions(read), dated_questions(read), row_questions(read))
    return [question for question in chain.from_iterable(zip_longest(*kinds)) if question]


def causal_questions(read: ReadDocument) -> Iterator[MadeQuestion]:
    """Ask for the causes of factual relations, as the causal graph reads them; the answer is the stated cause."""
    for relation in extract_relations(read.text, language=read.language):
        is_sure = relation.polarity is Polarity.FACT and relation.confidence >= MIN_CONFIDENCE
        if not is_sure or not read.is_harmless(relation.quote):
            continue
        effect = plain(read.text[relation.effect.start : relation.effect.end])
        if question := _ask("why", effect, read.language) or _ask_cause(effect, relation, read):
            quote = read.text[relation.quote.start : relation.quote.end]
            yield MadeQuestion(question, plain(quote), quote, "causal", "cause")


def dated_questions(read: ReadDocument) -> Iterator[MadeQuestion]:
    """Ask when; dates without a year are those of the document's only year."""
    year = only_year(read.text[:YEAR_CHARS])
    for quote in read.sentences:
        sentence = plain(quote)
        dates = [each for each in read_dates(sentence, read.language, year=year) if each.first]
        period = dates[0].period if len(dates) == 1 else None
        if period and period.unit in ("day", "month"):
            clause = _undated(sentence, Span(dates[0].start, dates[0].end), read.language)
            if question := _ask("when", clause, read.language):
                yield MadeQuestion(question, sentence, quote, "temporal", "date")


def _undated(sentence: str, date: Span, language: str) -> str:
    """Return a sentence without the date that opens or ends it; empty where the date is not the time of all of it."""
    before, after = sentence[: date.start], sentence[date.end :].strip(" ,.")
    opening = _rules().at.search(before)
    head = before[: opening.start()].strip(" ,") if opening else ""
    ends_in_function_word = bool(head) and fold(words(head)[-1]) in stop_words(language)  # «desde el», "until"
    return "" if opening is None or ends_in_function_word or (head and after) else head or after


def row_questions(read: ReadDocument) -> Iterator[MadeQuestion]:
    """Ask for one value of each column of a table: those of its other rows would read alike."""
    sheets = [
        Excerpt(0, "", chunk.content, read.language, chunk.start_char,
                rows_within(chunk.locations, chunk.start_char), chunk.headers)
        for chunk in read.chunks
        if chunk.headers
    ]  # fmt: skip
    for excerpt in (Excerpt(0, "", read.text, read.language), *sheets):
        for table in tables(excerpt):
            for column in range(1, len(table.headers)):
                asked = (_ask_row(table, row, column, read.language) for row in table.rows if len(row.cells) > 1)
                if question := next(filter(None, asked), None):
                    yield question


def _ask_row(table: SeenTable, row: SeenRow, column: int, language: str) -> MadeQuestion | None:
    label, value = (row.cells.get(place, "").strip().rstrip(".") for place in (0, column))
    header = table.headers[column].strip()
    if not label or not value or not header or is_total(label) or len(words(label)) > MAX_WORDS:
        return None
    question = _rules().wording[language]["cell"].format(header, row_label(label, language))
    answer = write_number(int(value), language) if value.isdecimal() and len(value) > 3 else value
    return MadeQuestion(question, answer, row.text, "temporal" if parse_period(value) else "factual", "row")


def _ask(asked: Literal["why", "when"], clause: str, language: str) -> str | None:
    """Return None where no question comes of it that is grammatical and understood without the text around it."""
    text = _alone(clause, MIN_CONTENT_WORDS[asked], language)
    verb = _verb(text, language) if text else None
    if text is None or verb is None or _rules().possessive.search(text, 0, verb.start()):
        return None
    if verb.start() == 0 and language != "es":  # no subject
        return None
    turned = {"es": _spanish, "fr": _french, "en": _english}[language](text, verb)
    return _rules().wording[language][asked].format(turned)


def _ask_cause(phrase: str, relation: CausalRelation, read: ReadDocument) -> str | None:
    """Ask for the cause of a noun phrase; a verb or a colon between cause and effect tells that it is one."""
    first, last = sorted((relation.cause, relation.effect), key=lambda span: span.start)
    between = read.text[first.end : last.start]
    text = _alone(phrase, MIN_CONTENT_WORDS["why"], read.language)
    is_phrase = (
        text
        and _rules().determiner.match(text)
        and not _rules().possessive.search(text)
        and len(words(text)) <= MAX_PHRASE_WORDS
    )
    if not is_phrase or _verb(phrase, read.language) or not (":" in between or _verb(between, read.language)):
        return None
    return _rules().wording[read.language]["cause"].format(text)


def _alone(clause: str, min_content_words: int, language: str) -> str | None:
    """Return one clause without asides that names what it is about, as it stands within a sentence; else None."""
    text = " ".join(clause.split()).strip(" .;:,")
    is_short = MIN_WORDS <= len(words(text)) <= MAX_WORDS
    if (
        not is_short
        or _rules().broken_up.search(text)
        or not _rules().opening.match(text)
        or _rules().points_out[language].search(text)
    ):
        return None
    is_named = any(word[0].isupper() or word[0].isdigit() for word in words(text)[1:])
    if not is_named and len(content_words(text, language)) < min_content_words:
        return None
    is_lowered = _rules().common_noun.match(text) or fold(words(text)[0]) in stop_words(language)
    return text[0].lower() + text[1:] if is_lowered else text


def _verb(text: str, language: str) -> re.Match[str] | None:
    """Return the first finite verb, which is no name that looks like one: «Abadía»."""
    found = re.finditer(read_causal_grammar(language).finite, normalize(text))
    return next((match for match in found if text[match.start()].islower()), None)


def _spanish(clause: str, verb: re.Match[str]) -> str:
    """Place the verb before its subject: «¿Por qué no se revisó el gráfico hasta abril?»."""
    start, end = verb.span()
    if before := _rules().before_verb.search(clause[:start]):
        start = before.start()
    if participle := _rules().participle.match(clause, end):
        end = participle.end()
    return " ".join(filter(None, [clause[start:end].strip(), clause[:start].strip(), clause[end:].strip()]))


def _french(clause: str, verb: re.Match[str]) -> str:
    return f"est-ce qu'{clause}" if fold(clause[0]) in "aeiouyh" else f"est-ce que {clause}"


def _english(clause: str, verb: re.Match[str]) -> str:
    """Place an auxiliary before the subject: "Why was lot A-2517 recalled?"; another verb stays where it is."""
    subject, said, rest = clause[: verb.start()].strip(), verb[0].strip(), clause[verb.end() :].strip()
    return (
        f"{said} {subject} {rest}"
        if subject and rest and _rules().auxiliary.fullmatch(said)
        else f"is it that {clause}"
    )
