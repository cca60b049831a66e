"""One document: read, followed, viewed, replaced, deleted."""

import asyncio
import dataclasses
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter, Depends, File, Form, Path, Query, Request, Response, UploadFile
from pydantic import Json
from sse_starlette import EventSourceResponse

from agent.output.events import Event
from agent.proposals.questions import ReadDocument, causal_questions
from api.dependencies import OwnerDep, ServicesDep, StreamsDep, WriterDep
from api.middleware.conditional_requests import ETAGGED, IfMatch, IfNoneMatch, check_match, is_known, make_etag
from api.middleware.json_bodies import JsonRoute
from api.schemas.collections import Metadata
from api.schemas.documents import (
    Cause,
    CellsOut,
    DocumentOut,
    GivenChunking,
    PageOut,
    QuestionList,
    QuestionOut,
    TextOut,
    UploadOut,
)
from api.schemas.fields import Line, errors
from api.schemas.rendering import excerpt_to_html
from api.streaming.sse import EVENT_STREAM, StreamResponse, with_errors
from graphrag.errors import DocumentNotFound, PreconditionFailed, ProviderError, UnreadableDocument
from graphrag.file_storage import read_original
from graphrag.ingestion.bulk import Rechunking
from graphrag.ingestion.service import file_key
from graphrag.ingestion.sources import SourceFile, SpooledFile
from graphrag.linguistics.language import ANSWER_LANGUAGES
from graphrag.models import Chunking, Collection, Document, Span
from graphrag.models.ingestion import CellsRequest, Ingestion, IngestionOutcome, IngestionStatus, PageRequest
from graphrag.services import Services
from graphrag.stores.postgres.catalog import CatalogEntry


@dataclass(frozen=True, slots=True)
class Found:
    """A document of any collection, as a route finds it."""

    services: Services
    collection: Collection
    id: UUID
    request: Request

    async def entry(self) -> CatalogEntry:
        """Raises DocumentNotFound."""
        for entry in await self.services.catalog.find(self.collection, [self.id]):
            return entry
        raise not_found(self.id)

    async def show(self) -> DocumentOut:
        """Raises DocumentNotFound."""
        (shown,) = await show_all(self.services, self.collection, [await self.entry()], self.request)
        return shown

    @asynccontextmanager
    async def unchanged(self, if_match: str | None) -> AsyncIterator[Ingestion | None]:
        """The ingestion to which a step is to be bound, if the request says of which version it is.

        Raises PreconditionFailed, here or from within, with the ETag that it has now; DocumentNotFound.
        """
        entry = await self.entry()
        check_match(self.etag(entry), if_match)
        try:
            yield entry.ingestion if if_match else None
        except PreconditionFailed as exc:
            raise PreconditionFailed(str(exc), etag=self.etag(await self.entry())) from exc

    def etag(self, entry: CatalogEntry) -> str:
        shown = show(self.collection, entry, self.request)
        return etag_of(entry, shown)


def show(collection: Collection, entry: CatalogEntry, request: Request, place: int | None = None) -> DocumentOut:
    cause = Cause.of(entry.ingestion.reason, request) if entry.ingestion else None
    return DocumentOut.of(collection, entry.document, entry.ingestion, cause, place)


async def show_all(
    services: Services, collection: Collection, entries: Sequence[CatalogEntry], request: Request
) -> list[DocumentOut]:
    """Show documents of a collection, those that wait with their places in the queue."""
    waiting = [of.id for of in entries if of.ingestion and of.ingestion.status is IngestionStatus.UPLOADED]
    places = await services.documents.queue.find_places(collection, waiting)
    return [show(collection, entry, request, places.get(entry.id)) for entry in entries]


def etag_of(entry: CatalogEntry, shown: DocumentOut) -> str:
    """Return an ETag of all that is shown, and of the ticket: an upload is another version although it looked alike.

    Others' documents change its place in the queue, and no version of it.
    """
    return make_etag(str(entry.ingestion and entry.ingestion.ticket), shown.model_dump_json(exclude={"place"}))


def not_found(document: UUID) -> DocumentNotFound:
    return DocumentNotFound(f"There is no document {document}.", document=str(document))


