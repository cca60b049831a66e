"""Tasks that are told to end."""

import asyncio
from contextlib import suppress

import pytest

from graphrag.resilience import cancellation
from graphrag.resilience.cancellation import end


async def test_a_lost_cancellation_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    """R9.2 as `asyncio.wait_for` of Python 3.11 loses it."""
    monkeypatch.setattr(cancellation, "AGAIN_SECONDS", 0.01)

    async def deaf() -> None:
        for _ in range(3):
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(60)
        await asyncio.sleep(60)

    tasks = [asyncio.create_task(deaf()), asyncio.create_task(asyncio.sleep(0))]
    await asyncio.sleep(0)
    async with asyncio.timeout(10):
        await end(*tasks)
    assert tasks[0].cancelled()
    assert tasks[1].done()


async def test_what_has_ended_is_left_as_it_is() -> None:
    async def failing() -> None:
        raise ValueError

    task = asyncio.create_task(failing())
    await asyncio.wait({task})
    await end(task)
    await end()
    assert isinstance(task.exception(), ValueError)
