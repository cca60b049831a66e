"""Streams of answers: a task writes each into a log that readers follow, in this process or in another one."""

import asyncio
import json
import re
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from contextlib import AbstractContextManager, aclosing, asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import count, groupby

from agent.output.events import Event
from graphrag.config.settings import Settings
from graphrag.errors import DatabaseUnavailable, StreamInterrupted, StreamNotFound, TooManyStreams
from graphrag.observability.metrics import RUNNING_STREAMS
from graphrag.observability.telemetry import log
from graphrag.resilience.cancellation import cancel_surely, end
from graphrag.stores.postgres.streams import DEAD_SECONDS, Noticed, StreamPart, StreamState, StreamStore

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

    def count_running(self, owner: str) -> tuple[int, int]:
        """Return how many streams of the owner are being made, and how many of all owners."""
        return sum(self._streams[of].owner == owner for of in self._runs if of in self._streams), len(self._runs)

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


WRITE_SECONDS = 0.2  # from an event to its place in the log
BEAT_SECONDS = 0.5  # between signs of life of a stream in which nothing is said
POLL_SECONDS = 0.15
BEHIND_SECONDS = DEAD_SECONDS + 1  # that the log may lack what a reader has seen: of a dead maker it is known by then
NEWS_SECONDS = 0.25  # between two questions of a stream that tells what changes in the database
OWNER_POLLS_PER_SECOND, POLLS_PER_SECOND = 10, 40  # that such streams make at most in one process
SWEEP_SECONDS = 30
WAIT_SECONDS = 0.5  # for a database that is away: an answer begins without it, a process ends without it


@dataclass(frozen=True, slots=True)
class RemoteStream:
    """One that another process makes or made, as its log had it when it was found."""

    id: str
    owner: str
    state: StreamState
    count: int  # of events
    store: StreamStore

    def __len__(self) -> int:
        return self.count

    @property
    def ended(self) -> bool:
        return self.state.is_ended

    async def follow(self, after: int = 0) -> AsyncIterator[bytes]:
        """Follow the stream as `Stream.follow` does.

        Raises StreamInterrupted after the last event of a process that is dead.
        """
        yield opening(self.id, after)
        while found := await self.store.read(self.owner, self.id, after=after):  # none: it was stopped
            state, events = found
            for event in events:
                yield event
            after += len(events)
            if state.is_ended:
                return
            if state.is_silent:
                raise StreamInterrupted("The process that made the answer is gone: ask again.")
            await asyncio.sleep(POLL_SECONDS)


@dataclass(slots=True)
class _Made:
    """State of the log of a stream that this process produces."""

    stream: Stream
    written: int = 0  # events
    at: float = 0.0  # of time.monotonic
    read_at: datetime | None = None  # elsewhere

    def is_due(self) -> bool:
        is_new = self.written < len(self.stream) or self.stream.ended
        return is_new or time.monotonic() - self.at >= BEAT_SECONDS

    def part(self, *, is_ended: bool) -> StreamPart:
        return StreamPart(self.stream.id, self.written + 1, self.stream.after(self.written), is_ended)


