"""Tasks that are told to end."""

import asyncio
from typing import Any

AGAIN_SECONDS = 3.0


def cancel_surely(task: asyncio.Task[Any]) -> None:
    """Again where that was lost, as in `asyncio.wait_for` of Python 3.11 when what it waits for comes at that moment.
    psycopg's pool and vendors' clients use it.
    """
    if not task.done():
        task.cancel()
        asyncio.get_running_loop().call_later(AGAIN_SECONDS, cancel_surely, task)


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Returns when they have."""
    for task in tasks:
        cancel_surely(task)
    if tasks:
        await asyncio.wait(tasks)
