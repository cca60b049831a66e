"""Collections: listed, made, configured, deleted."""

from fastapi import APIRouter

from api.dependencies import OwnerDep, ServicesDep, WriterDep
from api.document_schemas import CollectionConfigIn, CollectionList, CollectionOut
from api.schemas import errors

router = APIRouter(prefix="/collections", tags=["collections"], responses=errors(400, 404, 409))


@router.get("", summary="Your collections, by name")
async def list_collections(services: ServicesDep, owner: OwnerDep) -> CollectionList:
    known = await services.store.list_collections(owner)
    return CollectionList(collections=[CollectionOut.of(collection) for collection in known])


@router.put("/{name}", summary="Configure a collection, made where there is none of that name")
async def configure(name: str, body: CollectionConfigIn, services: ServicesDep, owner: WriterDep) -> CollectionOut:
    collection = await services.make_collection(owner, name)
    configured = await services.store.configure_collection(
        collection, body.retrieval, ingestion_config=body.ingestion, generation_config=body.generation
    )
    return CollectionOut.of(configured)


@router.delete("/{name}", status_code=204, summary="Delete a collection with all that is in it")
async def delete(name: str, services: ServicesDep, owner: WriterDep) -> None:
    await services.library.delete_collection(await services.collection(owner, name))
