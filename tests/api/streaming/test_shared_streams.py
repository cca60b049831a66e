"""Streams of several processes over one database: two of them here, each with its own tasks, the database between."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from typing import Any

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from api.streaming.streams import READ_AHEAD, RemoteStream, SharedStreams, Stream
from graphrag.config.settings import Settings
from graphrag.errors import StreamInterrupted, StreamNotFound, TooManyStreams
from graphrag.services import Services, open_services
from graphrag.stores.postgres.streams import StreamPart
from tests.api.commands import NOWHERE
from tests.api.streams import Answer, check_ids, read, texts_of

SOON = 15  # seconds that nothing here takes, however busy the machine
LONG = [str(number) for number in range(3 * READ_AHEAD)]


@pytest.fixture
async def open_process(services: Services, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Any]:
    """Makes what a process has of the streams; that the machine is busy is no sign that the database is away."""
    monkeypatch.setattr("api.streaming.streams.WAIT_SECONDS", SOON)
    await services.open()
    async with AsyncExitStack() as stack:

        async def open_one(**settings: Any) -> SharedStreams:
            streams = SharedStreams(Settings.from_environment(**settings), services.streams)
            await stack.enter_async_context(streams.sharing())
            return streams

        yield open_one


async def begin(streams: SharedStreams, answer: Answer, owner: str) -> Stream:
    async with streams.admitted(owner) as stream_id:
        return streams.start(answer.events(), owner, stream_id)


async def until_gone(streams: SharedStreams, stream_id: str, owner: str) -> None:
    async with asyncio.timeout(SOON):
        while True:
            try:
                await streams.find(stream_id, owner)
            except StreamNotFound:
                return
            await asyncio.sleep(0.05)


async def until_remote(streams: SharedStreams, stream_id: str, owner: str) -> RemoteStream:
    """Once it is in the database alone."""
    async with asyncio.timeout(SOON):
        while not isinstance(stream := await streams.find(stream_id, owner), RemoteStream):
            await asyncio.sleep(0.02)
    return stream


@pytest.mark.parametrize("cut", [0, 1, READ_AHEAD, len(LONG)])
async def test_a_stream_is_read_on_in_another_process(open_process: Any, owner: str, cut: int) -> None:
    """R8.9 Wherever it was cut: each event once, in order, as the process that makes it has them."""
    here, there = await open_process(), await open_process()
    answer = Answer(LONG)
    stream = await begin(here, answer, owner)
    before = await read(here, stream, most=cut)
    found, after = await there.find_event(f"{stream.id}:{len(before)}", owner)
    assert isinstance(found, RemoteStream)
    events = [*before, *await read(there, found, after=after)]
    assert texts_of(events) == LONG
    check_ids(events)
    assert answer.cancellations == 0


async def test_a_model_is_not_read_far_ahead_of_a_client_in_another_process(open_process: Any, owner: str) -> None:
    """Back-pressure: what is written down is no more than what is read, wherever."""
    here, there = await open_process(), await open_process()
    answer = Answer(LONG)
    stream = await begin(here, answer, owner)
    found = await there.find(stream.id, owner)
    async with aclosing(found.follow()) as parts:
        for _ in range(1 + READ_AHEAD):
            await anext(parts)
        await asyncio.sleep(0.5)  # more than a few rounds of writing
        assert answer.made == READ_AHEAD
        await anext(parts)
        async with asyncio.timeout(SOON):
            while answer.made < 2 * READ_AHEAD:
                await asyncio.sleep(0.02)
        await asyncio.sleep(0.3)
        assert answer.made == 2 * READ_AHEAD


async def test_a_reader_in_another_process_keeps_an_answer_going(open_process: Any, owner: str) -> None:
    """Security 18: and its leaving stops it, by one cancellation."""
    here, there = await open_process(stream_grace_seconds=2), await open_process()
    answer = Answer(["one"], hangs=True)
    stream = await begin(here, answer, owner)
    found = await there.find(stream.id, owner)
    reading = asyncio.create_task(read(there, found))
    await asyncio.sleep(3)
    assert not answer.closed.is_set()
    reading.cancel()
    await asyncio.wait_for(answer.closed.wait(), SOON)
    await until_gone(there, stream.id, owner)
    with pytest.raises(StreamNotFound):
        await here.find(stream.id, owner)
    assert answer.cancellations == 1


async def test_a_stream_is_stopped_from_another_process(open_process: Any, owner: str) -> None:
    """Security 18: the model call ends, whoever reads is at the end, and nothing is left at either."""
    here, there = await open_process(), await open_process()
    answer = Answer(["one"], hangs=True)
    stream = await begin(here, answer, owner)
    found = await there.find(stream.id, owner)
    reading = asyncio.create_task(read(here, stream))
    async with aclosing(found.follow()) as parts:
        await anext(parts)
        assert b"one" in await anext(parts)
        await there.stop(stream.id, owner)
        assert [part async for part in parts] == []
    assert texts_of(await asyncio.wait_for(reading, SOON)) == ["one"]
    await asyncio.wait_for(answer.closed.wait(), SOON)
    assert answer.cancellations == 1
    for streams in (here, there):
        with pytest.raises(StreamNotFound):
            await streams.stop(stream.id, owner)


async def test_who_reads_elsewhere_is_told_that_the_answer_was_broken_off(services: Services, owner: str) -> None:
    """Security 18: the process that makes it ends; what came before is there, then the error, never a wait."""
    there = SharedStreams(Settings.from_environment(), services.streams)
    here = SharedStreams(Settings.from_environment(), services.streams)
    async with here.sharing():
        stream = await begin(here, Answer(["one", "two"], hangs=True), owner)
        found = await there.find(stream.id, owner)
        await read(there, found, most=2)
        reading = asyncio.create_task(read(there, found))
    with pytest.raises(StreamInterrupted):
        await asyncio.wait_for(reading, SOON)
    found, after = await there.find_event(f"{stream.id}:9", owner)
    assert isinstance(found, RemoteStream)
    assert len(found) == 2
    with pytest.raises(StreamInterrupted):
        await read(there, found, after=after)


async def test_who_saw_more_than_a_killed_process_wrote_is_told_that_it_was_broken_off(
    open_process: Any, services: Services, owner: str
) -> None:
    """Security 17: also who comes back before it is known that nobody makes the answer any more."""
    await services.streams.write(owner, [StreamPart("a", 1, [b"one"], False)], kept_seconds=60)
    there = await open_process()
    found, after = await there.find_event("a:3", owner)
    assert after == 3
    with pytest.raises(StreamInterrupted):
        await read(there, found, after=after)


async def test_what_has_ended_is_in_the_database_alone_and_can_be_forgotten(open_process: Any, owner: str) -> None:
    """Security 19: what a deleted document was quoted in is read by nobody any more; others' streams stay."""
    here, there = await open_process(), await open_process()
    stream = await begin(here, Answer(["one", "two"]), owner)
    others = await begin(here, Answer(["three"]), f"{owner}-2")
    running = Answer(["four"], hangs=True)
    unended = await begin(here, running, owner)
    for streams in (here, there):
        assert texts_of(await read(streams, await until_remote(streams, stream.id, owner), after=1)) == ["two"]
    await here._store.forget(owner)
    for streams in (here, there):
        with pytest.raises(StreamNotFound):
            await streams.find(stream.id, owner)
        assert texts_of(await read(streams, await until_remote(streams, others.id, f"{owner}-2"))) == ["three"]
    assert texts_of(await read(there, await there.find(unended.id, owner), most=1)) == ["four"]
    assert not running.closed.is_set()


