"""Extraction of the sentences of the evidence that answer a question."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from operator import itemgetter

import numpy as np

from graphrag.causal_graph.extraction import states_cause
from graphrag.embeddings.reader import Reader, SentenceInContext, open_reader
from graphrag.extractive_answers.answerability import (
    LEAST_READ,
    MOST_GAP,
    Outcome,
    SentenceFeatures,
    judge,
    sentence_probability,
)
from graphrag.extractive_answers.sentence_matching import Said, SentenceMatcher
from graphrag.extractive_answers.statements import Excerpt, ExtractedStatement, distinct, finished
from graphrag.extractive_answers.table_answers import asks_what_is_late, late_rows, say_late
from graphrag.extractive_answers.units import AnswerUnit, asks_for_list, asks_for_procedure, gather_list, read_units
from graphrag.linguistics.language import fold, words
from graphrag.linguistics.sentences import is_heading, plain
from graphrag.models import Direction, Span
from graphrag.parsers.source_locations import named_cells
from graphrag.query_transformation.tasks import TASKS, Task

# Logarithms of the reader's odds, below which nothing is on the topic; the second where no word of the question is met.
LEAST_ON_TOPIC, LEAST_UNMET = -5.0, -1.0
ACROSS = 1.5  # in score: so much better must a sentence in another language be than one in the question's
MAX_STATEMENTS = 3  # rows
MAX_CLOSEST, CLOSEST_WORDS, MAX_AROUND = 4, 60, 2  # passages that come closest, their words, sentences on each side
MAX_SENTENCES = 2
MAX_LISTED = 4  # sentences that answer a question for several things
MAX_LATE = 10  # rows
NEAR_BEST = 4.0  # in score: further below the best row another one is not worth adding
# In score: how far below the best sentence another one is as good; how far one that adds this share of the question.
AS_GOOD, ADDS_WITHIN, ADDED = 0.7, 1.5, 0.25
FITS_WITHIN, MOST_WORDS = 1.5, 40  # and how far below one may be that keeps the answer to so many words
MIN_WORDS = 4

# What has a form of its own is in a sentence or is not.
_FORMS = (
    (re.compile(r"\bt[ée]l[ée]fono|\btéléphone|\b(?:tele)?phone\b", re.I), re.compile(r"\+?\d(?:[ .()-]*\d){6,}")),
    (re.compile(r"\be-?mail\b|\bcorreo electrónico|\bcourriel|\badresse électronique", re.I), re.compile(r"\S@\S")),
)
# H2, 2019: a question that names one is about it; not 4º or 2e, which documents write in words too.
_IDENTIFIER = re.compile(r"(?!\d+(?:[ºª]|er|re|i?[eè]me|e|nd|rd|st|th)$)(?=.*\d)(?:.*[^\W\d]|.*\d{3}).*")
_CODE, _DIGITS = re.compile(r"\b[A-Z]{1,4}-?\d+(?:-\d+)*\b"), re.compile(r"\d+")
_PERIOD_BEFORE = re.compile(r"\([^()]*\)(?= ?: [^\W\d])")  # «(noviembre de 2025: 1.000): sube 250» is of December
_TABLE_RULE = re.compile(r"[\s|:-]+")


# Sentences that the reader reads with their titles: more where none of the first answers.
READ_UP_TO, READ_LISTS, READ_WEIGHT = (3, 8, 24), 4, 1.5
MOST_ITEM_WORDS = 30  # on average, of a list that is told whole: paragraphs under numbers are no list
POSED = 3.0  # in score: so much worse may the answer be that a document gives to the question it poses itself
FRONT_MATTER_PENALTY = 3.0  # in score: so much better must front matter be than a sentence; of four told so, one is not


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    excerpt: Excerpt
    is_statement: bool
    unit: AnswerUnit


@dataclass(frozen=True, slots=True)
class ExtractedAnswer:
    """The sentences that answer a question, best first, or those that come closest."""

    outcome: Outcome
    statements: tuple[ExtractedStatement, ...] = ()  # empty where nothing comes close
    probability: float = 0.0  # that the first statement, or the list, answers the question
    listed: tuple[AnswerUnit, ...] = ()  # what a question for a list or a procedure is answered with, in its order


@dataclass(frozen=True, slots=True)
class RankedSentences:
    """The sentences of the evidence, and the numbers of those that may answer, best first."""

    matcher: SentenceMatcher
    sentences: Sequence[_Sentence]
    scores: Mapping[int, float]
    ranked: Sequence[int]
    read: Mapping[int, float]  # the reader's logarithm of the odds that a sentence answers; of the best few
    lists: Sequence[tuple[AnswerUnit, float]] = ()  # with the same; those that hold the best, where one is asked for


def extract_answer(
    question: str,
    excerpts: Sequence[Excerpt],
    *,
    language: str,
    today: date | None = None,
    thing: str = "",
    direction: Direction | None = None,
) -> ExtractedAnswer:
    """Return the sentence that answers, and a second one where the first may not do.

    `thing`: what tells the question apart from those that it is compared with; where sentences name it, others are no
    answer. `direction`: of a causal question, for which a sentence that states a cause answers sooner. Rows of a table
    that answer alike are at most three. A question about late items gets the rows of tables that are late on the day
    `today`.
    """
    if today and asks_what_is_late(question) and (late := _late(question, excerpts, language, today)):
        return ExtractedAnswer("answered", tuple(late), 1.0)
    best = find_best(question, excerpts, language=language, thing=thing)
    if best is None:
        return ExtractedAnswer("none")
    if not best.read:  # without the reader nothing is known surely
        return ExtractedAnswer("closest", tuple(_closest(best)))
    features = describe_best(question, best, direction)
    probability = sentence_probability(features)
    outcome = judge(probability)
    is_on_topic = features.read >= LEAST_ON_TOPIC and (
        best.matcher.is_met(best.ranked[0]) or max(best.read.values()) >= LEAST_UNMET
    )
    if outcome == "none" or not is_on_topic:
        return ExtractedAnswer("none", (), probability)
    if outcome == "closest" or features.lacks_figure:
        return ExtractedAnswer("closest", tuple(_closest(best)), probability)
    told, listed = tell_best(question, best, language, direction)
    return ExtractedAnswer("answered", told, probability, listed)


def tell_best(
    question: str, best: RankedSentences, language: str, direction: Direction | None
) -> tuple[tuple[ExtractedStatement, ...], tuple[AnswerUnit, ...]]:
    """Return the statements with which the best sentence answers, and what is listed in their place, if anything is."""
    first = best.ranked[0]
    excerpt = best.sentences[first].excerpt
    is_cause = bool(direction) and states_cause(best.sentences[first].text, language=excerpt.language)
    if excerpt.is_of_table:
        told, most = _alike(best), MAX_STATEMENTS
    elif direction == "causes" and not is_cause:
        told, most = _explained(best, first), MAX_SENTENCES
    elif asks_for_list(question) and best.read and len(several := _several(best)) > 1:
        told, most = several, MAX_LISTED
    else:
        told, most = [first, *_second(best)], MAX_SENTENCES
    statements = distinct([_told(best, number) for number in told])[:most]
    whole = _whole_list(best)
    listed = (whole[0],) if whole else _gathered(question, best, language) or _list_of(best.sentences, told)
    return tuple(statements), listed


def _closest(best: RankedSentences) -> list[ExtractedStatement]:
    """Return the best sentences, each in bold with what stands around it in its passage."""
    found: list[ExtractedStatement] = []
    shown: set[int] = set()
    for number in best.ranked:
        if number in shown or len(found) == MAX_CLOSEST:
            continue
        around = _around(best.sentences, number, shown)
        shown.update(around)
        texts = [finished(plain(best.sentences[each].text)) for each in around]
        place = around.index(number)
        texts[place] = f"**{texts[place]}**"
        found.append(replace(_told(best, number), text=" ".join(texts)))
    return found


def _around(sentences: Sequence[_Sentence], number: int, shown: Set[int]) -> list[int]:
    """Return the numbers of a sentence and its neighbours in the passage, up to CLOSEST_WORDS; none that is shown."""
    first = last = number
    room = CLOSEST_WORDS - len(words(sentences[number].text))
    for _ in range(MAX_AROUND):
        for other in (last + 1, first - 1):
            if (
                not 0 <= other < len(sentences)
                or other in shown
                or sentences[other].excerpt is not sentences[number].excerpt
            ):
                continue
            if not sentences[other].is_statement or len(words(sentences[other].text)) > room:
                continue
            room -= len(words(sentences[other].text))
            first, last = min(first, other), max(last, other)
    return list(range(first, last + 1))


def read_sentences(excerpt: Excerpt) -> list[SentenceInContext]:
    """Return the sentences of an excerpt that may answer, with what stands over them."""
    return [_in_context(each) for each in _sentences(excerpt) if each.is_statement]


def _is_posed(sentence: _Sentence) -> bool:
    return sentence.unit.spans[0] in sentence.excerpt.posed


def find_best(question: str, excerpts: Sequence[Excerpt], *, language: str, thing: str = "") -> RankedSentences | None:
    """Rank the sentences that may answer; None where there are none, or the question names what no excerpt holds.

    Where sentences name the `thing` that is asked about, only these may.
    """
    sentences = [sentence for excerpt in excerpts for sentence in _sentences(excerpt)]
    candidates = [
        number
        for number, sentence in enumerate(sentences)
        if sentence.is_statement and _is_of_form(question, sentence.text)
    ]
    if not candidates or _names_something_else(question, excerpts):
        return None
    reader = open_reader()
    matcher = SentenceMatcher(question, language, _said(sentences))
    candidates = [each for each in candidates if not _has_other_code(question, sentences[each].text)] or candidates
    if thing:
        candidates = [number for number in candidates if matcher.names(number, thing)] or candidates
    scores = {
        number: matcher.score(number)
        - (ACROSS if sentences[number].excerpt.language != language else 0.0)
        - (FRONT_MATTER_PENALTY if sentences[number].unit.kind == "front_matter" else 0.0)
        + (POSED if _is_posed(sentences[number]) else 0.0)
        for number in candidates
    }
    ranked = sorted(candidates, key=lambda number: -scores[number])
    if reader is None:
        return RankedSentences(matcher, sentences, scores, ranked, {})
    read: dict[int, float] = {}
    for start, end in pairwise((0, *READ_UP_TO)):
        read |= _read(reader, question, matcher, sentences, ranked[start:end])
        if max(read.values()) > 0 and (start or not asks_for_list(question)):
            break
    for number, odds in read.items():
        scores[number] += READ_WEIGHT * odds
    first = sorted(read, key=lambda number: -scores[number])
    if matcher.lacks_figure(first[0]):  # and is no answer: one that has it and answers goes before it
        first.sort(key=lambda number: read[number] <= 0 or matcher.lacks_figure(number))
    lists = find_lists(sentences, ranked) if _asks_for_several(question) else []
    odds_of_lists = reader.read(question, [passage for _, passage in lists]) if lists else []
    told = [(unit, odds) for (unit, _), odds in zip(lists, odds_of_lists, strict=True)]
    return RankedSentences(matcher, sentences, scores, [*first, *ranked[len(read) :]], read, told)


def describe_best(question: str, best: RankedSentences, direction: Direction | None) -> SentenceFeatures:
    """Return the features of the best sentence, or of the list that answers in its place."""
    first, *others = best.ranked
    whole, fit, sentence = _whole_list(best), best.matcher.fit(first), best.sentences[first]
    read = max(best.read[first], whole[1] if whole else LEAST_READ, LEAST_READ)
    # What says the same in other places makes it no less sure.
    others = [number for number in others if len(distinct([_told(best, first), _told(best, number)])) > 1]
    rivals = [best.read[number] for number in others if number in best.read]
    gap = best.scores[first] - best.scores[others[0]] if others else MOST_GAP
    is_cause = bool(direction) and states_cause(sentence.text, language=sentence.excerpt.language)
    return SentenceFeatures(
        read=read,
        rivals=float(np.logaddexp.reduce([LEAST_READ, *rivals])),
        alike=fit.alike,
        titled=fit.titled,
        before=fit.before,
        score=sentence.excerpt.score,
        gap=float(np.clip(gap, -MOST_GAP, MOST_GAP)),
        unnamed=float(not best.matcher.is_named(first)),
        lacks_figure=float(best.matcher.lacks_figure(first, read)),
        across=float(best.matcher.is_across(first)),
        length=math.log1p(len(words(sentence.text))),
        posed=float(_is_posed(sentence)),
        cause=float(is_cause),
        several=float(asks_for_list(question) or asks_for_procedure(question)),
    )


def _asks_for_several(question: str) -> bool:
    reader = open_reader()
    is_list = reader is not None and TASKS[int(reader.read_task(question).argmax())] is Task.LIST
    return is_list or asks_for_list(question) or asks_for_procedure(question)


def _read(
    reader: Reader, question: str, matcher: SentenceMatcher, sentences: Sequence[_Sentence], numbers: Sequence[int]
) -> dict[int, float]:
    odds = reader.read(question, [sentence_in_context(matcher, sentences, number) for number in numbers])
    return dict(zip(numbers, odds, strict=True))


def sentence_in_context(matcher: SentenceMatcher, sentences: Sequence[_Sentence], number: int) -> SentenceInContext:
    """Return a sentence as the reader reads it: with the one before it where that says more of the question."""
    before = plain(sentences[number - 1].text) if matcher.fit(number).before else ""
    return _in_context(sentences[number], before)


def _in_context(sentence: _Sentence, before: str = "") -> SentenceInContext:
    return SentenceInContext(_titles(sentence.excerpt, sentence.unit), plain(sentence.text), before)


def _titles(excerpt: Excerpt, unit: AnswerUnit) -> str:
    return f"{excerpt.title} {unit.inherited}".strip()


def _gathered(question: str, best: RankedSentences, language: str) -> tuple[AnswerUnit, ...]:
    """Return the rows or items that answer a question for several things beside the best one."""
    if not (asks_for_list(question) or asks_for_procedure(question)):
        return ()
    scores = [best.scores.get(number, 0.0) for number in range(len(best.sentences))]
    titles = {sentence.unit.number: sentence.excerpt.title for sentence in best.sentences}
    units = [sentence.unit for sentence in best.sentences]
    found = gather_list(question, units, scores, language=language, titles=titles)
    return tuple(found) if len(found) > 1 and found[0].kind in ("row", "item") else ()


def _whole_list(best: RankedSentences) -> tuple[AnswerUnit, float] | None:
    """Return the list that answers better than any sentence, else the one that holds the best; with its odds' log."""
    if not best.lists:
        return None
    unit, odds = max(best.lists, key=itemgetter(1))
    if odds > max([0.0, *best.read.values()]):
        return unit, odds
    first = best.sentences[best.ranked[0]]
    return next(((unit, odds) for unit, odds in best.lists if _is_within(first, unit)), None)