class SharedStreams:
    """One a process. While the database is away, each process has its own."""

    def __init__(self, settings: Settings, store: StreamStore) -> None:
        self.settings = settings
        self._store = store
        self._streams = Streams(settings)
        self._made: dict[str, _Made] = {}  # until the log has all of it, or none any more
        self._is_away = False

    @asynccontextmanager
    async def sharing(self) -> AsyncIterator[None]:
        """Write this process's streams to the database while the block runs."""
        tasks = [asyncio.create_task(self._keep_writing()), asyncio.create_task(self._keep_sweeping())]
        try:
            yield
        finally:
            await end(*tasks)
            await self._close()

    @asynccontextmanager
    async def admitted(self, owner: str) -> AsyncIterator[str]:
        """The id of a stream that is to be started inside. Raises TooManyStreams."""
        self._streams.make_room(owner)
        stream_id = make_id()
        if not await self._begin(owner, stream_id):
            raise too_many(self.settings.streams.streams_per_owner)
        try:
            yield stream_id
        finally:
            if stream_id not in self._made:
                with suppress(DatabaseUnavailable):
                    await self._store.remove(owner, [stream_id])

    def start(self, events: AsyncGenerator[Event, None], owner: str, stream_id: str | None = None) -> Stream:
        """Start a stream as `Streams.start` does; without an id, it is not counted before it is written down."""
        stream = self._streams.start(events, owner, stream_id)
        self._made[stream.id] = _Made(stream)
        return stream

    def poll_seconds(self, owner: str) -> float:
        """Return the interval at which a stream asks the database for news: longer, the more streams do so here."""
        owned, running = self._streams.count_running(owner)
        return max(NEWS_SECONDS, owned / OWNER_POLLS_PER_SECOND, running / POLLS_PER_SECOND)

    async def find(self, stream_id: str, owner: str) -> Stream | RemoteStream:
        """Raises StreamNotFound, in the same words for a stream of somebody else's."""
        if stream_id in self._made:
            return self._streams.find(stream_id, owner)
        known, _ = parse_event_id(f"{stream_id}:0")
        found = await self._store.find(owner, known) if known else None
        if found is None:
            raise not_found()
        return RemoteStream(stream_id, owner, *found, self._store)

    async def find_event(self, event_id: str, owner: str) -> tuple[Stream | RemoteStream, int]:
        """The stream that sent it, and its number there. Raises StreamNotFound."""
        stream_id, number = parse_event_id(event_id)
        if stream_id in self._made:
            return self._streams.find_event(event_id, owner)
        deadline = time.monotonic() + BEHIND_SECONDS
        while len(stream := await self.find(stream_id, owner)) < number:
            if stream.ended or time.monotonic() > deadline:
                raise not_found()
            if isinstance(stream, RemoteStream) and stream.state.is_silent:
                break  # it had this event, and will have no more
            await asyncio.sleep(POLL_SECONDS)
        return stream, number

    def reading(self, stream: Stream | RemoteStream) -> AbstractContextManager[None]:
        """While a client is there."""
        return self._streams.reading(stream) if isinstance(stream, Stream) else nullcontext()

    async def stop(self, stream_id: str, owner: str) -> None:
        """Stop a stream of any process and delete it. Raises StreamNotFound."""
        stream = await self.find(stream_id, owner)
        if isinstance(stream, Stream):
            self.cancel(stream)
        else:
            await self._store.cancel(owner, stream_id)

    def cancel(self, stream: Stream) -> None:
        """Cancel a stream of this process."""
        self._streams.cancel(stream)

    async def _begin(self, owner: str, stream_id: str) -> bool:
        most, kept = self.settings.streams.streams_per_owner, self.settings.streams.stream_kept_seconds
        over = [of for of, made in self._made.items() if made.stream.ended or made.stream not in self._streams]
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                return await self._store.begin(owner, stream_id, most=most, over=over, kept_seconds=kept)
        except (DatabaseUnavailable, TimeoutError) as exc:
            self._note_absence(exc)
            return True

    async def _keep_writing(self) -> None:
        while True:
            await asyncio.sleep(WRITE_SECONDS)
            for owner, made in _by_owner(made for made in self._made.values() if made.is_due()):
                try:
                    await self._write(owner, made)
                    self._is_away = False
                except Exception as exc:
                    self._note_absence(exc)
                    break

    async def _keep_sweeping(self) -> None:
        while True:
            try:
                await self._store.sweep()
            except Exception as exc:
                self._note_absence(exc)
            await asyncio.sleep(SWEEP_SECONDS)

    async def _write(self, owner: str, made: list[_Made]) -> None:
        gone = [one.stream.id for one in made if one.stream not in self._streams]
        if gone:
            await self._store.remove(owner, gone)
            for stream_id in gone:
                del self._made[stream_id]
        parts = [(one, one.part(is_ended=one.stream.ended)) for one in made if one.stream in self._streams]
        if parts:
            kept = self.settings.streams.stream_kept_seconds
            noticed = await self._store.write(owner, [part for _, part in parts], kept_seconds=kept)
            for one, part in parts:
                self._take(one, part, noticed[part.stream_id])

    def _take(self, made: _Made, part: StreamPart, noticed: Noticed) -> None:
        """Record what was written, and what was noticed meanwhile."""
        made.at = time.monotonic()
        made.written = 0 if noticed.is_incomplete else made.written + len(part.events)
        if noticed.is_cancelled:
            self._streams.cancel(made.stream)
        elif noticed.read_at != made.read_at:
            made.read_at = noticed.read_at
            self._streams.read_elsewhere(made.stream, noticed.read_up_to)
        if part.is_ended and made.stream in self._streams and not noticed.is_incomplete:
            self._streams.cancel(made.stream)  # from here on it is read from the log, and may be deleted there
            del self._made[part.stream_id]

    async def _close(self) -> None:
        """Tell readers in other processes that the stream was cut off."""
        kept = [made for made in self._made.values() if made.stream in self._streams]
        broken = {made.stream.id for made in kept if not made.stream.ended}
        await self._streams.close()
        with suppress(DatabaseUnavailable, TimeoutError):
            async with asyncio.timeout(WAIT_SECONDS):
                for owner, ours in _by_owner(kept):
                    parts = [made.part(is_ended=made.stream.id not in broken) for made in ours]
                    await self._store.write(owner, parts, kept_seconds=self.settings.streams.stream_kept_seconds)
                    await self._store.break_off(owner, [part.stream_id for part in parts if not part.is_ended])

    def _note_absence(self, exc: Exception) -> None:
        """Log once that streams are not shared."""
        if not self._is_away:
            log.warning("streams are not shared with other processes", error=exc)
        self._is_away = True


def _by_owner(made: Iterable[_Made]) -> Iterator[tuple[str, list[_Made]]]:
    ours = sorted(made, key=lambda one: one.stream.owner)
    return ((owner, [*group]) for owner, group in groupby(ours, key=lambda one: one.stream.owner))
