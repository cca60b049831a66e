"""Authentication of every request before anything that it brings is read."""

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from api.errors import error_response
from api.middleware.rate_limits import RateLimits
from graphrag.errors import CausewayError
from graphrag.observability.request_context import changed_context, identify
from graphrag.services import Services

OPEN = {"/", "/studio", "/health", "/ready", "/docs", "/openapi.json"}
OPEN_FOLDERS = ("/static/", "/swagger/")


class AuthenticationMiddleware:
    """Plain ASGI. What is behind it finds the Identity in the request's state."""

    def __init__(self, app: ASGIApp, services: Services, rates: RateLimits) -> None:
        self._app = app
        self._services = services
        self._rates = rates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        if scope["type"] != "http":  # the service's own life: nobody waits for its jobs
            return await app(scope, receive, send)
        if not is_open(scope["path"]):
            request = Request(scope)
            try:
                with changed_context(is_interactive=True):
                    await self._let_in(request)
            except CausewayError as exc:
                app = error_response(exc, request)
        with changed_context(is_interactive=True):
            await app(scope, receive, send)

    async def _let_in(self, request: Request) -> None:
        """Raises Unauthorized, RateLimited, AuthenticationUnavailable or DatabaseUnavailable."""
        async with self._rates.refusing(request):
            identity = await self._services.authentication.identify(shown_by(request.headers))
        await self._rates.count(request, identity.owner_id)
        identify(owner=self._services.pseudonyms.of(identity.owner_id))
        request.state.identity = identity


def is_open(path: str) -> bool:
    return path in OPEN or path.startswith(OPEN_FOLDERS)


def shown_by(headers: Headers) -> str | None:
    """The credential of «Authorization: Bearer …»."""
    kind, _, credential = headers.get("authorization", "").partition(" ")
    return credential.strip() if kind.lower() == "bearer" else None
