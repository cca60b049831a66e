"""Which sentences of the evidence answer a question, if any: words, their rarity, the kind of answer asked for."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain

from graphrag.language import content_words, fold, stem, words
from graphrag.models import Place, Span
from graphrag.places import named_cells, split_rows
from graphrag.rerankers.bundled import rarity
from graphrag.sentences import is_heading, plain
from graphrag.table_dates import asks_what_is_late, late_rows, say_late

MAX_STATEMENTS = 3
MAX_LATE = 10  # rows
# Shares of the weight of the question that the best sentence, in its surroundings, must meet; tuned on development
# sets. In another language mostly names and numbers can meet, which say little of what is asked.
ANSWERABLE = 0.31
ANSWERABLE_ACROSS = 0.5
WORTH_ADDING = 0.75  # of the best sentence's score
SAME = 0.6  # share of words from which two sentences say the same
NEARBY, AROUND, TITLED = 0.5, 0.3, 0.3  # what a word counts in the sentence beside, the passage, the title
KIND_BONUS = 0.15
REASON_BONUS = 0.3  # a sentence that repeats the question must not outweigh the one that gives the reason
NEGATED_REASON = 0.3  # taken from «no se debió a…» where a reason is asked for
MIN_WORDS = 4
PLACE_BONUS = 0.3  # for the first excerpt, falling with rank

_NUMBER = re.compile(r"\d")
_MONEY = re.compile(r"[€£$]\s?\d|\d\s?(?:[€£$]|euros?\b|pounds?\b|livres\b|libras\b)", re.IGNORECASE)
_DATE = re.compile(
    r"\b\d{1,2}[/.-]\d{1,2}\b|\b\d{4}\b|\b\d{1,2}:\d{2}\b|\b(?:ene|feb|mar|abr|may|jun|jul|ago|sep|oct|nov|dic)\w*\b"
    r"|\b(?:janv|févr|mars|avr|mai|juin|juil|août|sept|déc)\w*\b|\b(?:jan|apr|aug|dec)\w*\b"
    r"|\b(?:lunes|martes|miércoles|jueves|viernes|lundi|mardi|mercredi|jeudi|vendredi|(?:mon|tues|wednes|thurs|fri)day)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[\w,;:«(] )[A-ZÁÉÍÓÚÑÀÂÇÈÊÎÔÛŒ][\w'’-]+")
_REASON = re.compile(
    r"\bdebid[oa] a\b|\bporque\b|\ba causa de\b|\ba ra[íi]z de\b|\bpor (?:lo que|eso|ello|culpa|falta)\b|\bprovoc|\bcaus[óa]"
    r"|\bse deb[eií]|\bya que\b|\bpuesto que\b|\bcomo consecuencia\b|\ba consecuencia\b|\boriginó|\bllevó a\b|\bimpidió\b"
    r"|\bà cause\b|\bparce qu|\ben raison\b|\bpuisqu|\bcar\b|\ba entraîné|\bprovoqu|\bc'est pourquoi\b|\bfaute d|\bsuite à\b"
    r"|\bdonc\b|\bgrâce à\b|\bdû à\b|\bdue? à\b|\bsi bien qu|\bde sorte qu"
    r"|\bbecause\b|\bdue to\b|\bled to\b|\bas a (?:result|consequence)\b|\bso that\b|\btriggered\b|\bcaused\b|\bsince\b"
    r"|\btherefore\b|\bowing to\b|\bresult(?:ed|ing)? (?:in|from)\b|\bthat is why\b|, so\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\bno (?:se |ha |había |fue |tiene |tuvo )\w*|\btampoco\b|\bn[e'’] ?(?:s['’]|se )?\w+ pas\b|\bnor\b"
    r"|\b(?:was|were|is|did|does|has|had) not\b|n't\b",
    re.IGNORECASE,
)
# What a question word asks for, and how a sentence shows that it has it.
_KINDS = (
    (re.compile(r"\bcu[áa]nt[oa]s?\b|\bcombien\b|\bhow (?:many|much|long|far|often)\b", re.I), _NUMBER),
    (re.compile(r"\bcost\b|\bpay\b|\bprice\b|\bcuesta\b|\bprecio\b|\bpenalización\b|\bpagar\b|\bcoûte|\bprix\b|\bavoir\b", re.I), _MONEY),
    (re.compile(r"\bcu[áa]ndo\b|\bfecha\b|\bquand\b|\bdate\b|\bwhen\b|\b(?:quel|what|which|qué) (?:jour|mois|an|day|month|year|día|mes|año)", re.I), _DATE),
    (re.compile(r"\bqui[ée]n(?:es)?\b|\bqui\b|\bwhom?\b|\bwhose\b", re.I), _NAME),
    (re.compile(r"\bpor qu[ée]\b|\bcausas?\b|\bmotivo|\braz[óo]n|\bqu[ée] (?:llevó|provocó|se deb)|\bpourquoi\b|\braison\b|\bpoussé\b|\bwhy\b|\bhow come\b|\breason\b|\bcause", re.I), _REASON),
)  # fmt: skip
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
    own: frozenset[str]
    beside: frozenset[str]
    around: frozenset[str]
    titled: frozenset[str]


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
    sentences = [
        sentence for excerpt in excerpts for sentence in _sentences(excerpt) if _is_of_form(question, sentence)
    ]
    if not sentences or _names_something_else(question, excerpts):
        return []
    if parts:
        found = [extract_answer(part, excerpts, language=language, today=today)[:1] for part in parts]
        statements = distinct(chain.from_iterable(found))
        return statements[:MAX_STATEMENTS] or extract_answer(question, excerpts, language=language, today=today)
    wanted = _Wanted(question, language, sentences)
    ranked = sorted(((wanted.score(sentence), sentence) for sentence in sentences), key=lambda pair: -pair[0])
    best, first = ranked[0]
    if wanted.coverage(first) < (ANSWERABLE if first.excerpt.language == language else ANSWERABLE_ACROSS):
        return []
    met = wanted.met_by(first)  # rows are alike in all that they do not say themselves
    good = [
        Statement(
            finished(sentence.text),
            sentence.excerpt.number,
            sentence.excerpt.language,
            score,
            is_row=sentence.excerpt.is_of_table,
        )
        for score, sentence in ranked
        if score >= WORTH_ADDING * best and (met <= wanted.met_by(sentence) or not sentence.excerpt.is_of_table)
    ]
    return distinct(good)[:MAX_STATEMENTS]


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


class _Wanted:
    """A question's content words, their weights, and how far a sentence meets them."""

    def __init__(self, question: str, language: str, sentences: Sequence[_Sentence]) -> None:
        self._words = list(dict.fromkeys(content_words(question, language)))
        languages = {language, *(sentence.excerpt.language for sentence in sentences)}
        self._forms = {word: {fold(word), *(stem(word, each) for each in languages)} for word in self._words}
        texts = [self.met_by(sentence) for sentence in sentences]
        self._weights = rarity(set(self._words), texts)
        self._total = sum(self._weights.values()) or 1.0
        self._kinds = [shows for asks, shows in _KINDS if asks.search(question)]

    def met_by(self, sentence: _Sentence) -> set[str]:
        return {word for word in self._words if self._forms[word] & sentence.own}

    def coverage(self, sentence: _Sentence) -> float:
        return sum(self._weights[word] * self._met(self._forms[word], sentence) for word in self._words) / self._total

    def score(self, sentence: _Sentence) -> float:
        return self.coverage(sentence) + self._fit(sentence.text) + PLACE_BONUS / sentence.excerpt.number

    def _fit(self, text: str) -> float:
        """What a sentence gains for having the kind of thing that is asked for."""
        if _REASON in self._kinds and _NEGATED.search(text):
            return -NEGATED_REASON
        if _REASON in self._kinds and _REASON.search(text):
            return REASON_BONUS
        return KIND_BONUS if any(shows.search(text) for shows in self._kinds) else 0.0

    @staticmethod
    def _met(forms: set[str], sentence: _Sentence) -> float:
        if forms & sentence.own:
            return 1.0
        if forms & sentence.titled:
            return TITLED
        if forms & sentence.beside:
            return NEARBY
        return AROUND if forms & sentence.around else 0.0


