"""What the HTTP API shows of a document: its text, its pages, its cells."""

from uuid import UUID

from pydantic import BaseModel, Field

from graphrag.document_views import CellsView, Excerpt, PageView


class TextOut(BaseModel):
    """A stretch of a document's text. Offsets are characters of the whole text, as in citations."""

    document_id: UUID
    filename: str
    title: str
    media_type: str
    language: str
    content_hash: str = Field(description="SHA-256 of the file that was read: another version has another")
    content: str
    start_char: int = Field(description="Of `content`")
    end_char: int
    length: int = Field(description="Of the whole text")
    first_line: int = Field(description="The number, from 1, of the line in which `content` begins")
    page: int | None = Field(description="Or slide, from 1, of what was asked for")
    sheet: str | None
    cells: str | None = Field(description="C12, A2:F2")

    @classmethod
    def of(cls, excerpt: Excerpt) -> "TextOut":
        document, place = excerpt.document, excerpt.place
        return cls(
            document_id=document.id,
            filename=document.filename,
            title=document.title,
            media_type=document.media_type,
            language=document.language,
            content_hash=document.content_hash,
            content=excerpt.content,
            start_char=excerpt.start_char,
            end_char=excerpt.end_char,
            length=excerpt.length,
            first_line=excerpt.first_line,
            page=place.page if place else None,
            sheet=(place and place.sheet) or None,
            cells=(place and place.cells) or None,
        )


class BoxOut(BaseModel):
    """In shares of the page's width and height, from its upper left corner."""

    left: float
    top: float
    width: float
    height: float


class PageOut(BaseModel):
    page: int
    page_count: int
    width: float = Field(description="In points, 72 to an inch")
    height: float
    boxes: list[BoxOut] = Field(description="A line of the quote each; empty: it is not on this page")

    @classmethod
    def of(cls, page: int, view: PageView) -> "PageOut":
        boxes = [BoxOut(left=box.left, top=box.top, width=box.width, height=box.height) for box in view.boxes]
        return cls(page=page, page_count=view.page_count, width=view.width, height=view.height, boxes=boxes)


class SheetRowOut(BaseModel):
    number: int = Field(description="In its sheet, from 1")
    values: list[str] = Field(description="As in the document's text; at most as many as there are columns")


class CellsOut(BaseModel):
    columns: list[str] = Field(description="Their letters")
    headers: list[str]
    rows: list[SheetRowOut] = Field(description="Empty: the cells are in no table")

    @classmethod
    def of(cls, view: CellsView) -> "CellsOut":
        rows = [SheetRowOut(number=row.number, values=list(row.values)) for row in view.rows]
        return cls(columns=list(view.columns), headers=list(view.headers), rows=rows)
