"""How the service is: health and metrics."""

from importlib.metadata import version

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from api.dependencies import MetricsDep, ServicesDep
from api.schemas import EmbeddingModelOut, Health, errors
from graphrag.errors import DatabaseUnavailable

router = APIRouter(tags=["system"])


@router.get("/health", summary="What is loaded, and whether the database answers")
async def health(services: ServicesDep) -> Health:
    try:
        await services.database.ping()
        reachable = True
    except DatabaseUnavailable:
        reachable = False
    return Health(
        status="ok" if reachable else "degraded",
        version=version("causeway"),
        database="ok" if reachable else "unavailable",
        chat_model=services.settings.chat_model or "extractive",
        embedding_models=[
            EmbeddingModelOut(id=model.id, name=model.name, status="loaded", dimensions=model.dimensions)
            for model in services.embeddings.models.values()
        ],
    )


@router.get("/metrics", summary="Prometheus metrics", response_class=PlainTextResponse, responses=errors(401, 403))
async def metrics(_: MetricsDep) -> Response:
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)