def _sentences(excerpt: Excerpt) -> Iterator[_Sentence]:
    texts = [excerpt.text[span.start : span.end] for span in _split(excerpt)]
    forms = [_forms(_PERIOD_BEFORE.sub("", text) if excerpt.is_of_table else text, excerpt.language) for text in texts]
    around = frozenset().union(*forms)
    titled = _forms(excerpt.title, excerpt.language)
    for index, text in enumerate(texts):
        if _is_no_statement(text, excerpt) or len(words(text)) < MIN_WORDS:
            continue
        beside = frozenset().union(*forms[max(0, index - 1) : index + 2])
        yield _Sentence(plain(text), excerpt, forms[index], beside, around, titled)


def _is_no_statement(text: str, excerpt: Excerpt) -> bool:
    """Headings, rules, and what only stands over a table: no sentence and no row."""
    said = plain(text)
    is_over_table = excerpt.is_of_table and not said.endswith(".") and "; " not in said
    return is_heading(text) or said == excerpt.title or is_over_table or _TABLE_RULE.fullmatch(text) is not None


def _forms(text: str, language: str) -> frozenset[str]:
    found = words(text)
    return frozenset(chain((fold(word) for word in found), (stem(word, language) for word in found)))


def _is_of_form(question: str, sentence: _Sentence) -> bool:
    return all(shows.search(sentence.text) for asks, shows in _FORMS if asks.search(question))


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
