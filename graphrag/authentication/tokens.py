"""Tokens of an issuer that is trusted (JSON Web Tokens): verified, and read for who asks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jwt

from graphrag.authentication.configuration import AuthenticationConfig
from graphrag.authentication.identity import REFUSED, WHERE_NONE_IS_NAMED, Identity, Scope, is_owner_name
from graphrag.authentication.issuer_keys import IssuerKeys
from graphrag.errors import InvalidSettings, Unauthorized
from graphrag.telemetry import log

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
        if not token or len(token) > MAX_CHARS:
            raise Unauthorized(REFUSED)
        try:
            claims = await self._verify(token)
        # The text is anybody's: numbers without end and brackets without end are no errors of the library's own.
        except (jwt.PyJWTError, ValueError, TypeError, ArithmeticError, RecursionError) as exc:
            log.info("token refused", reason=type(exc).__name__)
            raise Unauthorized(REFUSED) from exc
        if not is_owner_name(claims["sub"]):
            log.info("token refused", reason="sub")
            raise Unauthorized(REFUSED)
        return Identity(claims["sub"], _scopes(claims))

    async def _verify(self, token: str) -> dict[str, Any]:
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
        return WHERE_NONE_IS_NAMED
    words = named.split() if isinstance(named, str) else named if isinstance(named, list) else []
    return frozenset(scope for scope in Scope if scope.value in words)
