"""Erase the words of deleted documents from stored answers."""

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from graphrag.cache import REFINEMENTS_PREFIX, RELATIONS_PREFIX, SITUATIONS_PREFIX
from graphrag.db.database import Connection, Database, fetch, queries
from graphrag.linguistics.language import ANSWER_LANGUAGES, detect_question, fold, stop_words, words
from graphrag.linguistics.sentences import split_sentences
from graphrag.models import Span
from graphrag.models.conversations import Message
from graphrag.protocols import Cache
from graphrag.stores.postgres.rows import read_message
from graphrag.stores.postgres.streams import StreamStore

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
    """A part of an answer: a checked statement, or a sentence or space between two statements."""

    text: str
    statement: Mapping[str, Any] | None = None


def documents_of(details: Mapping[str, Any]) -> set[tuple[UUID, str]]:
    """Return the answer's documents as (id, hash of the content that was read), without those of other services."""
    read = chain(details.get("sources", ()), _edges(details.get("paths", ())), _tables(details))
    return {(UUID(of["document_id"]), of.get("content_hash", "")) for of in read if not of.get("elsewhere")}


def erase(
    answer: Message, gone: Set[UUID], *, question: str, heard: Sequence[Mapping[str, Any]] | None = ()
) -> Remainder:
    """Return the answer without statements that cite the deleted documents alone.

    Every sentence goes that has a word of theirs which neither the question nor a remaining document has, unless a
    remaining document is known to support it. `heard` is what else the conversation had read of deleted documents;
    where that is no longer known, it is None, and every sentence goes that no remaining document supports.
    """
    lost = _Lost.of(answer.details, {str(document) for document in gone}, question, heard)
    pieces = list(_pieces(answer.content, answer.details.get("statements", ())))
    is_ours = answer.details.get("found") is False  # that nothing was found
    texts = [None if not is_ours and lost.holds(piece) else lost.without_marks(piece.text) for piece in pieces]
    content, spans = _join(pieces, texts, GAPS[_language(answer, question)])
    citations = answer.details.get("citations", ())
    if not gone and content == answer.content:
        return Remainder(answer, tuple(range(1, len(citations) + 1)))
    dropped = {
        said
        for piece, text in zip(pieces, texts, strict=True)
        if piece.statement and text is None
        for said in (piece.statement["statement"], *(cited["statement"] for cited in piece.statement["citations"]))
    }
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
    if "short_answer" in details:
        details = _without_lost_short_answer(details, content)
    if "parts" in details:
        details["parts"] = [_without_lost_short_answer(part, content) for part in details["parts"]]
    return Remainder(replace(answer, content=content, details=details, checkpoint_id=None), tuple(left))


def _without_lost_short_answer(of: Mapping[str, Any], content: str) -> dict[str, Any]:
    """Return an answer's or a part's details without a short answer that the answer no longer holds."""
    return {**of, "short_answer": of["short_answer"] if of["short_answer"] in content else ""}


