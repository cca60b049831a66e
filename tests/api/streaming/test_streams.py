"""Streams: logs of answers that are being made, and those who read them."""

import asyncio
import base64
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.output.events import Event
from api.streaming.streams import MOST_BYTES, READ_AHEAD, Streams
from graphrag.config.settings import Settings
from graphrag.errors import StreamNotFound, TooManyStreams
from graphrag.resilience import cancellation
from tests.api.streams import Answer, StreamedEvent, check_ids, read, texts_of, token

OWNER = "ada"
SOON = 5  # seconds that nothing here takes
TEXTS = st.lists(st.text(st.characters(codec="utf-8"), max_size=8), max_size=3 * READ_AHEAD)


def make_streams(**settings: Any) -> Streams:
    return Streams(Settings.from_environment(**settings))


@given(texts=TEXTS, cuts=st.lists(st.integers(0, READ_AHEAD), max_size=6))
def test_wherever_a_client_is_cut_off_it_gets_every_event_once(texts: list[str], cuts: list[int]) -> None:
    """R8.9 The parts of a stream that was resumed any number of times are the stream."""

    async def resumed() -> list[StreamedEvent]:
        streams = make_streams()
        stream = streams.start(Answer(texts).events(), OWNER)
        events: list[StreamedEvent] = []
        for most in [*cuts, None]:
            last = events[-1].id if events else f"{stream.id}:0"
            found, after = streams.find_event(last, OWNER)
            events += await read(streams, found, after=after, most=most)
        await streams.close()
        return events

    events = asyncio.run(resumed())
    assert texts_of(events) == texts
    if events:
        check_ids(events)


@given(texts=TEXTS, starts=st.lists(st.integers(0, 3 * READ_AHEAD), min_size=1, max_size=4))
def test_all_readers_of_a_stream_read_the_same(texts: list[str], starts: list[int]) -> None:
    """R8.9 At the same time, each from where it wants; the first from the beginning."""

    async def together() -> None:
        streams = make_streams()
        stream = streams.start(Answer(texts).events(), OWNER)
        first = asyncio.create_task(read(streams, stream))
        await asyncio.sleep(0)
        places = [min(start, len(stream)) for start in starts]
        others = [read(streams, stream, after=place) for place in places]
        read_all = [await first, *await asyncio.gather(*others)]
        await streams.close()
        assert [texts_of(events) for events in read_all] == [texts, *(texts[place:] for place in places)]

    asyncio.run(together())


async def test_a_stream_is_its_owners_alone() -> None:
    """Security 18, R4.8: another's is told from none by nothing, and its id can't be guessed."""
    streams = make_streams()
    answer = Answer(["one"], hangs=True)
    stream = streams.start(answer.events(), OWNER)
    await read(streams, stream, most=1)
    assert len(base64.urlsafe_b64decode(stream.id + "==")) * 8 >= 128
    assert streams.find_event(f"{stream.id}:1", OWNER) == (stream, 1)

    def refusal(stream_id: str, owner: str) -> tuple[str, dict[str, Any]]:
        with pytest.raises(StreamNotFound) as whole:
            streams.find(stream_id, owner)
        with pytest.raises(StreamNotFound) as resumed:
            streams.find_event(f"{stream_id}:1", owner)
        assert str(whole.value) == str(resumed.value)
        return str(whole.value), whole.value.details

    assert refusal(stream.id, "eve") == refusal("A" * len(stream.id), OWNER)
    await streams.close()


@pytest.mark.parametrize(
    "event_id", ["", "1", "{}", "{}:", "{}:-1", "{}:1:1", "{}:3", "{}:9999999999", "{}:١", " {}:1"]
)
async def test_an_id_that_no_event_had_is_not_found(event_id: str) -> None:
    """R9 However it is wrong."""
    streams = make_streams()
    stream = streams.start(Answer(["one", "two"]).events(), OWNER)
    await read(streams, stream)
    with pytest.raises(StreamNotFound):
        streams.find_event(event_id.format(stream.id), OWNER)
    await streams.close()


async def test_a_model_is_not_read_far_ahead_of_a_client_that_does_not_read() -> None:
    """Back-pressure: the answer waits for its fastest reader, and goes on when that does; a slower one holds nobody."""
    streams = make_streams()
    answer = Answer([str(number) for number in range(5 * READ_AHEAD)])
    stream = streams.start(answer.events(), OWNER)
    with streams.reading(stream):
        slow, fast = stream.follow(), stream.follow()
        await anext(slow)
        for sent in (10, 50):
            for _ in range(sent):
                await anext(fast)
            taken = 9 if sent == 10 else 59  # an event is taken when the next is asked for; the first block is none
            async with asyncio.timeout(SOON):
                while answer.made < taken - 1 + READ_AHEAD:
                    await asyncio.sleep(0)
            await asyncio.sleep(0.05)
            assert answer.made == taken - 1 + READ_AHEAD
        async for _ in fast:
            pass
        assert answer.made == len(answer.texts)
        assert len([block async for block in slow]) == len(answer.texts)
    await streams.close()


async def test_without_a_reader_an_answer_is_stopped_after_a_while() -> None:
    """Security 18: the graph is closed, and with it the model call, by one cancellation."""
    streams = make_streams(stream_grace_seconds=0.02)
    answer = Answer(["one"], hangs=True)
    stream = streams.start(answer.events(), OWNER)
    with streams.reading(stream):
        await asyncio.sleep(0.1)
        assert not answer.closed.is_set()
    await asyncio.wait_for(answer.closed.wait(), SOON)
    with pytest.raises(StreamNotFound):
        streams.find(stream.id, OWNER)
    streams.cancel(stream)
    await streams.close()
    assert answer.cancellations == 1


