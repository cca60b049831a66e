"""How the service is: health and metrics."""

from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from api.dependencies import MetricsDep, ServicesDep
from api.gauges import look_around
from api.schemas import BreakerOut, CrossEncoderOut, EmbeddingModelOut, Health, errors
from graphrag.errors import DatabaseUnavailable

METRICS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
    **errors(401, 403, 429, 503),
}
VERSION = version("causeway")
router = APIRouter(tags=["system"])


@router.get(
    "/health",
    summary="What is loaded, whether the database answers, and what is left alone because it fails",
    description="Always 200: the process lives. Whether it can be asked is what /ready says.",
    response_model_exclude_none=True,
)
async def health(services: ServicesDep) -> Health:
    try:
        await services.database.ping()
        reachable = True
    except DatabaseUnavailable:
        reachable = False
    encoder = services.cross_encoder
    breakers = [BreakerOut.model_validate(asdict(state)) for state in services.breakers()]
    return Health(
        status="ok" if reachable and all(breaker.state == "closed" for breaker in breakers) else "degraded",
        version=VERSION,
        database="ok" if reachable else "unavailable",
        chat_model=services.settings.chat_model or "extractive",
        embedding_models=[
            EmbeddingModelOut(id=model.id, name=model.name, status="loaded", dimensions=model.dimensions)
            for model in services.embeddings.models.values()
        ],
        cross_encoder=CrossEncoderOut(model=encoder.model, status="loaded") if encoder else None,
        name_pipelines=list(services.name_pipelines) or None,
        breakers=breakers,
    )


@router.get(
    "/ready", status_code=204, summary="Whether questions can be answered: 503 where they can't", responses=errors(503)
)
async def ready(services: ServicesDep) -> None:
    await services.database.ping()


@router.get(
    "/metrics",
    summary="Prometheus metrics",
    description="Of this process: each of several has its own. Only the jobs that wait are counted for all of them.",
    response_class=Response,
    responses=METRICS,
)
async def metrics(_: MetricsDep, services: ServicesDep) -> Response:
    await look_around(services)
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)
