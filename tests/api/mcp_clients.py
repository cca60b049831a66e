"""The MCP package's own client, over standard input and output and over HTTP."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

from tests.conftest import Server
from tests.processes import ROOT

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
    """A `causeway mcp` process, ended by the client."""
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "api.cli", "mcp"], cwd=ROOT, env=dict(os.environ) | environment
    )
    async with Client(command, mode=mode, read_timeout_seconds=READ_SECONDS) as client:
        yield client


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
