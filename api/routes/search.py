"""POST /search as Chunkenizer has it, for programs that were written for it."""

from typing import Annotated

from fastapi import APIRouter, Header

from api.dependencies import OwnerDep, ServicesDep
from api.schemas import errors
from api.search_results import describe_metadata
from api.search_schemas import ChunkenizerRequest, ChunkenizerResponse, ChunkOut
from api.timed_search import TimedSearch
from graphrag.models import Hit
from graphrag.retrieval.chunkenizer import VIA
from graphrag.retrieval.filters import parse_filters
from graphrag.retrieval.request import SearchRequest

router = APIRouter(tags=["retrieve"], responses=errors(400, 404, 504))


@router.post(
    "/search",
    summary="Find chunks, in Chunkenizer's words",
    description="Also at /search and /api/search: such programs are told where Chunkenizer is, and add /search.",
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
    request = SearchRequest(body.query, body.collection, overrides, filters)
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