def _list_of(sentences: Sequence[_Sentence], told: Sequence[int]) -> tuple[AnswerUnit, ...]:
    """Return the list that holds all of several sentences: where two of its items answer, the others do too."""
    if len(told) < 2:
        return ()
    lists = [unit for unit, _ in find_lists(sentences, told[:1])]
    return tuple(unit for unit in lists if all(_is_within(sentences[number], unit) for number in told))


def find_lists(sentences: Sequence[_Sentence], ranked: Sequence[int]) -> list[tuple[AnswerUnit, SentenceInContext]]:
    """Return the lists that hold the best sentences, as the reader reads them."""
    found: dict[tuple[int, Span], tuple[AnswerUnit, SentenceInContext]] = {}
    known: dict[Excerpt, list[AnswerUnit]] = {}
    for number in ranked[: READ_UP_TO[-1]]:
        excerpt = sentences[number].excerpt
        if excerpt not in known:
            known[excerpt] = [unit for unit in read_units(excerpt) if _is_list(unit)]
        for unit in known[excerpt]:
            if _is_within(sentences[number], unit):
                passage = SentenceInContext(_titles(excerpt, unit), unit.text)
                found.setdefault((unit.number, unit.spans[0]), (unit, passage))
    return list(found.values())[:READ_LISTS]


