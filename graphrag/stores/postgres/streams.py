"""Logs of streamed answers in PostgreSQL: written by the process that makes an answer, followed by all others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from graphrag.db.database import Connection, Database, fetch, queries

QUERIES = queries(Path(__file__).with_name("streams.sql"))
DEAD_SECONDS = 5  # without a sign of life from the process that makes it


@dataclass(frozen=True, slots=True)
class StreamPart:
    """New events of a stream, to be added to its log."""

    stream_id: str
    first: int  # the number of the first of these events; a stream's first has 1
    events: Sequence[bytes]
    is_ended: bool


@dataclass(frozen=True, slots=True)
class Noticed:
    """The stream's state that its producer reads when it writes."""

    is_cancelled: bool
    read_at: datetime | None  # by another process's reader
    read_up_to: int
    is_incomplete: bool  # the log has lost what was written before: nothing is there


@dataclass(frozen=True, slots=True)
class StreamState:
    is_ended: bool
    is_silent: bool  # its maker is dead, or was stopped


@dataclass(frozen=True, slots=True)
class StreamStore:
    """Logs of event streams; another owner's, a cancelled or an expired one is treated as missing."""

    database: Database

    async def begin(
        self, owner_id: str, stream_id: str, *, most: int, over: Sequence[str] = (), kept_seconds: float
    ) -> bool:
        """Create a stream; return False if the owner has `most` already, in all processes together.

        Those in `over` are not counted, though their end is not written yet.
        """
        values = {
            "owner_id": owner_id,
            "stream_id": stream_id,
            "most": most,
            "over": [*over],
            "kept_seconds": kept_seconds,
            "dead_seconds": DEAD_SECONDS,
        }
        async with self.database.transaction(owner_id) as connection:
            await connection.execute(QUERIES["lock_owner"], values)
            return bool((await connection.execute(QUERIES["begin"], values)).rowcount)

    async def write(self, owner_id: str, parts: Sequence[StreamPart], *, kept_seconds: float) -> dict[str, Noticed]:
        """Adds the events, and is a sign of life; by stream."""
        values = {
            "owner_id": owner_id,
            "streams": [part.stream_id for part in parts],
            "ended": [part.is_ended for part in parts],
            "kept_seconds": kept_seconds,
            "dead_seconds": DEAD_SECONDS,
        }
        async with self.database.transaction(owner_id) as connection:
            rows = {row["stream_id"]: row for row in await fetch(connection, QUERIES["write"], values)}
            noticed = {
                part.stream_id: Noticed(
                    row["is_cancelled"], row["read_at"], row["read_up_to"], row["is_new"] and part.first > 1
                )
                for part in parts
                for row in [rows[part.stream_id]]
            }
            for part in parts:
                if noticed[part.stream_id].is_incomplete:
                    await connection.execute(QUERIES["remove"], {"owner_id": owner_id, "streams": [part.stream_id]})
                elif part.events:
                    await connection.execute(QUERIES["add_events"], _values(owner_id, part))
        return noticed

    async def break_off(self, owner_id: str, streams: Sequence[str]) -> None:
        """Mark streams as abandoned by their producer, so that readers learn it immediately."""
        await self._execute("break_off", owner_id, streams=[*streams])

    async def find(self, owner_id: str, stream_id: str) -> tuple[StreamState, int] | None:
        """Return a stream's state and number of events; it counts as a visit of a reader, as `read` does."""
        async with self.database.transaction(owner_id) as connection:
            state = await _visit(connection, owner_id, stream_id, after=0)
            if state is None:
                return None
            values = {"owner_id": owner_id, "stream_id": stream_id}
            (row,) = await fetch(connection, QUERIES["count_events"], values)
            return state, row["count"]

    async def read(self, owner_id: str, stream_id: str, *, after: int) -> tuple[StreamState, list[bytes]] | None:
        """The events after that number; with an ended state, all that there will ever be."""
        async with self.database.transaction(owner_id) as connection:
            # Before the events: those that were written with the end are then there.
            state = await _visit(connection, owner_id, stream_id, after=after)
            if state is None:
                return None
            values = {"owner_id": owner_id, "stream_id": stream_id, "after": after}
            rows = await fetch(connection, QUERIES["read_events"], values)
        return state, [event for row in rows for event in row["events"][max(0, after + 1 - row["first"]) :]]

    async def cancel(self, owner_id: str, stream_id: str) -> bool:
        """False where there was none. Its maker stops when it writes the next time."""
        return bool(await self._execute("cancel", owner_id, stream_id=stream_id))

    async def remove(self, owner_id: str, streams: Sequence[str]) -> None:
        await self._execute("remove", owner_id, streams=[*streams])

    async def forget(self, owner_id: str) -> None:
        """The owner's logs of answers that have ended: they quote documents, which may be gone."""
        await self._execute("forget", owner_id, dead_seconds=DEAD_SECONDS)

    async def sweep(self) -> None:
        """Everybody's whose time is over."""
        async with self.database.transaction("") as connection:
            await connection.execute(QUERIES["sweep"])

    async def _execute(self, name: str, owner_id: str, **values: object) -> int:
        async with self.database.transaction(owner_id) as connection:
            return (await connection.execute(QUERIES[name], {"owner_id": owner_id, **values})).rowcount


async def _visit(connection: Connection, owner_id: str, stream_id: str, *, after: int) -> StreamState | None:
    values = {"owner_id": owner_id, "stream_id": stream_id, "after": after, "dead_seconds": DEAD_SECONDS}
    rows = await fetch(connection, QUERIES["visit"], values)
    return StreamState(rows[0]["is_ended"], rows[0]["is_silent"]) if rows else None


def _values(owner_id: str, part: StreamPart) -> Mapping[str, object]:
    return {"owner_id": owner_id, "stream_id": part.stream_id, "first": part.first, "events": [*part.events]}
