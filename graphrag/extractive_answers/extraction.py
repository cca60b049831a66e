"""Extraction of the sentences of the evidence that answer a question."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import date
from functools import cached_property, lru_cache
from itertools import pairwise
from operator import itemgetter
from typing import Literal

from graphrag.causal_graph.extraction import extract_relations
from graphrag.embeddings.reader import Reader, SentenceInContext, open_reader
from graphrag.extractive_answers.answer_kinds import denies_reason, wanted_kinds
from graphrag.extractive_answers.answer_spans import find_candidates, rank_spans
from graphrag.extractive_answers.question_reading import read_question as read_asked
from graphrag.extractive_answers.statements import Excerpt, ExtractedStatement, distinct, finished
from graphrag.extractive_answers.table_answers import asks_what_is_late, late_rows, say_late
from graphrag.extractive_answers.units import AnswerUnit, asks_for_list, asks_for_procedure, gather_list, read_units
from graphrag.linguistics.language import fold, words
from graphrag.linguistics.rules import Rules, read_rules
from graphrag.linguistics.sentences import is_heading, plain
from graphrag.models import Direction, Span
from graphrag.models.graph import Polarity
from graphrag.parsers.source_locations import named_cells
from graphrag.query_transformation.tasks import TASKS, Task
from graphrag.rerankers.bundled import NAME_WEIGHT, MatchedWords, find_words, rarity, read_question

FIGURES = frozenset(("number", "count", "money", "date"))  # kinds of answers
KINDS_OF_NUMBER = frozenset(("count", "money"))  # where one of them is asked for, not any number will do
NEARBY, AROUND, TITLED = 0.5, 0.3, 0.3  # what a word counts in the sentence beside, the passage, the title


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence and where it stands."""

    text: str
    title: str
    passage: int  # its number
    score: float  # the passage's, in [0, 1]
    language: str


@dataclass(frozen=True, slots=True)
class Fit:
    """Features of one sentence. A word of the question counts by its rarity, and once: where it scores most."""

    own: float  # in the sentence itself
    alike: float  # another word of its family is
    titled: float  # in the title
    before: float  # in the sentence before it
    after: float  # in the one after it
    pairs: float  # the share of neighbours in the question that are neighbours here
    passage: float  # its score beside the best one's
    figure: float  # 1: a number or date is asked for, and it has one that the question lacks
    name: float  # 1: so for a person or a place
    reason: float  # 1: a reason is asked for and given; -1: denied


@dataclass(frozen=True, slots=True)
class Trust:
    """Features of the best sentence that tell an answer from a text on the same subject."""

    one: float
    covered: float  # the question's words in it, and less so in its surroundings
    alike: float
    unnamed: float  # 1: a name or number of the question is neither in the passage nor in its title
    score: float  # the passage's, in [0, 1]
    read: float  # the reader's logarithm of its odds against "no answer"; 0 without a reader


# By listwise logistic regression over the sentences of 2,700 questions of three development sets in three languages;
# rounded. Fitted without a set, they find on it what they find with it, but for 2 in 100 of the French questions. With
# 35 features more (order and closeness of matches, the question word's noun, counted nouns, opposites, new names),
# neither a linear model nor boosted trees found more on documents kept aside.
WEIGHTS = Fit(own=6.5, alike=4, titled=5, before=2.5, after=1, pairs=2, passage=6.3, figure=1.9, name=2, reason=1)
# Of the question: on less even the best of all passages is no answer, unless the reader, which knows other words for
# the same, gives it such odds (their logarithm).
LEAST_MET, LEAST_READ = 0.25, -1.5
LEAST_OF_CAUSE = -3.0  # as LEAST_READ, of a sentence that states a cause, where one is asked for
WORDS_ACROSS = 2  # of the question, which a passage in another language must hold: one may be there by chance
ACROSS = 1.5  # in score: so much better must a sentence in another language be than one in the question's


Outcome = Literal["answered", "closest", "none"]


class AnswerabilityModel(Rules):
    weights: dict[str, float]  # of the features of `Trust`
    answered: float  # the least probability of an answer
    closest: float  # and of a passage that is worth showing
    answered_across: float  # where mostly names and numbers can meet, since the passage is in another language


class AnswerabilityRules(Rules):
    """The models of answerability, as `training/answerability.py` fits them."""

    with_reader: AnswerabilityModel
    without_reader: AnswerabilityModel


@lru_cache(maxsize=1)
def _answerability() -> AnswerabilityModel:
    rules = read_rules(AnswerabilityRules, "graphrag.extractive_answers", "answerability")
    return rules.with_reader if open_reader() else rules.without_reader


