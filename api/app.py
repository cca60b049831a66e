"""The FastAPI application: routes, middleware, the OpenAPI document, the pages."""

from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.gzip import GZipMiddleware
from fastapi.openapi.utils import get_openapi
from fastapi.params import Form
from fastapi.responses import FileResponse, HTMLResponse
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles
from fastapi.telemetry import TelemetryConfig
from starlette.routing import Route

from agent.conversation.service import ConversationService
from agent.evaluation.golden_run import Evaluator, Scheduler
from api import errors
from api.gauges import seen_by_others
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
    models,
    search,
    sign_in,
    system,
)
from api.schemas.fields import errors as error_responses
from api.streaming.streams import SharedStreams
from graphrag import DISTRIBUTION
from graphrag.linguistics.rules import read_texts
from graphrag.observability.telemetry import configure_thresholds
from graphrag.services import Services

EXAMPLES: dict[str, Any] = read_texts("api", "examples")  # of responses, by operation
TAGS = {
    "chat": "Ask, whole or as a stream that can be left and resumed.",
    "conversations": "Questions and answers that were kept.",
    "feedback": "What readers think of answers and citations.",
    "collections": "Documents that are searched together, with their configuration.",
    "documents": "Upload files, follow their ingestion, read, replace and delete them.",
    "retrieve": "Search without an answer: passages, causal chains, what the search can do.",
    "golden cases": "Questions with the documents that should be found for them.",
    "evaluations": "Measure retrieval on golden cases, now or by a schedule, and compare.",
    "models": "Find a chat model, try it, choose it; only without authentication.",
    "openai": "The same answers, models and embeddings in OpenAI's form.",
    "system": "Health and metrics.",
}


def install_openapi(app: FastAPI) -> None:
    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = get_openapi(
                title=app.title,
                version=app.version,
                summary=app.summary,
                routes=app.routes,
                tags=app.openapi_tags,
            )
            for operation in _operations(app.openapi_schema):
                if example := EXAMPLES.get(operation["operationId"]):
                    success = min(operation["responses"])
                    operation["responses"][success]["content"]["application/json"]["example"] = example
            for form in _forms(app.openapi_schema):
                form["additionalProperties"] = False
            for schema in _written_as_text(app.openapi_schema):
                _drop_null(schema)
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]  # FastAPI's own way to change it


