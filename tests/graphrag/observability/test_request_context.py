"""What is known of the request in hand."""

import asyncio
import io
import json

import pytest

from graphrag.observability import telemetry
from graphrag.observability.request_context import (
    add_lookups,
    add_time,
    begin_record,
    collect_lookups,
    collect_timings,
    current_record,
    identify,
    note,
)


async def test_requests_at_the_same_time_are_told_apart() -> None:
    """R11.2 In their tasks and threads; what a task learns, the whole request knows."""

    async def answer(number: int) -> None:
        record = begin_record(request_id=str(number))
        await asyncio.create_task(work(number))
        assert record.identity == {"request_id": str(number), "collection": f"c{number}"}
        assert record.facts == {"parts": number}
        assert record.results == {"fusion": number}
        assert set(record.timings) == {"rerank"}

    async def work(number: int) -> None:
        collect_timings()
        identify(collection=f"c{number}")
        await asyncio.sleep(0)
        await asyncio.to_thread(note, parts=number)
        telemetry.count_results("fusion", number)
        with telemetry.stage("rerank"):
            await asyncio.sleep(0)

    await asyncio.gather(*map(answer, range(5)))
    assert current_record() is None


async def test_each_line_tells_of_its_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """R11.2 Without one, a line has only its own."""
    monkeypatch.setattr("sys.stderr", stream := io.StringIO())
    telemetry.configure_logging("INFO")

    async def one() -> None:
        begin_record(request_id="r1", owner="m1")
        telemetry.log.info("in it", count=1)

    await asyncio.create_task(one())
    telemetry.log.info("outside")
    inside, outside = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert (inside["request_id"], inside["owner"], inside["count"]) == ("r1", "m1", 1)
    assert "request_id" not in outside


async def test_a_record_has_the_stages_of_all_that_was_collected() -> None:
    """R11.2 An evaluation's job collects for each question: its last line has the time of all."""
    record = begin_record()
    collected = []
    for _ in range(3):
        collected.append((collect_timings(), collect_lookups()))
        add_time("rerank", 10)
        add_lookups("query", hits=1, misses=2)
    assert collected == [({"rerank": 10}, {"query": {"hits": 1, "misses": 2}})] * 3
    assert record.describe() == {"stages": {"rerank": 30}, "caches": {"query": {"hits": 3, "misses": 6}}}
