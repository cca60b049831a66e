"""What a person is shown of a document: a stretch of its text, a page as a picture, the cells of a sheet."""

from dataclasses import dataclass
from typing import Literal

from graphrag.models import Document, Place


@dataclass(frozen=True, slots=True)
class Excerpt:
    """[start_char, end_char) of a document's text."""

    document: Document
    content: str
    start_char: int
    end_char: int
    length: int  # of the whole text
    first_line: int  # the number, from 1, of the line in which it begins
    place: Place | None  # of what was asked for


@dataclass(frozen=True, slots=True)
class PageRequest:
    number: int  # from 1
    width: int = 0  # of the picture, in pixels; 0: none
    quote: str = ""
    kind: Literal["page"] = "page"


@dataclass(frozen=True, slots=True)
class Box:
    """In shares of the page's width and height, from its upper left corner."""

    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class PageView:
    """A page that the file does not have is 0 points wide."""

    page_count: int
    width: float = 0  # in points
    height: float = 0
    boxes: tuple[Box, ...] = ()  # of the quote's lines
    picture: bytes = b""  # PNG


@dataclass(frozen=True, slots=True)
class CellsRequest:
    sheet: str
    cells: str  # «A2:F2»
    around: int = 0  # rows, before and after
    kind: Literal["cells"] = "cells"


@dataclass(frozen=True, slots=True)
class SheetRow:
    number: int  # in its sheet, from 1
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CellsView:
    """Rows of one table; all is empty where the cells are in none."""

    columns: tuple[str, ...]  # letters
    headers: tuple[str, ...]
    rows: tuple[SheetRow, ...]


NO_CELLS = CellsView((), (), ())


ViewRequest = PageRequest | CellsRequest
View = PageView | CellsView