def _written_as_text(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the schemas of parameters and forms, where an absent value is left out: none of them can hold a null."""
    for operation in _operations(document):
        yield from (parameter["schema"] for parameter in operation.get("parameters", ()))
    for form in _forms(document):
        yield from form["properties"].values()


def _forms(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for operation in _operations(document):
        for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
            if media_type == "multipart/form-data":
                yield document["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]


def _operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in document["paths"].values():
        yield from path.values()


def _drop_null(schema: dict[str, Any]) -> None:
    alternatives = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    if len(alternatives) == 1:
        del schema["anyOf"]
        schema |= {**alternatives[0], **schema}
    elif alternatives:
        schema["anyOf"] = alternatives


async def refuse_unknown_parameters(request: Request) -> None:
    """Refuse unknown query parameters and form fields. Raises RequestValidationError, which names the known ones."""
    route: APIRoute = request.scope["route"]
    fields = {field.alias for field in route.dependant.body_params if isinstance(field.field_info, Form)}
    given: dict[str, tuple[set[str], Iterable[str]]] = {"query": (_names(route.dependant), request.query_params)}
    if fields:
        given["body"] = fields, await request.form()  # FastAPI has parsed it
    unknown = [(where, name, known) for where, (known, names) in given.items() for name in names if name not in known]
    if unknown:
        message = "There is no such parameter. Known: {}"
        raise RequestValidationError(
            [
                {
                    "type": "extra_forbidden",
                    "loc": (where, name),
                    "msg": message.format(", ".join(sorted(known)) or "none"),
                }
                for where, name, known in unknown
            ]
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
    models.router,
)
MOST_FIELDS = 100  # of a form, beside its files: a document's tags and options
STRICT_PARAMETERS = [Depends(refuse_unknown_parameters)]
COMMON_ERRORS = error_responses(400, 401, 403, 408, 413, 422, 429, 503)
# FastAPI's own spans and logs tell paths, queries and the words of errors; ours are RequestIdentity's.
UNTRACED: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
PAGE_POLICY = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
DOCS_POLICY = f"{PAGE_POLICY}; img-src 'self' data:"  # Swagger UI's icons


def create_app(services: Services, counts: Path | None = None) -> FastAPI:
    """Opens the services at start and closes them at the end. Raises InvalidSettings.

    `counts`: the file of the rates that several processes count together.
    """
    check_sites(services.settings)
    configure_thresholds(services.settings.observability.slow_seconds)
    conversing, rates = ConversationService(services), RateLimits(services.settings, counts)
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
                if counts:
                    await stack.enter_async_context(seen_by_others(services))
                if services.settings.ingestion_limits.worker:
                    services.sandbox.server.start()
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
        openapi_tags=[{"name": name, "description": text} for name, text in TAGS.items()],
        generate_unique_id_function=lambda route: route.name,  # of the function: clients name their methods by it
        form_limits={"max_files": services.settings.access.max_files, "max_fields": MOST_FIELDS},
        telemetry=UNTRACED,
    )
    app.state.services = services
    app.state.conversing = conversing
    app.state.streams = running
    app.state.rates = rates
    # The last is the first that a request meets: what the others refuse has its id, and known origins may read it.
    app.add_middleware(BodyLimits, settings=services.settings)
    app.add_middleware(AuthenticationMiddleware, services=services, rates=rates)
    app.add_middleware(OriginCheck, settings=services.settings)
    app.add_middleware(CrossOrigin, settings=services.settings)
    app.add_middleware(RequestIdentity)
    errors.install(app)
    install_openapi(app)
    app.include_router(system.router)  # asked most often: routes are looked through in order
    for router in ROUTERS:
        app.include_router(router, prefix="/api/v1", responses=COMMON_ERRORS, dependencies=STRICT_PARAMETERS)
    app.include_router(sign_in.router, prefix="/api/v1")  # a provider's callback may bring parameters of its own
    app.include_router(
        conversations.shared_router,
        prefix="/api/v1",
        responses=error_responses(400, 403, 404, 408, 413, 422, 429, 503),
        dependencies=STRICT_PARAMETERS,
    )
    app.include_router(search.chunkenizer_router, include_in_schema=False)  # where Chunkenizer has it
    app.include_router(openai_routes.router, prefix="/v1", responses=COMMON_ERRORS)
    # No mount, which would redirect to /mcp/; and no sessions, so there is nothing to GET or to DELETE.
    app.router.routes.append(Route("/mcp", mcp, methods=["POST"], include_in_schema=False))
    app.mount("/static", GZipMiddleware(StaticFiles(directory=STATIC)), name="static")
    # Of /docs: FastAPI's own page loads them from a CDN, and has a script of its own in it.
    app.mount("/swagger", GZipMiddleware(StaticFiles(packages=[("fastapi_swagger", "resources")])), name="swagger")

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers={"Content-Security-Policy": PAGE_POLICY})

    # The same page, of which another script shows no more than the conversation of a link.
    shared = (STATIC / "index.html").read_text(encoding="utf-8").replace("/static/start.js", "/static/shared.js")

    @app.api_route("/shared", methods=["GET", "HEAD"], include_in_schema=False)
    async def shared_page() -> HTMLResponse:
        return HTMLResponse(shared, headers={"Content-Security-Policy": PAGE_POLICY, "X-Robots-Tag": "noindex"})

    @app.api_route("/studio", methods=["GET", "HEAD"], include_in_schema=False)
    async def studio() -> FileResponse:
        return FileResponse(STATIC / "studio" / "index.html", headers={"Content-Security-Policy": PAGE_POLICY})

    @app.api_route("/docs", methods=["GET", "HEAD"], include_in_schema=False)
    async def docs() -> FileResponse:
        return FileResponse(STATIC / "docs" / "index.html", headers={"Content-Security-Policy": DOCS_POLICY})

    return app
