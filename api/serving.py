"""The HTTP server's process: its port, its start, its end."""

import asyncio
import gc
import socket
from collections.abc import Callable

import uvicorn

from api.middleware.request_bodies import Connection
from api.supervisor import ServerProcess
from graphrag.authentication.identity import is_loopback
from graphrag.errors import InvalidSettings
from graphrag.resilience.cancellation import leave
from graphrag.services import Services

GRACE_SECONDS = 3  # for streams that are open when the service is told to stop
IDLE_SECONDS = 75  # longer than clients and proxies keep a connection: they must be the ones to close it


def listen(host: str, port: int, *, asks_nobody: bool) -> socket.socket:
    """Taken before anything is loaded: a busy port is known at once. Raises InvalidSettings."""
    if asks_nobody and not is_loopback(host):
        raise InvalidSettings(
            f"{host} can be reached from other machines, and there is no authentication: RAG_AUTH=api_key with keys "
            "of `causeway keys create`, or RAG_AUTH=jwt, opens it to others; --host 127.0.0.1 keeps it to this one.",
            reason="unauthenticated_host",
            host=host,
        )
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Accepted sockets inherit it; asyncio sees to it for those alone that were made with IPPROTO_TCP. Without it an
    # answer's body waits for the client to acknowledge the headers: 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        listener.bind((host, port))
    except OSError as exc:
        listener.close()
        raise InvalidSettings.of_port(host, port, exc, f"causeway serve --port {port + 1}") from exc
    return listener


async def serve_http(
    services: Services, source: socket.socket | ServerProcess, *, announce: Callable[[], None]
) -> None:
    """Serve until a signal ends it; `announce` once it answers.

    `source`: the socket to accept connections from, or the process that a supervisor hands them to.
    """
    from api.app import create_app  # and what it brings along: commands that serve nothing start faster without

    config = uvicorn.Config(
        create_app(services, source.folder / "rates.sqlite" if isinstance(source, ServerProcess) else None),
        http=Connection,
        ws="none",
        server_header=False,
        log_config=None,  # ours, which repeats no error's words
        log_level="warning",
        access_log=False,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    if isinstance(source, ServerProcess):
        await _SupervisedServer(config, announce, source).serve(sockets=[])
    else:
        await _AnnouncedServer(config, announce).serve(sockets=[source])


def address_of(listener: socket.socket) -> str:
    """Return the address that a browser accepts."""
    host, port = listener.getsockname()[:2]
    shown = "localhost" if host in {"127.0.0.1", "::1"} else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


def drop_stalled_clients(listener: socket.socket, seconds: float) -> None:
    """The socket of one that takes nothing would stay as long as the client: closing waits for what is on its way."""
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux; accepted sockets inherit it
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(seconds * 1000))


class _AnnouncedServer(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        gc.freeze()  # models and modules live for ever: looking through them stopped a request for 100 ms
        self._announce()


class _SupervisedServer(_AnnouncedServer):
    """Takes connections that another process has accepted, until that one tells it to stop."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None], process: ServerProcess) -> None:
        super().__init__(config, announce)
        self._process = process

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        asyncio.get_running_loop().add_reader(self._process.connections, self._receive)

    async def on_tick(self, counter: int) -> bool:
        return await super().on_tick(counter) or self._process.stopping.is_set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().remove_reader(self._process.connections)
        self._process.connections.close()
        await super().shutdown(sockets)

    def _receive(self) -> None:
        loop = asyncio.get_running_loop()
        message, descriptors, _, _ = socket.recv_fds(self._process.connections, 1, 1)
        if not message:  # the supervisor has died
            loop.remove_reader(self._process.connections)
        for descriptor in descriptors:
            connection = socket.socket(fileno=descriptor)
            connection.setblocking(False)
            leave(loop.create_task(self._serve_connection(connection)))

    async def _serve_connection(self, connection: socket.socket) -> None:
        def protocol() -> Connection:
            return Connection(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)

        await asyncio.get_running_loop().connect_accepted_socket(protocol, connection)
