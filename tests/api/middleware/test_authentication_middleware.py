"""Who waits for what is done behind the gate."""

from starlette.types import Receive, Scope, Send

from api.middleware.authentication import AuthenticationMiddleware
from api.middleware.rate_limits import RateLimits
from graphrag.observability.request_context import current_context
from graphrag.services import Services


async def test_requests_are_interactive_and_jobs_are_not(services: Services) -> None:
    """R11.1 The service's jobs live in its lifespan, which comes through the gate, too: they take their time."""
    seen = {}

    async def app(scope: Scope, _: Receive, __: Send) -> None:
        seen[scope["type"]] = current_context().is_interactive

    async def receive() -> dict[str, str]:
        return {}

    async def send(_: object) -> None:
        """Nobody listens."""

    gate = AuthenticationMiddleware(app, services, RateLimits(services.settings))
    await gate({"type": "lifespan"}, receive, send)
    await gate({"type": "http", "path": "/health", "headers": []}, receive, send)
    assert seen == {"lifespan": False, "http": True}
