"""Server-Sent Events as a client sees them: what came, and when."""

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx


@dataclass(frozen=True, slots=True)
class StreamedEvent:
    id: str
    name: str
    data: dict[str, Any]
    at: float  # seconds of time.monotonic


def read_events(lines: Iterable[str]) -> Iterator[StreamedEvent]:
    """Strict: an event is exactly id, event and one line of data; a comment is no event."""
    fields: list[tuple[str, str]] = []
    for line in lines:
        text = line.rstrip("\r\n")
        if text.startswith(":"):
            continue
        if text:
            name, _, value = text.partition(": ")
            fields.append((name, value))
        elif fields:
            assert sorted(name for name, _ in fields) == ["data", "event", "id"], fields
            found = dict(fields)
            yield StreamedEvent(found["id"], found["event"], json.loads(found["data"]), time.monotonic())
            fields = []
    assert not fields, f"half an event at the end: {fields}"


def stream(client: httpx.Client, path: str = "/api/chat/stream", **body: Any) -> list[StreamedEvent]:
    with client.stream("POST", path, json=body) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"].startswith("text/event-stream")
        return list(read_events(response.iter_lines()))


def joined(events: Iterable[StreamedEvent]) -> str:
    return "".join(event.data["text"] for event in events if event.name == "token")
