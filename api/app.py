"""The FastAPI application: routes, middleware, the OpenAPI document, the pages."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.gzip import GZipMiddleware
from fastapi.openapi.utils import get_openapi
from fastapi.responses import FileResponse
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles
from fastapi.telemetry import TelemetryConfig
from fastapi_swagger import patch_fastapi
from starlette.routing import Route

from agent.conversation.service import ConversationService
from agent.evaluation.golden_run import Evaluator, Scheduler
from api import errors
from api.mcp.server import McpOverHttp
from api.middleware.authentication import AuthenticationMiddleware
from api.middleware.observability import RequestIdentity
from api.middleware.origins import CrossOrigin, OriginCheck, check_sites
from api.middleware.rate_limits import RateLimits
from api.middleware.request_bodies import BodyLimits
from api.openai import routes as openai_routes
from api.routes import (
    chat,
    collections,
    conversations,
    documents,
    evaluations,
    feedback,
    golden_cases,
    search,
    system,
)
from api.schemas.fields import errors as error_responses
from api.streaming.streams import SharedStreams
from graphrag import DISTRIBUTION
from graphrag.observability.telemetry import configure_thresholds
from graphrag.services import Services


def install_openapi(app: FastAPI) -> None:
    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = get_openapi(
                title=app.title, version=app.version, summary=app.summary, routes=app.routes
            )
            for schema in _written_as_text(app.openapi_schema):
                _drop_null(schema)
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]  # FastAPI's own way to change it


def _written_as_text(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the schemas of parameters and forms, where an absent value is left out: none of them can hold a null."""
    for path in document["paths"].values():
        for operation in path.values():
            yield from (parameter["schema"] for parameter in operation.get("parameters", ()))
            for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
                if media_type != "application/json":
                    name = content["schema"].get("$ref", "").rpartition("/")[2]
                    yield from document["components"]["schemas"].get(name, {}).get("properties", {}).values()


def _drop_null(schema: dict[str, Any]) -> None:
    alternatives = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    if len(alternatives) == 1:
        del schema["anyOf"]
        schema |= {**alternatives[0], **schema}
    elif alternatives:
        schema["anyOf"] = alternatives


async def refuse_unknown_parameters(request: Request) -> None:
    """Raises RequestValidationError, which names those that there are."""
    route: APIRoute = request.scope["route"]
    known = _names(route.dependant)
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        message = f"There is no such parameter. Known: {', '.join(sorted(known)) or 'none'}"
        raise RequestValidationError(
            [{"type": "extra_forbidden", "loc": ("query", name), "msg": message} for name in unknown]
        )


def _names(dependant: Dependant) -> set[str]:
    return {field.alias for field in dependant.query_params}.union(*map(_names, dependant.dependencies))


STATIC = Path(__file__).with_name("static")
ROUTERS = (  # in this order: what comes first is matched first
    chat.router,
    system.streams_router,
    conversations.router,
    feedback.router,
    collections.router,
    documents.router,
    search.router,
    search.chunkenizer_router,
    golden_cases.proposals_router,
    golden_cases.router,
    evaluations.router,
    evaluations.schedules_router,
)
STRICT_PARAMETERS = [Depends(refuse_unknown_parameters)]
COMMON_ERRORS = error_responses(400, 401, 403, 408, 413, 422, 429, 503)
# FastAPI's own spans and logs tell paths, queries and the words of errors; ours are RequestIdentity's.
UNTRACED: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
PAGE_POLICY = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"


def create_app(services: Services) -> FastAPI:
    """Opens the services at start and closes them at the end. Raises InvalidSettings."""
    check_sites(services.settings)
    configure_thresholds(services.settings.observability.slow_seconds)
    conversing, rates = ConversationService(services), RateLimits(services.settings)
    running = SharedStreams(services.settings, services.streams)
    mcp = McpOverHttp(services, rates)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        try:
            await services.open(awaits_database=True)
            async with AsyncExitStack() as stack:
                stack.push_async_callback(rates.close)
                stack.push_async_callback(conversing.close)
                await stack.enter_async_context(running.sharing())  # ends before conversing: what it breaks off is kept
                await stack.enter_async_context(mcp.running())
                await stack.enter_async_context(services.outbox.delivering())
                if services.settings.ingestion_limits.worker:
                    jobs = services.documents.queue.working(services.jobs, Evaluator(services), Scheduler(services))
                    await stack.enter_async_context(jobs)
                yield
        finally:
            await services.close()

    app = FastAPI(
        title="Causeway",
        summary="Answers over your documents, with citations that were checked",
        version=version(DISTRIBUTION),
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        swagger_ui_oauth2_redirect_url=None,
        form_limits={"max_files": services.settings.access.max_files},
        telemetry=UNTRACED,
    )
    app.state.services = services
    app.state.conversing = conversing
    app.state.streams = running
    # The last is the first that a request meets: what the others refuse has its id, and known origins may read it.
    app.add_middleware(BodyLimits, settings=services.settings)
    app.add_middleware(AuthenticationMiddleware, services=services, rates=rates)
    app.add_middleware(OriginCheck, settings=services.settings)
    app.add_middleware(CrossOrigin, settings=services.settings)
    app.add_middleware(RequestIdentity)
    # /docs, from files of a package: FastAPI's own loads them from a CDN.
    patch_fastapi(app, redirect_from_root_to_docs=False)
    errors.install(app)
    install_openapi(app)
    for router in ROUTERS:
        app.include_router(router, prefix="/api/v1", responses=COMMON_ERRORS, dependencies=STRICT_PARAMETERS)
        app.include_router(router, prefix="/api", include_in_schema=False, dependencies=STRICT_PARAMETERS)
    app.include_router(search.chunkenizer_router, include_in_schema=False)  # where Chunkenizer has it
    app.include_router(openai_routes.router, prefix="/v1", responses=COMMON_ERRORS)
    app.include_router(system.router)
    # No mount, which would redirect to /mcp/; and no sessions, so there is nothing to GET or to DELETE.
    app.router.routes.append(Route("/mcp", mcp, methods=["POST"], include_in_schema=False))
    app.mount("/static", GZipMiddleware(StaticFiles(directory=STATIC)), name="static")

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers={"Content-Security-Policy": PAGE_POLICY})

    @app.api_route("/studio", methods=["GET", "HEAD"], include_in_schema=False)
    async def studio() -> FileResponse:
        return FileResponse(STATIC / "studio" / "index.html", headers={"Content-Security-Policy": PAGE_POLICY})

    return app
