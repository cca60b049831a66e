"""Short answers: the value, name, reason or phrase of a sentence that a question asks for; yes or no.

A network ranks the spans of a sentence (`answer_spans`), with the reader and, where that is not sure enough, alone;
cells of a row, definitions, and yes or no have rules of their own. Nothing is returned below `LEAST_CONFIDENCE`, where
fewer than three of four answers would hold.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from graphrag.causal_graph.extraction import extract_relations
from graphrag.embeddings.reader import open_reader
from graphrag.extractive_answers.answer_spans import MAX_SPAN_WORDS, find_candidates, load_network, rank_spans
from graphrag.extractive_answers.question_reading import (
    MAX_QUESTION_CHARS,
    WORD,
    AnswerKind,
    classify_function_words,
    read_answer_kind,
    read_question,
    short_answer_rules,
)
from graphrag.linguistics.dates import only_year, read_dates
from graphrag.linguistics.language import content_stems, content_words, fold, stem, words
from graphrag.linguistics.lexicon import AMBIGUOUS, Meanings, find_meanings, opposite_of, read_concepts, share_meaning
from graphrag.linguistics.names import same_name
from graphrag.linguistics.negation import WordPolarity, read_polarity
from graphrag.linguistics.numbers import Quantity, read_quantities, write_quantity
from graphrag.linguistics.periods import name
from graphrag.linguistics.sentences import MAX_SENTENCE_CHARS
from graphrag.models import Direction
from graphrag.models.graph import Polarity

__all__ = ["LEAST_CONFIDENCE", "AnswerKind", "ShortAnswer", "find_short_answer", "load", "read_answer_kind"]

LEAST_CONFIDENCE = 0.55  # fewer of the short answers in a wrong sentence reach it than .45, which the right one asks
_CAUSAL = frozenset((AnswerKind.REASON, AnswerKind.CONSEQUENCE))
# The reader's logarithm of the probability that an answer begins and ends there. Of the causes and effects that reach
# it, .90 of the words agree with those that a person marks; of its own spans, .78 (of the 111 answers of causal-dev
# whose sentence is right, by which they were chosen).
_LEAST_OF_CLAUSE, _LEAST_OF_SPAN = -7.0, -2.0
_OF_CLAUSE, MAX_CLAUSE_WORDS = 0.87, 30
_ARTICLES = frozenset("el la lo los las un una unos unas le les l d du des une the a an".split())
_MOST_OF_A_SENTENCE = 0.8  # share of its words from which a span shortens nothing


def load() -> None:
    """Read the network and the lexicon's relations, which the first question would wait for otherwise, a second."""
    load_network()
    _antonyms()


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """An answer of a few words.

    `start` and `end` are its place in the sentence, whose words it repeats unless it is a value written for the
    question's language, or yes or no.
    """

    text: str
    kind: AnswerKind
    start: int
    end: int
    confidence: float  # in [0, 1]: the expected F1 with what would be answered


def find_short_answer(
    question: str,
    sentence: str,
    *,
    language: str,
    sentence_language: str,
    context: str = "",
    direction: Direction | None = None,
) -> ShortAnswer | None:
    """Return the short answer that a sentence gives to a question; None where it gives none, or not surely.

    `context` is what stands around the sentence: a date without a year is of the only year named there. `direction`: of
    a causal question.
    """
    if len(sentence) > MAX_SENTENCE_CHARS or len(question) > MAX_QUESTION_CHARS or not question.strip():
        return None
    kind = read_answer_kind(question, language)
    if kind is AnswerKind.TEXT and direction:
        kind = AnswerKind.REASON if direction == "causes" else AnswerKind.CONSEQUENCE
    found: ShortAnswer | None
    if kind is AnswerKind.YES_NO:
        return _judge(question, sentence, language, sentence_language)
    if cells := _read_cells(sentence):
        found = _find_cell(question, kind, cells, language, sentence_language)
    elif kind in _CAUSAL and language != sentence_language:
        return None  # a clause, which would have to be translated
    else:
        found = _find_predicate(question, kind, sentence, language, sentence_language) or _find_span(
            question, kind, sentence, language, sentence_language
        )
        if kind in _CAUSAL and (clause := _find_clause(question, kind, sentence, language)):
            found = found if _is_without_article(found, clause, sentence) else clause
    if found is None or language == sentence_language:
        return found
    text = _written(sentence, found, context, language, sentence_language)
    return ShortAnswer(text, kind, found.start, found.end, found.confidence)


