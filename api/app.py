"""The FastAPI application: routes, request ids, security headers, the page."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from fastapi_swagger import patch_fastapi

from agent.conversation import Conversing
from api import error_handlers
from api.identification import Identification
from api.observability import RequestIdentity
from api.routes import (
    chat,
    collections,
    conversations,
    documents,
    evaluations,
    feedback,
    golden_cases,
    openai,
    retrieve,
    streams,
    system,
)
from api.schemas import errors
from api.streams import Streams
from graphrag.services import Services

STATIC = Path(__file__).with_name("static")
RESOURCES = (
    chat,
    streams,
    conversations,
    feedback,
    collections,
    documents,
    retrieve,
    golden_cases,
    evaluations,
)
OF_EVERY_ROUTE = errors(401, 403, 413, 422, 429, 503)
PAGE_POLICY = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"


def create_app(services: Services) -> FastAPI:
    """Opens the services at start and closes them at the end."""

    conversing, running = Conversing(services), Streams(services.settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await services.open()
        try:
            async with AsyncExitStack() as stack:
                stack.push_async_callback(conversing.close)
                stack.push_async_callback(running.close)  # the first to end: what it breaks off is kept
                if services.settings.worker:
                    await stack.enter_async_context(services.library.queue.working(services.workshop))
                yield
        finally:
            await services.close()

    app = FastAPI(
        title="Causeway",
        summary="Answers over your documents, with citations that were checked",
        version=version("causeway"),
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        swagger_ui_oauth2_redirect_url=None,
    )
    app.state.services = services
    app.state.conversing = conversing
    app.state.streams = running
    app.add_middleware(Identification, services=services)
    app.add_middleware(RequestIdentity)
    patch_fastapi(
        app, redirect_from_root_to_docs=False
    )  # /docs, from files of a package: FastAPI's own loads them from a CDN
    error_handlers.install(app)
    for routes in RESOURCES:
        app.include_router(routes.router, prefix="/api/v1", responses=OF_EVERY_ROUTE)
        app.include_router(routes.router, prefix="/api", include_in_schema=False)
    app.include_router(openai.router, prefix="/v1", responses=OF_EVERY_ROUTE)
    app.include_router(system.router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers={"Content-Security-Policy": PAGE_POLICY})

    return app
