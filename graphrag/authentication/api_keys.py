"""Keys of our own making: made, shown once, listed, revoked, and recognised."""

import asyncio
import hashlib
import hmac
import re
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from graphrag.authentication.identity import DEFAULT_SCOPES, REFUSED, Identity, Scope
from graphrag.db.database import Database, fetch, queries
from graphrag.errors import ApiKeyNotFound, Unauthorized
from graphrag.observability.telemetry import log

QUERIES = queries(Path(__file__).with_name("api_keys.sql"))
ID_CHARS = 16
SECRET_BYTES = 32
KEY = re.compile(rf"cw_([0-9a-f]{{{ID_CHARS}}})_([A-Za-z0-9_-]{{43}})")  # the secret's bytes in base64
# Compared with where there is no such key, so that this takes the same time.
NO_KEY: Mapping[str, Any] = {"owner_id": "", "hash": bytes(32), "scopes": [], "is_valid": False, "is_use_noted": True}


@dataclass(frozen=True, slots=True)
class ApiKey:
    """All but the secret, which only its holder has."""

    id: str
    owner_id: str
    name: str
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class ApiKeys:
    """Read afresh for every request: one that is revoked stops at once, in every process."""

    database: Database
    _notes: dict[str, asyncio.Task[None]] = field(default_factory=dict, repr=False)

    async def create(
        self,
        owner_id: str,
        name: str,
        *,
        scopes: Collection[Scope] = DEFAULT_SCOPES,
        valid_for: timedelta | None = None,
    ) -> tuple[ApiKey, str]:
        """Create a key; return it as stored, and its secret, which can't be shown again."""
        key_id, secret = secrets.token_hex(ID_CHARS // 2), secrets.token_urlsafe(SECRET_BYTES)
        values = {
            "owner_id": owner_id,
            "key_id": key_id,
            "name": name,
            "hash": _hash(secret),
            "scopes": sorted({scope.value for scope in scopes}),
            "valid_for": valid_for,
        }
        async with self.database.transaction(owner_id) as connection:
            (row,) = await fetch(connection, QUERIES["create"], values)
        return _read(row), f"cw_{key_id}_{secret}"

    async def list_all(self, owner_id: str) -> list[ApiKey]:
        async with self.database.transaction(owner_id) as connection:
            return [_read(row) for row in await fetch(connection, QUERIES["list_all"], {"owner_id": owner_id})]

    async def revoke(self, owner_id: str, key_id: str) -> ApiKey:
        """Revoke a key permanently. Raises ApiKeyNotFound."""
        async with self.database.transaction(owner_id) as connection:
            rows = await fetch(connection, QUERIES["revoke"], {"owner_id": owner_id, "key_id": key_id})
        if not rows:
            raise ApiKeyNotFound(f"{owner_id} has no key {key_id!r}. See: causeway keys list", key=key_id)
        return _read(rows[0])

    async def identify(self, credential: str | None) -> Identity:
        """Raises Unauthorized or DatabaseUnavailable."""
        shown = KEY.fullmatch(credential or "")
        if not shown:
            raise Unauthorized(REFUSED)
        key_id, secret = shown.groups()
        async with self.database.transaction("") as connection:  # nobody's, as yet
            rows = await fetch(connection, QUERIES["find"], {"key_id": key_id})
        known = rows[0] if rows else NO_KEY
        if not (hmac.compare_digest(_hash(secret), known["hash"]) and known["is_valid"]):
            raise Unauthorized(REFUSED)
        if not known["is_use_noted"]:
            self._begin_note(known["owner_id"], key_id)
        return Identity(known["owner_id"], frozenset(scope for scope in Scope if scope.value in known["scopes"]))

    async def close(self) -> None:
        await asyncio.gather(*self._notes.values())

    def _begin_note(self, owner_id: str, key_id: str) -> None:
        """The answer does not wait for it."""
        if key_id not in self._notes:
            self._notes[key_id] = asyncio.create_task(self._note_use(owner_id, key_id))
            self._notes[key_id].add_done_callback(lambda _: self._notes.pop(key_id))

    async def _note_use(self, owner_id: str, key_id: str) -> None:
        try:
            async with self.database.transaction(owner_id) as connection:
                await connection.execute(QUERIES["note_use"], {"owner_id": owner_id, "key_id": key_id})
        except Exception as exc:
            log.warning("use of an API key not recorded", key=key_id, error=exc)


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _read(row: Mapping[str, Any]) -> ApiKey:
    return ApiKey(
        row["key_id"],
        row["owner_id"],
        row["name"],
        tuple(row["scopes"]),
        row["created_at"],
        row["expires_at"],
        row["revoked_at"],
        row["last_used_at"],
    )
