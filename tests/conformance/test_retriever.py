"""What a Retriever promises, by a service over real HTTP that answers as it should, badly, or not at all."""

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.errors import InvalidSettings, OutOfTime, ProviderError
from graphrag.models import UNDATED, Hit
from graphrag.protocols import Retriever
from graphrag.resilience.deadline import deadline
from graphrag.retrieval.chunkenizer import Chunkenizer, open_chunkenizer
from tests.chunkenizer_server import Script, passage, run_chunkenizer

SECONDS = 0.5
QUESTION = "¿Qué dice el acta?"
KEY = "open-sesame"


@pytest.fixture
def service() -> Iterator[Script]:
    with run_chunkenizer() as script:
        yield script


@pytest.fixture
async def chunkenizer(service: Script) -> AsyncIterator[Chunkenizer]:
    settings = Settings.from_environment(
        chunkenizer_url=SecretStr(service.url),
        chunkenizer_api_key=SecretStr(KEY),
        chunkenizer_timeout_seconds=SECONDS,
    )
    opened = open_chunkenizer(settings.search)
    assert opened
    yield opened
    await opened.close()


async def find(retriever: Retriever, limit: int = 5) -> list[Hit]:
    return await retriever.retrieve(QUESTION, limit=limit)


async def test_requests_follow_the_contract(service: Script, chunkenizer: Chunkenizer) -> None:
    """R13.3 The question, how many, the key; and that a Causeway asks, so that two do not ask in circles."""
    assert await find(chunkenizer, limit=7) == []
    assert service.questions == [{"query": QUESTION, "top_k": 7}]
    assert service.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert "causeway" in service.headers[0]["Via"]


async def test_passages_are_ranked_and_unique(service: Script, chunkenizer: Chunkenizer) -> None:
    """R13.3 In the service's order, at most as many as were asked for, with scores in [0, 1] and ids that stay."""
    service.passages = [
        passage("Uno.", index=3, score=7.5),
        passage("Otra vez.", index=3),
        passage("Dos.", index=4, score=-1),
        passage(" \n", index=5),
        passage("Tres.", document="acta-8", score=1),
        passage("Cuatro.", index=9),
    ]
    hits = await find(chunkenizer, limit=3)
    assert [(hit.chunk.content, hit.chunk.index, hit.score) for hit in hits] == [
        ("Uno.", 3, 1.0),
        ("Dos.", 4, 0.0),
        ("Tres.", 0, 1.0),
    ]
    first, second, third = (hit.chunk.document for hit in hits)
    assert first.id == second.id != third.id
    assert len({hit.chunk.id for hit in hits}) == 3
    assert hits == await find(chunkenizer, limit=3)


async def test_a_plain_list_is_accepted(service: Script, chunkenizer: Chunkenizer) -> None:
    """R13.3 003 tells what `retrieve_chunks` returns, and not what is around it."""
    service.body = b'[{"chunk_text": "Uno.", "document_id": "a", "chunk_index": 0, "score": 1, "metadata": {}}]'
    (hit,) = await find(chunkenizer)
    assert hit.chunk.content == "Uno."


async def test_document_metadata_is_kept(service: Script, chunkenizer: Chunkenizer) -> None:
    """R13.3 Names, language, tags, date, page: what citations and filters need."""
    name = uuid4()
    metadata = {
        "filename": "acta\u200b\nfinal.pdf",
        "title": "Acta",
        "language": "es-MX",
        "tags": ["junta", 4],
        "created_at": "2025-03-14",
        "page": 3,
        "start_char": 120,
        "document_metadata": {"author": "Ana"},
    }
    service.passages = [passage("Se aprobó el acta.", str(name), metadata=metadata)]
    (hit,) = await find(chunkenizer)
    document, (place,) = hit.chunk.document, hit.chunk.locations
    assert (document.id, document.is_elsewhere, document.filename) == (name, True, "acta final.pdf")
    assert (document.title, document.language, document.tags) == ("Acta", "es", ("junta",))
    assert (document.created_at, document.metadata) == (datetime(2025, 3, 14, tzinfo=UTC), {"author": "Ana"})
    assert (place.page, place.start_char, place.end_char) == (3, 120, 138)


