"""Signed tokens of our own that browsers keep in cookies, and the secrets that sign them."""

import hashlib
import json
import os
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fasteners
import jwt
from pydantic import SecretStr

from graphrag.authentication.identity import DEFAULT_SCOPES, REFUSED, Identity
from graphrag.errors import AuthenticationUnavailable, Unauthorized

FILE = "session-secrets.json"
SECRET_BYTES = 32
ROTATION_SECONDS = 7 * 86_400  # no session lasts longer, so the secret before the newest one is enough
PREFIX = "cws_"  # of a session's token, as cw_ is an API key's
ALGORITHM = "HS256"

Secrets = list[dict[str, Any]]  # {"made": epoch seconds, "secret": hex}, the newest first


class SigningSecrets:
    """The setting's secret, or two that a file keeps, for all processes of this home."""

    def __init__(self, given: SecretStr | None, home: Path, clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = home / FILE, clock
        self._given = [{"made": float("inf"), "secret": given.get_secret_value()}] if given else []
        self._known: Secrets = self._given

    def newest(self) -> bytes:
        """Return the secret to sign with, which is replaced every ROTATION_SECONDS.

        Raises AuthenticationUnavailable.
        """
        if not self._is_fresh():
            try:
                self._renew()
            except OSError as exc:
                raise AuthenticationUnavailable(f"No secret can be kept: set RAG_SESSION_SECRET. {exc}") from exc
        return _key(self._known[0])

    def find(self, key_id: str | None) -> bytes | None:
        """Return the secret that a token names; one that is not known yet may be another process's."""
        if key_id not in self._by_id():
            self._known = self._read()
        return self._by_id().get(key_id)

    def _by_id(self) -> dict[str | None, bytes]:
        return {id_of(key): key for key in map(_key, self._known)}

    def _renew(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        lock = fasteners.InterProcessLock(self._path.with_suffix(".lock"))
        with lock:
            self._known = self._read()  # another process may have been faster
            if not self._is_fresh():
                made = {"made": self._clock(), "secret": secrets.token_hex(SECRET_BYTES)}
                self._known = [made, *self._known[:1]]
                self._write()

    def _is_fresh(self) -> bool:
        return bool(self._known) and self._clock() - self._known[0]["made"] < ROTATION_SECONDS

    def _read(self) -> Secrets:
        return self._given or (json.loads(self._path.read_text()) if self._path.exists() else [])

    def _write(self) -> None:
        """Replace the file, whole or not at all."""
        made = self._path.with_suffix(f".{os.getpid()}")
        made.touch(mode=0o600)
        made.write_text(json.dumps(self._known))
        made.replace(self._path)


def _key(known: dict[str, Any]) -> bytes:
    return hashlib.sha256(known["secret"].encode()).digest()


def id_of(key: bytes) -> str:
    return hashlib.sha256(key).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class SignedTokens:
    """Tokens for one purpose, which hold for some seconds; none holds for another purpose."""

    secrets: SigningSecrets
    purpose: str
    seconds: float

    def sign(self, **claims: Any) -> str:
        key = self.secrets.newest()
        whole = claims | {"aud": self.purpose, "exp": time.time() + self.seconds}
        return jwt.encode(whole, key, ALGORITHM, headers={"kid": id_of(key)})

    def read(self, token: str) -> dict[str, Any]:
        """Return the claims. Raises Unauthorized, with the reason session_ended where they no longer hold."""
        try:
            key = self.secrets.find(jwt.get_unverified_header(token).get("kid"))
            if key is None:
                raise jwt.InvalidKeyError
            options: Any = {"require": ["exp", "aud"]}
            return jwt.decode(token, key, algorithms=[ALGORITHM], audience=self.purpose, options=options)
        except jwt.ExpiredSignatureError as exc:
            raise Unauthorized("The session has ended: sign in again.", reason="session_ended") from exc
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError) as exc:
            raise Unauthorized(REFUSED) from exc


@dataclass(frozen=True, slots=True)
class Sessions:
    tokens: SignedTokens

    def begin(self, owner_id: str, name: str) -> str:
        """Return the credential of a session; `name` is shown on the page."""
        return PREFIX + self.tokens.sign(sub=owner_id, name=name)

    def identify(self, credential: str) -> Identity:
        """Raises Unauthorized."""
        return Identity(self.read(credential)["sub"], DEFAULT_SCOPES)

    def read(self, credential: str) -> dict[str, Any]:
        """Return `sub` and `name` of a session. Raises Unauthorized."""
        return self.tokens.read(credential.removeprefix(PREFIX))