async def find(document_id: UUID, services: ServicesDep, owner: OwnerDep, request: Request) -> Found:
    """Raises DocumentNotFound: for another owner's too, in the same words."""
    located = await services.documents.ingestions.locate(owner, [document_id])
    for collection in await services.store.list_collections(owner):
        if collection.id == located.get(document_id):
            return Found(services, collection, document_id, request)
    raise not_found(document_id)


async def find_to_change(document_id: UUID, services: ServicesDep, owner: WriterDep, request: Request) -> Found:
    return await find(document_id, services, owner, request)


FoundDep = Annotated[Found, Depends(find)]
ChangedDep = Annotated[Found, Depends(find_to_change)]


router = APIRouter(route_class=JsonRoute)

AnyMetadata = Annotated[Json[Metadata] | None, Form(description="JSON object stored with each file")]


@router.get(
    "/{document_id:uuid}",
    summary="Get a document and the progress of its ingestion",
    response_model=DocumentOut,
    responses=errors(404) | ETAGGED,
)
async def get_document(
    found: FoundDep, response: Response, if_none_match: IfNoneMatch = None
) -> DocumentOut | Response:
    entry = await found.entry()
    (shown,) = await show_all(found.services, found.collection, [entry], found.request)
    headers = {"ETag": etag_of(entry, shown), "Vary": "Accept-Language"}
    if is_known(headers["ETag"], if_none_match):
        return Response(status_code=304, headers=headers)
    response.headers.update(headers)
    return shown


@router.put(
    "/{document_id:uuid}",
    status_code=202,
    summary="Replace the file; the old version can be searched until the new one is indexed",
    responses=errors(400, 404, 412),
)
async def replace_document(
    found: ChangedDep,
    services: ServicesDep,
    request: Request,
    file: Annotated[UploadFile, File()],
    metadata: AnyMetadata = None,
    if_match: IfMatch = None,
) -> UploadOut:
    """Its tags, its chunking and the time of its deletion stay; so do its metadata where none are given."""
    name, content = filename_of(file), await spooled(file)
    source = dataclasses.replace(_newer_version(await found.entry(), content), filename=name)
    if metadata is not None:
        source = dataclasses.replace(source, metadata=metadata)
    async with found.unchanged(if_match) as seen:
        (outcome,) = await services.documents.add(found.collection, [source], seen=seen)
    return uploaded(outcome, request)


@router.delete(
    "/{document_id:uuid}",
    status_code=204,
    summary="Delete a document with its file and everything derived from it",
    responses=errors(404, 412),
)
async def delete_document(found: ChangedDep, services: ServicesDep, if_match: IfMatch = None) -> None:
    async with found.unchanged(if_match) as seen:
        await services.documents.delete(found.collection, found.id, seen=seen)


@router.post(
    "/{document_id:uuid}/reindex",
    status_code=202,
    summary="Index the file again, also after an error",
    responses=errors(400, 404, 412, 502),
)
async def reindex_document(
    found: ChangedDep,
    services: ServicesDep,
    chunking: Annotated[GivenChunking, Query(description="New chunking of the document")] = None,
    if_match: IfMatch = None,
) -> DocumentOut:
    """A text that came without a file is chunked anew from what is stored of it."""
    async with found.unchanged(if_match) as seen:
        entry = await found.entry()
        if entry.ingestion is None and entry.document:
            await _rechunk(found, entry.document, chunking)
        else:
            await services.documents.restart(found.collection, [found.id], seen=seen, **chunked(chunking))
    return await found.show()


@router.post(
    "/{document_id:uuid}/cancel",
    summary="Cancel the ingestion; the version stored before is kept",
    responses=errors(404),
)
async def cancel_ingestion(found: ChangedDep, services: ServicesDep) -> DocumentOut:
    await services.documents.cancel(found.collection, [found.id])
    return await found.show()


@router.get(
    "/{document_id:uuid}/file",
    summary="Download the original file",
    response_class=Response,
    responses=errors(404)
    | {
        304: ETAGGED[304],
        200: ETAGGED[200]
        | {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}},
    },
)
async def download_file(found: FoundDep, services: ServicesDep, if_none_match: IfNoneMatch = None) -> Response:
    ingestion = (await found.entry()).ingestion
    if ingestion is None:
        raise DocumentNotFound(f"There is no file of document {found.id}.", document=str(found.id))
    etag = {"ETag": f'"{ingestion.content_hash}"'}
    if is_known(etag["ETag"], if_none_match):
        return Response(status_code=304, headers=etag)
    data = await read_original(services.documents.files, file_key(ingestion))
    # Never shown in the page's own origin: it may be a page itself.
    disposition = f"attachment; filename*=UTF-8''{quote(ingestion.filename)}"
    headers = etag | {"Content-Disposition": disposition}
    return Response(data, media_type="application/octet-stream", headers=headers)


