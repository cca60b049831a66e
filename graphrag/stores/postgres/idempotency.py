"""Requests that are made again with the same key are done once: the first one's response is kept for a day."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from psycopg.types.json import Jsonb

from graphrag.db.database import Database, fetch, queries
from graphrag.errors import DatabaseUnavailable, IdempotencyConflict
from graphrag.observability.telemetry import log
from graphrag.resilience.cancellation import end

QUERIES = queries(Path(__file__).with_name("idempotency.sql"))
CLAIM_DURATION = timedelta(seconds=60)  # without a renewal; a process that dies leaves its keys so long
RESPONSE_DURATION = timedelta(hours=24)
Response = Mapping[str, Any]
Plan = Callable[[str, datetime], Awaitable[None]]  # at that time the owner's old keys are to be forgotten


@dataclass(frozen=True, slots=True)
class IdempotencyKeys:
    """Stored responses by idempotency key: a request that fails releases its key and can be sent again."""

    database: Database
    plan_purge: Plan
    claim_duration: timedelta = CLAIM_DURATION

    async def once(
        self, owner_id: str, key: str, request_hash: str, act: Callable[[], Awaitable[Response]]
    ) -> tuple[Response, bool]:
        """Return the response of `act` and whether it was stored before. Raises IdempotencyConflict."""
        claim = {"owner_id": owner_id, "key": key, "holder": uuid4(), "claim_duration": self.claim_duration}
        expires_at = await self._claim(claim, request_hash)
        if expires_at is None:
            return await self._read(claim, request_hash), True
        try:
            await self.plan_purge(owner_id, expires_at)
            async with self._renewing(claim):
                response = await act()
        except BaseException:
            await self._execute("release", claim)
            raise
        await self._execute("keep", claim | {"response": Jsonb(response)})
        return response, False

    async def purge(self, owner_id: str) -> None:
        """Delete expired keys, and queue a job for the next expiry."""
        async with self.database.transaction(owner_id) as connection:
            await connection.execute(QUERIES["purge"], {"owner_id": owner_id})
            (row,) = await fetch(connection, QUERIES["next_expiry"], {"owner_id": owner_id})
        if row["expires_at"] is not None:
            await self.plan_purge(owner_id, row["expires_at"])

    async def _claim(self, claim: Mapping[str, Any], request_hash: str) -> datetime | None:
        """Claim the key and return when the claim expires; None if another request has it."""
        async with self.database.transaction(claim["owner_id"]) as connection:
            values = {**claim, "request_hash": request_hash, "response_duration": RESPONSE_DURATION}
            rows = await fetch(connection, QUERIES["claim"], values)
        return rows[0]["expires_at"] if rows else None

    async def _read(self, claim: Mapping[str, Any], request_hash: str) -> Response:
        async with self.database.transaction(claim["owner_id"]) as connection:
            rows = await fetch(connection, QUERIES["read"], claim)
        if rows and rows[0]["request_hash"] != request_hash:
            raise IdempotencyConflict(
                f"The idempotency key {claim['key']!r} was used for another request: use a new one.", reason="reused"
            )
        if not rows or rows[0]["response"] is None:
            raise IdempotencyConflict(
                f"The request with the idempotency key {claim['key']!r} is still in progress.", reason="running"
            )
        response: Response = rows[0]["response"]
        return response

    @asynccontextmanager
    async def _renewing(self, claim: Mapping[str, Any]) -> AsyncIterator[None]:
        renewal = asyncio.create_task(self._renew(claim))
        try:
            yield
        finally:
            await end(renewal)

    async def _renew(self, claim: Mapping[str, Any]) -> None:
        while True:
            await asyncio.sleep(self.claim_duration.total_seconds() / 3)
            try:
                await self._execute("renew", claim)
            except DatabaseUnavailable as exc:
                log.warning("idempotency key not renewed", error=exc)

    async def _execute(self, statement: str, values: Mapping[str, Any]) -> None:
        async with self.database.transaction(values["owner_id"]) as connection:
            await connection.execute(QUERIES[statement], values)
