"""Checks of the Host and Origin headers: the service's own names, and other sites' pages.

Without authentication whoever reaches the service may use it, and a browser lets every page that it shows reach this
machine: by a form or a plain-text request to its address, or by a name of the page's own that leads to it. So a request
must be for a name of this machine, and one that a page of another site makes may change nothing.
"""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from api.errors import error_response
from graphrag.authentication.identity import is_loopback
from graphrag.config.settings import Settings
from graphrag.errors import ForeignOrigin, InvalidSettings

HARMLESS = {"GET", "HEAD", "OPTIONS"}  # methods that change nothing
SHOWN = ("X-Request-ID", "X-Conversation-Id", "X-Question-Id", "X-Stream-Id", "ETag", "Location", "Retry-After")


class OriginCheck:
    """Plain ASGI, as all middleware here."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._asks_nobody = settings.authentication.auth == "none"
        self._hosts = {name.lower() for name in settings.access.allowed_hosts}
        self._origins = settings.access.cors_origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wrong = self._what_is_wrong(scope["method"], Headers(scope=scope)) if scope["type"] == "http" else None
        app = error_response(wrong, Request(scope)) if wrong else self._app
        await app(scope, receive, send)

    def _what_is_wrong(self, method: str, headers: Headers) -> ForeignOrigin | None:
        host, origin = headers.get("host", ""), headers.get("origin")
        if (self._asks_nobody or self._hosts) and not self._is_ours(host):
            return ForeignOrigin(f"The service has no name {host!r} (RAG_ALLOWED_HOSTS).", reason="host", given=host)
        if not self._asks_nobody or method in HARMLESS or origin is None:
            return None
        if origin in self._origins or origin.partition("://")[2].lower() == host.lower() != "":
            return None
        return ForeignOrigin(f"Pages of {origin!r} may not do that.", reason="origin", given=origin)

    def _is_ours(self, host: str) -> bool:
        name = host_name(host)
        return name in self._hosts or is_loopback(name)


class CrossOrigin:
    """CORS for the sites of RAG_CORS_ORIGINS; to all others the service says nothing of it."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._origins = settings.access.cors_origins
        self._cors = CORSMiddleware(
            app,
            allow_origins=settings.access.cors_origins,
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=SHOWN,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        origin = Headers(scope=scope).get("origin") if scope["type"] == "http" else None
        is_known = origin is not None and (origin in self._origins or "*" in self._origins)
        await (self._cors if is_known else self._app)(scope, receive, send)


def check_sites(settings: Settings) -> None:
    """Raises InvalidSettings where the pages of every site could use a service that asks nobody for a key."""
    if "*" in settings.access.cors_origins and settings.authentication.auth == "none":
        raise InvalidSettings("RAG_CORS_ORIGINS: * needs authentication (RAG_AUTH): name the sites, as https://HOST.")


def host_name(host: str) -> str:
    """Return a Host header without its port, in lower case; empty where it is invalid."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