async def test_a_whole_answer_is_gone_after_a_while(open_process: Any, services: Services, owner: str) -> None:
    """R8.9 As from one process; and any other sweeps it out of the database."""
    here, there = await open_process(stream_kept_seconds=1), await open_process()
    stream = await begin(here, Answer(["one"]), owner)
    await until_remote(here, stream.id, owner)
    await until_gone(there, stream.id, owner)
    await there._store.sweep()
    async with services.database.transaction(owner) as connection:
        left = await (await connection.execute("SELECT count(*) FROM streams")).fetchone()
        events = await (await connection.execute("SELECT count(*) FROM stream_events")).fetchone()
    assert left == events == {"count": 0}


async def test_an_owner_s_streams_are_counted_over_all_processes(open_process: Any, owner: str) -> None:
    """Security 18: exactly, also where many begin at once; what is whole gives way, others have their own."""
    processes = [await open_process(streams_per_owner=3) for _ in range(2)]
    whole = await begin(processes[0], Answer(["one"]), owner)
    await until_remote(processes[0], whole.id, owner)
    answers = [Answer([], hangs=True) for _ in range(10)]
    begun = await asyncio.gather(
        *(begin(processes[number % 2], answer, owner) for number, answer in enumerate(answers)), return_exceptions=True
    )
    refused = [one for one in begun if isinstance(one, BaseException)]
    assert [(type(one), getattr(one, "details", {})) for one in refused] == [(TooManyStreams, {"limit": 3})] * 7
    for streams in processes:
        with pytest.raises(StreamNotFound):
            await streams.find(whole.id, owner)
    assert isinstance(await begin(processes[0], Answer([]), f"{owner}-2"), Stream)
    running = next(one for one in begun if isinstance(one, Stream))
    for streams in processes:
        await streams.stop(running.id, owner)
    async with asyncio.timeout(SOON):
        while True:
            try:
                await begin(processes[1], Answer([]), owner)
                break
            except TooManyStreams:
                await asyncio.sleep(0.05)


