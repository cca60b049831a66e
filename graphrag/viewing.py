"""Files as a person is shown them: read from the storage, drawn in the parsers' sandbox."""

from dataclasses import dataclass

from graphrag.document_views import CellsRequest, CellsView, PageRequest, PageView, View, ViewRequest
from graphrag.errors import PageNotFound, UnreadableDocument, ViewUnavailable
from graphrag.models import Document
from graphrag.parsers.detection import CSV, PDF, XLS, XLSX
from graphrag.parsers.isolation import IsolatedParser
from graphrag.protocols import FileStorage


@dataclass(frozen=True, slots=True)
class Viewing:
    files: FileStorage
    parser: IsolatedParser

    async def page(self, document: Document, request: PageRequest) -> PageView:
        """Raises PageNotFound, ViewUnavailable or FileUnavailable."""
        check_type(document, PDF)
        view = await self._view(document, request)
        if not isinstance(view, PageView):
            raise unavailable(document)
        if not view.width:
            raise PageNotFound(
                f"Document {document.id} has {view.page_count} pages.", page=request.number, page_count=view.page_count
            )
        return view

    async def cells(self, document: Document, request: CellsRequest) -> CellsView:
        """Raises ViewUnavailable or FileUnavailable."""
        check_type(document, XLSX, XLS, CSV)
        view = await self._view(document, request)
        if not isinstance(view, CellsView):
            raise unavailable(document)
        return view

    async def _view(self, document: Document, request: ViewRequest) -> View:
        data = await self.files.get(document.file_key)
        try:
            return await self.parser.view(data, request, filename=document.filename)
        except UnreadableDocument as exc:
            raise unavailable(document) from exc


def check_type(document: Document, *media_types: str) -> None:
    """Raises ViewUnavailable."""
    if document.media_type not in media_types:
        raise unavailable(document)


def unavailable(document: Document) -> ViewUnavailable:
    return ViewUnavailable(f"Document {document.id} can't be shown like this.", document=str(document.id))
