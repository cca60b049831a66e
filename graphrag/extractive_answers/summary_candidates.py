"""Sentences that a summary may quote, with their headings and features; none of a document's front matter.

A candidate is a span of the document: a sentence, a list item, a table row, or two sentences of which one needs the
other («Se acuerda:» and its first item, a date in bold and what happened on it, a sentence and one that points to it).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from graphrag.extractive_answers.statements import points_back
from graphrag.linguistics.language import fold, question_words, visible, words
from graphrag.linguistics.paragraphs import BULLETS
from graphrag.linguistics.rules import AnyCase, Pattern, Rules, read_rules
from graphrag.linguistics.sentences import is_heading, plain, trim_space
from graphrag.models import Chunk, Document, Heading, ParsedText, Span
from graphrag.parsers.source_locations import split_around_rows

Vectors = NDArray[np.float32]

USUAL_WORDS, WANTED_WORDS = 16, 35  # of a point; fewer say little, more are read slowly
MAX_JOINED_WORDS = 40  # of two sentences that are quoted together
MAX_WORDS = 80  # of a sentence; a longer one is a paragraph, or a list without marks
MAX_CHARS = 700
MIN_WORDS, MIN_ITEM_WORDS = 5, 3
MIN_SECTIONS, MAX_INTRODUCTION = 3, 6  # of a document with an introduction; sentences of one
MAX_LABEL_WORDS, MAX_RUN_IN_WORDS = 20, 6
MAX_HEADING_WORDS, MAX_HEADING_LINES = 9, 2  # of a heading without a mark
MAX_UNREADABLE = 0.5  # of a text's characters are no letters and no spaces
OPENING_CHARS = 40  # of a sentence, by which it is seen to point back
HEAD_CHARS = 2_000  # in which a message's header is looked for
FRONT_LINES = 6  # within which two fields of a message's header are looked for
_ITEM = re.compile(rf"\s*(?:[{BULLETS}]\s|\(?\d{{1,3}}[.)]\s|\(?[a-z]\)\s)")
_TABLE_RULE = re.compile(r"[\s|·:+\-=]+")
_LAST_PUNCTUATION = re.compile(r"[\s;,]+$")
_NUMBER = re.compile(r"\d+(?:[.,\s]\d+)*")
_MEASURE = re.compile(r"[€£$]\s?\d|\d\s?(?:[€£$%]|(?:euros?|kWh|millones|millions?|kg|tonnes?|toneladas)\b|°C)")
_OPENING = "«“\"'‘¿¡€£$+-–"
_NUMBERED = re.compile(r"\d+(?:\.\d+)*\.?\s+\w*[^\W\d_]{3}")  # «2.1 Results», «12 February»
_BROKEN = re.compile(r"(?:^|\n)[^\n]{1,70}\n\s*(?:[A-ZÀ-Ý]|\d+\s)")  # a short line before one that begins anew
_UNREADABLE = re.compile(r"[^\w\s]|[\d_]")
_ENDS = (".", "!", "…", ".»", ".”", '."', ".)", ":", ";")


class SummaryRules(Rules):
    """Patterns of type `Pattern` match lower case, in which they are found three times as fast as in any case."""

    not_content: AnyCase
    about_itself: Pattern
    message_header: AnyCase
    subject: AnyCase
    leans: AnyCase
    impersonal: AnyCase
    supposes: Pattern
    decides: Pattern
    results: Pattern
    sums: Pattern
    totals: Pattern
    denies: Pattern
    limits: Pattern
    requests: Pattern
    telling: AnyCase
    skipped: AnyCase
    sentences: dict[str, dict[str, str]]


@lru_cache(maxsize=1)
def summary_rules() -> SummaryRules:
    return read_rules(SummaryRules, "graphrag.extractive_answers", "summaries")


@dataclass(frozen=True, slots=True)
class Sheet:
    """A spreadsheet's table; its rows are lines of the document's text, «Header: value; Header: value»."""

    name: str
    headers: tuple[str, ...]
    rows: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class SummarySource:
    """A document to be summarised.

    `embed` returns a vector of unit length for each text; without it, shared words alone tell which sentences are
    central. Headings written in Markdown are read from the text and need not be given.
    """

    title: str
    filename: str
    language: str
    text: str
    headings: tuple[Heading, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    dated: date | None = None  # the day that the document is of, where somebody knows it
    added: date | None = None  # to the collection
    embed: Callable[[list[str]], Vectors] | None = field(default=None, compare=False, repr=False)


def source_of_parsed(parsed: ParsedText, *, title: str, filename: str, language: str) -> SummarySource:
    """Return the source of a file that was just parsed."""
    sheets = [
        Sheet(table.sheet, table.headers, tuple(Span(row.start_char, row.end_char) for row in table.rows))
        for table in parsed.tables
    ]
    return SummarySource(title, filename, language, parsed.text, parsed.headings, tuple(sheets))


def source_of_chunks(document: Document, chunks: Sequence[Chunk]) -> SummarySource:
    """Return the source of a document that is stored; `chunks` are all of its own, in any order."""
    ordered = sorted(chunks, key=lambda chunk: chunk.start_char)
    rows: dict[tuple[str, tuple[str, ...]], dict[Span, None]] = {}
    for chunk in ordered:
        for location in chunk.locations:
            if location.cells and chunk.headers:
                found = rows.setdefault((location.sheet, chunk.headers), {})
                found[Span(location.start_char, location.end_char)] = None
    return SummarySource(
        document.title,
        document.filename,
        document.language,
        "".join(chunk.content for chunk in ordered),
        sheets=tuple(Sheet(sheet, headers, tuple(spans)) for (sheet, headers), spans in rows.items()),
        added=document.created_at.date(),
    )


FEATURES = (
    "opens_document",  # one of its first two sentences
    "introduces",  # above the first heading, or under it, of a document with several
    "opens_section",
    "closes_document",
    "telling",  # under a heading that promises the essence
    "skipped",  # under one that readers skip
    "figures",
    "measure",  # an amount of money, a share, a weight
    "decides",
    "results",
    "sums",
    "totals",
    "denies",  # says what was not the reason
    "limits",
    "requests",  # asks somebody for something, in a message
    "leans",  # begins as if a sentence stood before it
    "supposes",  # says what would have been
    "row",
    "item",
    "about_itself",
    "broken",  # several lines of a list without marks
    "short",
    "long",
)


@dataclass(frozen=True, slots=True)
class SummaryCandidate:
    span: Span
    text: str
    heading: str
    section: int  # its number in the document, from 0
    features: tuple[float, ...]  # in the order of FEATURES, each in [0, 1]

    @property
    def word_count(self) -> int:
        return len(words(self.text))


@dataclass(slots=True)
class _Unit:
    """A sentence, heading, row or label, before it is known what it is good for."""

    span: Span
    text: str
    begins_line: bool
    ends_line: bool
    is_item: bool
    is_row: bool
    count: int  # of its words


class CandidateReader:
    """Reads a document's units in their order; keeps the heading that they stand under."""

    def __init__(self, source: SummarySource) -> None:
        self._source = source
        self._text = source.text
        self._headings = {heading.start_char for heading in source.headings}
        self._rows = {row.start for sheet in source.sheets for row in sheet.rows}
        self._is_message = len(summary_rules().message_header.findall(_head(source.text))) > 1
        self._heading, self._section, self._opens = "", 0, True
        self._found: list[SummaryCandidate] = []
        self._labels: list[_Unit] = []  # lines just before that are no sentences; the last may be a heading
        self._lead: _Unit | None = None  # the unit before, which needs what follows it
        self._is_in_list = False  # the sentence before announces a list, or is an item of one, without marks
        self._before: _Unit | None = None  # the sentence before
        self._row_before: _Unit | None = None
        self._has_headings = len(self._headings) > 1

    def read(self) -> list[SummaryCandidate]:
        units = list(self._units())
        self._has_headings |= sum(self._is_heading(unit) for unit in units) > 1
        for unit, following in zip(units, [*units[1:], None], strict=False):
            self._read(unit, following)
        return self._with_ends()

    def _with_ends(self) -> list[SummaryCandidate]:
        """Return the candidates with the features that need the whole document."""
        if not self._found:
            return []
        first, last = self._found[0].section, self._found[-1]
        has_sections = last.section - first >= MIN_SECTIONS
        return [
            _set_features(
                candidate,
                introduces=has_sections and candidate.section == first and place < MAX_INTRODUCTION,
                closes_document=candidate is last,
            )
            for place, candidate in enumerate(self._found)
        ]

    def _units(self) -> Iterator[_Unit]:
        rows = [row for sheet in self._source.sheets for row in sheet.rows]
        begins_line = True
        for span in split_around_rows(self._text, sorted(rows, key=lambda row: row.start)):
            written = trim_space(self._text, span)
            if written.start == written.end or span.start in self._rows:
                continue
            raw = self._text[written.start : written.end]
            text = plain(raw)
            ends_line = "\n" in self._text[written.end : span.end] or written.end == len(self._text)
            is_item = _ITEM.match(raw) is not None and not is_heading(raw)
            yield _Unit(written, text, begins_line, ends_line, is_item, raw.startswith("|"), len(words(text)))
            begins_line = ends_line

    def _is_heading(self, unit: _Unit) -> bool:
        return unit.span.start in self._headings or is_heading(self._text[unit.span.start : unit.span.end])

    def _read(self, unit: _Unit, following: _Unit | None) -> None:
        if self._is_heading(unit):
            self._open_section(unit.text)
        elif unit.is_row:
            self._read_row(unit, following)
        elif self._is_label(unit):
            self._add_label(unit)
        else:
            self._read_sentence(unit, following)

    def _open_section(self, heading: str) -> None:
        is_title = not self._found and fold(heading) == fold(self._source.title)
        self._heading = "" if is_title else heading
        self._section, self._opens = self._section + 1, True
        self._labels = []
        self._lead = self._before = None

    def _is_label(self, unit: _Unit) -> bool:
        """Tell whether it is a line that is no sentence: an unmarked heading, a name, a date, a question as a title."""
        if not (unit.begins_line and unit.ends_line) or unit.is_item or unit.count > MAX_LABEL_WORDS:
            return False
        return not unit.text.endswith(_ENDS) and not self._is_request(unit)

    def _is_request(self, unit: _Unit) -> bool:
        return (
            self._is_message
            and unit.text.endswith("?")
            and summary_rules().requests.search(unit.text.lower()) is not None
        )

    def _add_label(self, unit: _Unit) -> None:
        if self._labels and self._is_apart(self._labels[-1], unit):
            self._labels, self._is_in_list = [], False
        self._labels.append(unit)
        self._lead = self._before = None

    def _unmarked_heading(self) -> str:
        """Return the line before, if it reads as a heading and not as the last item of a list without marks."""
        if not self._labels or (self._found and (self._is_in_list or len(self._labels) > MAX_HEADING_LINES)):
            return ""
        text = self._labels[-1].text
        is_question = text.endswith("?")
        if self._labels[-1].count > MAX_HEADING_WORDS or ": " in text or not _is_wordy(text):
            return ""
        if is_question and not question_words() & set(map(fold, words(text)[:3])):
            return ""
        is_heading_like = text[0].isupper() or text[0] == "¿" or _NUMBERED.match(text) is not None
        return (
            text if is_heading_like and not text.endswith(",") and not summary_rules().not_content.match(text) else ""
        )

    def _is_apart(self, before: _Unit, unit: _Unit) -> bool:
        """Tell whether an empty line stands between two units."""
        return self._text[before.span.end : unit.span.start].count("\n") > 1

    def _read_row(self, unit: _Unit, following: _Unit | None) -> None:
        is_first = self._row_before is None or self._is_apart(self._row_before, unit)
        has_more = following is not None and following.is_row
        is_header = is_first and has_more and not any(map(str.isdigit, unit.text))
        is_ruled = has_more and following is not None and _TABLE_RULE.fullmatch(following.text) is not None
        self._row_before = unit
        if not (is_header or is_ruled) and not _TABLE_RULE.fullmatch(unit.text) and re.search(r"\w", unit.text):
            self._add(unit, unit, is_row=True)
        self._labels = []
        self._lead = self._before = None

    def _read_sentence(self, unit: _Unit, following: _Unit | None) -> None:
        lead, before = self._lead, self._before
        self._lead = self._before = None
        if not self._is_content(unit):
            return
        if not self._has_headings and (heading := self._unmarked_heading()):
            self._heading = heading
            self._section, self._opens = self._section + 1, True
        self._labels = []
        self._is_in_list = not unit.text.endswith(_ENDS) or unit.text.endswith(":")
        if self._needs_following(unit, following):
            self._lead = unit
            return
        self._before = unit
        if lead is not None and self._completes(lead, unit):
            self._add(lead, unit)
        elif self._leans(unit) and before is not None and self._joins(before, unit):
            self._add(before, unit)
        elif unit.text[:1].islower() and not unit.is_item:
            self._before = None  # the rest of a line before, or an item without a mark
        elif unit.count >= (MIN_ITEM_WORDS if unit.is_item else MIN_WORDS):
            self._add(unit, unit)

    def _is_content(self, unit: _Unit) -> bool:
        if not unit.text or unit.count > MAX_WORDS or len(unit.text) > MAX_CHARS:
            return False
        if summary_rules().not_content.match(unit.text) or not _is_wordy(unit.text):
            return False
        return not unit.text.endswith("?") or self._is_request(unit)

    def _needs_following(self, unit: _Unit, following: _Unit | None) -> bool:
        """Tell whether it announces a list, or is the short title of the paragraph that it begins."""
        if following is None or following.is_row or self._is_heading(following):
            return unit.text.endswith(":")
        is_run_in = unit.begins_line and not unit.ends_line and unit.count <= MAX_RUN_IN_WORDS
        return unit.text.endswith(":") or (is_run_in and not self._leans(unit))

    def _completes(self, lead: _Unit, unit: _Unit) -> bool:
        is_near = unit.is_item or not self._is_apart(lead, unit)
        return is_near and MIN_WORDS <= lead.count + unit.count <= MAX_JOINED_WORDS

    def _joins(self, before: _Unit, unit: _Unit) -> bool:
        is_one_paragraph = not self._is_apart(before, unit) and not unit.is_item
        return is_one_paragraph and before.count + unit.count <= MAX_JOINED_WORDS and not self._leans(before)

    @staticmethod
    def _leans(unit: _Unit) -> bool:
        if summary_rules().impersonal.match(unit.text):
            return False
        return points_back(unit.text[:OPENING_CHARS]) or summary_rules().leans.match(unit.text) is not None

    def _add(self, first: _Unit, last: _Unit, *, is_row: bool = False) -> None:
        text = first.text if first is last else f"{first.text} {last.text}"
        shown = _LAST_PUNCTUATION.sub("", visible(text))
        features = self._features(first, last, shown, is_row=is_row)
        self._found.append(
            SummaryCandidate(Span(first.span.start, last.span.end), shown, self._heading, self._section, features)
        )
        self._opens = False

    def _features(self, first: _Unit, last: _Unit, text: str, *, is_row: bool) -> tuple[float, ...]:
        rules, count = summary_rules(), len(words(text))
        numbers, lower = len(_NUMBER.findall(text)), text.lower()
        is_telling, is_skipped = _promise(self._heading)
        values = {
            "opens_document": len(self._found) < 2,
            "opens_section": self._opens and not last.is_item,
            "telling": is_telling,
            "skipped": is_skipped,
            "figures": min(numbers, 3) / 3,
            "measure": _MEASURE.search(text) is not None,
            "decides": rules.decides.search(lower) is not None,
            "results": rules.results.search(lower) is not None,
            "sums": rules.sums.search(lower) is not None,
            "totals": rules.totals.match(lower) is not None,
            "denies": rules.denies.search(lower) is not None,
            "limits": rules.limits.search(lower) is not None,
            "requests": self._is_message and rules.requests.search(lower) is not None,
            "leans": self._leans(first),
            "supposes": rules.supposes.match(lower) is not None,
            "row": is_row,
            "item": last.is_item,
            "about_itself": rules.about_itself.search(lower) is not None,
            "broken": _is_broken(self._text[last.span.start : last.span.end]),
            "short": max(0, USUAL_WORDS - count) / USUAL_WORDS,
            "long": min(max(0, count - WANTED_WORDS), 25) / 25,
        }
        return tuple(float(values.get(name, 0.0)) for name in FEATURES)


