"""Who asks is found out before the body is read: a stranger's upload is not even taken."""

from fastapi.security.utils import get_authorization_scheme_param
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from api.error_handlers import respond
from graphrag.authentication.identity import Identity
from graphrag.errors import CausewayError
from graphrag.services import Services

GUARDED = ("/api/", "/v1/")


async def identify(request: Request, services: Services) -> Identity:
    """Once a request. Raises Unauthorized."""
    if not hasattr(request.state, "identity"):
        scheme, credential = get_authorization_scheme_param(request.headers.get("authorization"))
        shown = credential if scheme.lower() == "bearer" else None
        request.state.identity = await services.authentication.identify(shown)
    found: Identity = request.state.identity
    return found


class Identification:
    """Plain ASGI: inside RequestIdentity, whose id its answers carry. What a route demands, the route says."""

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app, self._services = app, services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(GUARDED) and scope["method"] != "OPTIONS":
            request = Request(scope)
            try:
                await identify(request, self._services)
            except CausewayError as exc:
                await respond(exc, request)(scope, receive, send)
                return
        await self._app(scope, receive, send)
