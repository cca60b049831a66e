"""The owner of a transaction: a name, and a proof of it that row level security checks (0024_identity.sql)."""

import hmac
from typing import Any

import psycopg
from psycopg.rows import scalar_row

from graphrag.db.migrate import SETTINGS
from graphrag.db.server_watch import patient
from graphrag.errors import DatabaseUnprepared

BEGAN = "SELECT timestamptz_send(now()) AS began"
IDENTIFY = "SELECT set_config('app.user_id', %s, true), set_config('app.proof', %s, true)"


def read_key(url: str) -> bytes:
    """Read the key of proofs, as the owner of the tables. Raises DatabaseUnprepared."""
    with psycopg.connect(patient(url)) as connection:
        try:
            (key,) = connection.execute("SELECT key FROM causeway.identity_key").fetchone() or (b"",)
        except psycopg.errors.InsufficientPrivilege as exc:
            login = connection.info.user
            raise DatabaseUnprepared(
                f"The login {login} may not read the key that proves who a request is from: use the owner of the tables"
                " as DATABASE_MIGRATION_URL, or let that owner allow it to read causeway.identity_key."
            ) from exc
    return bytes(key)


def proof(key: bytes, owner_id: str, began: bytes) -> str:
    """Prove an owner for the transaction that began at this moment."""
    return hmac.digest(key, began + owner_id.encode(), "sha256").hex()


def act_as(connection: psycopg.Connection[Any], key: bytes, role: str, owner_id: str) -> None:
    """Switch a transaction that has begun to a role and an owner."""
    with connection.cursor(row_factory=scalar_row) as cursor:
        cursor.execute(SETTINGS)
        cursor.execute("SELECT set_config('role', %s, true)", [role])
        (began,) = cursor.execute(BEGAN).fetchall()
        cursor.execute(IDENTIFY, [owner_id, proof(key, owner_id, began)])
