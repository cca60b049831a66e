"""The streams of all processes: what is made here is written down for the others, what they make is followed there."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from agent.output.events import Event
from api.streaming.streams import Stream, Streams, make_id, not_found, opening, parse_event_id, too_many
from graphrag.config.settings import Settings
from graphrag.errors import DatabaseUnavailable, StreamInterrupted
from graphrag.observability.telemetry import log
from graphrag.resilience.cancellation import end
from graphrag.stores.postgres.streams import DEAD_SECONDS, Noticed, StreamPart, StreamState, StreamStore

WRITE_SECONDS = 0.2  # from an event to its place in the log
BEAT_SECONDS = 0.5  # between signs of life of a stream in which nothing is said
POLL_SECONDS = 0.15
BEHIND_SECONDS = DEAD_SECONDS + 1  # that the log may lack what a reader has seen: of a dead maker it is known by then
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
