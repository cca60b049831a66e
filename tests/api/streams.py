"""Server-Sent Events as a client sees them: what came, and when."""

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import httpx


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


def read_events(lines: Iterable[str]) -> Iterator[StreamedEvent]:
    """Strict: an event is exactly id, event and one line of data; a comment is no event. Before the first event stands
    how to resume.
    """
    fields: list[tuple[str, str]] = []
    opened = False
    for line in lines:
        text = line.rstrip("\r\n")
        if text.startswith(":"):
            continue
        if text:
            name, _, value = text.partition(": ")
            fields.append((name, value))
        elif fields:
            names, found = sorted(name for name, _ in fields), dict(fields)
            if not opened:
                assert names == ["id", "retry"], fields
                opened, fields = True, []
                continue
            assert names == ["data", "event", "id"], fields
            yield StreamedEvent(found["id"], found["event"], json.loads(found["data"]), time.monotonic())
            fields = []
    assert not fields, f"half an event at the end: {fields}"


def stream(client: httpx.Client, path: str = "/api/chat/stream", **body: Any) -> list[StreamedEvent]:
    with client.stream("POST", path, json=body) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"].startswith("text/event-stream")
        return list(read_events(response.iter_lines()))


def check_ids(events: Sequence[StreamedEvent], *, after: int = 0) -> None:
    """Of one stream, one number after the other."""
    assert len({event.stream for event in events}) == 1
    assert [event.number for event in events] == list(range(after + 1, after + 1 + len(events)))


def joined(events: Iterable[StreamedEvent]) -> str:
    return "".join(event.data["text"] for event in events if event.name == "token")
