"""Cancellation of tasks, and tasks that run in the background."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

AGAIN_SECONDS = 3.0


def cancel_surely(task: asyncio.Task[Any]) -> None:
    """Cancel a task, repeatedly if the cancellation is lost.

    That happens in `asyncio.wait_for` of Python 3.11, which psycopg's pool and vendors' clients use, if the awaited
    result arrives at the same moment.
    """
    if not task.done():
        task.cancel()
        asyncio.get_running_loop().call_later(AGAIN_SECONDS, cancel_surely, task)


_left: set[asyncio.Task[None]] = set()  # an event loop alone would not keep them


def leave(task: asyncio.Task[None]) -> None:
    """Run the task in the background; its result is discarded."""
    _left.add(task)
    task.add_done_callback(_forget)


def _forget(task: asyncio.Task[None]) -> None:
    _left.discard(task)
    if not task.cancelled():
        task.exception()


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Cancel the tasks, and return when all have ended."""
    for task in tasks:
        cancel_surely(task)
    if tasks:
        await asyncio.wait(tasks)


async def run_cancellable(work: Coroutine[Any, Any, T]) -> T:
    """Await the work as a task of its own, which surely ends when the caller is cancelled, as does all that it leaves.

    For an event loop that runs nothing else: `asyncio.run` cancels what is left once, and waits for it for ever.
    """
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    finally:
        await end(task)
        await end(*asyncio.all_tasks() - {asyncio.current_task()})
