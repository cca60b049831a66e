"""Health, metrics, and running streams."""

import asyncio
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from sse_starlette import EventSourceResponse

from api.dependencies import LastEventId, MetricsDep, OwnerDep, ServicesDep, StreamsDep
from api.gauges import look_around
from api.middleware.json_bodies import JsonRoute
from api.schemas.fields import BreakerOut, CrossEncoderOut, EmbeddingModelOut, Health, errors
from api.streaming.sse import EVENT_STREAM, StreamResponse
from graphrag import DISTRIBUTION
from graphrag.errors import DatabaseUnavailable, StreamNotFound
from graphrag.observability.metrics import scraped

streams_router = APIRouter(route_class=JsonRoute, tags=["chat"], responses=errors(404))


@streams_router.get(
    "/chat/stream/{stream_id}",
    summary="Resume a stream after an event, or read it from its beginning",
    description="204 if no event follows: it stops an EventSource from reconnecting.",
    response_class=EventSourceResponse,
    responses={200: {"content": EVENT_STREAM}, 204: {"description": "The event was the last one"}},
)
async def resume_stream(
    stream_id: str, streams: StreamsDep, owner: OwnerDep, last_event_id: LastEventId = ""
) -> Response:
    stream, after = await streams.find_event(last_event_id or f"{stream_id}:0", owner)
    if stream.id != stream_id:
        raise StreamNotFound("The event is of another stream: ask again.")
    if stream.ended and after == len(stream):
        return Response(status_code=204)
    return StreamResponse(stream, streams, after=after)


@streams_router.delete(
    "/chat/stream/{stream_id}", status_code=204, summary="Stop an answer, and the model that writes it"
)
async def stop_stream(stream_id: str, streams: StreamsDep, owner: OwnerDep) -> None:
    await streams.stop(stream_id, owner)


METRICS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
    **errors(401, 403, 429, 503),
}
VERSION = version(DISTRIBUTION)
router = APIRouter(route_class=JsonRoute, tags=["system"])


@router.get(
    "/health",
    summary="Get the loaded models, the state of the database, and open circuits",
    description="Always 200 while the process runs. See /ready for readiness.",
    response_model_exclude_none=True,
)
async def health(services: ServicesDep) -> Health:
    try:
        await services.database.ping()
        reachable = True
    except DatabaseUnavailable:
        reachable = False
    encoder, choice = services.cross_encoder, services.model_choice
    chat_models = await asyncio.to_thread(choice.before, services.chat_models)  # opens a model that was just chosen
    breakers = [BreakerOut.model_validate(asdict(state)) for state in services.breakers()]
    return Health(
        status="ok" if reachable and all(breaker.state == "closed" for breaker in breakers) else "degraded",
        version=VERSION,
        database="ok" if reachable else "unavailable",
        chat_model=chat_models[0].name,
        can_choose_model=choice.is_allowed,
        embedding_models=[
            EmbeddingModelOut(
                id=model.id,
                name=model.name,
                status="loaded" if model.is_installed else "missing",
                dimensions=model.dimensions,
            )
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
    description="Metrics of all processes of this `causeway serve`; queued jobs are counted over all services.",
    response_class=Response,
    responses=METRICS,
)
async def metrics(_: MetricsDep, services: ServicesDep) -> Response:
    await look_around(services)
    return Response(generate_latest(scraped()), media_type=CONTENT_TYPE_LATEST)
