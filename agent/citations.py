"""Marks [n] in an answer: which passage each cites, and whether that passage carries the statement."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from graphrag.language import content_words, fold, stem, words
from graphrag.models import Passage, Place, Span
from graphrag.places import cite_place, split_rows
from graphrag.sentences import is_heading, plain, split_sentences

MARK = re.compile(r"\s?\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]")
_STOP_AND_MARKS = re.compile(r"([.!?…]+(?:\s?[\"'»”’)])*)(\u2060+)")
_NUMBER = re.compile(r"(\d{1,3}(?:[.,\u00a0\u202f ]\d{3}(?!\d))+|\d+)(?:[.,](\d+))?")
MIN_REPEATED_WORDS = 3
SUPPORTED, PARTLY = 0.6, 0.3  # share of a statement's content words that its passage must hold


class Support(StrEnum):
    SUPPORTED = "supported"
    PARTLY = "partly"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True)
class Citation:
    """One mark of the answer. `quote`, [start_char, end_char), is the passage's best sentence for the statement."""

    number: int
    document_id: UUID
    filename: str
    title: str
    chunk_index: int
    quote: str
    start_char: int
    end_char: int
    status: Support
    score: float
    place: Place | None = None  # of the quote in its file


@dataclass(frozen=True, slots=True)
class Verification:
    answer: str  # without the marks that cite nothing
    citations: tuple[Citation, ...] = ()
    removed_marks: tuple[int, ...] = ()
    unsupported_statements: tuple[str, ...] = ()


def verify(answer: str, passages: Sequence[Passage]) -> Verification:
    """Checks every mark against the passages, numbered from 1 in their order."""
    clean, removed = _remove_unknown_marks(answer, len(passages))
    citations = []
    unsupported = []
    for statement, numbers in statements(clean):
        cited = [cite(statement, number, passages[number - 1]) for number in numbers]
        citations.extend(cited)
        if all(citation.status is Support.UNSUPPORTED for citation in cited):
            unsupported.append(statement)
    return Verification(clean, tuple(citations), tuple(removed), tuple(unsupported))


def statements(answer: str) -> Iterator[tuple[str, list[int]]]:
    """Each sentence without its marks, with the numbers it cites; marks after its full stop belong to it.

    So do marks that stand alone, such as those below a paragraph; at the very beginning they belong to what follows.
    """
    text, numbers, start = "", list[int](), 0
    for end in _statement_ends(answer):
        piece, cited = MARK.sub("", answer[start:end]).strip(), _numbers(answer[start:end])
        start = end
        if text and words(piece):
            yield text, numbers
            numbers = []
        text = piece if words(piece) else text
        numbers += cited
    if text:
        yield text, numbers


def _statement_ends(answer: str) -> list[int]:
    hidden = MARK.sub(lambda match: "\u2060" * len(match.group()), answer)  # marks must not hide the end of a sentence
    visible = _STOP_AND_MARKS.sub(lambda match: match[2] + match[1], hidden)
    ends = [span.end for span in split_sentences(visible)]
    for match in _STOP_AND_MARKS.finditer(hidden):
        ends = [match.end() if match.start() < end < match.end() else end for end in ends]
    return ends


def _numbers(text: str) -> list[int]:
    return [int(number) for match in MARK.finditer(text) for number in re.findall(r"\d+", match[1])]


def _remove_unknown_marks(answer: str, known: int) -> tuple[str, list[int]]:
    removed: list[int] = []

    def keep_known(match: re.Match[str]) -> str:
        numbers = [int(number) for number in re.findall(r"\d+", match[1])]
        removed.extend(number for number in numbers if not 1 <= number <= known)
        kept = [number for number in numbers if 1 <= number <= known]
        space = match[0][0] if kept and match[0][0].isspace() else ""
        return space + "".join(f"[{number}]" for number in kept)

    while (clean := MARK.sub(keep_known, answer)) != answer:  # what is left of [9[9]] is a mark again
        answer = clean
    return answer, removed