def _find_clause(question: str, kind: AnswerKind, sentence: str, language: str) -> ShortAnswer | None:
    """Return the cause or the effect that a sentence states, the likeliest one; else the reader's own span."""
    reader = open_reader()
    edges = reader.find_edges(question, sentence) if reader else None
    bounds = [match.span() for match in WORD.finditer(sentence)]
    if edges is None or not bounds:
        return None
    begins, ends = (values.tolist() for values in edges.of_words(bounds))
    stated = [(begins[one] + ends[other], one, other) for one, other in _stated(kind, sentence, language, bounds)]
    score, first, last = max(stated, default=(-math.inf, 0, 0))
    confidence = _OF_CLAUSE
    if score < _LEAST_OF_CLAUSE:
        count, confidence = len(bounds), LEAST_CONFIDENCE
        spans = ((one, other) for one in range(count) for other in range(one, min(count, one + MAX_CLAUSE_WORDS)))
        score, first, last = max((begins[one] + ends[other], one, other) for one, other in spans)
        if score < _LEAST_OF_SPAN:
            return None
    start, end = bounds[first][0], bounds[last][1]
    text = sentence[start:end]
    if last - first + 1 > _MOST_OF_A_SENTENCE * len(bounds):
        return None
    if content_stems(text, language) <= content_stems(question, language):
        return None
    return ShortAnswer(text, kind, start, end, confidence)


def _is_without_article(span: ShortAnswer | None, clause: ShortAnswer, sentence: str) -> bool:
    if span is None or span.end != clause.end:
        return False
    left_out = fold(sentence[clause.start : span.start].strip(" '’"))
    return left_out in _ARTICLES  # and no possessive: «su desastrosa situación»


