"""What lies between the page and its server, and can be cut."""

import asyncio
from contextlib import suppress
from urllib.parse import urlsplit

from tests.conftest import Server


class Wire:
    def __init__(self, server: Server) -> None:
        self._server = server
        self._connections: set[asyncio.StreamWriter] = set()

    async def open(self) -> Server:
        """The server as it is reached through the wire."""
        self._listener = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        port = self._listener.sockets[0].getsockname()[1]
        return Server(f"http://127.0.0.1:{port}", self._server.process)

    def cut(self) -> None:
        for writer in self._connections:
            writer.transport.abort()

    async def close(self) -> None:
        self._listener.close()
        self.cut()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", urlsplit(self._server.url).port)
        self._connections |= {writer, far_writer}
        await asyncio.gather(self._carry(reader, far_writer), self._carry(far_reader, writer))
        self._connections -= {writer, far_writer}

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                writer.write(data)
        writer.close()