class SentenceMatcher:
    """A question, and how the sentences of the evidence, all of them and in their order, meet it."""

    def __init__(self, question: str, language: str, sentences: Sequence[Said]) -> None:
        self._language = language
        self._question = read_question(question, language)
        self._asked = frozenset(map(fold, words(question)))
        self._kinds = wanted_kinds(question)
        self._sentences = sentences
        self._best = max((sentence.score for sentence in sentences), default=0.0)
        titles = {sentence.title: sentence.language for sentence in sentences}
        # A file's name may join its words: Super_Bowl_50.
        texts = [*(sentence.text for sentence in sentences), *(title.replace("_", " ") for title in titles)]
        languages = [*(sentence.language for sentence in sentences), *titles.values()]
        self._matches = find_words(self._question, texts, [""] * len(texts), languages)
        in_titles = (match.passage.exact for match in self._matches[len(sentences) :])
        self._titled = dict(zip(titles, in_titles, strict=True))

    @cached_property
    def _weights(self) -> dict[str, float]:
        """The share of each word in what the question asks for; they sum to 1."""
        held = [set(self.met_by(number)) for number in range(len(self._sentences))]
        rare = rarity(set(self._question.words), held)
        weights = {word: weight * (NAME_WEIGHT if word in self._question.names else 1) for word, weight in rare.items()}
        total = math.fsum(weights.values())
        return {word: weight / total for word, weight in weights.items()}

    @cached_property
    def _around(self) -> dict[int, frozenset[str]]:
        """Return the question's words in each passage, by its number."""
        found: dict[int, frozenset[str]] = {}
        for number, sentence in enumerate(self._sentences):
            found[sentence.passage] = found.get(sentence.passage, frozenset()) | self.met_by(number)
        return found

    def met_by(self, number: int) -> frozenset[str]:
        """The question's words that a sentence holds itself."""
        return self._held(number).exact

    def score(self, number: int) -> float:
        return _weigh(WEIGHTS, self.fit(number))

    def fit(self, number: int) -> Fit:
        held, sentence = self._held(number), self._sentences[number]
        known = held.exact | held.alike
        titled = self._titled[sentence.title] - known
        pairs = self._question.pairs
        shown = {kind.name for kind in self._kinds if kind.shows(sentence.text, self._asked)}
        figures = FIGURES - {"number"} if any(kind.name in KINDS_OF_NUMBER for kind in self._kinds) else FIGURES
        return Fit(
            own=self._sum(held.exact),
            alike=self._sum(held.alike),
            titled=self._sum(titled),
            before=self._sum(self._met_beside(number, -1) - known - titled),
            after=self._sum(self._met_beside(number, +1) - known - titled),
            pairs=len(self._matches[number].pairs) / len(pairs) if pairs else 0.0,
            passage=sentence.score / self._best if self._best else 1.0,
            figure=float(bool(shown & figures)),
            name=float(bool(shown & {"person", "place"})),
            reason=self._reason(sentence.text, shown),
        )

    def covered(self, number: int) -> float:
        """The share of the question that a sentence holds in its surroundings."""
        own, sentence = self.met_by(number), self._sentences[number]
        titled = self._titled[sentence.title] - own
        beside = (self._met_beside(number, -1) | self._met_beside(number, +1)) - own - titled
        around = self._around[sentence.passage] - own - titled - beside
        return self._sum(own) + TITLED * self._sum(titled) + NEARBY * self._sum(beside) + AROUND * self._sum(around)

    def trust(self, number: int, read: float) -> Trust:
        return Trust(
            one=1.0,
            covered=self.covered(number),
            alike=self._sum(self._held(number).alike),
            unnamed=float(not self._question.names <= self._near(number)),
            score=self._sentences[number].score,
            read=read,
        )

    def probability(self, trust: Trust) -> float:
        """Return how probably the evidence answers the question, if what is trusted so is the best of it."""
        return 1 / (1 + math.exp(-_weigh(Trust(**_answerability().weights), trust)))

    def judge(self, number: int, read: float, *, is_across: bool) -> Outcome:
        """Return whether a sentence answers; `is_across`: it is in another language than the question."""
        rules, trust = _answerability(), self.trust(number, read)
        probability = self.probability(trust)
        if is_across:
            if len(self._near(number)) < WORDS_ACROSS:
                return "none"
            return "answered" if probability >= rules.answered_across and not self.lacks_figure(number) else "closest"
        met = trust.covered + trust.alike
        is_met = read > 0 or met >= LEAST_MET or (met > 0 and bool(read) and read > LEAST_READ)
        if not is_met or probability < rules.closest:
            return "none"
        return "answered" if probability >= rules.answered and not self.lacks_figure(number) else "closest"

    def lacks_figure(self, number: int) -> bool:
        """Return whether a number or date is asked for and the sentence has none that the question lacks."""
        return any(kind.name in FIGURES for kind in self._kinds) and not self.fit(number).figure

    def names(self, number: int, thing: str) -> bool:
        """Return whether a sentence or its title has a word of a part of the question."""
        held = self._held(number)
        known = held.exact | held.alike | self._titled[self._sentences[number].title]
        return bool(known & set(read_question(thing, self._language).words))

    def added_by(self, number: int, first: int) -> float:
        """Return the share of the question that a sentence holds and `first` does not."""
        here, there = self._held(number), self._held(first)
        return self._sum((here.exact | here.alike) - there.exact - there.alike)

    def _near(self, number: int) -> frozenset[str]:
        """The question's words in the sentence's passage or its title."""
        sentence = self._sentences[number]
        return self._around[sentence.passage] | self._titled[sentence.title]

    def _held(self, number: int) -> MatchedWords:
        return self._matches[number].passage

    def _met_beside(self, number: int, step: int) -> frozenset[str]:
        other = number + step
        here = self._sentences[number].passage
        is_there = 0 <= other < len(self._sentences) and self._sentences[other].passage == here
        return self.met_by(other) if is_there else frozenset()

    def _sum(self, found: frozenset[str]) -> float:
        return math.fsum(self._weights[word] for word in found)  # a set has no order: equal texts, equal scores

    def _reason(self, text: str, shown: set[str]) -> float:
        if "reason" in shown:
            return 1.0
        return -1.0 if denies_reason(text) and any(kind.name == "reason" for kind in self._kinds) else 0.0


