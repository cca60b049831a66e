"""Streams as their clients see them: what came, and when; and answers to make them of."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import httpx

from agent.output.events import Event
from api.streaming.streams import RemoteStream, SharedStreams, Stream, Streams
from tests.model_server import Paced

PATH = "/api/v1/chat/stream"


@dataclass(frozen=True, slots=True)
class StreamedEvent:
    id: str  # of the stream, and the event's number in it
    name: str
    data: dict[str, Any]
    at: float  # seconds of time.monotonic

    @property
    def stream(self) -> str:
        return self.id.rpartition(":")[0]

    @property
    def number(self) -> int:
        return int(self.id.rpartition(":")[2])


def read_blocks(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yield the fields of each block of Server-Sent Events as it ends; comments are left out.

    Raises AssertionError for a field that a block has twice, and for half a block at the end.
    """
    fields: dict[str, str] = {}
    for line in lines:
        text = line.rstrip("\r\n")
        if text and not text.startswith(":"):
            name, _, value = text.partition(":")
            assert name not in fields, (fields, text)
            fields[name] = value.removeprefix(" ")
        elif not text and fields:
            yield fields
            fields = {}
    assert not fields, f"half an event at the end: {fields}"


def read_events(lines: Iterable[str]) -> Iterator[StreamedEvent]:
    """Yield the events of an answer: each is exactly id, event and one line of data, after a first block that tells how
    to resume.
    """
    blocks = read_blocks(lines)
    opening = next(blocks, {"id": "", "retry": ""})
    assert opening.keys() == {"id", "retry"}, opening
    for block in blocks:
        assert block.keys() == {"data", "event", "id"}, block
        yield StreamedEvent(block["id"], block["event"], json.loads(block["data"]), time.monotonic())


def reported(events: Iterable[StreamedEvent], pace: Paced) -> Iterator[StreamedEvent]:
    """Yield the events; the model, which waits for it, is told of each token as it arrives."""
    for event in events:
        if event.name == "token":
            pace.receive(event.data["text"])
        yield event


def stream(client: httpx.Client, path: str = "/api/chat/stream", **body: Any) -> list[StreamedEvent]:
    with client.stream("POST", path, json=body) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"].startswith("text/event-stream")
        return list(read_events(response.iter_lines()))


def beginning(client: httpx.Client, body: dict[str, Any], *, tokens: int) -> list[StreamedEvent]:
    """Of a stream that is left then."""
    events: list[StreamedEvent] = []
    with client.stream("POST", PATH, json=body) as response:
        for event in read_events(response.iter_lines()):
            events.append(event)
            if sum(event.name == "token" for event in events) == tokens:
                return events
    raise AssertionError(f"the stream ended after {[event.name for event in events]}")


def read_on(client: httpx.Client, last: str, body: dict[str, Any] | None = None, **headers: str) -> list[StreamedEvent]:
    """As a client does that lost the connection: the same request again, or the stream's own address."""
    stream_id = last.partition(":")[0]
    method, path = ("POST", PATH) if body else ("GET", f"{PATH}/{stream_id}")
    with client.stream(method, path, json=body, headers={"Last-Event-ID": last, **headers}) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["x-stream-id"] == stream_id
        return list(read_events(response.iter_lines()))


def check_ids(events: Sequence[StreamedEvent], *, after: int = 0) -> None:
    """Of one stream, one number after the other."""
    assert len({event.stream for event in events}) == 1
    assert [event.number for event in events] == list(range(after + 1, after + 1 + len(events)))


def joined(events: Iterable[StreamedEvent]) -> str:
    return "".join(event.data["text"] for event in events if event.name == "token")


def texts_of(events: Sequence[StreamedEvent]) -> list[str]:
    return [event.data["text"] for event in events]


async def read(
    streams: Streams | SharedStreams, stream: Stream | RemoteStream, *, after: int = 0, most: int | None = None
) -> list[StreamedEvent]:
    """As a client does that leaves after so many events."""
    blocks: list[str] = []
    with streams.reading(stream):  # type: ignore[arg-type]  # a remote one is read of SharedStreams alone
        async with aclosing(stream.follow(after)) as parts:  # type: ignore[type-var]  # it is a generator
            async for block in parts:
                blocks += block.decode().split("\n")[:-1]
                if most is not None and len(list(read_events(blocks))) >= most:
                    break
    return list(read_events(blocks))


def token(text: str) -> Event:
    return {"event": "token", "data": {"text": text}}


@dataclass
class Answer:
    """Events, and what became of making them."""

    texts: Sequence[str]
    made: int = 0
    cancellations: int = 0
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    hangs: bool = False  # after the last

    async def events(self) -> AsyncGenerator[Event, None]:
        try:
            for text in self.texts:
                await asyncio.sleep(0)
                self.made += 1
                yield token(text)
            if self.hangs:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancellations += 1
            await asyncio.sleep(0.05)  # what a second cancellation would break off
            raise
        finally:
            self.closed.set()
