"""A client that sends what no library would."""

import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

import h11

GIVE_UP_SECONDS = 60


@dataclass(frozen=True)
class RawAnswer:
    status: int
    headers: dict[str, str]
    body: bytes


class RawClient:
    """A connection, inside `with`."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._address = (parts.hostname or "", parts.port or 80)
        self._parser = h11.Connection(h11.CLIENT)
        self._parser.send(h11.Request(method="POST", target="/", headers=[("Host", "x"), ("Content-Length", "0")]))

    def __enter__(self) -> Self:
        self._socket = socket.create_connection(self._address, timeout=GIVE_UP_SECONDS)
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def head(self, path: str, **headers: str) -> None:
        lines = [f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items()]
        host = f"Host: {self._address[0]}:{self._address[1]}\r\n"
        self.send(f"POST {path} HTTP/1.1\r\n{host}{''.join(lines)}\r\n".encode())

    def answer(self) -> RawAnswer:
        status, headers, body = 0, {}, b""
        while True:
            event = self._parser.next_event()
            if event is h11.NEED_DATA:
                self._parser.receive_data(self._socket.recv(65536))
            elif isinstance(event, (h11.InformationalResponse, h11.Response)):
                status = event.status_code
                headers = {name.decode(): value.decode() for name, value in event.headers}
                if isinstance(event, h11.InformationalResponse):
                    return RawAnswer(status, headers, body)
            elif isinstance(event, h11.Data):
                body += event.data
            else:
                return RawAnswer(status, headers, body)

    def is_closed(self) -> bool:
        """Waits for the server to close it; nothing more may come."""
        return self.rest() == b""

    def rest(self) -> bytes:
        """What still comes until the server closes it."""
        found = b""
        with suppress(ConnectionResetError):
            while data := self._socket.recv(65536):
                found += data
        return found
