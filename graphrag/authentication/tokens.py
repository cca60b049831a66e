"""Tokens of an issuer that is trusted (JSON Web Tokens): verified, and read for who asks."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import jwt

from graphrag.authentication.identity import DEFAULT_SCOPES, REFUSED, Identity, Scope, is_loopback
from graphrag.config.service import AuthenticationConfig
from graphrag.errors import AuthenticationUnavailable, InvalidSettings, Unauthorized
from graphrag.models.documents import is_owner_name
from graphrag.observability.telemetry import log

READ_SECONDS = 5
MAX_BYTES = 1_000_000
FRESH_SECONDS = 300  # so long an issuer's key that was withdrawn may still hold
KEPT_SECONDS = 3600  # where the issuer does not answer
PAUSE_SECONDS = 30  # tokens that name keys which are not known do not make us ask more often
PAUSE_AFTER_FAILURE_SECONDS = 5

Jwk = Mapping[str, Any]


class IssuerKeys:
    """Read when they are needed, and again from time to time. Who needs a key that is known waits for nobody."""

    def __init__(
        self, source: str, *, setting: str = "RAG_JWT_JWKS", clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`setting` names the source in errors. Raises InvalidSettings."""
        self._source, self._setting, self._clock = source, setting, clock
        self._address = trusted_address(source, setting)
        self._keys: dict[str | None, Jwk] = {}
        self._read_at = self._next_read_at = -float("inf")
        self._reading = asyncio.Lock()

    async def open(self) -> None:
        """A file is read at once; an issuer may start later than we. Raises InvalidSettings."""
        if self._address is None:
            try:
                await self._read()
            except (OSError, ValueError) as exc:
                raise InvalidSettings(f"{self._setting}: {self._source} holds no keys that can be used: {exc}") from exc

    async def find(self, key_id: str | None) -> Jwk | None:
        """Return the issuer's key of this id, or None; a token without an id means the only key.

        Raises AuthenticationUnavailable.
        """
        if key_id not in self._keys or not (self._is_fresh() or self._reading.locked()):
            async with self._reading:
                await self._read_again(key_id)
        if self._clock() - self._read_at > KEPT_SECONDS:
            raise AuthenticationUnavailable(f"The keys of the issuer ({self._setting}) can't be read: try again.")
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
            log.warning("issuer's keys not read", source=self._source, error=exc)

    async def _read(self) -> None:
        text = await (fetch(self._address) if self._address else asyncio.to_thread(self._read_file))
        self._keys = _usable(text)
        self._read_at = self._clock()
        self._next_read_at = self._read_at + PAUSE_SECONDS

    def _read_file(self) -> bytes:
        return Path(self._source).read_bytes()


async def fetch(address: httpx.URL, **form: Any) -> bytes:
    """Return what an issuer's address answers; a `form` and its credentials are posted.

    Redirects are not followed: they would lead to an address that the settings don't name. Raises ValueError,
    TimeoutError or httpx.HTTPError.
    """
    content = b""
    method = "POST" if form else "GET"
    async with (
        asyncio.timeout(READ_SECONDS),
        httpx.AsyncClient() as client,
        client.stream(method, address, **form) as got,
    ):
        if got.status_code != 200:
            raise ValueError(f"status {got.status_code}")
        async for part in got.aiter_bytes():
            content += part
            if len(content) > MAX_BYTES:
                raise ValueError(f"more than {MAX_BYTES} bytes")
    return content


def trusted_address(source: str, setting: str) -> httpx.URL | None:
    """Return the address that a setting names; None where it is a file. Raises InvalidSettings."""
    if "://" not in source:
        return None
    try:
        address = httpx.URL(source)
    except httpx.InvalidURL as exc:
        raise InvalidSettings(f"{setting}={source} is no address: {exc}. Name an https address.") from exc
    if address.host and (address.scheme == "https" or (address.scheme == "http" and is_loopback(address.host))):
        return address
    raise InvalidSettings(
        f"{setting}={source}: over a network an issuer is only asked with https. Name an https address."
    )


def _usable(text: bytes) -> dict[str | None, Jwk]:
    """Return the keys that verify signatures, by id. Raises ValueError."""
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
        log.warning("issuer's key ignored", key=key.get("kid"), error=exc)
        return False
    return True


MAX_CHARS = 8_192
LEEWAY_SECONDS = 30  # between the issuer's clock and ours
REQUIRED_SETTINGS = ("jwt_issuer", "jwt_audience", "jwt_jwks")


@dataclass(frozen=True, slots=True)
class Tokens:
    issuer: str
    audience: str
    keys: IssuerKeys
    algorithms: tuple[str, ...]

    async def identify(self, token: str | None) -> Identity:
        """Raises Unauthorized or AuthenticationUnavailable."""
        claims = await self.verify(token)
        if not is_owner_name(claims["sub"]):
            log.info("token refused", reason="sub")
            raise Unauthorized(REFUSED)
        return Identity(claims["sub"], _scopes(claims))

    async def verify(self, token: str | None) -> dict[str, Any]:
        """Return the claims of a token that this issuer signed for this audience, and that holds now.

        Raises Unauthorized or AuthenticationUnavailable.
        """
        if not token or len(token) > MAX_CHARS:
            raise Unauthorized(REFUSED)
        try:
            return await self._decode(token)
        # The text is anybody's: numbers without end and brackets without end are no errors of the library's own.
        except (jwt.PyJWTError, ValueError, TypeError, ArithmeticError, RecursionError) as exc:
            log.info("token refused", reason=type(exc).__name__)
            raise Unauthorized(REFUSED) from exc

    async def _decode(self, token: str) -> dict[str, Any]:
        header = jwt.get_unverified_header(token)
        algorithm = header.get("alg")
        if algorithm not in self.algorithms:
            raise jwt.InvalidAlgorithmError
        known = await self.keys.find(header.get("kid"))
        if known is None:
            raise jwt.InvalidKeyError
        # The key says what it is for; only where it does not, the token may.
        key = jwt.PyJWK(dict(known), algorithm=known.get("alg") or algorithm)
        return jwt.decode(
            token,
            key,
            algorithms=self.algorithms,
            issuer=self.issuer,
            audience=self.audience,
            leeway=LEEWAY_SECONDS,
            options={"require": ["exp", "iss", "aud", "sub"], "enforce_minimum_key_length": True},
        )


def open_tokens(config: AuthenticationConfig) -> Tokens:
    """Raises InvalidSettings."""
    missing = [f"RAG_{name.upper()}" for name in REQUIRED_SETTINGS if getattr(config, name) is None]
    if missing:
        raise InvalidSettings(f"RAG_AUTH=jwt also needs {', '.join(missing)}: whose tokens hold here, and for whom.")
    issuer, audience, source = (str(getattr(config, name)) for name in REQUIRED_SETTINGS)
    return Tokens(issuer, audience, IssuerKeys(source), config.jwt_algorithms)


def _scopes(claims: Mapping[str, Any]) -> frozenset[Scope]:
    named = claims.get("scope", claims.get("scp"))
    if named is None:
        return DEFAULT_SCOPES
    words = named.split() if isinstance(named, str) else named if isinstance(named, list) else []
    return frozenset(scope for scope in Scope if scope.value in words)
