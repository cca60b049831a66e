"""Tasks that are told to end."""

import asyncio
from typing import Any

AGAIN_SECONDS = 3.0


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Returns when they have: told again where it was lost, as in `asyncio.wait_for` of Python 3.11 when what it waits
    for comes at that moment. psycopg's pool and vendors' clients use it.
    """
    while running := {task for task in tasks if not task.done()}:
        for task in running:
            task.cancel()
        await asyncio.wait(running, timeout=AGAIN_SECONDS)
