"""The public keys of the issuer whose tokens are trusted: of a file, or of an address."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import jwt

from graphrag.authentication.loopback import is_loopback
from graphrag.errors import AuthenticationUnavailable, InvalidSettings
from graphrag.telemetry import log

READ_SECONDS = 5
MAX_BYTES = 1_000_000
FRESH_SECONDS = 300  # so long an issuer's key that was withdrawn may still hold
KEPT_SECONDS = 3600  # where the issuer does not answer
PAUSE_SECONDS = 30  # tokens that name keys which are not known do not make us ask more often
PAUSE_AFTER_FAILURE_SECONDS = 5

Jwk = Mapping[str, Any]


class IssuerKeys:
    """Read when they are needed, and again from time to time. Who needs a key that is known waits for nobody."""

    def __init__(self, source: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Raises InvalidSettings."""
        self._source, self._clock = source, clock
        self._address = _address(source)
        self._keys: dict[str | None, Jwk] = {}
        self._read_at = self._next_read_at = -float("inf")
        self._reading = asyncio.Lock()

    async def open(self) -> None:
        """A file is read at once; an issuer may start later than we. Raises InvalidSettings."""
        if self._address is None:
            try:
                await self._read()
            except (OSError, ValueError) as exc:
                raise InvalidSettings(f"RAG_JWT_JWKS: {self._source} holds no keys that can be used: {exc}") from exc

    async def find(self, key_id: str | None) -> Jwk | None:
        """None: the issuer has no such key. A token that names none means the only one. Raises
        AuthenticationUnavailable.
        """
        if key_id not in self._keys or not (self._is_fresh() or self._reading.locked()):
            async with self._reading:
                await self._read_again(key_id)
        if self._clock() - self._read_at > KEPT_SECONDS:
            raise AuthenticationUnavailable("The keys of the issuer (RAG_JWT_JWKS) can't be read: try again.")
        if key_id is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(key_id)

    def _is_fresh(self) -> bool:
        return self._clock() - self._read_at <= FRESH_SECONDS

    async def _read_again(self, key_id: str | None) -> None:
        if (key_id in self._keys and self._is_fresh()) or self._clock() < self._next_read_at:
            return
        try:
            await self._read()
        except (OSError, ValueError, TimeoutError, httpx.HTTPError) as exc:
            self._next_read_at = self._clock() + PAUSE_AFTER_FAILURE_SECONDS
            log.warning("keys of the issuer not read", source=self._source, error=exc)

    async def _read(self) -> None:
        text = await (self._fetch(self._address) if self._address else asyncio.to_thread(self._read_file))
        self._keys = _usable(text)
        self._read_at = self._clock()
        self._next_read_at = self._read_at + PAUSE_SECONDS

    def _read_file(self) -> bytes:
        return Path(self._source).read_bytes()

    async def _fetch(self, address: httpx.URL) -> bytes:
        """From there alone: what it redirects to is not what the settings name."""
        content = b""
        async with asyncio.timeout(READ_SECONDS), httpx.AsyncClient() as client, client.stream("GET", address) as got:
            if got.status_code != 200:
                raise ValueError(f"status {got.status_code}")
            async for part in got.aiter_bytes():
                content += part
                if len(content) > MAX_BYTES:
                    raise ValueError(f"more than {MAX_BYTES} bytes")
        return content


def _address(source: str) -> httpx.URL | None:
    """None: it is a file."""
    if "://" not in source:
        return None
    try:
        address = httpx.URL(source)
    except httpx.InvalidURL as exc:
        raise InvalidSettings(f"RAG_JWT_JWKS={source} is no address: {exc}. Name an https address, or a file.") from exc
    if address.host and (address.scheme == "https" or (address.scheme == "http" and is_loopback(address.host))):
        return address
    raise InvalidSettings(
        f"RAG_JWT_JWKS={source}: over a network the issuer's keys are only read with https. Name an https "
        "address, or a file."
    )


def _usable(text: bytes) -> dict[str | None, Jwk]:
    """By their ids. Raises ValueError."""
    try:
        document = json.loads(text)
    except RecursionError as exc:
        raise ValueError("its brackets have no end") from exc
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise ValueError("it is no JSON Web Key Set")
    keys: dict[str | None, Jwk] = {key.get("kid"): key for key in listed if isinstance(key, dict) and _verifies(key)}
    if not keys:
        raise ValueError("it has no public key for signatures")
    return keys


def _verifies(key: Jwk) -> bool:
    """A shared secret would let whoever verifies tokens make them; a private key has no place here."""
    if key.get("kty") not in ("RSA", "EC", "OKP") or key.get("use", "sig") != "sig" or "d" in key:
        return False
    if not isinstance(key.get("kid"), str | None):
        return False
    try:
        jwt.PyJWK(dict(key))
    except (jwt.PyJWTError, TypeError) as exc:  # a list where a word belongs
        log.warning("a key of the issuer is not used", key=key.get("kid"), error=exc)
        return False
    return True
