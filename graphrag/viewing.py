"""Files as a person is shown them: read from the storage, drawn in the parsers' sandbox."""

from dataclasses import dataclass
from typing import TypeVar

from graphrag.document_views import CellsRequest, CellsView, PageRequest, PageView, View, ViewRequest
from graphrag.errors import PageNotFound, UnreadableDocument, ViewUnavailable
from graphrag.models import Document
from graphrag.parsers.detection import CSV, PDF, XLS, XLSX
from graphrag.parsers.isolation import IsolatedParser
from graphrag.protocols import FileStorage

V = TypeVar("V", bound=View)


@dataclass(frozen=True, slots=True)
class Viewing:
    files: FileStorage
    parser: IsolatedParser

    async def page(self, document: Document, request: PageRequest) -> PageView:
        """Raises PageNotFound, ViewUnavailable or FileUnavailable."""
        view = await self._view(document, request, PageView, {PDF})
        if not view.width:
            raise PageNotFound(
                f"Document {document.id} has {view.page_count} pages.", page=request.number, page_count=view.page_count
            )
        return view

    async def cells(self, document: Document, request: CellsRequest) -> CellsView:
        """Raises ViewUnavailable or FileUnavailable."""
        return await self._view(document, request, CellsView, {XLSX, XLS, CSV})

    async def _view(self, document: Document, request: ViewRequest, kind: type[V], media_types: set[str]) -> V:
        unavailable = ViewUnavailable(f"Document {document.id} can't be shown like this.", document=str(document.id))
        if document.media_type not in media_types:
            raise unavailable
        data = await self.files.get(document.file_key)
        try:
            view = await self.parser.view(data, request, filename=document.filename)
        except UnreadableDocument as exc:
            raise unavailable from exc
        if not isinstance(view, kind):
            raise unavailable
        return view
