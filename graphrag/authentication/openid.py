"""Sign-in of people by an OpenID provider: the authorization code flow with PKCE (RFC 7636), and who has signed in."""

import asyncio
import base64
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from pydantic import BaseModel

from graphrag.authentication.identity import REFUSED
from graphrag.authentication.sessions import Sessions, SignedTokens, SigningSecrets
from graphrag.authentication.tokens import (
    FRESH_SECONDS,
    PAUSE_AFTER_FAILURE_SECONDS,
    IssuerKeys,
    Tokens,
    fetch,
    trusted_address,
)
from graphrag.config.service import AuthenticationConfig
from graphrag.errors import AuthenticationUnavailable, InvalidSettings, Unauthorized
from graphrag.models.documents import is_owner_name
from graphrag.observability.telemetry import log

ATTEMPT_SECONDS = 600  # to enter a password, and whatever the provider asks besides
SETTING = "RAG_OIDC_ISSUER"
NAME_CLAIMS = ("name", "preferred_username", "email", "sub")
MOST_NAME_CHARS = 100


class Discovery(BaseModel):
    """Addresses of a provider, as OpenID Connect Discovery 1.0 describes them."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)


class Provider:
    """A provider's addresses and keys: read when they are needed, and again from time to time."""

    def __init__(self, config: AuthenticationConfig, clock: Callable[[], float] = time.monotonic) -> None:
        """Raises InvalidSettings."""
        self._config, self._clock = config, clock
        self._issuer = config.oidc_issuer or ""
        self._address = _address(f"{self._issuer.rstrip('/')}/.well-known/openid-configuration")
        self._found: tuple[Discovery, Tokens] | None = None
        self._read_until = self._paused_until = -float("inf")
        self._reading = asyncio.Lock()

    async def find(self) -> tuple[Discovery, Tokens]:
        """Return its addresses, and what verifies its ID tokens. Raises AuthenticationUnavailable."""
        async with self._reading:
            if self._found and self._clock() < self._read_until:
                return self._found
            if self._clock() >= self._paused_until:
                try:
                    self._found = self._checked(Discovery.model_validate_json(await fetch(self._address)))
                    self._read_until = self._clock() + FRESH_SECONDS
                    return self._found
                except (OSError, ValueError, TimeoutError, httpx.HTTPError, InvalidSettings) as exc:
                    self._paused_until = self._clock() + PAUSE_AFTER_FAILURE_SECONDS
                    log.warning("identity provider not read", source=str(self._address), error=exc)
        raise AuthenticationUnavailable(f"The identity provider ({SETTING}) can't be read: try again.")

    def _checked(self, told: Discovery) -> tuple[Discovery, Tokens]:
        """Raises ValueError or InvalidSettings."""
        if told.issuer != self._issuer:
            raise ValueError(f"it calls itself {told.issuer}")
        for address in (told.authorization_endpoint, told.token_endpoint, told.jwks_uri):
            _address(address)
        if self._found and self._found[0].jwks_uri == told.jwks_uri:
            return told, self._found[1]  # with the keys that it has read
        keys = IssuerKeys(told.jwks_uri, setting=SETTING)
        return told, Tokens(self._issuer, self._config.oidc_client_id or "", keys, self._config.jwt_algorithms)


def _address(source: str) -> httpx.URL:
    """Raises InvalidSettings."""
    address = trusted_address(source, SETTING)
    if address is None:
        raise InvalidSettings(f"{SETTING}={source} is no address. Name an https address.")
    return address