@router.get(
    "/{document_id:uuid}/events",
    summary="Stream the progress of the ingestion as Server-Sent Events",
    description="Events: progress, with the document; done at the end, successful or not. Each has an id.",
    response_class=EventSourceResponse,
    responses=errors(404) | {200: {"content": EVENT_STREAM}},
)
async def follow_ingestion(
    found: FoundDep, streams: StreamsDep, owner: OwnerDep, request: Request
) -> EventSourceResponse:
    """Begins anew for a client that comes back: what counts is the state that there is."""
    await found.entry()
    news = _follow(found, lambda: streams.poll_seconds(owner))
    stream = streams.start(with_errors(news, request), owner)
    return StreamResponse(stream, streams)


async def _follow(found: Found, poll_seconds: Callable[[], float]) -> AsyncGenerator[Event, None]:
    shown: DocumentOut | None = None
    while True:
        now = await found.show()
        is_over = now.status in ("indexed", "error")
        if now != shown or is_over:
            yield {"event": "done" if is_over else "progress", "data": json.loads(now.model_dump_json())}
        if is_over:
            return
        shown = now
        await asyncio.sleep(poll_seconds())


async def _rechunk(found: Found, document: Document, chunking: Chunking | None) -> None:
    services, collection = found.services, found.collection
    config, _ = services.settings.ingestion.overridden(collection.ingestion_config)
    model = await services.collections.embedding_model(collection)
    rechunking = Rechunking(services.documents, services.ingestion, collection, model)
    async for outcome in rechunking.rechunk([document], chunking=chunking or config.chunking):
        if isinstance(outcome, IngestionOutcome) and outcome.status is IngestionStatus.ERROR:
            raise ProviderError(outcome.cause)


def _newer_version(entry: CatalogEntry, content: SpooledFile) -> SourceFile:
    if entry.ingestion:
        return SourceFile.of(entry.ingestion, content)
    assert entry.document
    text = entry.document
    return SourceFile(
        text.source, text.filename, content, source_type=text.source_type, tags=text.tags, metadata=text.metadata
    )


def chunked(chunking: Chunking | None) -> dict[str, Any]:
    return {"chunking": chunking} if chunking else {}


def uploaded(outcome: IngestionOutcome, request: Request) -> UploadOut:
    return UploadOut(
        id=outcome.document_id,
        filename=outcome.source,
        status=outcome.status,
        error=Cause.of(outcome.reason, request, outcome.details),
        same_as=outcome.same_as,
    )


MOST_FILENAME_BYTES = 255  # as of file systems, where a document may be written again


def filename_of(file: UploadFile) -> str:
    """Return the file's name; never a path. Raises UnreadableDocument."""
    name = (file.filename or "").replace("\\", "/").rpartition("/")[2].strip()
    if not name or not name.isprintable():
        raise UnreadableDocument("The file has no name.", reason="unnamed")
    if len(name.encode()) > MOST_FILENAME_BYTES:
        raise UnreadableDocument(
            f"The file's name is longer than {MOST_FILENAME_BYTES} bytes.",
            reason="name_too_long",
            limit=MOST_FILENAME_BYTES,
        )
    return name


async def spooled(file: UploadFile) -> SpooledFile:
    return await asyncio.to_thread(SpooledFile.of, file.file)


MOST_CHARS = 20_000
MOST_QUOTE_CHARS = 20_000  # as much of a text as is shown at a time
MOST_WIDTH = 1_600
MOST_ROWS = 50
MOST_QUESTIONS = 10
QUESTIONED_CHUNKS = 50
MOST_OFFSET = 2**31 - 1 - 2 * MOST_CHARS  # the database's integers
views_router = APIRouter(route_class=JsonRoute, prefix="/{document_id:uuid}")
Offset = Annotated[int, Query(ge=0, le=MOST_OFFSET)]
Around = Annotated[int, Query(ge=0, le=MOST_CHARS)]
Page = Annotated[int, Path(ge=1, le=MOST_OFFSET, description="From 1")]