async def test_a_place_that_is_not_used_is_free_again(open_process: Any, owner: str) -> None:
    """Security 18: a question that is refused after all counts for nothing."""
    here, there = await open_process(streams_per_owner=1), await open_process(streams_per_owner=1)
    for _ in range(3):
        with pytest.raises(RuntimeError):
            async with here.admitted(owner):
                raise RuntimeError
    assert isinstance(await begin(there, Answer([]), owner), Stream)


async def test_a_stream_is_its_owner_s_alone_in_every_process(
    open_process: Any, services: Services, owner: str
) -> None:
    """R4.8, security 18: another's is told from none by nothing; the database itself shows nobody else's."""
    here, there = await open_process(), await open_process()
    stream = await begin(here, Answer(["one"], hangs=True), owner)
    await read(there, await there.find(stream.id, owner), most=1)

    async def refusals(stream_id: str, who: str) -> set[tuple[str, str]]:
        told = set()
        for call in (
            there.find(stream_id, who),
            there.find_event(f"{stream_id}:1", who),
            there.stop(stream_id, who),
            here.stop(stream_id, who),
        ):
            with pytest.raises(StreamNotFound) as caught:
                await call
            told.add((str(caught.value), str(caught.value.details)))
        return told

    assert await refusals(stream.id, "eve") == await refusals("A" * len(stream.id), owner)
    assert len(await refusals(stream.id, "eve")) == 1
    for table in ("streams", "stream_events"):
        for who, expected in ((owner, 1), ("eve", 0), ("", 0)):
            async with services.database.transaction(who) as connection:
                row = await (await connection.execute(f"SELECT count(*) FROM {table}")).fetchone()
            assert row == {"count": expected}
    await services.streams.sweep()
    assert not (await here.find(stream.id, owner)).ended


@pytest.mark.parametrize("stream_id", ["", "\0", "a\0b", "\ud800", "x" * 65, "ñ", "A" * 22, "../streams", "a:1"])
async def test_an_id_that_no_stream_has_is_not_found(open_process: Any, owner: str, stream_id: str) -> None:
    """R9 However it is wrong; the database is not asked for what it can't hold."""
    here = await open_process()
    for call in (here.find(stream_id, owner), here.stop(stream_id, owner), here.find_event(f"{stream_id}:1", owner)):
        with pytest.raises(StreamNotFound):
            await call


