"""Collections: made, listed, described, configured, filled with texts, deleted."""

import asyncio
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from operator import attrgetter

from fastapi import APIRouter, Request

from api.dependencies import OwnerDep, ServicesDep, WriterDep
from api.middleware.conditional_requests import REPLAYED, OnceDep
from api.middleware.json_bodies import JsonRoute
from api.routes.document import uploaded
from api.schemas.collections import (
    MODEL,
    MOST_FACETS,
    CollectionConfigIn,
    CollectionIn,
    CollectionList,
    CollectionMetadataIn,
    CollectionNameIn,
    CollectionOut,
    FacetsOut,
    TextsIn,
)
from api.schemas.documents import TextsOut
from api.schemas.fields import Cursor, Limit, cut, errors, read_cursor
from graphrag.errors import (
    CollectionChanged,
    DatabaseFull,
    DatabaseUnavailable,
    EmbeddingModelFixed,
    IndexingUnavailable,
    InvalidEmbeddingModel,
    InvalidSettings,
)
from graphrag.ingestion.reembedding import EmbeddingMigration
from graphrag.ingestion.service import store_texts
from graphrag.models import Collection
from graphrag.models.ingestion import IngestionStatus, checked_name
from graphrag.services import Services

router = APIRouter(route_class=JsonRoute, prefix="/collections", tags=["collections"])
ERRORS = errors(400, 404, 409)


@router.post("", status_code=201, summary="Make a collection", responses=errors(400, 409))
async def create_collection(body: CollectionIn, services: ServicesDep, owner: WriterDep) -> CollectionOut:
    name = checked_name(body.name)
    model = await _loaded(services, body.embedding_model)
    body.check()
    made = await services.store.create_collection(owner, name, embedding_model=model, is_new=True)
    metadata = {key: value for key, value in body.metadata.items() if key != MODEL}
    return await _configure(services, made, body, metadata)


@router.get("", summary="List your collections by name", responses=errors(400))
async def list_collections(
    services: ServicesDep, owner: OwnerDep, limit: Limit = 50, cursor: Cursor = None
) -> CollectionList:
    known = sorted(await services.store.list_collections(owner), key=attrgetter("name"))
    after = read_cursor(cursor, tuple[str])
    start = bisect_right(known, after[0], key=attrgetter("name")) if after else 0
    page, following = cut(known[start : start + limit + 1], limit, lambda collection: (collection.name,))
    return CollectionList(
        collections=[CollectionOut.of(collection) for collection in page],
        default=services.collections.default_name([collection.name for collection in known]),
        next_cursor=following,
    )


@router.get("/{name}", summary="Get a collection", responses=errors(404))
async def get_collection(name: str, services: ServicesDep, owner: OwnerDep) -> CollectionOut:
    return CollectionOut.of(await services.collections.open(owner, name))


@router.get("/{name}/facets", summary="List the filter values of a collection's documents", responses=errors(404))
async def get_collection_facets(name: str, services: ServicesDep, owner: OwnerDep) -> FacetsOut:
    found = await services.catalog.facets(await services.collections.open(owner, name), limit=MOST_FACETS)
    return FacetsOut.model_validate(found, from_attributes=True)


@router.put("/{name}", summary="Configure a collection, creating it if it does not exist", responses=ERRORS)
async def configure_collection(
    name: str, body: CollectionConfigIn, services: ServicesDep, owner: WriterDep
) -> CollectionOut:
    body.check()
    return await _configure(services, await services.collections.create(owner, name), body)


@router.patch("/{name}", summary="Rename a collection", responses=ERRORS)
async def rename_collection(
    name: str, body: CollectionNameIn, services: ServicesDep, owner: WriterDep
) -> CollectionOut:
    collection = await services.collections.open(owner, name)
    return CollectionOut.of(await services.store.rename_collection(collection, checked_name(body.name)))