@dataclass(frozen=True, slots=True)
class SignIn:
    config: AuthenticationConfig
    provider: Provider
    sessions: Sessions
    attempts: SignedTokens = field(repr=False)

    async def begin(self, *, redirect_uri: str, back_to: str) -> tuple[str, str]:
        """Return the provider's address to go to, and the attempt, which the browser shows when it comes back.

        Raises AuthenticationUnavailable.
        """
        provider, _ = await self.provider.find()
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        digest = hashlib.sha256(verifier.encode()).digest()
        address = httpx.URL(provider.authorization_endpoint).copy_merge_params(
            {
                "response_type": "code",
                "client_id": self.config.oidc_client_id or "",
                "redirect_uri": redirect_uri,
                "scope": self.config.oidc_scopes,
                "state": state,
                "nonce": nonce,
                "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
                "code_challenge_method": "S256",
            }
        )
        attempt = self.attempts.sign(
            state=state, nonce=nonce, verifier=verifier, redirect_uri=redirect_uri, back_to=back_to
        )
        return str(address), attempt

    async def complete(self, attempt: str, answer: Mapping[str, str]) -> tuple[str, str]:
        """Return the new session, and the path that the person came from; `answer` is the callback's query.

        Raises Unauthorized or AuthenticationUnavailable.
        """
        begun = self.attempts.read(attempt)
        is_answer = hmac.compare_digest(begun["state"].encode(), answer.get("state", "").encode())
        # RFC 9207: the answer of another provider is none to our question.
        if not is_answer or answer.get("iss", self.config.oidc_issuer) != self.config.oidc_issuer:
            raise Unauthorized(REFUSED)
        claims = await self._redeem(answer.get("code", ""), begun)
        is_ours = claims.get("azp", self.config.oidc_client_id) == self.config.oidc_client_id
        if claims.get("nonce") != begun["nonce"] or not is_ours:
            raise Unauthorized(REFUSED)
        name = next(str(claims[each]) for each in NAME_CLAIMS if claims.get(each))
        return self.sessions.begin(self._owner(claims), name[:MOST_NAME_CHARS]), begun["back_to"]

    async def _redeem(self, code: str, begun: Mapping[str, str]) -> dict[str, Any]:
        """Return the claims of the ID token for a code. Raises Unauthorized or AuthenticationUnavailable."""
        provider, tokens = await self.provider.find()
        client_id, secret = self.config.oidc_client_id or "", self.config.oidc_client_secret
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": begun["redirect_uri"],
            "client_id": client_id,
            "code_verifier": begun["verifier"],
        }
        credentials: dict[str, Any] = {}
        if secret and "client_secret_post" in provider.token_endpoint_auth_methods_supported:
            form["client_secret"] = secret.get_secret_value()
        elif secret:  # RFC 6749, 2.3.1: both are encoded first
            credentials = {"auth": (quote(client_id, safe=""), quote(secret.get_secret_value(), safe=""))}
        try:
            content = await fetch(httpx.URL(provider.token_endpoint), data=form, **credentials)
            id_token = _TokenResponse.model_validate_json(content).id_token
        except ValueError as exc:
            log.info("code refused", error=exc)
            raise Unauthorized(REFUSED) from exc
        except (OSError, TimeoutError, httpx.HTTPError) as exc:
            raise AuthenticationUnavailable(f"The identity provider ({SETTING}) does not answer: try again.") from exc
        return await tokens.verify(id_token)

    def _owner(self, claims: Mapping[str, Any]) -> str:
        """Raises Unauthorized."""
        claim = self.config.oidc_owner_claim
        owner = claims.get(claim) if claim else f"{claims['iss']}#{claims['sub']}"
        is_unproved = claim == "email" and claims.get("email_verified") not in (True, "true")
        if not isinstance(owner, str) or not is_owner_name(owner) or is_unproved:
            log.info("sign-in refused", reason=claim or "sub")
            raise Unauthorized(REFUSED)
        return owner


class _TokenResponse(BaseModel):
    id_token: str


def open_sign_in(config: AuthenticationConfig, home: Path) -> SignIn | None:
    """Return None where no provider is configured. Raises InvalidSettings."""
    if config.oidc_issuer is None:
        return None
    if config.oidc_client_id is None:
        raise InvalidSettings(f"{SETTING} also needs RAG_OIDC_CLIENT_ID: as whom the provider knows this service.")
    if config.auth == "none":
        raise InvalidSettings(f"{SETTING} also needs RAG_AUTH=api_key (or jwt): without it nobody has to sign in.")
    signing = SigningSecrets(config.session_secret, home)
    sessions = Sessions(SignedTokens(signing, "session", config.session_hours * 3600))
    return SignIn(config, Provider(config), sessions, SignedTokens(signing, "sign-in", ATTEMPT_SECONDS))
