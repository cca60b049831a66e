"""Authentication of every request before anything that it brings is read."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import error_response
from api.middleware.rate_limits import RateLimits
from graphrag.authentication.sessions import PREFIX
from graphrag.errors import CausewayError, Unauthorized
from graphrag.observability.request_context import changed_context, identify
from graphrag.observability.telemetry import log
from graphrag.resilience.concurrency import OwnerTurn
from graphrag.services import Services

OPEN = {"/", "/shared", "/studio", "/health", "/ready", "/docs", "/openapi.json"}
OPEN |= {f"/api/v1/{path}" for path in ("session", "shared", "sign-in", "sign-in/callback", "sign-out")}
OPEN_FOLDERS = ("/static/", "/swagger/")
SESSION_COOKIE = "causeway_session"
RECHECK_SECONDS = 2  # between looks at the API key of an open event stream


class AuthenticationMiddleware:
    """Plain ASGI. What is behind it finds the Identity in the request's state; its answers are stored nowhere."""

    def __init__(self, app: ASGIApp, services: Services, rates: RateLimits) -> None:
        self._app = app
        self._services = services
        self._rates = rates
        self._keys = KeyWatch(services)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # the service's own life: nobody waits for its jobs
            return await self._app(scope, receive, send)
        with changed_context(is_interactive=True):
            if is_open(scope["path"]):
                return await self._app(scope, receive, send)
            request = Request(scope)
            try:
                turn = await self._let_in(request)
            except CausewayError as exc:
                return await error_response(exc, request)(scope, receive, send)
            try:
                await self._serve(request, receive, send, turn)
            finally:
                turn.end()

    async def _let_in(self, request: Request) -> OwnerTurn:
        """Wait for the owner's turn.

        Raises Unauthorized, RateLimited, AuthenticationUnavailable or DatabaseUnavailable.
        """
        async with self._rates.refusing(request):
            identity = await self._services.authentication.identify(credential_of(request))
        await self._rates.count(request, identity.owner_id)
        identify(owner=self._services.pseudonyms.of(identity.owner_id))
        request.state.identity = identity
        return await self._rates.begin(identity.owner_id)

    async def _serve(self, request: Request, receive: Receive, send: Send, turn: OwnerTurn) -> None:
        """Run the application; end the turn when its response begins, and its event stream after the key is revoked."""
        watched = ExitStack()

        async def send_privately(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Cache-Control", "no-store")
                if headers.get("content-type", "").startswith("text/event-stream"):
                    watched.enter_context(self._keys.watching(credential_of(request), ending))
                    turn.stream()
                else:
                    turn.end()
            await send(message)

        try:
            async with asyncio.timeout(None) as ending:
                with watched:
                    await self._app(request.scope, receive, send_privately)
        except TimeoutError:
            if not ending.expired():
                raise
            log.info("a stream ended: its key was revoked, or its session has ended")
            await send({"type": "http.response.body", "body": b""})


class KeyWatch:
    """Watch of the API keys of open event streams: one look at a key serves all of its streams.

    Tokens are not looked at again: they hold until they expire, which may be in the midst of an answer.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._endings: dict[str | None, set[asyncio.Timeout]] = {}  # of the streams, by key
        self._looking: dict[str | None, asyncio.Task[None]] = {}

    @contextmanager
    def watching(self, key: str | None, ending: asyncio.Timeout) -> Iterator[None]:
        """Let `ending` expire as soon as the key is found to be revoked while the block runs."""
        if self._services.settings.authentication.auth != "api_key":
            yield
            return
        endings = self._endings.setdefault(key, set())
        if not endings:
            self._looking[key] = asyncio.create_task(self._look(key, endings))
        endings.add(ending)
        try:
            yield
        finally:
            endings.discard(ending)
            if not endings:
                del self._endings[key]
                self._looking.pop(key).cancel()

    async def _look(self, key: str | None, endings: set[asyncio.Timeout]) -> None:
        while True:
            await asyncio.sleep(RECHECK_SECONDS)
            try:
                await self._services.authentication.identify(key)
            except Unauthorized:
                for ending in endings:
                    ending.reschedule(asyncio.get_running_loop().time())
                return
            except CausewayError as exc:
                log.warning("the key of a stream was not looked at", error=exc)


def is_open(path: str) -> bool:
    return path in OPEN or path.startswith(OPEN_FOLDERS)


def credential_of(request: Request) -> str | None:
    """The credential of the Authorization header, else the session of the cookie."""
    return shown_by(request.headers) or session_of(request)


def session_of(request: Request) -> str | None:
    """The session that identifies a request without an Authorization header; no cookie holds another credential."""
    session = request.cookies.get(SESSION_COOKIE, "")
    return session if session.startswith(PREFIX) and "authorization" not in request.headers else None


def shown_by(headers: Headers) -> str | None:
    """The credential of «Authorization: Bearer …»."""
    kind, _, credential = headers.get("authorization", "").partition(" ")
    return credential.strip() if kind.lower() == "bearer" else None