@dataclass(frozen=True, slots=True)
class _Lost:
    """The documents, sources, words and file names that an answer must not mention any longer."""

    documents: Set[str]
    numbers: Set[int]  # of its sources
    words: Set[str] | None  # folded, that nothing else of what the answer was made from has; None: any may be theirs
    filenames: Set[str]

    @classmethod
    def of(
        cls,
        details: Mapping[str, Any],
        documents: Set[str],
        question: str,
        heard: Sequence[Mapping[str, Any]] | None,
    ) -> "_Lost":
        read = _read(details)
        away = [of for of in read if of.get("document_id") in documents]
        left = [of for of in read if of.get("document_id") not in documents]
        known = _words_of(left).union(map(fold, words(question)), *map(stop_words, ANSWER_LANGUAGES))
        return cls(
            documents,
            {of["number"] for of in away if "number" in of},
            None if heard is None else _words_of([*away, *heard]) - known,
            {of["filename"] for of in away if "filename" in of} - {of["filename"] for of in left if "filename" in of},
        )

    def cites(self, citation: Mapping[str, Any]) -> bool:
        return citation.get("document_id") in self.documents

    def takes(self, citation: Mapping[str, Any]) -> bool:
        """Return whether it names the document, or repeats an unsupported statement with the document's words."""
        is_carried = citation.get("status") == "supported"
        return self.cites(citation) or (not is_carried and self.has_word(citation.get("statement", "")))

    def has_word(self, text: str) -> bool:
        said = words(_MARK.sub("", text))
        return bool(said) if self.words is None else not self.words.isdisjoint(map(fold, said))

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
        """Return the text without citation marks of deleted sources."""
        return _MARK.sub(lambda mark: "" if int(mark[1]) in self.numbers else mark[0], text)

    def without(self, statement: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        return [citation for citation in statement["citations"] if not self.cites(citation)]

    def redact(self, details: Mapping[str, Any]) -> dict[str, Any]:
        left = dict(details)
        if "sources" in left:
            left["sources"] = [source for source in left["sources"] if source["document_id"] not in self.documents]
        if "paths" in left:
            left["paths"] = [path for path in left["paths"] if not any(map(self.cites, path["edges"]))]
        if left.get("table") and (any(map(self.cites, _tables(left))) or left.get("sources") != details.get("sources")):
            left["table"] = None
        if "warnings" in left:
            named = [any(name in warning for name in self.filenames) for warning in left["warnings"]]
            left["warnings"] = [
                warning for warning, is_named in zip(left["warnings"], named, strict=True) if not is_named
            ]
        return left


def _read(details: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return all that an answer was made from and quotes, each with its document."""
    edges = _edges(details.get("paths", ()))
    return [*details.get("sources", ()), *edges, *details.get("citations", ()), *_tables(details)]


def _edges(paths: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    return chain.from_iterable(path["edges"] for path in paths)


def _tables(details: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the documents of the tables that the answer was computed from, those that no row is of with their cells."""
    computed = details.get("table") or {}
    cited = {source.get("document_id") for source in details.get("sources", ())}
    cells = " ".join(chain.from_iterable(computed.get("rows", ())))
    for each in computed.get("query", {}).get("tables", ()):
        yield each if each["document_id"] in cited else {**each, "content": cells}


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


QUERIES = queries(Path(__file__).with_name("erasure.sql"))
BATCH = 50  # answers in one transaction, and those of the same conversations: about a quarter of a second


@dataclass(frozen=True, slots=True)
class Erasure:
    """Erasure of deleted documents' text from answers that nobody reads: every reader erases before it reads."""

    database: Database
    cache: Cache

    async def erase(self, owner_id: str, *, most: int | None = None) -> int:
        """Rewrite answers that used deleted documents; return how many there were."""
        await StreamStore(self.database).forget(owner_id)
        erased = 0
        while most is None or erased < most:
            async with self.database.transaction(owner_id) as connection:
                found = await erase_gone(connection, owner_id)
            erased += found
            if not found:
                break
        return erased

    async def forget(self, owner_id: str, files: str) -> None:
        """Delete cached model output about the files whose keys begin with `files`, and all refined questions."""
        for kind in (SITUATIONS_PREFIX, RELATIONS_PREFIX):
            await self.cache.forget(owner_id, f"{kind}{files}")
        await self.cache.forget(owner_id, REFINEMENTS_PREFIX)  # of questions, in conversations that named titles


async def erase_gone(
    connection: Connection,
    owner_id: str,
    *,
    conversations: Sequence[UUID] | None = None,
    messages: Sequence[UUID] | None = None,
) -> int:
    """Rewrite answers made from deleted documents, with what their conversations repeat; return how many there were.

    They are those of some conversations, of the conversations of some messages, or of any with up to BATCH of them.
    """
    scope = {
        "owner_id": owner_id,
        "conversations": None if conversations is None else [*conversations],
        "messages": None if messages is None else [*messages],
        "limit": BATCH if conversations is None and messages is None else None,
    }
    touched = sorted({row["conversation_id"] for row in await fetch(connection, QUERIES["find_gone"], scope)})
    if not touched:
        return 0
    key = {"owner_id": owner_id, "conversations": touched}
    await connection.execute(QUERIES["lock_conversations"], key)
    found = await fetch(connection, QUERIES["find_gone"], key | {"messages": None, "limit": None})
    gone = {row["message_id"]: {*row["documents"]} for row in found}
    rows = await fetch(connection, QUERIES["read_answers"], key)
    for remainder in await asyncio.to_thread(_erase_conversations, rows, gone):
        await _rewrite(connection, owner_id, remainder, gone.get(remainder.message.id, ()))
    await connection.execute(QUERIES["retitle"], key)
    await forget_threads(connection, owner_id, touched)
    return len(gone)


def _erase_conversations(rows: Sequence[Mapping[str, Any]], gone: Mapping[UUID, Set[UUID]]) -> list[Remainder]:
    """Return those of the answers that change; one may repeat what an earlier one of its conversation had read."""
    answers = [(read_message(row), row["question"] or "") for row in rows]
    heard = defaultdict[UUID, list[Mapping[str, Any]]](list)
    for answer, _ in answers:
        documents = {str(document) for document in gone.get(answer.id, ())}
        heard[answer.conversation_id] += [of for of in _read(answer.details) if of.get("document_id") in documents]
    changed = []
    for answer, question in answers:
        known = heard[answer.conversation_id]
        left = erase(answer, gone.get(answer.id, frozenset()), question=question, heard=known)
        if left.message is not answer:
            changed.append(left)
    return changed


async def forget_threads(connection: Connection, owner_id: str, conversations: Sequence[UUID]) -> None:
    await connection.execute(QUERIES["forget_threads"], {"owner_id": owner_id, "conversations": [*conversations]})


async def find_missing(connection: Connection, answer: Message) -> set[UUID]:
    """Return those of the answer's documents that have been deleted."""
    return {row["document_id"] for row in await fetch(connection, QUERIES["find_missing"], document_row(answer))}


def document_row(answer: Message) -> dict[str, Any]:
    read = sorted(documents_of(answer.details))
    return {
        "message_id": answer.id,
        "documents": [document for document, _ in read],
        "hashes": [content_hash for _, content_hash in read],
    }


async def _rewrite(connection: Connection, owner_id: str, remainder: Remainder, gone: Iterable[UUID]) -> None:
    message = remainder.message
    key: Mapping[str, Any] = {"owner_id": owner_id, "message_id": message.id}
    new = {"content": message.content, "details": Jsonb(dict(message.details))}
    await connection.execute(QUERIES["rewrite_answer"], {**key, **new})
    await connection.execute(QUERIES["forget_documents"], {**key, "documents": [*gone]})
    await connection.execute(QUERIES["forget_ratings"], {**key, "left": [*remainder.citations]})
    for now, before in enumerate(remainder.citations, start=1):  # downwards, each to a number that is free by then
        if now != before:
            await connection.execute(QUERIES["renumber_rating"], {**key, "now": now, "before": before})
