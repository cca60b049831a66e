"""The MCP package's own client, over standard input and output and over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, TextContent

from tests.conftest import Server
from tests.processes import Process, started

READ_SECONDS = 60


@asynccontextmanager
async def over_http(url: str, *, mode: str = "auto", key: str | None = None) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(headers=headers, timeout=READ_SECONDS) as http:
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        async with Client(transport, mode=mode, read_timeout_seconds=READ_SECONDS) as client:
            yield client


@asynccontextmanager
async def over_stdio(environment: dict[str, str], *, mode: str = "auto") -> AsyncIterator[Client]:
    """A `causeway mcp` process, which ends with its input."""
    with started("mcp", **environment) as process, process.limited():
        async with Client(_pipes(process), mode=mode, read_timeout_seconds=READ_SECONDS) as client:
            yield client


@asynccontextmanager
async def _pipes(process: Process) -> AsyncIterator[tuple[Any, Any]]:
    """Lines of JSON, as the package reads and writes them on the other side too."""
    async with stdio_server(anyio.wrap_file(process.output), anyio.wrap_file(process.given)) as (read, write):
        yield read, write
        await write.aclose()
        process.given.close()


@asynccontextmanager
async def open_client(way: str, server: Server, environment: dict[str, str]) -> AsyncIterator[Client]:
    """`way`: "http" or "stdio", and the protocol's older form or what both sides find best."""
    transport, mode = way.split()
    client = over_http(server.url, mode=mode) if transport == "http" else over_stdio(environment, mode=mode)
    async with client as opened:
        yield opened


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What the tool gives as data."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    """What the tool says that is wrong."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return text_of(result)


def text_of(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))
