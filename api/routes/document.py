"""One document: looked at, followed while it is ingested, replaced, read anew, deleted."""

import asyncio
import dataclasses
import json
from collections.abc import AsyncGenerator
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, File, Form, Query, Request, Response, UploadFile
from pydantic import Json
from sse_starlette import EventSourceResponse

from agent.events import Event
from api.conditional_requests import ETAGGED, IfMatch, IfNoneMatch, is_known
from api.dependencies import OwnerDep, ServicesDep, StreamsDep
from api.document_causes import cause_of
from api.document_schemas import DocumentOut, GivenChunking, UploadOut
from api.found_documents import ChangedDep, Found, FoundDep, etag_of, show
from api.metadata import Metadata
from api.openapi_document import EVENT_STREAM
from api.schemas import errors
from api.sse import StreamResponse, with_errors
from graphrag.errors import DocumentNotFound, ProviderError, UnreadableDocument
from graphrag.ingestion.library import file_key
from graphrag.ingestion.rechunking import Rechunking
from graphrag.ingestion.sources import SourceFile
from graphrag.ingestion_models import IngestionOutcome, IngestionStatus
from graphrag.models import Chunking, Document
from graphrag.stores.catalog import Entry

POLL_SECONDS = 0.25
router = APIRouter()

AnyMetadata = Annotated[Json[Metadata] | None, Form(description="A JSON object, kept with each file")]


@router.get(
    "/{document_id:uuid}",
    summary="A document, and how far its ingestion is",
    response_model=DocumentOut,
    responses=errors(404) | ETAGGED,
)
async def get_document(
    found: FoundDep, response: Response, if_none_match: IfNoneMatch = None
) -> DocumentOut | Response:
    entry = await found.entry()
    shown = show(found.collection, entry, found.request)
    headers = {"ETag": etag_of(entry, shown), "Vary": "Accept-Language"}
    if is_known(headers["ETag"], if_none_match):
        return Response(status_code=304, headers=headers)
    response.headers.update(headers)
    return shown


@router.put(
    "/{document_id:uuid}",
    status_code=202,
    summary="Replace its file; the old version is found until the new one is",
    responses=errors(400, 404, 412),
)
async def replace(
    found: ChangedDep,
    services: ServicesDep,
    request: Request,
    file: Annotated[UploadFile, File()],
    metadata: AnyMetadata = None,
    if_match: IfMatch = None,
) -> UploadOut:
    """Its tags, its chunking and the time of its deletion stay; so do its metadata where none are given."""
    data = await file.read(services.settings.max_file_bytes + 1)
    source = dataclasses.replace(_newer_version(await found.entry(), data), filename=filename_of(file))
    if metadata is not None:
        source = dataclasses.replace(source, metadata=metadata)
    async with found.unchanged(if_match) as seen:
        (outcome,) = await services.library.add(found.collection, [source], seen=seen)
    return uploaded(outcome, request)


@router.delete(
    "/{document_id:uuid}",
    status_code=204,
    summary="Delete it, with its file and all that was made of it",
    responses=errors(404, 412),
)
async def delete(found: ChangedDep, services: ServicesDep, if_match: IfMatch = None) -> None:
    async with found.unchanged(if_match) as seen:
        await services.library.delete(found.collection, found.id, seen=seen)


@router.post(
    "/{document_id:uuid}/reindex",
    status_code=202,
    summary="Read its file anew; also after an error",
    responses=errors(400, 404, 412, 502),
)
async def reindex(
    found: ChangedDep,
    services: ServicesDep,
    chunking: Annotated[GivenChunking, Query(description="How it is chunked from now on")] = None,
    if_match: IfMatch = None,
) -> DocumentOut:
    """A text that came without a file is chunked anew from what is stored of it."""
    async with found.unchanged(if_match) as seen:
        entry = await found.entry()
        if entry.ingestion is None and entry.document:
            await _rechunk(found, entry.document, chunking)
        else:
            await services.library.restart(found.collection, [found.id], seen=seen, **chunked(chunking))
    return await found.show()


