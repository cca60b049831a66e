"""Whether PostgreSQL's server is there, without a login."""

import asyncio
import struct
from typing import NamedTuple

from psycopg.pq import Conninfo, PGconn, Ping

SECONDS = 2.0
SSL_REQUEST = struct.pack("!II", 8, 80877103)  # a server answers it by a letter, whatever its state and its rules


class _Place(NamedTuple):
    host: str  # or the folder of its socket
    port: str


async def answers(address: str) -> bool:
    """Whether it takes connections, or says that it takes no more of them: within some seconds."""
    place = _place(address)
    # A server that hangs would stop this whole process: psycopg keeps the interpreter's lock while libpq asks it.
    return (place is None or await _speaks(place)) and await asyncio.to_thread(_takes_connections, address)


def _takes_connections(address: str) -> bool:
    return PGconn.ping(address.encode()) == Ping.OK


def _place(address: str) -> _Place | None:
    """None where libpq alone knows it, or how it is spoken to: of several servers, of a service, of its own default, of
    an abstract socket, behind TLS from the first byte on.
    """
    known = {option.keyword: option.val for option in Conninfo.get_defaults()}
    known |= {option.keyword: option.val for option in Conninfo.parse(address.encode()) if option.val}
    host, port = known[b"hostaddr"] or known[b"host"], known[b"port"]
    if known[b"service"] or known.get(b"sslnegotiation") == b"direct":
        return None
    if not host or not port or b"," in host or host.startswith(b"@"):
        return None
    return _Place(host.decode(), port.decode())


async def _speaks(place: _Place) -> bool:
    try:
        async with asyncio.timeout(SECONDS):
            if place.host.startswith("/"):
                opening = asyncio.open_unix_connection(f"{place.host}/.s.PGSQL.{place.port}")
            else:
                opening = asyncio.open_connection(place.host, place.port)
            reader, writer = await opening
            try:
                writer.write(SSL_REQUEST)
                return bool(await reader.read(1))
            finally:
                writer.close()
    except OSError:  # a TimeoutError is one
        return False
