"""Searches without an answer: what is found, by which stages, and how fast."""

from fastapi import APIRouter

from api.dependencies import CollectionQuery, OwnerDep, ServicesDep
from api.schemas import errors
from api.search_results import describe, describe_hits
from api.search_schemas import FILTERS, RetrievalOptions, RetrieveRequest, RetrieveResponse
from api.timed_search import TimedSearch
from graphrag.retrieval.filters import parse_filters
from graphrag.retrieval.request import SearchRequest
from graphrag.settings import RetrievalConfig

router = APIRouter(tags=["retrieve"], responses=errors(400, 404))


@router.post(
    "/retrieve",
    responses=errors(504),
    summary="Find the chunks that answer a question, with the scores of each stage",
    description="A stage for which there is no time (`RAG_RETRIEVE_TIMEOUT_SECONDS` for all together) is left out, as "
    "`degraded` tells. Where that can't be, it gives 504, with what was found by then in `details.results` and the "
    "stages that had not ended in `details.missing`.",
)
async def retrieve(body: RetrieveRequest, services: ServicesDep, owner: OwnerDep) -> RetrieveResponse:
    request = SearchRequest(
        body.query, body.collection, body.overrides, parse_filters(body.filters), body.offset, body.min_score
    )
    search = TimedSearch(request, services, owner, is_detailed=body.debug)
    found = await search.run()
    told = {"results": describe_hits(found.hits), **describe(found), "debug": search.describe() if body.debug else None}
    return RetrieveResponse.model_validate(told)


@router.get("/retrieval-options", summary="What can be chosen of a search, and how a collection is searched without it")
async def retrieval_options(
    services: ServicesDep, owner: OwnerDep, collection: CollectionQuery = None
) -> RetrievalOptions:
    asked = await services.collection(owner, collection)
    config, _ = services.retrieval_config(asked, {})
    return RetrievalOptions(
        collection=asked.name, values=config.model_dump(), config=RetrievalConfig.model_json_schema(), filters=FILTERS
    )