@pytest.mark.parametrize("is_silent", [False, True])
async def test_an_answer_whose_cancellation_was_lost_is_stopped_too(
    monkeypatch: pytest.MonkeyPatch, is_silent: bool
) -> None:
    """Security 18: whether it goes on with words that nobody will read, or without; the process can end."""
    monkeypatch.setattr(cancellation, "AGAIN_SECONDS", 0.05)

    async def deaf() -> AsyncGenerator[Event, None]:
        yield token("one")
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        while not is_silent:
            yield token("more")
        await asyncio.sleep(60)

    streams = make_streams()
    stream = streams.start(deaf(), OWNER)
    await read(streams, stream, most=1)
    streams.cancel(stream)
    async with asyncio.timeout(SOON):
        await streams.close()


async def test_one_that_nobody_ever_read_is_stopped_too() -> None:
    """Security 18: a client that is gone before the response begins."""
    streams = make_streams(stream_grace_seconds=0.02)
    answer = Answer([], hangs=True)
    streams.start(answer.events(), OWNER)
    await asyncio.wait_for(answer.closed.wait(), SOON)
    await streams.close()


async def test_a_whole_answer_is_kept_for_a_while() -> None:
    """R8.9 For a client that lost the end of it."""
    streams = make_streams(stream_kept_seconds=1, stream_grace_seconds=0.02)
    answer = Answer(["one", "two"])
    stream = streams.start(answer.events(), OWNER)
    await asyncio.wait_for(answer.closed.wait(), SOON)
    await asyncio.sleep(0.1)
    assert texts_of(await read(streams, streams.find(stream.id, OWNER), after=1)) == ["two"]
    deadline = asyncio.get_running_loop().time() + SOON
    with pytest.raises(StreamNotFound):
        while asyncio.get_running_loop().time() < deadline:
            streams.find(stream.id, OWNER)
            await asyncio.sleep(0.02)


async def test_stopping_ends_the_stream_for_all_who_read_it() -> None:
    """Security 18: at once, whoever still reads."""
    streams = make_streams()
    answer = Answer(["one"], hangs=True)
    stream = streams.start(answer.events(), OWNER)
    reading = asyncio.create_task(read(streams, stream))
    await read(streams, stream, most=1)
    streams.cancel(stream)
    assert texts_of(await asyncio.wait_for(reading, SOON)) == ["one"]
    assert answer.closed.is_set()
    await streams.close()


@pytest.mark.parametrize("is_read", [True, False])
async def test_what_an_answer_holds_it_gives_back_at_its_end(is_read: bool) -> None:
    """R11.1 Its place among those who work, also where it is stopped before it began."""
    streams, given_back = make_streams(), asyncio.Event()
    stream = streams.start(Answer(["a", "b"]).events(), OWNER)
    stream.at_end(given_back.set)
    if is_read:
        await read(streams, stream)
    else:
        streams.cancel(stream)
    await asyncio.wait_for(given_back.wait(), SOON)
    await streams.close()


async def test_an_owner_has_so_many_streams_and_no_more() -> None:
    """Security 18: what is whole gives way, what is being made does not; others have their own."""
    streams = make_streams(streams_per_owner=2)
    whole, running = Answer(["one"]), Answer(["one"], hangs=True)
    first = streams.start(whole.events(), OWNER)
    streams.start(running.events(), OWNER)
    await asyncio.wait_for(whole.closed.wait(), SOON)
    await read(streams, first)
    streams.start(Answer([], hangs=True).events(), OWNER)
    with pytest.raises(StreamNotFound):
        streams.find(first.id, OWNER)
    with pytest.raises(TooManyStreams) as caught:
        streams.start(Answer([]).events(), OWNER)
    assert caught.value.details == {"limit": 2}
    streams.start(Answer([]).events(), "eve")
    assert not running.closed.is_set()
    await streams.close()
    assert running.cancellations == 1


async def test_all_logs_together_have_a_bound() -> None:
    """Security 18: what is whole gives way first, then the answer that is the longest."""
    streams = make_streams()
    text = "x" * (MOST_BYTES // 20)
    whole = Answer([text] * 12)
    kept = streams.start(whole.events(), OWNER)
    assert len(await read(streams, kept)) == 12
    short, wild = Answer([text], hangs=True), Answer([text] * 30)
    modest = streams.start(short.events(), OWNER)
    await read(streams, modest, most=1)
    running = streams.start(wild.events(), OWNER)
    reading = asyncio.create_task(read(streams, running))
    await asyncio.wait_for(wild.closed.wait(), SOON)
    assert 12 < wild.made < 30
    assert len(await reading) == wild.made
    for gone in (kept, running):
        with pytest.raises(StreamNotFound):
            streams.find(gone.id, OWNER)
    assert streams.find(modest.id, OWNER) is modest
    await streams.close()


async def test_a_thousand_who_leave_leave_nothing() -> None:
    """Security 18: no task, no timer, no log."""
    streams = make_streams(stream_grace_seconds=0.01, stream_kept_seconds=0.01, streams_per_owner=2_000)
    before = asyncio.all_tasks()
    answers = [Answer(["one", "two"], hangs=bool(number % 2)) for number in range(1_000)]

    async def visit(number: int, answer: Answer) -> None:
        await read(streams, streams.start(answer.events(), OWNER), most=number % 3)

    await asyncio.gather(*(visit(number, answer) for number, answer in enumerate(answers)))
    await asyncio.wait_for(asyncio.gather(*(answer.closed.wait() for answer in answers)), SOON)
    async with asyncio.timeout(SOON):
        while asyncio.all_tasks() != before or streams._streams or streams._runs or streams._timers:
            await asyncio.sleep(0.01)