@views_router.get("/text", summary="Get an excerpt of the text and its location in the file", responses=errors(404))
async def get_document_text(
    found: FoundDep,
    services: ServicesDep,
    start_char: Offset = 0,
    end_char: Annotated[
        int | None, Query(ge=0, le=MOST_OFFSET, description=f"At most {MOST_CHARS} characters after start_char")
    ] = None,
    before: Around = 2_000,
    after: Around = 2_000,
    html: Annotated[bool, Query(description="Also as HTML, where it is Markdown")] = False,
) -> TextOut:
    """Return a span of the text, or its beginning without one.

    `before` and `after`: so many characters around it, to a line's end.
    """
    document = await stored(found)
    end = min(max(start_char, end_char or 0), start_char + MOST_CHARS)
    owner = found.collection.owner_id
    span = Span(start_char, end)
    excerpt = await services.catalog.excerpt(document, span, owner_id=owner, before=before, after=after)
    return TextOut.of(excerpt, await asyncio.to_thread(excerpt_to_html, excerpt, span) if html else None)


@views_router.get(
    "/questions", summary="List questions that the document answers, without a language model", responses=errors(404)
)
async def list_questions(
    found: FoundDep, services: ServicesDep, limit: Annotated[int, Query(ge=1, le=MOST_QUESTIONS)] = 3
) -> QuestionList:
    """Ask for causes that the beginning of the document states."""
    document = await stored(found)
    if document.language not in ANSWER_LANGUAGES:
        return QuestionList(language=document.language, questions=[])
    chunks = await services.store.read_chunks(found.collection, [(document.id, 0, QUESTIONED_CHUNKS)])
    read = ReadDocument(document, chunks.get(document.id, ()))
    made = await asyncio.to_thread(lambda: list(islice(causal_questions(read), limit)))
    questions = [QuestionOut(text=question.text, quote=question.quote) for question in made]
    return QuestionList(language=document.language, questions=questions)


@views_router.get(
    "/pages/{page}", summary="Get a PDF page: its size, and the boxes of a quote", responses=errors(404, 409)
)
async def get_document_page(
    found: FoundDep,
    services: ServicesDep,
    page: Page,
    quote: Annotated[str, Query(max_length=MOST_QUOTE_CHARS, description="As in a citation")] = "",
) -> PageOut:
    document = await stored(found)
    return PageOut.of(page, await services.document_viewer.page(document, PageRequest(page, quote=quote)))


@views_router.get(
    "/pages/{page}/picture",
    summary="Get a PDF page as an image",
    response_class=Response,
    responses=errors(404, 409)
    | {
        304: ETAGGED[304],
        200: ETAGGED[200] | {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}},
    },
)
async def get_page_picture(
    found: FoundDep,
    services: ServicesDep,
    page: Page,
    width: Annotated[int, Query(ge=100, le=MOST_WIDTH, description="In pixels")] = 1_200,
    if_none_match: IfNoneMatch = None,
) -> Response:
    document = await stored(found)
    headers = {"ETag": make_etag(document.content_hash, str(page), str(width)), "Cache-Control": "private, no-cache"}
    if is_known(headers["ETag"], if_none_match):
        return Response(status_code=304, headers=headers)
    view = await services.document_viewer.page(document, PageRequest(page, width))
    return Response(view.picture, media_type="image/png", headers=headers)


@views_router.get(
    "/cells", summary="Get the rows of a spreadsheet around some of its cells", responses=errors(404, 409)
)
async def get_document_cells(
    found: FoundDep,
    services: ServicesDep,
    sheet: Annotated[Line, Query(max_length=255, description="Of a CSV file: empty")] = "",
    cells: Annotated[str, Query(pattern=r"^[A-Z]{1,3}[1-9]\d{0,6}(:[A-Z]{1,3}[1-9]\d{0,6})?$")] = "A1",
    around: Annotated[int, Query(ge=0, le=MOST_ROWS, description="Rows, before and after")] = 5,
) -> CellsOut:
    """Return cells of the table that the first of them belongs to, at most 100 rows."""
    document = await stored(found)
    return CellsOut.of(await services.document_viewer.cells(document, CellsRequest(sheet, cells, around)))


async def stored(found: Found) -> Document:
    """The version that is searched, whatever is on its way in. Raises DocumentNotFound."""
    document = (await found.entry()).document
    if document is None:
        raise not_found(found.id)
    return document