def cite(statement: str, number: int, passage: Passage) -> Citation:
    span, score, status = _best_sentence(statement, passage)
    start, end = passage.start_char + span.start, passage.start_char + span.end
    return Citation(
        number=number,
        document_id=passage.document.id,
        filename=passage.document.filename,
        title=passage.document.title,
        chunk_index=passage.chunk_index,
        quote=passage.content[span.start : span.end],
        start_char=start,
        end_char=end,
        status=status,
        score=round(score, 3),
        place=cite_place(
            passage.places, start, end, text=passage.content, text_start=passage.start_char, headers=passage.headers
        ),
    )


def _best_sentence(statement: str, passage: Passage) -> tuple[Span, float, Support]:
    """The sentence that shares most with the statement; the whole passage may carry it: a statement joins sentences."""
    language = passage.document.language
    wanted = _forms(statement, language)
    sentences = split_rows(passage.content, passage.places, start=passage.start_char)
    spans = [_trimmed(passage.content, span) for span in sentences]
    for span in spans:
        if _is_repeated(passage.content[span.start : span.end], statement):
            return span, 1.0, Support.SUPPORTED
    best = max(spans, key=lambda span: _closeness(wanted, passage.content[span.start : span.end], language))
    score = _share(wanted, passage.content, language)
    if not _numerals(statement) <= _numerals(passage.content):
        return best, min(score, PARTLY), Support.PARTLY if score >= SUPPORTED else Support.UNSUPPORTED
    if score >= SUPPORTED:
        return best, score, Support.SUPPORTED
    return best, score, Support.PARTLY if score >= PARTLY else Support.UNSUPPORTED


def _is_repeated(sentence: str, statement: str) -> bool:
    """Word for word: that holds in every language."""
    text = plain(sentence)
    return not is_heading(sentence) and len(words(text)) >= MIN_REPEATED_WORDS and text in statement


def _trimmed(text: str, span: Span) -> Span:
    sentence = text[span.start : span.end]
    start = span.start + len(sentence) - len(sentence.lstrip())
    return Span(start, max(start, span.end - (len(sentence) - len(sentence.rstrip()))))


def _forms(text: str, language: str) -> set[str]:
    return {stem(word, language) for word in content_words(text, language)}


def _closeness(wanted: set[str], sentence: str, language: str) -> float:
    return -1.0 if is_heading(sentence) else _share(wanted, sentence, language)


def _share(wanted: set[str], text: str, language: str) -> float:
    held = {form for word in words(text) for form in (stem(word, language), fold(word))}
    return len(wanted & held) / len(wanted) if wanted else 0.0


def _numerals(text: str) -> set[str]:
    """Numbers in one writing: 9.240, 9,240 and 9 240 are one; so are 3,5 and 3.50, which 35 is not."""
    found = _NUMBER.findall(text)
    return {f"{''.join(filter(str.isdigit, whole))}.{decimals.rstrip('0')}" for whole, decimals in found}


def _unfinished_mark(text: str) -> int:
    """Where a mark begins, or marks in one another, that what follows may end; the text's length if none does."""
    start, depth = len(text), 0
    for index, character in enumerate(text):
        if character == "[":
            start, depth = (start, depth + 1) if depth else (index, 1)
        elif character == "]":
            depth = max(0, depth - 1)
        elif not (character.isdigit() or character.isspace() or character in ",;"):
            depth = 0
    return start if depth else len(text)


class MarkFilter:
    """Takes an answer as it streams and lets its text through, without the marks that cite nothing.

    Where nothing can be cited (`known` is 0), nothing is a mark: a[0] stays.
    """

    def __init__(self, known: int) -> None:
        self._known = known
        self._held = ""
        self.text = ""  # what was let through

    def feed(self, token: str) -> str:
        held = self._held + token
        cut = _unfinished_mark(held)
        if held[:cut][-1:].isspace():  # it goes with a mark that is removed
            cut -= 1
        self._held = held[cut:]
        return self._release(held[:cut])

    def flush(self) -> str:
        held, self._held = self._held, ""
        return self._release(held)

    def _release(self, text: str) -> str:
        clean = _remove_unknown_marks(text, self._known)[0] if self._known else text
        self.text += clean
        return clean

    def cited(self) -> list[tuple[str, int]]:
        """(statement, number) of every mark that is complete so far, in order."""
        return [(statement, number) for statement, numbers in statements(self.text) for number in numbers]