def _stated(
    kind: AnswerKind, sentence: str, language: str, bounds: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the first and last word of each cause, or of each effect, that a sentence gives as a fact."""
    for relation in extract_relations(sentence, language=language):
        clause = relation.cause if kind is AnswerKind.REASON else relation.effect
        held = [number for number, (start, end) in enumerate(bounds) if clause.start <= start and end <= clause.end]
        if held and relation.polarity is Polarity.FACT:
            yield held[0], held[-1]


def _find_span(
    question: str, kind: AnswerKind, sentence: str, language: str, sentence_language: str
) -> ShortAnswer | None:
    candidates = find_candidates(read_question(question, language), sentence, sentence_language)
    if candidates is None:
        return None
    reader = open_reader()
    best = rank_spans(candidates, reader.find_edges(question, sentence) if reader else None)
    if reader and best.expected_f1 < LEAST_CONFIDENCE:
        best = rank_spans(candidates)
    text = sentence[best.start : best.end]
    if best.expected_f1 < LEAST_CONFIDENCE or len(words(text)) > _MOST_OF_A_SENTENCE * len(words(sentence)):
        return None
    if content_stems(text, sentence_language) <= content_stems(question, language):
        return None
    return ShortAnswer(text, kind, best.start, best.end, best.expected_f1)


def _written(sentence: str, found: ShortAnswer, context: str, language: str, sentence_language: str) -> str:
    """Return a quantity or a date as the question's language writes it; anything else as it stands."""
    for each in read_dates(sentence, sentence_language, year=only_year(context)):
        if each.start <= found.start and found.end <= each.end and each.period:
            return name(each.period, language)
    for quantity in read_quantities(sentence, sentence_language):
        if _covers(quantity, found) and not quantity.is_ordinal:
            return write_quantity(quantity, language)
    return found.text


def _covers(quantity: Quantity, found: ShortAnswer) -> bool:
    return quantity.start <= found.start and found.end <= quantity.end


_CELL = re.compile(r"\s*([^:]{1,80}): (.*\S)\s*")
_UNIT = re.compile(r"\(([^()]{1,12})\)\s*$")
_DIGITS = re.compile(r"[-+−]?\d[\d.,\s]*")
_NUMERIC = frozenset({AnswerKind.AMOUNT, AnswerKind.NUMBER, AnswerKind.DURATION})
_FITS = 0.5  # of a value of the kind that is asked for, beside the words that a header shares with the question


@dataclass(frozen=True, slots=True)
class _Cell:
    header: str
    value: str
    start: int


def _read_cells(sentence: str) -> list[_Cell]:
    """Return the cells of a row, «Mes: junio; Ventas (€): 120»; none of a sentence."""
    found, start = [], 0
    for part in sentence.rstrip(" .").split(";") if ";" in sentence else ():
        if part.strip():
            match = _CELL.fullmatch(part)
            if match is None:
                return []
            found.append(_Cell(match[1], match[2], start + match.start(2)))
        start += len(part) + 1
    return found if len(found) > 1 else []


def _find_cell(
    question: str, kind: AnswerKind, cells: Sequence[_Cell], language: str, row_language: str
) -> ShortAnswer | None:
    asked = content_words(question, language)
    scored = []
    for cell in cells:
        value = content_words(cell.value, row_language)
        if all(_is_said(word, asked, row_language, language) for word in value):
            continue
        header = content_words(_UNIT.sub("", cell.header), row_language)
        shared = sum(_is_said(word, asked, row_language, language) for word in header) / max(1, len(header))
        scored.append((shared + _FITS * _fits(kind, cell, row_language), cell))
    scored.sort(key=lambda pair: -pair[0])
    if not scored or scored[0][0] < _FITS or (len(scored) > 1 and scored[0][0] == scored[1][0]):
        return None
    score, cell = scored[0]
    text, confidence = _with_unit(cell, row_language), min(1.0, LEAST_CONFIDENCE + score / 4)
    return ShortAnswer(text, kind, cell.start, cell.start + len(cell.value), confidence)


def _fits(kind: AnswerKind, cell: _Cell, language: str) -> bool:
    if kind in _NUMERIC:
        return bool(_DIGITS.match(cell.value)) and not read_dates(cell.value, language)
    if kind is AnswerKind.DATE:
        return bool(read_dates(cell.value, language))
    return kind in (AnswerKind.PERSON, AnswerKind.ORGANISATION, AnswerKind.PLACE) and cell.value[:1].isupper()


def _with_unit(cell: _Cell, language: str) -> str:
    """Add the unit of the header to a bare number: «Ventas (€): 120» → «120 €»."""
    unit = _UNIT.search(cell.header)
    if unit and _DIGITS.fullmatch(cell.value):
        quantities = read_quantities(f"{cell.value} {unit[1]}", language)
        if len(quantities) == 1 and quantities[0].unit:
            return write_quantity(quantities[0], language)
    return cell.value


def _is_said(word: str, among: Sequence[str], language: str, other_language: str) -> bool:
    """Return whether one of the words is a form, a translation or a synonym of a word."""
    folded, own = fold(word), find_meanings([word], language)[0]
    return any(
        folded == fold(other)
        or (language == other_language and stem(word, language) == stem(other, language))
        or (word[0].isupper() and same_name(folded, fold(other)))
        or share_meaning(own, find_meanings([other], other_language)[0]) >= AMBIGUOUS
        for other in among
    )


_CLAUSE_END = re.compile(r"[;:.!?()]|\s[–—]\s|,\s")
_LEAST_WORDS = 4  # of a definition that ends at a comma


def _find_predicate(
    question: str, kind: AnswerKind, sentence: str, language: str, sentence_language: str
) -> ShortAnswer | None:
    """Return what a sentence says that the thing asked about is: "X is *a kind of Y*, which …"."""
    if kind is not AnswerKind.DEFINITION:
        return None
    asked = content_words(question, language)
    classes = classify_function_words(sentence_language)
    for match in re.finditer(r"\w+", sentence):
        if "be" not in classes.get(fold(match.group()), ()):
            continue
        subject = content_words(sentence[: match.start()], sentence_language) if match.start() else []
        if not subject or not all(_is_said(word, asked, sentence_language, language) for word in subject):
            return None
        start = match.end() + 1
        ends = [end.start() for end in _CLAUSE_END.finditer(sentence, start)]
        end = next((at for at in ends if len(words(sentence[start:at])) >= _LEAST_WORDS), len(sentence.rstrip(" .")))
        text = sentence[start:end]
        if not 1 < len(words(text)) <= MAX_SPAN_WORDS:
            return None
        return ShortAnswer(text, kind, start, end, _DEFINED)
    return None


_DEFINED = 0.7  # how surely a predicate defines
_LEAST_SAID = 0.75  # share of the words of a yes-or-no question that its sentence has to say


def _judge(question: str, sentence: str, language: str, sentence_language: str) -> ShortAnswer | None:
    """Return yes where a sentence says what a question asks, no where it denies it or says the opposite."""
    asked = content_words(question, language)
    polarity = read_polarity(sentence, sentence_language)
    if not asked or any(word.is_negated for word in read_polarity(question, language)):
        return None
    said = [sentence[word.start : word.end] for word in polarity]
    places = {word: at for word in asked if (at := _place_of(word, said, language, sentence_language)) is not None}
    opposed = {
        word: at
        for word in asked
        if word not in places and (at := _opposite_place(word, said, language, sentence_language)) is not None
    }
    found = len(places) + len(opposed)
    if found < _LEAST_SAID * len(asked) or any(not word.isalpha() for word in asked if word not in places):
        return None
    matched = [polarity[at] for at in (*places.values(), *opposed.values())]
    if any(word.modality for word in matched):
        return None
    is_denied = any(word.is_negated for word in matched)
    if is_denied and len(opposed) > 0:
        return None
    answer = short_answer_rules().answers[language]["denied" if is_denied or opposed else "affirmed"]
    confidence = found / len(asked)
    return ShortAnswer(answer, AnswerKind.YES_NO, *_bounds(matched), confidence)


def _bounds(matched: Sequence[WordPolarity]) -> tuple[int, int]:
    return min(word.start for word in matched), max(word.end for word in matched)


def _place_of(word: str, among: Sequence[str], language: str, other_language: str) -> int | None:
    return next((at for at, other in enumerate(among) if _is_said(word, [other], language, other_language)), None)


def _opposite_place(word: str, among: Sequence[str], language: str, other_language: str) -> int | None:
    own, opposite = opposite_of(word), _opposites_of(find_meanings([word], language)[0])
    for at, sense in enumerate(find_meanings(among, other_language) if own or opposite else ()):
        other = opposite_of(among[at])
        is_other_side = own is not None and other is not None and own[0] == other[0] and own[1] != other[1]
        if is_other_side or share_meaning(opposite, sense) >= AMBIGUOUS:
            return at
    return None


@lru_cache(maxsize=1)
def _antonyms() -> dict[str, str]:
    """Return the family of the antonym of each word family, both ways."""
    concepts = {concept.name: concept for concept in read_concepts()}
    pairs = [
        (concept.family, concepts[concept.antonym].family)
        for concept in concepts.values()
        if concept.antonym in concepts
    ]
    return {**{other: one for one, other in pairs}, **dict(pairs)}


def _opposites_of(meanings: Meanings) -> Meanings:
    return {_antonyms()[family]: weight for family, weight in meanings.items() if family in _antonyms()}
