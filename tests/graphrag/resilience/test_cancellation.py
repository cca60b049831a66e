"""Tasks that are told to end."""

import asyncio
from contextlib import suppress

import pytest

from graphrag.resilience import cancellation
from graphrag.resilience.cancellation import end, run_cancellable


async def deaf() -> None:
    for _ in range(3):
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
    await asyncio.sleep(60)


async def test_a_lost_cancellation_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    """R9.2 as `asyncio.wait_for` of Python 3.11 loses it."""
    monkeypatch.setattr(cancellation, "AGAIN_SECONDS", 0.01)

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


def test_ctrl_c_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """R11.1 asyncio's runner cancels once."""
    monkeypatch.setattr(cancellation, "AGAIN_SECONDS", 0.01)

    async def interrupted() -> None:
        command = asyncio.current_task()
        assert command is not None
        asyncio.get_running_loop().call_later(0.01, command.cancel)
        await run_cancellable(deaf())

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(interrupted())


def test_what_a_command_leaves_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """R11.1 Also a task of a library that loses its first cancellation."""
    monkeypatch.setattr(cancellation, "AGAIN_SECONDS", 0.01)
    left: list[asyncio.Task[None]] = []

    async def leave_one() -> str:
        left.append(asyncio.create_task(deaf()))
        await asyncio.sleep(0)
        return "done"

    assert asyncio.run(run_cancellable(leave_one())) == "done"
    assert left[0].cancelled()
