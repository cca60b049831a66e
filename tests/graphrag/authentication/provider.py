"""An OpenID provider for tests, over HTTP: its people only enter their name, everything else is checked."""

import base64
import hashlib
import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from tests.graphrag.authentication.issuer import jwks, sign

CLIENT_ID, SECRET = "causeway", "provider's secret: ü&%"
Form = dict[str, str]
FORM = '<title>Provider</title><form><label>Name <input name="user"></label>{hidden}<button>Sign in</button></form>'


@dataclass
class OpenIdProvider:
    """What it signs may be changed while it runs."""

    issuer: str = ""
    secret: str | None = SECRET  # None: its client is a public one
    auth_methods: tuple[str, ...] = ("client_secret_basic",)
    id_token: Callable[..., str] = sign  # gets the claims
    changed: dict[str, Any] = field(default_factory=dict)  # claims
    discovery: dict[str, Any] = field(default_factory=dict)  # changed in it
    codes: dict[str, Form] = field(default_factory=dict)  # the questions that were answered with them
    asked: list[str] = field(default_factory=list)  # paths

    @property
    def environment(self) -> dict[str, str]:
        settings = {"RAG_OIDC_ISSUER": self.issuer, "RAG_OIDC_CLIENT_ID": CLIENT_ID}
        return settings | ({"RAG_OIDC_CLIENT_SECRET": self.secret} if self.secret else {})

    def describe(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize?from=discovery",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
            "token_endpoint_auth_methods_supported": self.auth_methods,
        } | self.discovery

    def authorize(self, asked: Form) -> str:
        """Return the address to go back to. Raises AssertionError."""
        assert asked["client_id"] == CLIENT_ID
        assert asked["response_type"] == "code"
        assert "openid" in asked["scope"].split()
        assert asked["code_challenge_method"] == "S256"
        assert urlsplit(asked["redirect_uri"]).path == "/api/v1/sign-in/callback"
        code = secrets.token_urlsafe()
        self.codes[code] = asked
        answer = {"code": code, "state": asked["state"], "iss": self.issuer, "session_state": "x"}
        if asked["user"] == "nobody":
            answer = {"error": "access_denied", "state": asked["state"]}
        return f"{asked['redirect_uri']}?{urlencode(answer)}"

    def redeem(self, form: Form, authorization: str) -> str:
        """Return the ID token. Raises AssertionError or KeyError."""
        begun = self.codes.pop(form["code"])
        if self.secret and "client_secret_post" in self.auth_methods:
            assert form["client_secret"] == self.secret
        elif self.secret:
            told = base64.b64decode(authorization.removeprefix("Basic ")).decode()
            assert [unquote(part) for part in told.split(":")] == [CLIENT_ID, self.secret]
        assert form["grant_type"] == "authorization_code"
        assert form["client_id"] == CLIENT_ID
        assert form["redirect_uri"] == begun["redirect_uri"]
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        assert base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == begun["code_challenge"]
        user = begun["user"]
        claims = {"iss": self.issuer, "aud": CLIENT_ID, "sub": f"id-of-{user}", "nonce": begun["nonce"]}
        profile = {"name": user.title(), "email": f"{user}@example.org", "email_verified": True}
        return self.id_token(**claims | profile | self.changed)


class _Handler(BaseHTTPRequestHandler):
    provider: OpenIdProvider

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        self.provider.asked.append(url.path)
        asked = _flat(url.query)
        match url.path:
            case "/.well-known/openid-configuration":
                self._answer(200, json.dumps(self.provider.describe()))
            case "/jwks":
                self._answer(200, jwks("rsa-1", "ec-1"))
            case "/authorize" if "user" in asked:
                self._answer(303, "", Location=self.provider.authorize(asked))
            case "/authorize":
                hidden = "".join(f'<input type="hidden" name="{name}" value="{asked[name]}">' for name in asked)
                self._answer(200, FORM.format(hidden=hidden), **{"Content-Type": "text/html"})
            case _:
                self._answer(404, "")

    def do_POST(self) -> None:
        form = _flat(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.provider.asked.append(self.path)
        try:
            id_token = self.provider.redeem(form, self.headers.get("Authorization", ""))
        except (AssertionError, KeyError):
            return self._answer(400, json.dumps({"error": "invalid_grant"}))
        self._answer(200, json.dumps({"access_token": "x", "token_type": "Bearer", "id_token": id_token}))

    def _answer(self, status: int, content: str, **headers: str) -> None:
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(content.encode()))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content.encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _flat(query: str) -> Form:
    return {name: values[0] for name, values in parse_qs(query).items()}


@contextmanager
def providing(**chosen: Any) -> Iterator[OpenIdProvider]:
    provider = OpenIdProvider(**chosen)
    handler = type("Handler", (_Handler,), {"provider": provider})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        provider.issuer = f"http://127.0.0.1:{server.server_port}"
        Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        try:
            yield provider
        finally:
            server.shutdown()
