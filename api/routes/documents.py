"""A collection's documents: uploaded, listed, read anew, deleted."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, File, Form, Query, Request, UploadFile

from api.dependencies import CollectionQuery, OwnerDep, ServicesDep, WriterDep
from api.errors import localize, request_language
from api.middleware.conditional_requests import REPLAYED, OnceDep
from api.middleware.json_bodies import JsonRoute
from api.routes import document
from api.routes.document import AnyMetadata, chunked, filename_of, show_all, spooled, uploaded
from api.schemas.documents import (
    MOST_DELETED,
    MOST_FILENAME_CHARS,
    MOST_TAGS,
    BulkDeleted,
    BulkDeletion,
    DocumentList,
    DocumentStatus,
    FileTypes,
    GivenChunking,
    RestartedList,
    UploadList,
    UploadOut,
)
from api.schemas.fields import Cursor, Limit, Line, cut, errors, read_cursor
from graphrag.errors import DatabaseFull, DatabaseUnavailable, UnreadableDocument
from graphrag.ingestion.sources import SourceFile, refused, too_large
from graphrag.models.ingestion import IngestionOutcome, IngestionStatus
from graphrag.parsers.detection import supported_suffixes
from graphrag.parsers.recognition import Recognizer
from graphrag.services import Services
from graphrag.stores.postgres.catalog import Criteria

MOST_HOURS = 1_000_000
router = APIRouter(route_class=JsonRoute, prefix="/documents", tags=["documents"])


@router.post(
    "",
    status_code=202,
    summary="Upload files; they are indexed in the background",
    responses=errors(400, 409) | {202: REPLAYED},
)
async def upload_documents(
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
    options = {"tags": tuple(tags), "chunking": chunking, "expires_at": expires_at, "metadata": metadata or {}}
    limits = services.settings.ingestion_limits
    if len(files) == 1:
        filename_of(files[0])  # without a name, the request is at fault
    received = [await read_upload(file, limits.max_file_bytes, **options) for file in files]
    sources = [of for of in received if isinstance(of, SourceFile)]

    def merge(outcomes: Iterable[IngestionOutcome]) -> list[UploadOut]:
        """Return the outcomes of all files, in their order, from those of the sources."""
        made = iter(outcomes)
        return [uploaded(next(made) if isinstance(of, SourceFile) else of, request) for of in received]

    async def add() -> UploadList:
        into = await services.collections.create(owner, collection)
        return UploadList(
            documents=merge(await services.documents.add(into, sources, most_documents=limits.max_documents))
        )

    asked = {
        "files": [(of.source, of.content_hash if isinstance(of, SourceFile) else of.reason) for of in received],
        "options": [collection, tags, chunking, time_to_live_hours, metadata],
    }
    try:
        return await once.do(UploadList, asked, add)
    except DatabaseFull:
        raise
    except DatabaseUnavailable:
        await services.outbox.store(owner, collection, sources)
        return UploadList(
            documents=merge(IngestionOutcome(source.source, IngestionStatus.UPLOADED) for source in sources),
            indexing="unavailable",
            message=localize("kept_for_later", {}, request_language(request)),
        )


async def read_upload(file: UploadFile, most_bytes: int, **options: Any) -> SourceFile | IngestionOutcome:
    """Return a file of an upload as a source, or the outcome that says why it is refused."""
    try:
        name = filename_of(file)
        if (file.size or 0) > most_bytes:
            raise too_large(most_bytes)
    except UnreadableDocument as exc:
        return refused(file.filename or "", exc)
    return SourceFile(name, name, await spooled(file), source_type="upload", **options)


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
    return DocumentList(documents=await show_all(services, asked, page, request), next_cursor=following)


@router.get("/types", summary="List the file types that can be uploaded")
async def list_file_types(services: ServicesDep, _: OwnerDep) -> FileTypes:
    recognizer = Recognizer(services.settings.ingestion_limits.parsing)
    return FileTypes(suffixes=supported_suffixes(recognizes_pictures=recognizer.is_available))


@router.post("/reindex", status_code=202, summary="Read all of a collection's files anew", responses=errors(400, 404))
async def reindex_documents(
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
    return RestartedList(documents=await show_all(services, asked, entries, request))


@router.post(
    "/bulk-delete", summary="Delete several documents with everything derived from them", responses=errors(404)
)
async def delete_documents(body: BulkDeletion, services: ServicesDep, owner: WriterDep) -> BulkDeleted:
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
