"""Documents: uploaded, followed while they are ingested, replaced, read anew, deleted."""

import asyncio
import json
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from typing import Annotated
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter, Depends, File, Form, Query, Request, Response, UploadFile
from sse_starlette import EventSourceResponse

from agent.events import Event
from api.dependencies import OwnerDep, ServicesDep, StreamsDep
from api.document_causes import cause_of
from api.document_schemas import DocumentList, DocumentOut, UploadList, UploadOut
from api.openapi_document import EVENT_STREAM
from api.schemas import errors
from api.sse import StreamResponse, with_errors
from graphrag.errors import DocumentNotFound, UnreadableDocument
from graphrag.ingestion.library import file_key
from graphrag.ingestion.sources import SourceFile
from graphrag.ingestion_models import Ingestion, IngestionOutcome
from graphrag.models import Chunking, Collection, Document
from graphrag.services import Services

POLL_SECONDS = 0.25
router = APIRouter(prefix="/documents", tags=["documents"], responses=errors(400, 404, 409))


class Found:
    """A document of the owner's, whatever collection it is in."""

    def __init__(self, services: Services, collection: Collection, document_id: UUID) -> None:
        self.services, self.collection, self.id = services, collection, document_id

    async def document(self) -> Document | None:
        return next(iter(await self.services.store.find_documents(self.collection, ids=[self.id])), None)

    async def ingestion(self) -> Ingestion | None:
        return next(iter(await self.services.library.ingestions.find(self.collection, [self.id])), None)

    async def show(self, request: Request) -> DocumentOut:
        """Raises DocumentNotFound."""
        document, ingestion = await asyncio.gather(self.document(), self.ingestion())
        if document is None and ingestion is None:
            raise DocumentNotFound(f"There is no document {self.id}.", document=str(self.id))
        return _show(self.collection, document, ingestion, request)


async def find(document_id: UUID, services: ServicesDep, owner: OwnerDep) -> Found:
    """Raises DocumentNotFound: for another owner's too, in the same words."""
    collection_id = await services.library.ingestions.locate(owner, document_id)
    collections = await services.store.list_collections(owner)
    for collection in collections:
        if collection.id == collection_id:
            return Found(services, collection, document_id)
    raise DocumentNotFound(f"There is no document {document_id}.", document=str(document_id))


FoundDep = Annotated[Found, Depends(find)]


@router.post("", status_code=202, summary="Upload files; their ingestion goes on in the background")
async def upload(
    services: ServicesDep,
    owner: OwnerDep,
    request: Request,
    files: Annotated[list[UploadFile], File(description="One or more")],
    collection: Annotated[str | None, Form(description="Made where there is none of that name")] = None,
    tags: Annotated[list[str], Form()] = [],  # noqa: B006 (FastAPI copies it)
    chunking: Annotated[Chunking | None, Form(description="Without it, the collection's")] = None,
    time_to_live_hours: Annotated[float | None, Form(gt=0, description="Without it, the collection's")] = None,
) -> UploadList:
    expires_at = datetime.now(UTC) + timedelta(hours=time_to_live_hours) if time_to_live_hours else None
    sources = [
        SourceFile(
            source=_filename(file),
            filename=_filename(file),
            data=await file.read(services.settings.max_file_bytes + 1),
            source_type="upload",
            tags=tuple(tags),
            chunking=chunking,
            expires_at=expires_at,
        )
        for file in files
    ]
    into = await services.make_collection(owner, collection)
    outcomes = await services.library.add(into, sources, most_documents=services.settings.max_documents)
    return UploadList(documents=[_upload(outcome, request) for outcome in outcomes])


@router.get("", summary="A collection's documents, with the state of each")
async def list_documents(
    services: ServicesDep,
    owner: OwnerDep,
    request: Request,
    collection: Annotated[str | None, Query(description="Without it, the default one")] = None,
) -> DocumentList:
    asked = await services.collection(owner, collection)
    stored = {document.id: document for document in await services.store.list_documents(asked)}
    ingestions = {of.document_id: of for of in await services.library.ingestions.list_all(asked)}
    shown = [_show(asked, stored.get(key), ingestions.get(key), request) for key in stored.keys() | ingestions.keys()]
    return DocumentList(documents=sorted(shown, key=lambda document: (document.created_at, document.id)))


