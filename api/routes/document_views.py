"""A document as it is shown beside an answer: its text around a quote, a page as a picture, the rows around cells."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from api.conditional_requests import ETAGGED, IfNoneMatch, is_known, make_etag
from api.dependencies import ServicesDep
from api.found_documents import Found, FoundDep, not_found
from api.schemas import Line, errors
from api.view_schemas import CellsOut, PageOut, TextOut
from graphrag.document_views import CellsRequest, PageRequest
from graphrag.models import Document, Span

MOST_CHARS = 20_000
MOST_QUOTE_CHARS = 20_000  # as much of a text as is shown at a time
MOST_WIDTH = 1_600
MOST_ROWS = 50
MOST_OFFSET = 2**31 - 1 - 2 * MOST_CHARS  # the database's integers
router = APIRouter(prefix="/{document_id:uuid}")
Offset = Annotated[int, Query(ge=0, le=MOST_OFFSET)]
Around = Annotated[int, Query(ge=0, le=MOST_CHARS)]
Page = Annotated[int, Path(ge=1, le=MOST_OFFSET, description="From 1")]


@router.get("/text", summary="A stretch of its text, and where in its file it stands", responses=errors(404))
async def get_text(
    found: FoundDep,
    services: ServicesDep,
    start_char: Offset = 0,
    end_char: Annotated[
        int | None, Query(ge=0, le=MOST_OFFSET, description=f"At most {MOST_CHARS} characters further")
    ] = None,
    before: Around = 2_000,
    after: Around = 2_000,
) -> TextOut:
    """Without a span, its beginning. `before` and `after`: so many characters around it, to a line's end."""
    document = await stored(found)
    end = min(max(start_char, end_char or 0), start_char + MOST_CHARS)
    owner = found.collection.owner_id
    span = Span(start_char, end)
    return TextOut.of(await services.catalog.excerpt(document, span, owner_id=owner, before=before, after=after))


@router.get(
    "/pages/{page}", summary="A PDF's page: its size, and where on it a quote stands", responses=errors(404, 409)
)
async def get_page(
    found: FoundDep,
    services: ServicesDep,
    page: Page,
    quote: Annotated[str, Query(max_length=MOST_QUOTE_CHARS, description="As in a citation")] = "",
) -> PageOut:
    document = await stored(found)
    return PageOut.of(page, await services.viewing.page(document, PageRequest(page, quote=quote)))


@router.get(
    "/pages/{page}/picture",
    summary="A PDF's page as a picture",
    response_class=Response,
    responses=errors(404, 409)
    | {
        304: ETAGGED[304],
        200: ETAGGED[200] | {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}},
    },
)
async def get_picture(
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
    view = await services.viewing.page(document, PageRequest(page, width))
    return Response(view.picture, media_type="image/png", headers=headers)


@router.get("/cells", summary="The rows of a spreadsheet around some of its cells", responses=errors(404, 409))
async def get_cells(
    found: FoundDep,
    services: ServicesDep,
    sheet: Annotated[Line, Query(max_length=255, description="Of a CSV file: empty")] = "",
    cells: Annotated[str, Query(pattern=r"^[A-Z]{1,3}[1-9]\d{0,6}(:[A-Z]{1,3}[1-9]\d{0,6})?$")] = "A1",
    around: Annotated[int, Query(ge=0, le=MOST_ROWS, description="Rows, before and after")] = 5,
) -> CellsOut:
    """Of the table that the first of them belongs to, at most 100 rows."""
    document = await stored(found)
    return CellsOut.of(await services.viewing.cells(document, CellsRequest(sheet, cells, around)))


async def stored(found: Found) -> Document:
    """The version that is searched, whatever is on its way in. Raises DocumentNotFound."""
    document = (await found.entry()).document
    if document is None:
        raise not_found(found.id)
    return document
