"""What is left of an answer when documents that it was made from are gone: the rest of it, and a mark for each gap."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any
from uuid import UUID

from graphrag.conversation_models import Message
from graphrag.language import ANSWER_LANGUAGES, detect_question, fold, stop_words, words
from graphrag.models import Span
from graphrag.sentences import split_sentences

GAPS = {
    "es": "[pasaje de un documento borrado]",
    "fr": "[passage d'un document supprimé]",
    "en": "[passage of a deleted document]",
}
_MARK = re.compile(r" ?\[(\d{1,3})\]")


@dataclass(frozen=True, slots=True)
class Remainder:
    message: Message
    citations: tuple[int, ...]  # those of the answer's that are left, by their numbers before, from 1


@dataclass(frozen=True, slots=True)
class _Piece:
    """Of the answer: a checked statement, or a sentence or a space between two."""

    text: str
    statement: Mapping[str, Any] | None = None


def documents_of(details: Mapping[str, Any]) -> set[tuple[UUID, str]]:
    """That an answer was made from: ids, each with the hash of the content that was read. Not those of another service,
    which were never here.
    """
    read = chain(details.get("sources", ()), _edges(details.get("paths", ())))
    return {(UUID(of["document_id"]), of.get("content_hash", "")) for of in read if not of.get("elsewhere")}


def erase(answer: Message, gone: Set[UUID], *, question: str) -> Remainder:
    """Without what rests on those documents alone, and without every sentence that has a word of theirs which neither
    the question nor a document that is left has, unless one that is left is known to carry it.
    """
    lost = _Lost.of(answer.details, {str(document) for document in gone}, question)
    pieces = list(_pieces(answer.content, answer.details.get("statements", ())))
    is_ours = answer.details.get("found") is False  # that nothing was found
    texts = [None if not is_ours and lost.holds(piece) else lost.without_marks(piece.text) for piece in pieces]
    content, spans = _join(pieces, texts, GAPS[_language(answer, question)])
    dropped = {
        said
        for piece, text in zip(pieces, texts, strict=True)
        if piece.statement and text is None
        for said in (piece.statement["statement"], *(cited["statement"] for cited in piece.statement["citations"]))
    }
    citations = answer.details.get("citations", ())
    left = [
        number
        for number, citation in enumerate(citations, start=1)
        if citation.get("statement") not in dropped and not lost.takes(citation)
    ]
    details = lost.redact(answer.details) | {"erased": True}
    details["citations"] = [citations[number - 1] for number in left]
    if "statements" in details:
        details["statements"] = [
            {**piece.statement, "start": span.start, "end": span.end, "citations": lost.without(piece.statement)}
            for piece, span in zip(pieces, spans, strict=True)
            if piece.statement and span
        ]
    if "unsupported_statements" in details:
        known = details["unsupported_statements"]
        details["unsupported_statements"] = [text for text in known if text not in dropped and not lost.has_word(text)]
    return Remainder(replace(answer, content=content, details=details, checkpoint_id=None), tuple(left))


@dataclass(frozen=True, slots=True)
class _Lost:
    """What an answer has lost."""

    documents: Set[str]
    numbers: Set[int]  # of its sources
    words: Set[str]  # folded, that nothing else of what the answer was made from has
    filenames: Set[str]

    @classmethod
    def of(cls, details: Mapping[str, Any], documents: Set[str], question: str) -> "_Lost":
        read = [*details.get("sources", ()), *_edges(details.get("paths", ())), *details.get("citations", ())]
        away = [of for of in read if of.get("document_id") in documents]
        left = [of for of in read if of.get("document_id") not in documents]
        common = frozenset().union(*map(stop_words, ANSWER_LANGUAGES))
        return cls(
            documents,
            {of["number"] for of in away if "number" in of},
            _words_of(away) - _words_of(left) - {fold(word) for word in words(question)} - common,
            {of["filename"] for of in away if "filename" in of} - {of["filename"] for of in left if "filename" in of},
        )

    def cites(self, citation: Mapping[str, Any]) -> bool:
        return citation.get("document_id") in self.documents

    def takes(self, citation: Mapping[str, Any]) -> bool:
        """It names the document, or repeats a doubtful statement that has its words."""
        is_carried = citation.get("status") == "supported"
        return self.cites(citation) or (not is_carried and self.has_word(citation.get("statement", "")))

    def has_word(self, text: str) -> bool:
        return not self.words.isdisjoint(map(fold, words(_MARK.sub("", text))))

    def holds(self, piece: _Piece) -> bool:
        if piece.statement is None:
            numbers = {int(number) for number in _MARK.findall(piece.text)}
            cites_them_alone = bool(numbers) and numbers <= self.numbers and bool(words(_MARK.sub("", piece.text)))
            return cites_them_alone or self.has_word(piece.text)
        cited, left = piece.statement["citations"], self.without(piece.statement)
        if cited and not left:
            return True
        is_carried = len(left) == len(cited) > 0 and piece.statement["status"] == "supported"
        return not is_carried and self.has_word(piece.text)

    def without_marks(self, text: str) -> str:
        """Of sources that are gone."""
        return _MARK.sub(lambda mark: "" if int(mark[1]) in self.numbers else mark[0], text)

    def without(self, statement: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        return [citation for citation in statement["citations"] if not self.cites(citation)]

    def redact(self, details: Mapping[str, Any]) -> dict[str, Any]:
        kept = dict(details)
        if "sources" in kept:
            kept["sources"] = [source for source in kept["sources"] if source["document_id"] not in self.documents]
        if "paths" in kept:
            kept["paths"] = [path for path in kept["paths"] if not any(map(self.cites, path["edges"]))]
        if "warnings" in kept:
            named = [any(name in warning for name in self.filenames) for warning in kept["warnings"]]
            kept["warnings"] = [
                warning for warning, is_named in zip(kept["warnings"], named, strict=True) if not is_named
            ]
        return kept


def _edges(paths: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    return chain.from_iterable(path["edges"] for path in paths)


def _words_of(read: Iterable[Mapping[str, Any]]) -> set[str]:
    texts = (
        str(of[name])
        for of in read
        for name in ("content", "quote", "title", "filename", "cause", "effect")
        if name in of
    )
    return {fold(word) for text in texts for word in words(text)}


def _pieces(answer: str, statements: Iterable[Mapping[str, Any]]) -> Iterator[_Piece]:
    end = 0
    for statement in sorted(statements, key=lambda each: int(each["start"])):
        yield from _between(answer[end : statement["start"]])
        end = statement["end"]
        yield _Piece(answer[statement["start"] : end], statement)
    yield from _between(answer[end:])


def _between(text: str) -> Iterator[_Piece]:
    for span in split_sentences(text):
        yield _Piece(text[span.start : span.end])


def _join(pieces: Sequence[_Piece], texts: Sequence[str | None], gap: str) -> tuple[str, list[Span | None]]:
    """The answer with one gap for all that is dropped in a row, and where each of the other pieces is in it."""
    written, between, after_gap = "", "", False
    spans: list[Span | None] = []
    for piece, text in zip(pieces, texts, strict=True):
        spans.append(None)
        if text is None:
            bare = piece.text.strip()
            written += "" if after_gap else between + piece.text.partition(bare)[0] + gap
            between, after_gap = piece.text.partition(bare)[2], True
        elif piece.statement is None and not words(text):  # a space, a bullet: of the piece that it stands before
            between = text if after_gap else between + text
        else:
            start = len(written) + len(between)
            spans[-1] = Span(start, start + len(text))
            written, between, after_gap = written + between + text, "", False
    return written + between, spans


def _language(answer: Message, question: str) -> str:
    language = answer.details.get("language")
    return language if language in GAPS else detect_question(question)