def _is_list(unit: AnswerUnit) -> bool:
    return unit.kind == "list" and len(words(unit.text)) <= MOST_ITEM_WORDS * len(unit.items)


def _is_within(sentence: _Sentence, unit: AnswerUnit) -> bool:
    whole = unit.spans[0]
    return sentence.unit.number == unit.number and any(
        whole.start <= span.start < whole.end for span in sentence.unit.spans
    )


def _alike(best: RankedSentences) -> list[int]:
    """Return what is near the best row: rows are alike in all that they do not say themselves.

    A row that says itself what the best one says, and more of the question, is the one that is asked for.
    """
    met = best.matcher.met_by
    near = [number for number in best.ranked if best.scores[number] >= best.scores[best.ranked[0]] - NEAR_BEST]
    said = next((met(number) for number in near if met(near[0]) < met(number)), met(near[0]))
    return [number for number in near if said <= met(number) or not best.sentences[number].excerpt.is_of_table]


def _several(best: RankedSentences) -> list[int]:
    """Return the sentences that answer beside the best one, of its document: what they say makes a list."""
    first, *others = best.ranked[: len(best.read)]
    title = best.sentences[first].excerpt.title
    return [first, *(each for each in others if best.read[each] > 0 and best.sentences[each].excerpt.title == title)]