def _weigh(weights: Fit | Trust, values: Fit | Trust) -> float:
    return math.fsum(weight * value for weight, value in zip(astuple(weights), astuple(values), strict=True))


MAX_STATEMENTS = 3  # rows, parts of a question, and passages that come closest
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
_IDENTIFIER = re.compile(r"(?=.*\d)(?:.*[^\W\d]|.*\d{3}).*")  # H2, 2019: a question that names one is about it
_PERIOD_BEFORE = re.compile(r"\([^()]*\)(?= ?: [^\W\d])")  # «(noviembre de 2025: 1.000): sube 250» is of December
_TABLE_RULE = re.compile(r"[\s|:-]+")


# Of the best sentences, those in which the network looks for a short answer, and what its finding counts in score: on
# documents kept aside the right sentence is then the first in 2 to 3 more of 100 questions.
# That is done where the reader is not installed. It reads so many of them, with their titles, and more where none of
# these answers: on documents kept aside that finds what reading all of them does.
READ_UP_TO, READ_LISTS, READ_WEIGHT = (3, 8, 24), 4, 1.5
RANKED_AGAIN, EXPECTED_F1_WEIGHT, NO_ANSWER_WEIGHT = 4, 1.5, 3.0
MOST_ITEM_WORDS = 30  # on average, of a list that is told whole: paragraphs under numbers are no list
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
    probability: float = 0.0  # that the evidence answers the question
    listed: tuple[AnswerUnit, ...] = ()  # what a question for a list or a procedure is answered with, in its order


def extract_answer(
    question: str,
    excerpts: Sequence[Excerpt],
    *,
    language: str,
    parts: Sequence[str] = (),
    today: date | None = None,
    thing: str = "",
    direction: Direction | None = None,
) -> ExtractedAnswer:
    """Return the sentence that answers, a second one where the first may not do, and one for each part of the question.

    `thing`: what tells the question apart from those that it is compared with; where sentences name it, others are no
    answer. `direction`: of a causal question, for which a sentence that states a cause answers sooner. Rows of a table
    that answer alike are at most three. A question about late items gets the rows of tables that are late on the day
    `today`.
    """
    if today and asks_what_is_late(question) and (late := _late(question, excerpts, language, today)):
        return ExtractedAnswer("answered", tuple(late), 1.0)
    if parts and not _names_something_else(question, excerpts):
        found = [extract_answer(part, excerpts, language=language, today=today) for part in parts]
        answered = [each for each in found if each.outcome == "answered"]
        statements = distinct([each.statements[0] for each in answered])
        if statements:
            probability = min(each.probability for each in answered)
            return ExtractedAnswer("answered", tuple(statements[:MAX_STATEMENTS]), probability)
        return extract_answer(question, excerpts, language=language, today=today)
    best = find_best(question, excerpts, language=language, thing=thing)
    if best is None:
        return ExtractedAnswer("none")
    first = best.ranked[0]
    excerpt = best.sentences[first].excerpt
    whole = _whole_list(best)
    read = max(best.read.get(first, 0.0), whole[1]) if whole else best.read.get(first, 0.0)
    outcome = best.matcher.judge(first, read, is_across=excerpt.language != language)
    probability = best.matcher.probability(best.matcher.trust(first, read))
    if outcome == "closest" and direction and read > LEAST_OF_CAUSE and _states_cause(best.sentences[first]):
        outcome = "answered"
    if outcome == "none":
        return ExtractedAnswer("none", (), probability)
    if outcome == "closest":
        told, most = best.ranked, MAX_STATEMENTS
    elif excerpt.is_of_table:
        told, most = _alike(best), MAX_STATEMENTS
    elif asks_for_list(question) and best.read and len(several := _several(best)) > 1:
        told, most = several, MAX_LISTED
    else:
        told, most = [first, *_second(best)], MAX_SENTENCES
    statements = distinct([_statement(best.sentences[number], best.scores[number]) for number in told])[:most]
    listed: tuple[AnswerUnit, ...] = ()
    if outcome == "answered":
        listed = (whole[0],) if whole else _gathered(question, best, language) or _list_of(best.sentences, told)
    return ExtractedAnswer(outcome, tuple(statements), probability, listed)