async def test_a_number_that_no_event_has_is_not_found(
    open_process: Any, owner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R9 In a stream that has ended, and in one that does not get so far soon."""
    monkeypatch.setattr("api.streaming.streams.BEHIND_SECONDS", 0.5)
    here, there = await open_process(), await open_process()
    whole = await begin(here, Answer(["one"]), owner)
    running = await begin(here, Answer(["one"], hangs=True), owner)
    await until_remote(here, whole.id, owner)
    for stream in (whole, running):
        with pytest.raises(StreamNotFound):
            await there.find_event(f"{stream.id}:7", owner)
    assert (await there.find_event(f"{whole.id}:1", owner))[1] == 1


async def test_without_the_database_a_process_has_its_own_streams() -> None:
    """R11.1 Whole, resumed, stopped; and it is told once."""
    services = open_services(Settings.from_environment(database_url=SecretStr(NOWHERE["DATABASE_URL"])))
    streams = SharedStreams(services.settings, services.streams)
    with capture_logs() as logs:
        async with streams.sharing():
            stream = await begin(streams, Answer(LONG), "ada")
            before = await read(streams, stream, most=5)
            found, after = await streams.find_event(before[-1].id, "ada")
            events = [*before, *await read(streams, found, after=after)]
            endless = Answer(["one"], hangs=True)
            running = await begin(streams, endless, "ada")
            await read(streams, running, most=1)
            await streams.stop(running.id, "ada")
            await asyncio.wait_for(endless.closed.wait(), SOON)
            await asyncio.sleep(0.5)
    assert texts_of(events) == LONG
    check_ids(events)
    assert [entry["log_level"] for entry in logs if "not shared" in entry["event"]] == ["warning"]


async def test_what_the_database_loses_is_written_again(open_process: Any, services: Services, owner: str) -> None:
    """R11.1 Its tables are empty after a crash of the server: a stream that is being made is whole again soon."""
    here, there = await open_process(), await open_process()
    stream = await begin(here, Answer(LONG), owner)
    await read(here, stream, most=10)
    await read(there, await there.find(stream.id, owner), most=10)
    async with services.database.transaction(owner) as connection:
        await connection.execute("DELETE FROM streams WHERE owner_id = %s", [owner])
    async with asyncio.timeout(SOON):
        while True:
            try:
                assert texts_of(await read(there, await there.find(stream.id, owner))) == LONG
                break
            except StreamNotFound:
                await asyncio.sleep(0.05)


async def test_a_part_in_the_middle_of_nothing_is_not_kept(services: Services, owner: str) -> None:
    """R8.9 A log without its beginning is no log: who follows it would be told another answer."""
    await services.streams.write(owner, [StreamPart("a", 1, [b"one", b"two"], False)], kept_seconds=60)
    noticed = await services.streams.write(
        owner, [StreamPart("a", 3, [b"three"], True), StreamPart("b", 3, [b"three"], True)], kept_seconds=60
    )
    assert {stream_id: of.is_incomplete for stream_id, of in noticed.items()} == {"a": False, "b": True}
    found = await services.streams.read(owner, "a", after=1)
    assert found is not None
    assert (found[0].is_ended, found[1]) == (True, [b"two", b"three"])
    assert await services.streams.find(owner, "b") is None


async def test_a_part_is_written_again_where_it_is_not_known_that_it_was(services: Services, owner: str) -> None:
    """R11.1 The connection was cut with the commit: with what came since, each event once."""
    for events in ([b"one"], [b"one", b"two"]):
        await services.streams.write(owner, [StreamPart("a", 1, events, False)], kept_seconds=60)
    await services.streams.write(owner, [StreamPart("a", 3, [b"three"], True)], kept_seconds=60)
    found = await services.streams.read(owner, "a", after=0)
    assert found is not None
    assert found[1] == [b"one", b"two", b"three"]