@lru_cache(maxsize=1_000)
def _promise(heading: str) -> tuple[bool, bool]:
    """Return whether a heading promises the essence, and whether readers skip what is under it."""
    return summary_rules().telling.search(heading) is not None, summary_rules().skipped.search(heading) is not None


def _set_features(candidate: SummaryCandidate, **values: bool) -> SummaryCandidate:
    features = [float(values.get(name, old)) for name, old in zip(FEATURES, candidate.features, strict=True)]
    return replace(candidate, features=tuple(features))


def _is_broken(raw: str) -> bool:
    is_list = "\n" in raw and not raw.endswith(_ENDS)
    return is_list or _BROKEN.search(raw) is not None


def _is_wordy(text: str) -> bool:
    """Tell whether a text is of words: no formula, code, address or row of numbers, nor the rest of a sentence."""
    if not text or not (text[0].isalnum() or text[0] in _OPENING):
        return False
    return len(_UNREADABLE.findall(text)) <= MAX_UNREADABLE * len(text)


def find_subject(text: str) -> str:
    """Return the subject of a message, "" of other texts."""
    head = _head(text)
    if len(summary_rules().message_header.findall(head)) < 2:
        return ""
    found = summary_rules().subject.search(head)
    return found[1].strip() if found else ""


def _head(text: str) -> str:
    return "\n".join(text[:HEAD_CHARS].lstrip().splitlines()[:FRONT_LINES])


def find_candidates(source: SummarySource) -> list[SummaryCandidate]:
    """Return what a summary of the document may quote, in the document's order; of its sheets' rows nothing."""
    return CandidateReader(source).read()