@router.post(
    "/{document_id:uuid}/cancel", summary="Stop its ingestion; what was stored before stays", responses=errors(404)
)
async def cancel(found: ChangedDep, services: ServicesDep) -> DocumentOut:
    await services.library.cancel(found.collection, [found.id])
    return await found.show()


@router.get(
    "/{document_id:uuid}/file",
    summary="The original file",
    response_class=Response,
    responses=errors(404)
    | {
        304: ETAGGED[304],
        200: ETAGGED[200]
        | {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}},
    },
)
async def download(found: FoundDep, services: ServicesDep, if_none_match: IfNoneMatch = None) -> Response:
    ingestion = (await found.entry()).ingestion
    if ingestion is None:
        raise DocumentNotFound(f"There is no file of document {found.id}.", document=str(found.id))
    etag = {"ETag": f'"{ingestion.content_hash}"'}
    if is_known(etag["ETag"], if_none_match):
        return Response(status_code=304, headers=etag)
    data = await services.library.files.get(file_key(ingestion))
    # Never shown in the page's own origin: it may be a page itself.
    disposition = f"attachment; filename*=UTF-8''{quote(ingestion.filename)}"
    headers = etag | {"Content-Disposition": disposition}
    return Response(data, media_type="application/octet-stream", headers=headers)


@router.get(
    "/{document_id:uuid}/events",
    summary="Its ingestion as it goes on, as Server-Sent Events",
    description="Events: progress, with the document; done when it has ended, well or not. Each has an id.",
    response_class=EventSourceResponse,
    responses=errors(404) | {200: {"content": EVENT_STREAM}},
)
async def events(found: FoundDep, streams: StreamsDep, owner: OwnerDep, request: Request) -> EventSourceResponse:
    """Begins anew for a client that comes back: what counts is the state that there is."""
    await found.entry()
    stream = streams.start(with_errors(_follow(found), request), owner)
    return StreamResponse(stream, streams)


async def _follow(found: Found) -> AsyncGenerator[Event, None]:
    shown: DocumentOut | None = None
    while True:
        now = await found.show()
        is_over = now.status in ("indexed", "error")
        if now != shown or is_over:
            yield {"event": "done" if is_over else "progress", "data": json.loads(now.model_dump_json())}
        if is_over:
            return
        shown = now
        await asyncio.sleep(POLL_SECONDS)


async def _rechunk(found: Found, document: Document, chunking: Chunking | None) -> None:
    services, collection = found.services, found.collection
    config, _ = services.settings.ingestion.overridden(collection.ingestion_config)
    model = await services.embedding_model(collection)
    rechunking = Rechunking(services.library, services.pipeline, collection, model)
    async for outcome in rechunking.rechunk([document], chunking=chunking or config.chunking):
        if isinstance(outcome, IngestionOutcome) and outcome.status is IngestionStatus.ERROR:
            raise ProviderError(outcome.cause)


def _newer_version(entry: Entry, data: bytes) -> SourceFile:
    if entry.ingestion:
        return SourceFile.of(entry.ingestion, data)
    assert entry.document
    text = entry.document
    return SourceFile(
        text.source, text.filename, data, source_type=text.source_type, tags=text.tags, metadata=text.metadata
    )


def chunked(chunking: Chunking | None) -> dict[str, Any]:
    return {"chunking": chunking} if chunking else {}


def uploaded(outcome: IngestionOutcome, request: Request) -> UploadOut:
    return UploadOut(
        id=outcome.document_id,
        filename=outcome.source,
        status=outcome.status,
        error=cause_of(outcome.reason, request),
        same_as=outcome.same_as,
    )


def filename_of(file: UploadFile) -> str:
    """What a person calls it; never a path. Raises UnreadableDocument."""
    name = (file.filename or "").replace("\\", "/").rpartition("/")[2].strip()
    if not name or not name.isprintable():
        raise UnreadableDocument("The file has no name.", reason="unnamed")
    return name
