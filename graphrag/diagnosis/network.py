"""Checks of the network: the service's port, its identity provider, another document service, the trace collector."""

import asyncio
import errno
import os
import socket
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import httpx

from graphrag.authentication import open_authentication
from graphrag.authentication.identity import is_loopback
from graphrag.config.settings import Settings
from graphrag.db.database import Database
from graphrag.diagnosis.findings import Finding, error, ok, warning
from graphrag.diagnosis.installation import is_installed
from graphrag.errors import CausewayError, install_command
from graphrag.observability.tracing import ENDPOINTS
from graphrag.retrieval.chunkenizer import open_chunkenizer

SECONDS = 5.0


async def examine_doors(settings: Settings, *, host: str, port: int) -> AsyncIterator[Finding]:
    if settings.authentication.auth == "none" and not is_loopback(host):
        yield error("host_open", host=host)
    elif settings.authentication.auth == "none":
        yield warning("proxy_open") if settings.access.allowed_hosts else ok("asks_nobody")
    else:
        yield await _examine_authentication(settings)
    yield await _examine_port(host, port)


async def _examine_authentication(settings: Settings) -> Finding:
    try:
        authentication = open_authentication(settings.authentication, settings.storage.home, Database(settings))
        try:
            await authentication.open()
        finally:
            await authentication.close()
    except CausewayError as exc:
        return error("cannot_be_used", what="RAG_AUTH", cause=str(exc))
    return ok("asks", way=settings.authentication.auth)


async def _examine_port(host: str, port: int) -> Finding:
    hindrance = _hindrance(host, port)
    if hindrance is None:
        return ok("port_free", port=port)
    if hindrance.errno == errno.EADDRINUSE and await _is_ours(host, port):
        return ok("port_ours", port=port)
    return error("port_taken", port=port, cause=hindrance.strerror or repr(hindrance))


def _hindrance(host: str, port: int) -> OSError | None:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen()  # two may be bound, if neither listens
        except OSError as exc:
            return exc
    return None


async def _is_ours(host: str, port: int) -> bool:
    named = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    address = f"http://[{named}]:{port}/health" if ":" in named else f"http://{named}:{port}/health"
    try:
        async with httpx.AsyncClient(timeout=SECONDS, trust_env=False) as client:
            return "embedding_models" in (await client.get(address)).text
    except httpx.HTTPError:
        return False


async def examine_chunkenizer(settings: Settings) -> AsyncIterator[Finding]:
    try:
        chunkenizer = open_chunkenizer(settings.search)
        if chunkenizer is None:
            return
        try:
            await chunkenizer.retrieve("doctor", limit=1)
        finally:
            await chunkenizer.close()
        yield ok("chunkenizer")
    except CausewayError as exc:
        yield error("cannot_be_used", what="CHUNKENIZER_API_URL", cause=str(exc))


async def examine_tracing() -> AsyncIterator[Finding]:
    endpoint = next((told for name in ENDPOINTS if (told := os.environ.get(name))), None)
    if endpoint is None:
        return
    if not is_installed("opentelemetry.sdk"):
        yield error("tracing_uninstalled", install=install_command("otel"))
        return
    try:
        parts = urlsplit(endpoint)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        async with asyncio.timeout(SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, port)
            writer.close()
        yield ok("collector", endpoint=endpoint)
    except (OSError, ValueError) as exc:  # a TimeoutError is one
        yield warning("collector_away", endpoint=endpoint, cause=str(exc) or repr(exc))
