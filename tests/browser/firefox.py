"""Firefox for Playwright, by WebDriver BiDi: a program that starts it and passes on what the two say to each other.

Playwright sets a page's colours by a command that Firefox ESR doesn't know yet, and opens no page without: it is
answered here. Once Firefox knows it, its own program can be launched.
"""

import asyncio
import json
import re
import sys
from pathlib import Path

from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

FIREFOX = Path("/usr/bin/firefox-esr")
UNKNOWN = "emulation.setMediaFeaturesOverride"
ADDRESS = re.compile(rb"(?<=WebDriver BiDi listening on )ws://\S+")


async def run(*arguments: str) -> None:
    """Start Firefox and repeat what it writes, with an address of our own in place of its own."""
    firefox = await asyncio.create_subprocess_exec(FIREFOX, *arguments, stderr=asyncio.subprocess.PIPE)
    assert firefox.stderr is not None
    address = ""

    async def relay(playwright: ServerConnection) -> None:
        assert playwright.request is not None
        async with connect(address + playwright.request.path, max_size=None) as browser:

            async def pass_on() -> None:
                async for message in playwright:
                    command = json.loads(message)
                    if command["method"] == UNKNOWN:
                        await playwright.send(json.dumps({"type": "success", "id": command["id"], "result": {}}))
                    else:
                        await browser.send(message)
                await browser.close()

            async def pass_back() -> None:
                async for message in browser:
                    await playwright.send(message)
                await playwright.close()

            await asyncio.gather(pass_on(), pass_back())

    async with serve(relay, "127.0.0.1", 0, max_size=None) as server:
        own = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async for line in firefox.stderr:
            if found := ADDRESS.search(line):
                address = found[0].decode()
            sys.stderr.buffer.write(ADDRESS.sub(own.encode(), line))
            sys.stderr.flush()
        await firefox.wait()


if __name__ == "__main__":
    asyncio.run(run(*sys.argv[1:]))