def _explained(best: RankedSentences, first: int) -> list[int]:
    """Return a sentence that states no cause with its neighbour: the one that says more of the question, or the next.

    Whoever tells what happened tells there why, often without a word for it.
    """
    fit, here = best.matcher.fit(first), best.sentences[first]
    steps = (-1, 1) if fit.before > fit.own + fit.alike or fit.before > fit.after else (1, -1)
    beside = [number for number in (first + step for step in steps) if 0 <= number < len(best.sentences)]
    fitting = [
        number
        for number in beside
        if best.sentences[number].is_statement and best.sentences[number].excerpt is here.excerpt
    ]
    return [first, *fitting[:1]]


def _second(best: RankedSentences) -> list[int]:
    """Return the sentences that are as good as the best one, or say what it lacks and answer or are hardly worse."""
    first, *others = best.ranked
    below = {number: best.scores[first] - best.scores[number] for number in others}
    room = MOST_WORDS - len(words(best.sentences[first].text))
    return [
        number
        for number in others
        if below[number] <= AS_GOOD
        or (
            (below[number] <= ADDS_WITHIN or best.read.get(number, 0.0) > 0)
            and best.matcher.added_by(number, first) >= ADDED
        )
        or (below[number] <= FITS_WITHIN and len(words(best.sentences[number].text)) <= room)
    ]


