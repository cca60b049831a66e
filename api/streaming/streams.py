"""Streams of answers in this process: a task writes each into a log, which readers follow from any event on."""

import asyncio
import json
import re
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing, contextmanager
from itertools import count

from agent.output.events import Event
from graphrag.config.settings import Settings
from graphrag.errors import StreamNotFound, TooManyStreams
from graphrag.observability.metrics import RUNNING_STREAMS
from graphrag.observability.telemetry import log
from graphrag.resilience.cancellation import cancel_surely

READ_AHEAD = 32  # events that an answer is ahead of its fastest reader at most: about a line of text
MOST_BYTES = 64_000_000  # of all logs together; an answer with its sources has about 50,000
RETRY_MILLISECONDS = 500  # after which a client that lost the connection resumes
ID_BYTES = 16  # unguessable: the id is all that a reader needs
_EVENT_ID = re.compile(r"([\w-]{1,64}):([0-9]{1,9})", re.ASCII)
# Line ends to some clients, though not to the standard; inside JSON they may be escaped.
_LINE_ENDS = str.maketrans({"\x85": r"\u0085", "\u2028": r"\u2028", "\u2029": r"\u2029"})


class Stream:
    """One answer's log. Readers that come back continue after what they have; several may read at the same time."""

    def __init__(self, owner: str, stream_id: str) -> None:
        self.id = stream_id
        self.owner = owner
        self.readers = 0
        self.ended = False
        self.size = 0  # bytes
        self._log: list[bytes] = []
        self._sent = 0  # events that the fastest reader has been sent
        self._changed = asyncio.Event()
        self._at_end: Callable[[], None] | None = None

    def __len__(self) -> int:
        """Return the number of events so far."""
        return len(self._log)

    def after(self, number: int) -> list[bytes]:
        """The events that there are so far after that one."""
        return self._log[number:]

    def append(self, event: Event) -> None:
        logged = encode(event, f"{self.id}:{len(self._log) + 1}")
        self._log.append(logged)
        self.size += len(logged)
        self._change()

    def at_end(self, call: Callable[[], None]) -> None:
        """However the answer ends; to be said before it runs."""
        self._at_end = call

    def end(self) -> None:
        self.ended = True
        if self._at_end:
            self._at_end()
        self._change()

    async def room(self) -> None:
        """Returns when a reader has been sent all but the last few events."""
        while len(self._log) - self._sent >= READ_AHEAD:
            await self._changed.wait()

    async def follow(self, after: int = 0) -> AsyncIterator[bytes]:
        """Every event after that number, once each, until the last; before them, what tells a client how to resume."""
        yield opening(self.id, after)
        for number in count(after):
            while number == len(self._log) and not self.ended:
                await self._changed.wait()
            if number == len(self._log):
                return
            yield self._log[number]
            self.sent_up_to(number + 1)

    def sent_up_to(self, number: int) -> None:
        if number > self._sent:
            self._sent = number
            self._change()

    def _change(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def make_id() -> str:
    return secrets.token_urlsafe(ID_BYTES)


def parse_event_id(event_id: str) -> tuple[str, int]:
    """The stream's id and the event's number; an empty id where it is none of ours."""
    match = _EVENT_ID.fullmatch(event_id)
    return (match[1], int(match[2])) if match else ("", 0)


def not_found() -> StreamNotFound:
    return StreamNotFound("There is no such stream or event, or it has ended too long ago: ask again.")


def too_many(limit: int) -> TooManyStreams:
    return TooManyStreams(f"{limit} answers are being streamed already: wait for one of them.", limit=limit)


def opening(stream_id: str, after: int) -> bytes:
    return f"retry: {RETRY_MILLISECONDS}\nid: {stream_id}:{after}\n\n".encode()


def encode(event: Event, event_id: str) -> bytes:
    data = json.dumps(event["data"], ensure_ascii=False).translate(_LINE_ENDS)
    # A model may write half a surrogate pair, which no client takes.
    return f"id: {event_id}\nevent: {event['event']}\ndata: {data}\n\n".encode(errors="replace")


class Streams:
    """One a process.

    A stream that nobody reads is cancelled after a while; one that is whole is kept a while for who comes back.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._streams: dict[str, Stream] = {}  # in the order of their beginnings
        self._runs: dict[str, asyncio.Task[None]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def __contains__(self, stream: Stream) -> bool:
        return stream.id in self._streams

    def start(self, events: AsyncGenerator[Event, None], owner: str, stream_id: str | None = None) -> Stream:
        """Makes the answer in a task of its own; cancelling it closes `events`. Raises TooManyStreams."""
        self.make_room(owner)
        stream = Stream(owner, stream_id or make_id())
        self._streams[stream.id] = stream
        run = asyncio.create_task(self._run(stream, events))
        self._runs[stream.id] = run
        run.add_done_callback(lambda done: self._ran(stream, done))
        self._schedule(stream)
        return stream

    def find(self, stream_id: str, owner: str) -> Stream:
        """Raises StreamNotFound, in the same words for a stream of somebody else's."""
        stream = self._streams.get(stream_id)
        if stream is None or stream.owner != owner:
            raise not_found()
        return stream

    def find_event(self, event_id: str, owner: str) -> tuple[Stream, int]:
        """The stream that sent it, and its number there. Raises StreamNotFound."""
        stream_id, number = parse_event_id(event_id)
        stream = self.find(stream_id, owner)
        if number > len(stream):
            raise not_found()
        return stream, number

    @contextmanager
    def reading(self, stream: Stream) -> Iterator[None]:
        """While a client is there."""
        stream.readers += 1
        self._schedule(stream)
        try:
            yield
        finally:
            stream.readers -= 1
            self._schedule(stream)

    def read_elsewhere(self, stream: Stream, number: int) -> None:
        """A reader of another process was there, and has been sent the events up to that one."""
        stream.sent_up_to(min(number, len(stream)))
        self._schedule(stream)

    def cancel(self, stream: Stream) -> None:
        """Stops the graph and the model call where they still run, and forgets the stream."""
        if self._streams.pop(stream.id, None) is None:
            return  # a second cancellation at once would break LangGraph's cleanup off and leave its nodes running
        if timer := self._timers.pop(stream.id, None):
            timer.cancel()
        if run := self._runs.get(stream.id):
            cancel_surely(run)

    async def close(self) -> None:
        for stream in list(self._streams.values()):
            self.cancel(stream)
        await asyncio.gather(*self._runs.values(), return_exceptions=True)

    async def _run(self, stream: Stream, events: AsyncGenerator[Event, None]) -> None:
        with RUNNING_STREAMS.track_inprogress():
            async with aclosing(events) as parts:
                async for event in parts:
                    stream.append(event)
                    self._keep_within_bytes()
                    await stream.room()

    def _ran(self, stream: Stream, run: asyncio.Task[None]) -> None:
        del self._runs[stream.id]
        stream.end()
        self._schedule(stream)
        if not run.cancelled() and (exc := run.exception()):
            log.error("stream failed", exc_info=exc)

    def _schedule(self, stream: Stream) -> None:
        """Schedule the removal of a stream that nobody reads, or that has been complete for a while."""
        if stream.id not in self._streams:
            return
        if timer := self._timers.pop(stream.id, None):
            timer.cancel()
        if not stream.readers or stream.ended:
            seconds = (
                self.settings.streams.stream_kept_seconds
                if stream.ended
                else self.settings.streams.stream_grace_seconds
            )
            self._timers[stream.id] = asyncio.get_running_loop().call_later(seconds, self.cancel, stream)

    def make_room(self, owner: str) -> None:
        """Remove the owner's oldest complete stream if there is no room. Raises TooManyStreams."""
        owned = [stream for stream in self._streams.values() if stream.owner == owner]
        if len(owned) < self.settings.streams.streams_per_owner:
            return
        whole = next((stream for stream in owned if stream.ended), None)
        if whole is None:
            raise too_many(self.settings.streams.streams_per_owner)
        self.cancel(whole)

    def _keep_within_bytes(self) -> None:
        """The longest kept give way; where all are still being made, the largest does: its model may have run wild."""
        while sum(stream.size for stream in self._streams.values()) > MOST_BYTES:
            whole = next((stream for stream in self._streams.values() if stream.ended), None)
            self.cancel(whole or max(self._streams.values(), key=lambda stream: stream.size))