@router.post("/reindex", status_code=202, summary="Read all of a collection's files anew")
async def reindex_all(
    services: ServicesDep,
    owner: OwnerDep,
    request: Request,
    collection: Annotated[str | None, Query()] = None,
    chunking: Annotated[Chunking | None, Query(description="How they are chunked from now on")] = None,
) -> DocumentList:
    asked = await services.collection(owner, collection)
    known = [ingestion.document_id for ingestion in await services.library.ingestions.list_all(asked)]
    restarted = await services.library.restart(asked, known, **{"chunking": chunking} if chunking else {})
    return DocumentList(documents=[_show(asked, None, ingestion, request) for ingestion in restarted])


@router.get("/{document_id}", summary="A document, and how far its ingestion is")
async def get_document(found: FoundDep, request: Request) -> DocumentOut:
    return await found.show(request)


@router.put(
    "/{document_id}", status_code=202, summary="Replace its file; the old version is found until the new one is"
)
async def replace(
    found: FoundDep, services: ServicesDep, request: Request, file: Annotated[UploadFile, File()]
) -> UploadOut:
    before = await found.show(request)
    source = SourceFile(
        source=before.source,
        filename=_filename(file),
        data=await file.read(services.settings.max_file_bytes + 1),
        source_type=before.source_type or "upload",
        tags=tuple(before.tags),
    )
    (outcome,) = await services.library.add(found.collection, [source])
    return _upload(outcome, request)


@router.delete("/{document_id}", status_code=204, summary="Delete it, with its file and all that was made of it")
async def delete(found: FoundDep, services: ServicesDep) -> None:
    await services.library.delete(found.collection, found.id)


@router.post("/{document_id}/reindex", status_code=202, summary="Read its file anew; also after an error")
async def reindex(
    found: FoundDep,
    services: ServicesDep,
    request: Request,
    chunking: Annotated[Chunking | None, Query(description="How it is chunked from now on")] = None,
) -> DocumentOut:
    await services.library.restart(found.collection, [found.id], **{"chunking": chunking} if chunking else {})
    return await found.show(request)


@router.post("/{document_id}/cancel", summary="Stop its ingestion; what was stored before stays")
async def cancel(found: FoundDep, services: ServicesDep, request: Request) -> DocumentOut:
    await services.library.cancel(found.collection, [found.id])
    return await found.show(request)


@router.get("/{document_id}/file", summary="The original file", response_class=Response)
async def download(found: FoundDep, services: ServicesDep) -> Response:
    ingestion = await found.ingestion()
    if ingestion is None:
        raise DocumentNotFound(f"There is no file of document {found.id}.", document=str(found.id))
    data = await services.library.files.get(file_key(ingestion))
    # Never shown in the page's own origin: it may be a page itself.
    disposition = f"attachment; filename*=UTF-8''{quote(ingestion.filename)}"
    return Response(data, media_type="application/octet-stream", headers={"Content-Disposition": disposition})


@router.get(
    "/{document_id}/events",
    summary="Its ingestion as it goes on, as Server-Sent Events",
    description="Events: progress, with the document; done when it has ended, well or not. Each has an id.",
    response_class=EventSourceResponse,
    responses={200: {"content": EVENT_STREAM}},
)
async def events(found: FoundDep, streams: StreamsDep, owner: OwnerDep, request: Request) -> EventSourceResponse:
    """Begins anew for a client that comes back: what counts is the state that there is."""
    await found.show(request)
    stream = streams.start(with_errors(_follow(found, request), request), owner)
    return StreamResponse(stream, streams)


async def _follow(found: Found, request: Request) -> AsyncGenerator[Event, None]:
    shown: DocumentOut | None = None
    while True:
        now = await found.show(request)
        is_over = now.status in ("indexed", "error")
        if now != shown or is_over:
            yield {"event": "done" if is_over else "progress", "data": json.loads(now.model_dump_json())}
        if is_over:
            return
        shown = now
        await asyncio.sleep(POLL_SECONDS)


def _show(
    collection: Collection, document: Document | None, ingestion: Ingestion | None, request: Request
) -> DocumentOut:
    return DocumentOut.of(collection, document, ingestion, cause_of(ingestion.reason, request) if ingestion else None)


def _upload(outcome: IngestionOutcome, request: Request) -> UploadOut:
    return UploadOut(
        id=outcome.document_id,
        filename=outcome.source,
        status=outcome.status,
        error=cause_of(outcome.reason, request),
        same_as=outcome.same_as,
    )


def _filename(file: UploadFile) -> str:
    """What a person calls it; never a path. Raises UnreadableDocument."""
    name = (file.filename or "").replace("\\", "/").rpartition("/")[2].strip()
    if not name or not name.isprintable():
        raise UnreadableDocument("The file has no name.", reason="unnamed")
    return name
