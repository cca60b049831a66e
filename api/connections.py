"""One connection of a client, as uvicorn has it, with a time limit on what comes before a body."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from graphrag.telemetry import log

HEAD_SECONDS = 30  # for a request's first line and headers, from their first byte or the connection's beginning


class Connection(H11Protocol):
    """h11 limits a head to 64 kB; uvicorn waits for its end for ever, and for that of a body that nobody reads."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        super().connection_lost(exc)

    def _watch(self) -> None:
        if not self._is_idle():
            self._stop_watching()
        elif self._patience is None:
            is_kept = self.cycle is not None and self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
            seconds = self.timeout_keep_alive if is_kept else HEAD_SECONDS
            self._patience = self.loop.call_later(seconds, self._give_up)

    def _is_idle(self) -> bool:
        """Nothing is asked: there is no request yet, or it is answered, and its body goes on that nobody read."""
        is_answered = self.cycle is not None and self.cycle.response_complete
        return self.conn.their_state is h11.IDLE or (is_answered and self.conn.their_state is h11.SEND_BODY)

    def _stop_watching(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _give_up(self) -> None:
        log.info("a client that sends no request was dropped")
        self.transport.close()