def _states_cause(sentence: _Sentence) -> bool:
    found = extract_relations(sentence.text, language=sentence.excerpt.language)
    return any(relation.polarity is Polarity.FACT for relation in found)


@dataclass(frozen=True, slots=True)
class RankedSentences:
    """The sentences of the evidence, and the numbers of those that may answer, best first."""

    matcher: SentenceMatcher
    sentences: Sequence[_Sentence]
    scores: Mapping[int, float]
    ranked: Sequence[int]
    read: Mapping[int, float]  # the reader's logarithm of the odds that a sentence answers; of the best few
    lists: Sequence[tuple[AnswerUnit, float]] = ()  # with the same; those that hold the best, where one is asked for


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
    matcher = SentenceMatcher(question, language, _said(sentences))
    if thing:
        candidates = [number for number in candidates if matcher.names(number, thing)] or candidates
    scores = {
        number: matcher.score(number)
        - (ACROSS if sentences[number].excerpt.language != language else 0.0)
        - (FRONT_MATTER_PENALTY if sentences[number].unit.kind == "front_matter" else 0.0)
        for number in candidates
    }
    ranked = sorted(candidates, key=lambda number: -scores[number])
    reader = open_reader()
    if reader is None:
        first = _by_short_answer(question, language, sentences, scores, ranked[:RANKED_AGAIN])
        lists = find_lists(sentences, ranked) if _asks_for_several(question) else []
        unread = [(unit, 0.0) for unit, _ in lists]
        return RankedSentences(matcher, sentences, scores, [*first, *ranked[RANKED_AGAIN:]], {}, unread)
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
    here = sentences[number]
    before = plain(sentences[number - 1].text) if matcher.fit(number).before else ""
    return SentenceInContext(_titles(here.excerpt, here.unit), plain(here.text), before)


def _titles(excerpt: Excerpt, unit: AnswerUnit) -> str:
    return f"{excerpt.title} {unit.inherited}".strip()


def _by_short_answer(
    question: str, language: str, sentences: Sequence[_Sentence], scores: dict[int, float], numbers: list[int]
) -> list[int]:
    """Order sentences also by how surely each holds a short answer, which their `scores` then tell; not rows."""
    if len(numbers) < 2 or any(sentences[number].unit.kind == "row" for number in numbers):
        return numbers
    asked = read_asked(question, language)
    for number in numbers:
        spans = find_candidates(asked, sentences[number].text, sentences[number].excerpt.language)
        found = rank_spans(spans) if spans else None
        expected_f1, no_answer = (found.expected_f1, found.no_answer) if found else (0.0, 1.0)
        scores[number] += EXPECTED_F1_WEIGHT * expected_f1 - NO_ANSWER_WEIGHT * no_answer
    return sorted(numbers, key=lambda number: -scores[number])


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
    return is_heading(text) or said == excerpt.title or is_lead or _TABLE_RULE.fullmatch(text) is not None


def _is_of_form(question: str, text: str) -> bool:
    return all(shows.search(text) for asks, shows in _FORMS if asks.search(question))


def _names_something_else(question: str, excerpts: Sequence[Excerpt]) -> bool:
    """Return whether the question names an identifier (H3, 2019) that none of the excerpts holds."""
    named = {fold(word) for word in words(question) if _IDENTIFIER.fullmatch(word)}
    held = {fold(word) for excerpt in excerpts for word in words(f"{excerpt.title} {excerpt.text}")}
    return bool(named - held)
