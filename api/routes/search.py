"""Searches without an answer: /retrieve, /search as Chunkenizer has it, and the causal graph."""

from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query

from agent.chains import describe_edge
from api.dependencies import CollectionQuery, OwnerDep, ServicesDep
from api.middleware.json_bodies import JsonRoute
from api.schemas.fields import GraphResponse, Text, errors
from api.schemas.search import (
    FILTERS,
    ChunkenizerRequest,
    ChunkenizerResponse,
    ChunkOut,
    RetrievalOptions,
    RetrieveRequest,
    RetrieveResponse,
    describe,
    describe_hits,
    describe_metadata,
)
from api.timed_search import TimedSearch
from graphrag.config.settings import RetrievalConfig
from graphrag.models import Hit
from graphrag.models.graph import CausalEdge
from graphrag.retrieval.chunkenizer import VIA
from graphrag.retrieval.filters import parse_filters
from graphrag.retrieval.pipeline import SearchRequest

router = APIRouter(route_class=JsonRoute, tags=["retrieve"], responses=errors(400, 404))


@router.post(
    "/retrieve",
    responses=errors(504),
    summary="Search for chunks, with the scores of each stage",
    description="Stages that exceed the time limit (`RAG_RETRIEVE_TIMEOUT_SECONDS` in total) are skipped and listed in "
    "`degraded`. If a stage can't be skipped, the response is 504, with partial results in `details.results` and "
    "the unfinished stages in `details.missing`.",
)
async def retrieve(body: RetrieveRequest, services: ServicesDep, owner: OwnerDep) -> RetrieveResponse:
    names, filters = body.collection_names or (None,), parse_filters(body.filters)
    request = SearchRequest(body.query, names, body.overrides, filters, body.offset, body.min_score)
    search = TimedSearch(request, services, owner, is_detailed=body.debug)
    found = await search.run()
    fields = {
        "results": describe_hits(found.hits, found.query.collections),
        **describe(found),
        "debug": search.describe() if body.debug else None,
    }
    return RetrieveResponse.model_validate(fields)


@router.get("/retrieval-options", summary="Get the options of a search and their defaults for a collection")
async def get_retrieval_options(
    services: ServicesDep, owner: OwnerDep, collection: CollectionQuery = None
) -> RetrievalOptions:
    asked = await services.collections.open(owner, collection)
    config, _ = services.collections.retrieval_config(asked, {})
    return RetrievalOptions(
        collection=asked.name, values=config.model_dump(), config=_retrieval_schema(), filters=FILTERS
    )


@cache
def _retrieval_schema() -> dict[str, Any]:
    """Return the schema of a search's settings; made once, since that takes milliseconds."""
    return RetrievalConfig.model_json_schema()


@router.get(
    "/graph",
    summary="List what the documents of a collection say caused what",
    description="All edges of the causal graph, or those around the entities that contain the words of `about`, two "
    "edges away at most.",
)
async def get_causal_graph(
    services: ServicesDep,
    owner: OwnerDep,
    collection: CollectionQuery = None,
    about: Annotated[Text, Query(max_length=200, description="Words of a cause or an effect")] = "",
    limit: Annotated[int, Query(ge=1, le=2_000)] = 500,
) -> GraphResponse:
    asked = await services.collections.open(owner, collection)
    edges = await services.retrieval.graph.list_causal_edges(asked, entity=about or None, limit=limit)
    return GraphResponse.model_validate({"edges": [_describe_graph_edge(edge) for edge in edges]})


def _describe_graph_edge(edge: CausalEdge) -> dict[str, Any]:
    ends = {"cause_id": edge.cause.id, "effect_id": edge.effect.id}
    return {**describe_edge(edge), **ends, "polarity": edge.polarity.value}


chunkenizer_router = APIRouter(route_class=JsonRoute, tags=["retrieve"], responses=errors(400, 404, 504))


@chunkenizer_router.post(
    "/search",
    summary="Search for chunks, compatible with Chunkenizer",
    description="Also served at /search and /api/search, for clients that append /search to a base URL.",
)
async def search(
    body: ChunkenizerRequest,
    services: ServicesDep,
    owner: OwnerDep,
    via: Annotated[str, Header(include_in_schema=False)] = "",
) -> ChunkenizerResponse:
    # An object, as Chunkenizer answers; its adapters take the list out of it.
    filters = parse_filters(body.filters or {})
    overrides = {"top_k": body.top_k} | ({"chunkenizer": False} if VIA in via else {})
    request = SearchRequest(body.query, (body.collection,), overrides, filters)
    found = await TimedSearch(request, services, owner).run()
    results = [_chunk(hit) for hit in found.hits]
    return ChunkenizerResponse(query=body.query, results=results, total_results=len(results))


def _chunk(hit: Hit) -> ChunkOut:
    chunk, document = hit.chunk, hit.chunk.document
    return ChunkOut(
        chunk_text=chunk.content,
        document_id=document.id,
        document_name=document.filename,
        chunk_index=chunk.index,
        score=hit.score,
        metadata=describe_metadata(hit) | {"created_at": document.created_at.isoformat()},
    )
