"""The rows of a table around some of its cells."""

from graphrag.document_views import NO_CELLS, CellsRequest, CellsView, SheetRow
from graphrag.models import ParsedText, Table
from graphrag.parsers.spreadsheet import written
from graphrag.places import corners, letters

MOST_ROWS = 100


def view_cells(parsed: ParsedText, request: CellsRequest) -> CellsView:
    edges = corners(request.cells)
    if edges is None:
        return NO_CELLS
    (_, first), (_, last) = edges
    tables = [table for table in parsed.tables if table.sheet == request.sheet]
    asked = next((table for table in tables if any(first <= row.number <= last for row in table.rows)), None)
    if asked is None:
        return NO_CELLS
    rows = [
        SheetRow(row.number, tuple("" if cell is None else written(cell) for cell in row.values))
        for table in tables
        if _shape(table) == _shape(asked)  # a blank line does not end it
        for row in table.rows
        if first - request.around <= row.number <= last + request.around
    ]
    columns = tuple(letters(asked.first_column + place) for place in range(len(asked.headers)))
    return CellsView(columns, asked.headers, tuple(rows[:MOST_ROWS]))


def _shape(table: Table) -> tuple[int, tuple[str, ...]]:
    return table.first_column, table.headers
