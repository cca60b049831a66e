"""A collection's documents: uploaded, listed, read anew, deleted."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, File, Form, Query, Request, UploadFile

from api.dependencies import CollectionQuery, OwnerDep, ServicesDep, WriterDep
from api.errors import localize, request_language
from api.middleware.conditional_requests import REPLAYED, OnceDep
from api.routes import document
from api.routes.document import AnyMetadata, chunked, filename_of, show, uploaded
from api.schemas.documents import (
    MOST_DELETED,
    MOST_FILENAME_CHARS,
    MOST_TAGS,
    BulkDeleted,
    BulkDeletion,
    DocumentList,
    DocumentStatus,
    GivenChunking,
    RestartedList,
    UploadList,
)
from api.schemas.fields import Cursor, Limit, Line, cut, errors, read_cursor
from graphrag.errors import DatabaseFull, DatabaseUnavailable
from graphrag.ingestion.sources import SourceFile, refused, too_large
from graphrag.models.ingestion import IngestionOutcome, IngestionStatus
from graphrag.services import Services
from graphrag.stores.postgres.catalog import Criteria

MOST_HOURS = 1_000_000
router = APIRouter(prefix="/documents", tags=["documents"])


@router.post(
    "",
    status_code=202,
    summary="Upload files; they are indexed in the background",
    responses=errors(400, 409) | {202: REPLAYED},
)
async def upload(
    services: ServicesDep,
    owner: WriterDep,
    request: Request,
    once: OnceDep,
    files: Annotated[list[UploadFile], File(description="One or more")],
    collection: Annotated[
        str | None, Form(description="Collection; created if it does not exist", examples=["notas"])
    ] = None,
    tags: Annotated[list[Line], Form(max_length=MOST_TAGS)] = [],  # noqa: B006 (FastAPI copies it)
    chunking: Annotated[GivenChunking, Form(description="Default: the collection's")] = None,
    time_to_live_hours: Annotated[
        float | None, Form(gt=0, le=MOST_HOURS, allow_inf_nan=False, description="Default: the collection's")
    ] = None,
    metadata: AnyMetadata = None,
) -> UploadList:
    expires_at = datetime.now(UTC) + timedelta(hours=time_to_live_hours) if time_to_live_hours else None
    sources = [
        SourceFile(
            source=filename_of(file),
            filename=filename_of(file),
            data=await file.read(services.settings.ingestion_limits.max_file_bytes + 1),
            source_type="upload",
            tags=tuple(tags),
            chunking=chunking,
            expires_at=expires_at,
            metadata=metadata or {},
        )
        for file in files
    ]

    async def add() -> UploadList:
        into = await services.collections.create(owner, collection)
        outcomes = await services.documents.add(
            into, sources, most_documents=services.settings.ingestion_limits.max_documents
        )
        return UploadList(documents=[uploaded(outcome, request) for outcome in outcomes])

    asked = {
        "files": [(source.filename, source.content_hash) for source in sources],
        "options": [collection, tags, chunking, time_to_live_hours, metadata],
    }
    try:
        return await once.do(UploadList, asked, add)
    except DatabaseFull:
        raise
    except DatabaseUnavailable:
        return await kept_for_later(services, owner, collection, sources, request)


async def kept_for_later(
    services: Services, owner: str, collection: str | None, sources: Sequence[SourceFile], request: Request
) -> UploadList:
    """Raises IndexingUnavailable, InvalidCollectionName or FileUnavailable."""
    most = services.settings.ingestion_limits.max_file_bytes
    large = {source.source for source in sources if source.byte_count > most}
    await services.outbox.store(owner, collection, [source for source in sources if source.source not in large])
    outcomes = [
        refused(source.source, too_large(most))
        if source.source in large
        else IngestionOutcome(source.source, IngestionStatus.UPLOADED)
        for source in sources
    ]
    return UploadList(
        documents=[uploaded(outcome, request) for outcome in outcomes],
        indexing="unavailable",
        message=localize("kept_for_later", {}, request_language(request)),
    )


@router.get("", summary="List a collection's documents with their status, oldest first", responses=errors(400, 404))
async def list_documents(
    services: ServicesDep,
    owner: OwnerDep,
    request: Request,
    collection: CollectionQuery = None,
    status: Annotated[DocumentStatus | None, Query()] = None,
    filename: Annotated[Line | None, Query(max_length=MOST_FILENAME_CHARS, description="Part of the file name")] = None,
    tags: Annotated[list[Line], Query(max_length=MOST_TAGS, description="Documents with any of these tags")] = [],  # noqa: B006 (FastAPI copies it)
    limit: Limit = 50,
    cursor: Cursor = None,
) -> DocumentList:
    asked = await services.collections.open(owner, collection)
    criteria = Criteria(status, filename or None, tuple(tags))
    after = read_cursor(cursor, tuple[datetime, UUID])
    found = await services.catalog.page(asked, criteria, limit=limit + 1, after=after)
    page, following = cut(found, limit, lambda entry: entry.position)
    return DocumentList(documents=[show(asked, entry, request) for entry in page], next_cursor=following)


@router.post("/reindex", status_code=202, summary="Read all of a collection's files anew", responses=errors(400, 404))
async def reindex_all(
    services: ServicesDep,
    owner: WriterDep,
    request: Request,
    collection: CollectionQuery = None,
    chunking: Annotated[GivenChunking, Query(description="New chunking of the documents")] = None,
) -> RestartedList:
    asked = await services.collections.open(owner, collection)
    known = [ingestion.document_id for ingestion in await services.documents.ingestions.list_all(asked)]
    restarted = await services.documents.restart(asked, known, **chunked(chunking))
    entries = await services.catalog.find(asked, [ingestion.document_id for ingestion in restarted])
    return RestartedList(documents=[show(asked, entry, request) for entry in entries])


@router.post(
    "/bulk-delete", summary="Delete several documents with everything derived from them", responses=errors(404)
)
async def delete_many(body: BulkDeletion, services: ServicesDep, owner: WriterDep) -> BulkDeleted:
    if body.ids is not None:
        wanted = list(dict.fromkeys(body.ids))
        deleted = await _delete_located(services, owner, wanted)
        return BulkDeleted(deleted=deleted, not_found=[key for key in wanted if key not in deleted])
    collection = await services.collections.open(owner, body.collection)
    criteria = body.filter.criteria if body.filter else Criteria()
    found = await services.catalog.page(collection, criteria, limit=MOST_DELETED + 1)
    deleted = await services.documents.delete_many(collection, [entry.id for entry in found[:MOST_DELETED]])
    return BulkDeleted(deleted=deleted, not_found=[], has_more=len(found) > MOST_DELETED)


async def _delete_located(services: Services, owner: str, wanted: list[UUID]) -> list[UUID]:
    located = await services.documents.ingestions.locate(owner, wanted)
    deleted: list[UUID] = []
    for collection in await services.store.list_collections(owner):
        within = [key for key in wanted if located.get(key) == collection.id]
        deleted += await services.documents.delete_many(collection, within) if within else []
    return deleted


router.include_router(document.router)
router.include_router(document.views_router)
