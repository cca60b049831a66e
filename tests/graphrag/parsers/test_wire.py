"""What a parser's process may say to ours."""

import json
import pickle
from dataclasses import replace
from datetime import date, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.errors import UnreadableDocument
from graphrag.models import Heading, ParsedText, SourceLocation, Table, TableRow
from graphrag.parsers.wire import END, FrameReader, written, written_error

CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(),
    st.datetimes(),
    st.dates(),
    st.times(),
    st.timedeltas(),
)
TEXT = "Hola, señor Muñoz."
PARSED = ParsedText(
    TEXT,
    "text/plain",
    (Heading(1, "Hola", 0),),
    (SourceLocation(0, 4, page=1), SourceLocation(6, 18, sheet="Uno", cells="A1:B2")),
    (
        Table("Uno", ("a", "b"), 3, (TableRow(0, 4, 2, (None, "2024-01-01", date(2024, 1, 1))),)),
        Table("Dos", (), 0, ()),
    ),
    "título",
    ("Ana",),
    ("¡ojo!",),
)


def read(payloads: list[bytes]) -> ParsedText | None:
    reading = FrameReader()
    *before, last = [reading.add(payload) for payload in payloads]
    assert not any(before)
    return last


def test_parsed_text_arrives_as_it_was() -> None:
    """R1.3"""
    assert read(list(written(PARSED))) == PARSED


@given(st.lists(st.lists(CELLS).map(tuple)))
def test_cells_of_every_type_arrive_as_they_were(rows: list[tuple[object, ...]]) -> None:
    """R1.5"""
    table = Table("", (), 0, tuple(TableRow(0, 1, number, values) for number, values in enumerate(rows)))  # type: ignore[arg-type]
    sent = replace(PARSED, tables=(table,))
    received = read(list(written(sent)))
    assert received == sent
    assert [[*map(type, row.values)] for row in received.tables[0].rows] == [[*map(type, row)] for row in rows]


def test_many_rows_come_in_many_frames() -> None:
    """R1.5: a large table does not hold the event loop."""
    places = tuple(SourceLocation(0, 4, cells=f"A{number}") for number in range(1, 10_001))
    rows = tuple(TableRow(0, 4, number, (time(1), timedelta(1), datetime(2024, 1, 1))) for number in range(10_000))
    sent = replace(PARSED, locations=places, tables=(Table("", (), 0, rows),))
    payloads = list(written(sent))
    assert len(payloads) == 12
    assert read(payloads) == sent


def test_error_is_raised_where_it_arrives() -> None:
    """R1.2"""
    with pytest.raises(UnreadableDocument, match="nada") as caught:
        FrameReader().add(written_error(UnreadableDocument("nada", reason="empty")))
    assert caught.value.details == {"reason": "empty"}


HEAD, *_ = written(PARSED)


@pytest.mark.parametrize(
    "payloads",
    [
        [pickle.dumps(PARSED)],
        [END],
        [b"T{}"],
        [b"T" + json.dumps({"text": 1, "media_type": "a"}).encode()],
        [HEAD, b"P" + json.dumps([{"start_char": 0, "end_char": len(TEXT) + 1}]).encode()],
        [HEAD, b"P" + json.dumps([{"start_char": 5, "end_char": 4}]).encode()],
        [HEAD, b"P" + json.dumps([{"start_char": -1, "end_char": 4}]).encode()],
        [HEAD, b"P" + json.dumps([{"start_char": 0, "end_char": 4, "cells": 7}]).encode()],
        [HEAD, b"R" + json.dumps([0, [[0, 10**6, 1, []]]]).encode()],
        [HEAD, b"R" + json.dumps([0, [[0.5, 1, 1, []]]]).encode()],
        [HEAD, b"R" + json.dumps([9, [[0, 1, 1, []]]]).encode()],
        [HEAD, b"R" + json.dumps([0, [[0, 1, 1, [["function", "x"]]]]]).encode()],
        [HEAD, b"R" + json.dumps([0, [[0, 1, 1, [{"a": 1}]]]]).encode()],
        [HEAD, pickle.dumps(PARSED)],
        [HEAD, b"X"],
    ],
)
def test_nothing_but_parsed_texts_is_taken(payloads: list[bytes]) -> None:
    """Whoever took over the parser gets no further than its process."""
    with pytest.raises((ValueError, TypeError, LookupError)):
        read(payloads)
