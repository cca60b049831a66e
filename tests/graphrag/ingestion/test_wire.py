"""What the sandbox's processes may say to ours."""

import io
import json
import pickle
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.config.settings import IngestionConfig
from graphrag.errors import UnreadableDocument
from graphrag.ingestion.chunking import ChunkSpan
from graphrag.ingestion.enrichment import Keyphrase
from graphrag.ingestion.prepared import Preparation
from graphrag.ingestion.sources import SourceFile, SourceText
from graphrag.ingestion.tables.typed_tables import TypedTable, typed_tables
from graphrag.ingestion.wire import (
    END,
    FrameReader,
    PreparationRequest,
    read_counts,
    read_question,
    read_request,
    written,
    written_counts,
    written_error,
    written_question,
    written_request,
)
from graphrag.models import ParsedText, SourceLocation, Span, TemporalContext
from graphrag.models.graph import CausalRelation, ChunkGraph, Mention, Polarity, RelationType
from tests.factories import make_document

TEXT = "| Mes | Total |\n|---|---|\n| enero | 3 |\n| marzo | 5 |\n"
(TABLE,) = typed_tables(ParsedText(TEXT, "text/markdown"), make_document(language="es"), [0])
HALF = len(TEXT) // 2
CELL = SourceLocation(4, 9, None, "Uno", "A1", TemporalContext(date(2024, 1, 1), "month"))
PREPARED = Preparation(
    TEXT,
    "text/markdown",
    "es",
    "Título",
    "rows",
    ("Ana",),
    ("horno",),
    ("¡ojo!",),
    (Keyphrase(("horno", "h2"), "horno H2"),),
    (
        ChunkSpan(0, HALF, 0, "Título", (SourceLocation(0, 4, page=1),), ("Mes", "Total"), Span(0, len(TEXT))),
        ChunkSpan(
            HALF,
            len(TEXT),
            3,
            "T",
            (CELL,),
        ),
    ),
    (
        ChunkGraph((Mention("ana", 0.5),)),
        ChunkGraph(
            (),
            (CausalRelation(Span(0, 3), Span(5, 9), Span(0, 9), RelationType.CAUSES, Polarity.NEGATED, 0.85),),
        ),
    ),
    (TABLE.to_bytes(),),
)


def read(payloads: list[bytes]) -> Preparation | None:
    reading = FrameReader()
    *before, last = [reading.add(payload) for payload in payloads]
    assert not any(before)
    return last


def test_a_preparation_arrives_as_it_was() -> None:
    """R1.3, R2.3"""
    assert read(list(written(PREPARED))) == PREPARED


def test_many_chunks_come_in_many_frames() -> None:
    """R1.7: a large document does not hold the event loop."""
    spans = tuple(ChunkSpan(n, n + 1, n, "T") for n in range(1_001))
    sent = replace(PREPARED, text="x" * 1_001, spans=spans, graph=(ChunkGraph(),) * 1_001, tables=())
    payloads = list(written(sent))
    assert len(payloads) == 8
    assert read(payloads) == sent


def test_error_is_raised_where_it_arrives() -> None:
    """R1.2"""
    with pytest.raises(UnreadableDocument, match="nada") as caught:
        FrameReader().add(written_error(UnreadableDocument("nada", reason="empty")))
    assert caught.value.details == {"reason": "empty"}


@given(st.text(), st.text(), st.text() | st.none(), st.binary())
def test_sources_arrive_as_they_were(name: str, text: str, title: str | None, data: bytes) -> None:
    """R1.1: all of them that its preparation depends on, strange characters too."""
    config = IngestionConfig(chunk_tokens=99)
    sent = SourceText(name, f"{text}\ud800", title, "es", chunking="paragraph")
    request = read_request(written_request(PreparationRequest.of(sent, config, "model")))
    assert isinstance(request, PreparationRequest)
    assert (request.config.chunking, request.config.chunk_tokens, request.counting) == ("paragraph", 99, "model")
    source = request.source(name, sent.text.encode(errors="surrogatepass"))
    assert source == SourceText(name, sent.text, title, "es")
    request = read_request(written_request(PreparationRequest.of(SourceFile(name, name, data), config, "bundled")))
    assert isinstance(request, PreparationRequest)
    assert request.source(name, data) == SourceFile(name, name, data)