def _told(best: RankedSentences, number: int) -> ExtractedStatement:
    return _statement(best.sentences[number], best.scores[number])


def _statement(sentence: _Sentence, score: float) -> ExtractedStatement:
    excerpt = sentence.excerpt
    text = finished(plain(sentence.text))
    return ExtractedStatement(text, excerpt.number, excerpt.language, score, sentence.unit.kind == "row")


def _said(sentences: Sequence[_Sentence]) -> list[Said]:
    return [
        Said(
            _PERIOD_BEFORE.sub("", sentence.text) if sentence.excerpt.is_of_table else sentence.text,
            _titles(sentence.excerpt, sentence.unit),
            sentence.excerpt.number,
            sentence.excerpt.score,
            sentence.excerpt.language,
        )
        for sentence in sentences
    ]


def _late(question: str, excerpts: Sequence[Excerpt], language: str, today: date) -> list[ExtractedStatement]:
    """A row each, the open ones first."""
    found = []
    for excerpt in excerpts:
        lines = [excerpt.text[span.start : span.end].strip() for span in _split(excerpt)]
        rows = [{number: value for number, _, value in named_cells(line, excerpt.headers)} for line in lines]
        names = _named_values(question, [value for row in rows for value in row.values()])
        for late in late_rows(excerpt.headers, rows, today=today, language=excerpt.language):
            if names <= {fold(word) for value in rows[late.row].values() for word in words(value)}:
                text = f"{plain(lines[late.row])} — {say_late(late, today=today, language=language)}."
                found.append(
                    (late.done is not None, ExtractedStatement(text, excerpt.number, excerpt.language, 1.0, True))
                )
    return [statement for _, statement in sorted(found, key=lambda pair: pair[0])][:MAX_LATE]


