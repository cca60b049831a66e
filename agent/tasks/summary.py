"""Summaries: which documents are asked for, their text, and what is quoted of them with the passages that hold it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from math import log
from pathlib import PurePath

from babel.dates import format_date

from agent.messages import say
from agent.tasks.last_answer import make_passage
from graphrag.extractive_answers.prompt_format import map_spans
from graphrag.extractive_answers.statements import without_marks
from graphrag.extractive_answers.summaries import (
    SummaryPoint,
    summarise_collection,
    summarise_document,
    what_is_new,
    write_lines,
    write_summary,
)
from graphrag.extractive_answers.summary_candidates import SummarySource, source_of_chunks
from graphrag.linguistics.dates import read_dates
from graphrag.linguistics.language import content_words, stem, words
from graphrag.linguistics.lexicon import meanings, share_meaning
from graphrag.llm.prompt_injection import find_instructions
from graphrag.models import Chunk, Collection, Document, Passage
from graphrag.protocols import ChunkStore, read_from_each

MOST_CHUNKS = 2_000  # that are read, shared by the documents: of many, their beginnings
MOST_DOCUMENTS = 200  # of a collection that are read, the newest ones
MOST_TARGETS = 3  # documents that are summarised point by point; of more, each has a line
POINTS = 7
LEAST_NAMED = 0.5  # share of the target's words that a document's title or file name has


@dataclass(frozen=True, slots=True)
class Summary:
    text: str
    passages: list[Passage]


@dataclass(frozen=True, slots=True)
class SummarisedDocument:
    """A document with its chunks, in order."""

    document: Document
    chunks: Sequence[Chunk]

    @property
    def source(self) -> SummarySource:
        """Return its text without instructions for a language model and marks; each character keeps its place."""
        source = source_of_chunks(self.document, self.chunks)
        text = map_spans(source.text, find_instructions(source.text), lambda order: " " * len(order))
        return replace(source, text=without_marks(text))

    def passage_of(self, start: int, end: int) -> Passage:
        """Return the chunks that hold [start, end) of the text as one passage."""
        offset = self.chunks[0].start_char
        held = [each for each in self.chunks if each.start_char < end + offset and start + offset < each.end_char]
        held = held or [self.chunks[0]]
        return make_passage(held, held[0].start_char, held[-1].end_char)


def find_targets(target: str, language: str, documents: Sequence[Document]) -> list[Document]:
    """Return the documents whose title or file name holds most of the target's words, in any language.

    A word counts by how few documents have it: every second report is a report. None where all hold little.
    """
    wanted = list(dict.fromkeys(content_words(target, language)))
    held = {each.id: {word for word in wanted if _is_titled(word, language, each)} for each in documents}
    counts = Counter(word for found in held.values() for word in found)
    weights = {word: log(1 + len(documents) / (counts[word] or 1)) for word in wanted}
    shares = {key: sum(weights[word] for word in found) / sum(weights.values()) for key, found in held.items()}
    best = max(shares.values(), default=0.0)
    return [each for each in documents if shares[each.id] == best] if best >= LEAST_NAMED else []


def _is_titled(word: str, language: str, document: Document) -> bool:
    text = f"{document.title} {PurePath(document.filename).stem}".replace("_", " ").replace("-", " ")
    titled, known = words(text), meanings(word, language)
    return any(
        stem(word, language) in (stem(other, language), stem(other, document.language))
        or share_meaning(known, meanings(other, document.language)) == 1.0
        for other in titled
    )


async def read_documents(
    documents: Sequence[Document], *, store: ChunkStore, collections: Sequence[Collection]
) -> list[SummarisedDocument]:
    """Read the documents, those without text left out."""
    last = MOST_CHUNKS // max(1, len(documents))
    spans = [(each.id, 0, last) for each in documents]
    chunks = await read_from_each(collections, lambda each: store.read_chunks(each, spans))
    return [SummarisedDocument(each, chunks[each.id]) for each in documents if chunks.get(each.id)]


def read_since(phrase: str, language: str, today: date) -> date | None:
    """Return the first day of the period that a phrase names: "since May", « depuis le 3 mars »."""
    days = [each.first for each in read_dates(phrase, language, reference=today) if each.first]
    past = [day for day in days if day <= today]
    return max(past, default=None) or (max(days).replace(year=today.year - 1) if days else None)


def summarise(read: Sequence[SummarisedDocument], language: str, *, since: date | None, today: date) -> Summary:
    """Summarise few documents point by point, and more in a line each; with `since`, only those that are new."""
    if len(read) > MOST_TARGETS or since:
        return _summarise_many(read, language, since=since, today=today)
    numbered = _Passages()
    parts = []
    for each in read:
        points = summarise_document(each.source, language=language, today=today, points=max(3, POINTS // len(read)))
        text = write_summary(points, partial(numbered.mark, each))
        parts.append(f"**{each.document.title or each.document.filename}**\n\n{text}" if len(read) > 1 else text)
    return Summary("\n\n".join(filter(None, parts)), numbered.passages)


def _summarise_many(read: Sequence[SummarisedDocument], language: str, *, since: date | None, today: date) -> Summary:
    sources = [each.source for each in read]
    if since:
        lines = what_is_new(sources, since, language=language, today=today)
        if not lines:
            day = format_date(since, "d MMM y", locale=language)
            return Summary(say("nothing_new", language).format(day=day, count=len(read)), [])
    else:
        lines = summarise_collection(sources, language=language, today=today)
    numbered = _Passages()
    total = len(lines) if since else len(read)
    text = write_lines(lines, language, lambda line: numbered.mark(read[line.index], line.point), total=total)
    return Summary(text, numbered.passages)


@dataclass(slots=True)
class _Passages:
    """The passages that points are quoted from, each once, in the order of their marks."""

    passages: list[Passage] = field(default_factory=list)

    def mark(self, read: SummarisedDocument, point: SummaryPoint) -> int:
        passage = read.passage_of(point.start, point.end)
        if passage not in self.passages:
            self.passages.append(passage)
        return self.passages.index(passage) + 1