async def test_unknown_metadata_is_ignored(service: Script, chunkenizer: Chunkenizer) -> None:
    """R13.3 They are the other service's own: no value of theirs loses a passage."""
    known = ("filename", "title", "language", "tags", "page", "created_at", "start_char")
    metadata = {key: {"a": 1} for key in known}
    service.passages = [passage("Le directeur de la bibliothèque est Paul Lemaire.", metadata=metadata)]
    (hit,) = await find(chunkenizer)
    document = hit.chunk.document
    assert (document.filename, document.language, document.created_at) == ("acta-7", "fr", UNDATED)
    assert (document.tags, document.title, hit.chunk.locations, hit.chunk.start_char) == ((), "", (), 0)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [("A2:B3", ["A2:B2", "A3:B3"]), ("A2:B9", [""]), ("A" + 5_000 * "9", [""]), ("nowhere", [""])],
    ids=["two rows", "more", "far", "nowhere"],
)
async def test_spreadsheet_rows_keep_their_cells(
    service: Script, chunkenizer: Chunkenizer, cells: str, expected: list[str]
) -> None:
    """R13.3, R8.3 each line its row, where the lines are as many; else the sheet alone."""
    rows = "mes: enero; ventas: 100\nmes: febrero; ventas: 120"
    service.passages = [passage(rows, metadata={"sheet_name": "Ventas", "cell_ref": cells})]
    (hit,) = await find(chunkenizer)
    assert [place.cells for place in hit.chunk.locations] == expected
    assert {place.sheet for place in hit.chunk.locations} == {"Ventas"}
    assert "".join(rows[place.start_char : place.end_char] for place in hit.chunk.locations) == rows


GARBAGE = {
    "no JSON": b"<html>busy</html>",
    "nothing": b"",
    "another object": b'{"detail": "no"}',
    "no list": b'{"results": "none"}',
    "too much": b" " * 10_000_001,
    **{f"without {key}": {key: None} for key in ("chunk_text", "document_id", "chunk_index", "score")},
    "a number for a text": {"chunk_text": 4},
    "a text for a number": {"chunk_index": "4"},
    "below the first": {"chunk_index": -1},
    "no number": {"score": float("nan")},
    "a number that JSON has not": {"metadata": {"a": float("inf")}},
    "metadata in a list": {"metadata": []},
    "half a pair": b'[{"chunk_text": "\\ud800", "document_id": "a", "chunk_index": 0, "score": 1}]',
}


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE)
async def test_an_invalid_response_is_a_typed_error(
    service: Script, chunkenizer: Chunkenizer, garbage: bytes | dict[str, Any]
) -> None:
    """R13.3 An invalid answer: nothing of it is used."""
    if isinstance(garbage, bytes):
        service.body = garbage
    else:
        wrong = {key: value for key, value in (passage() | garbage).items() if value is not None}
        service.passages = [passage(), wrong]
    with pytest.raises(ProviderError):
        await find(chunkenizer)


@pytest.mark.parametrize(
    "fault", [{"status": 500}, {"status": 401}, {"status": 302}, {"missing_bytes": 9}, {"hangs": True}], ids=str
)
async def test_the_circuit_opens_after_failures(
    service: Script, chunkenizer: Chunkenizer, fault: dict[str, Any]
) -> None:
    """R13.3, R11.1 After some failures nobody waits for it; the error does not repeat the key."""
    for name, value in fault.items():
        setattr(service, name, value)
    for _ in range(3):
        with pytest.raises(ProviderError) as caught:
            await find(chunkenizer)
        assert KEY not in str(caught.value)
    asked = len(service.questions)
    with pytest.raises(ProviderError, match="circuit of"):
        await find(chunkenizer)
    assert len(service.questions) == asked
    assert chunkenizer.breaker.states()[0].state == "open"


async def test_transient_failures_are_retried(service: Script, chunkenizer: Chunkenizer) -> None:
    """R13.3 Once."""
    service.passages, service.failures = [passage()], 1
    assert len(await find(chunkenizer)) == 1
    assert len(service.questions) == 2


async def test_the_deadline_is_respected(service: Script, chunkenizer: Chunkenizer) -> None:
    """R13.3, R11.1 A deadline that is shorter than its own."""
    service.hangs = True
    with deadline(SECONDS / 5), pytest.raises(OutOfTime):
        await find(chunkenizer)


@pytest.mark.parametrize("url", ["chunkenizer:8000", "ftp://host", "http://", "http://host:port", "http://u:pass@/"])
def test_an_address_that_is_none_is_told_at_start(url: str) -> None:
    """R13.3 Without what may be a password."""
    with pytest.raises(InvalidSettings, match="CHUNKENIZER_API_URL") as caught:
        open_chunkenizer(Settings.from_environment(chunkenizer_url=SecretStr(url)).search)
    assert "pass" not in str(caught.value)


def test_without_an_address_there_is_none() -> None:
    """R13.3 Unset, or empty."""
    assert open_chunkenizer(Settings.from_environment().search) is None
    assert open_chunkenizer(Settings.from_environment(chunkenizer_url="").search) is None