def _has_other_code(question: str, text: str) -> bool:
    """Return whether a text is about lot A-2518 where the question is about lot A-2517."""
    asked, told = set(_CODE.findall(question)), set(_CODE.findall(text))
    forms = {_DIGITS.sub("0", code) for code in asked}
    return not asked & told and any(_DIGITS.sub("0", code) in forms for code in told)


def _named_values(question: str, values: Sequence[str]) -> set[str]:
    """The capitalised words of the question, but its first, that a table has in its cells: only those rows count."""
    named = {fold(word) for word in words(question)[1:] if word[:1].isupper() or _IDENTIFIER.fullmatch(word)}
    return named & {fold(word) for value in values for word in words(value)}


def _split(excerpt: Excerpt) -> Sequence[Span]:
    return [
        span
        for span in excerpt.sentences
        if not any(s.start < span.end and span.start < s.end for s in excerpt.suspicious)
    ]


def _sentences(excerpt: Excerpt) -> Iterator[_Sentence]:
    for unit in read_units(excerpt):
        if unit.kind not in ("list", "body"):  # their parts stand for them
            is_whole = unit.kind in ("row", "item", "definition") or len(words(unit.text)) >= MIN_WORDS
            is_statement = (unit.is_answer or unit.kind == "front_matter") and is_whole
            yield _Sentence(unit.text, excerpt, is_statement and not _is_no_statement(unit.text, excerpt), unit)


def _is_no_statement(text: str, excerpt: Excerpt) -> bool:
    """Headings, rules, and what only stands over a table or a list: no sentence and no row."""
    said = plain(text)
    is_lead = said.endswith(":") or (excerpt.is_of_table and not said.endswith(".") and "; " not in said)
    return not said or is_heading(text) or said == excerpt.title or is_lead or _TABLE_RULE.fullmatch(text) is not None


def _is_of_form(question: str, text: str) -> bool:
    return all(shows.search(text) for asks, shows in _FORMS if asks.search(question))


def _names_something_else(question: str, excerpts: Sequence[Excerpt]) -> bool:
    """Return whether the question names an identifier (H3, 2019) that none of the excerpts holds."""
    named = {fold(word) for word in words(question) if _IDENTIFIER.fullmatch(word)}
    held = {fold(word) for excerpt in excerpts for word in words(f"{excerpt.title} {excerpt.text}")}
    return bool(named - held)