@given(st.lists(st.text()))
def test_questions_arrive_as_they_were(texts: list[str]) -> None:
    """R2.2"""
    assert read_question(written_question(texts)) == texts
    assert read_counts(written_counts([*map(len, texts)])) == [*map(len, texts)]
    assert read_question(END) is None


HEAD, CHUNKS, *_ = written(PREPARED)


def chunks(**changes: object) -> bytes:
    """The frame of the chunks with something else in the first one's span and graph."""
    (span, graph), second = json.loads(CHUNKS[1:])
    graph = {name: changes.pop(name, value) for name, value in graph.items()}
    return b"C" + json.dumps([[span | changes, graph], second]).encode()


def table(**changes: object) -> bytes:
    return b"B" + replace(TABLE, **changes).to_bytes()  # type: ignore[arg-type]  # a field's name and value


def packed(table: TypedTable) -> bytes:
    """The table's arrays, compressed: a gigabyte could be a megabyte."""
    buffer = io.BytesIO()
    with np.load(io.BytesIO(table.to_bytes())) as arrays:
        np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


FAR = {"start": 0, "end": 10**6}
RELATION = json.loads(CHUNKS[1:])[1][1]["relations"][0]


@pytest.mark.parametrize(
    "payloads",
    [
        [pickle.dumps(PREPARED)],
        [END],
        [b"T{}"],
        [HEAD.replace(b'"text/markdown"', b"7")],
        [HEAD.replace(b'"rows"', b'"anything"')],
        [HEAD, END],
        [HEAD, b"C[]", END],
        [HEAD, chunks(end=HALF - 1)],
        [HEAD, chunks(start=1)],
        [HEAD, chunks(start="0x")],
        [HEAD, chunks(window_start=-1)],
        [HEAD, chunks(window_start=1)],
        [HEAD, chunks(parent=FAR)],
        [HEAD, chunks(locations=[{"start_char": 0, "end_char": 10**6}])],
        [HEAD, chunks(locations=[{"start_char": 5, "end_char": 4}])],
        [HEAD, chunks(locations=[{"start_char": 0, "end_char": 4, "cells": 7}])],
        [HEAD, chunks(mentions=[["ana", 1]])],
        [HEAD, chunks(mentions=[{"key": "ana", "weight": "much"}])],
        [HEAD, chunks(relations=[RELATION | {"cause": FAR}])],
        [HEAD, chunks(relations=[RELATION | {"quote": FAR}])],
        [HEAD, chunks(relations=[RELATION | {"type": "OWNS"}])],
        [HEAD, CHUNKS, CHUNKS],
        [HEAD, CHUNKS, b"B"],
        [HEAD, CHUNKS, b"B" + pickle.dumps(TABLE)],
        [HEAD, CHUNKS, b"B" + packed(TABLE)],
        [HEAD, CHUNKS, table(chunks=np.array([0, 2], np.int32))],
        [HEAD, CHUNKS, table(chunks=np.array([-1, 1], np.int32))],
        [HEAD, CHUNKS, table(ends=np.array([5, 10**6], np.int32))],
        [HEAD, CHUNKS, table(ends=np.array([5], np.int32))],
        [HEAD, CHUNKS, table(starts=np.array([0.5, 1]))],
        [HEAD, CHUNKS, table(about=["x"])],
        [HEAD, CHUNKS, table(columns=[replace(TABLE.columns[0], codes=np.array([0, 9], np.int32))])],
        [HEAD, CHUNKS, table(columns=[replace(TABLE.columns[0], texts=[7, 8, 9])])],  # type: ignore[list-item]  # on purpose
        [HEAD, CHUNKS, table(columns=[replace(TABLE.columns[1], numbers=np.array(["a", "b"]))])],
        [HEAD, CHUNKS, pickle.dumps(PREPARED)],
        [HEAD, CHUNKS, b"X"],
    ],
)
def test_nothing_but_preparations_is_taken(payloads: list[bytes]) -> None:
    """Security 9: whoever took over a parser gets no further than its process."""
    with pytest.raises(Exception) as caught:  # noqa: PT011  # whatever it is, the file is refused for it
        read(payloads)
    assert not isinstance(caught.value, AssertionError)