@router.put(
    "/{name}/metadata",
    summary="Replace the metadata of a collection",
    description="Changing the embedding model of a collection that has chunks is an error (409): "
    "use `causeway reembed`.",
    responses=ERRORS,
)
async def set_collection_metadata(
    name: str, body: CollectionMetadataIn, services: ServicesDep, owner: WriterDep
) -> CollectionOut:
    collection = await services.collections.open(owner, name)
    metadata = dict(body.metadata)
    if MODEL in metadata:
        await _move(services, collection, await _loaded(services, metadata.pop(MODEL)))
    await services.store.configure_collection(collection, metadata=metadata)
    return CollectionOut.of(await services.collections.open(owner, name))


@router.delete("/{name}", status_code=204, summary="Delete a collection with all that is in it", responses=errors(404))
async def delete_collection(name: str, services: ServicesDep, owner: WriterDep) -> None:
    await services.documents.delete_collection(await services.collections.open(owner, name))


@router.post(
    "/{name}/documents",
    status_code=201,
    summary="Store texts and index them at once",
    description="All or none are stored, except those that the embedding model rejects. Sending the same text again "
    "changes nothing.",
    responses=errors(400, 404, 409, 502) | {201: REPLAYED},
)
async def add_texts(
    name: str, body: TextsIn, services: ServicesDep, owner: WriterDep, once: OnceDep, request: Request
) -> TextsOut:
    async def store() -> TextsOut:
        collection = await services.collections.open(owner, name)
        outcomes = await store_texts(
            [text.read() for text in body.documents],
            collection=collection,
            service=services.documents,
            pipeline=services.ingestion,
            model=await services.collections.embedding_model(collection),
            most_documents=services.settings.ingestion_limits.max_documents,
        )
        stored = [outcome for outcome in outcomes if outcome.status is not IngestionStatus.ERROR]
        return TextsOut(count=len(stored), documents=[uploaded(outcome, request) for outcome in outcomes])

    with _as_indexing_errors():
        return await once.do(TextsOut, body.model_dump(mode="json"), store)


@contextmanager
def _as_indexing_errors() -> Iterator[None]:
    """Raise IndexingUnavailable in place of DatabaseUnavailable."""
    try:
        yield
    except DatabaseFull:
        raise
    except DatabaseUnavailable as exc:
        raise IndexingUnavailable("The database does not respond: send the documents again.", **exc.details) from exc


async def _configure(
    services: Services, collection: Collection, body: CollectionConfigIn, metadata: dict[str, object] | None = None
) -> CollectionOut:
    configured = await services.store.configure_collection(
        collection,
        body.retrieval,
        ingestion_config=body.ingestion,
        generation_config=body.generation,
        metadata=metadata,
    )
    return CollectionOut.of(configured)


async def _loaded(services: Services, model: object) -> str:
    """Raises InvalidEmbeddingModel, which lists those that there are."""
    registry = await asyncio.to_thread(lambda: services.embeddings)
    known = sorted(registry.models)
    listed = {"known": known, "available": ", ".join(known)}
    if model is None or model == "":
        problem = f"embedding_model is required. Available models: {listed['available']}"
        raise InvalidEmbeddingModel(problem, reason="embedding_model_missing", **listed)
    if not isinstance(model, str) or model not in registry.models:
        problem = f"Model {model!r} not loaded. Available: {listed['available']}"
        raise InvalidEmbeddingModel(problem, reason="embedding_model_unknown", model=model, **listed)
    return model


async def _move(services: Services, collection: Collection, model: str) -> None:
    """Move an empty collection to another embedding model.

    Raises EmbeddingModelFixed, or CollectionChanged if it is moving now.
    """
    if model == collection.embedding_model:
        return
    if collection.chunk_count:
        raise EmbeddingModelFixed(
            f"Run: causeway reembed {collection.name} --model {model}", collection=collection.name, model=model
        )
    try:
        await EmbeddingMigration(services.database, collection).run(services.embeddings.get(model))
    except InvalidSettings as exc:
        raise CollectionChanged(f"The collection {collection.name!r} is moving to another embedding model.") from exc
