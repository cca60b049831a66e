"""Checks of the Host and Origin headers: the service's own names, and other sites' pages.

Without authentication whoever reaches the service may use it, and a browser lets every page that it shows reach this
machine: by a form or a plain-text request to its address, or by a name of the page's own that leads to it. So a request
must be for a name of this machine, and one that a page of another site makes may change nothing. Nor may one that is
identified by a cookie, which browsers send with other sites' requests too.
"""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from api.errors import error_response
from api.middleware.authentication import session_of
from graphrag.authentication.identity import is_loopback
from graphrag.config.service import SITE
from graphrag.config.settings import Settings
from graphrag.errors import ForeignOrigin, InvalidSettings

PORTS = {"http": 80, "https": 443}
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
        wrong = self._what_is_wrong(scope) if scope["type"] == "http" else None
        app = error_response(wrong, Request(scope)) if wrong else self._app
        await app(scope, receive, send)

    def _what_is_wrong(self, scope: Scope) -> ForeignOrigin | None:
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        has_session = session_of(Request(scope)) is not None
        if (self._asks_nobody or self._hosts) and not self._is_ours(host):
            return ForeignOrigin(f"The service has no name {host!r} (RAG_ALLOWED_HOSTS).", reason="host", given=host)
        if scope["method"] in HARMLESS or not (has_session or (self._asks_nobody and origin is not None)):
            return None
        ours = read_origin(f"{scope['scheme']}://{host}")  # the scheme that a trusted proxy tells, or the connection's
        if origin is not None and ours is not None and read_origin(origin) == ours:
            return None
        if origin in self._origins and not has_session:
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


def read_origin(origin: str) -> tuple[str, str, int] | None:
    """Return the scheme, host name and port of an Origin header; None where it is none of a web page."""
    try:
        parts = urlsplit(origin if SITE.fullmatch(origin) else "")
        return (parts.scheme, parts.hostname, parts.port or PORTS[parts.scheme]) if parts.hostname else None
    except ValueError:  # a port that is no number, half a bracket
        return None


def host_name(host: str) -> str:
    """Return a Host header without its port, in lower case; empty where it is invalid."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
