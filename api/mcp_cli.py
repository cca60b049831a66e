"""`causeway mcp`: the documents as tools of an assistant on this machine."""

import asyncio
import os
import signal

from api.terminal import run
from graphrag.services import Services

INTERRUPTED = 130


def mcp() -> None:
    """Serve the documents to an assistant that speaks MCP, on standard input and output."""
    run(_serve)


async def _serve(services: Services) -> None:
    """Until the client closes standard input, or a signal."""
    from api.mcp_server import serve_stdio  # a third of a second, which every other command starts faster without

    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    serving, stopping = asyncio.create_task(serve_stdio(services)), asyncio.create_task(stopped.wait())
    await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        stopping.cancel()
        return serving.result()
    await services.close()
    os._exit(INTERRUPTED)  # the thread that waits for the client's next line can't be told to stop
