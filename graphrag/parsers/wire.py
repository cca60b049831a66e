"""JSON frames between the parser's process and ours: a compromised parser can send nothing but data."""

import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from typing import Any, TypeVar

from pydantic import TypeAdapter

from graphrag.errors import UnreadableDocument
from graphrag.models import Cell, ParsedText, SourceLocation, TableRow
from graphrag.models.ingestion import PageView, View, ViewRequest

LENGTH = struct.Struct("!Q")
PROCESS = struct.Struct("!I")
END = b""
PNG = b"\x89PNG\r\n\x1a\n"
_BATCH = 2_000  # made into objects within milliseconds, so an event loop goes on between them
_MICROSECOND = timedelta(microseconds=1)
_TEXT, _LOCATIONS, _ROWS, _ERROR, _VIEW = b"T", b"P", b"R", b"E", b"V"
_text: TypeAdapter[ParsedText] = TypeAdapter(ParsedText)
_locations: TypeAdapter[tuple[SourceLocation, ...]] = TypeAdapter(tuple[SourceLocation, ...])
_request: TypeAdapter[ViewRequest | None] = TypeAdapter(ViewRequest | None)
_view: TypeAdapter[View] = TypeAdapter(View)
_Item = TypeVar("_Item")
_Located = TypeVar("_Located", SourceLocation, TableRow)


def framed(payload: bytes) -> bytes:
    return LENGTH.pack(len(payload)) + payload


def written_request(request: ViewRequest | None) -> bytes:
    return _request.dump_json(request)


def read_request(payload: bytes) -> ViewRequest | None:
    """None: the file is to be parsed."""
    return _request.validate_json(payload)


def written_error(error: UnreadableDocument) -> bytes:
    return _ERROR + json.dumps({"message": str(error), "details": error.details}).encode()


def raise_error(payload: bytes) -> None:
    """Raises UnreadableDocument where the payload is an error."""
    if payload[:1] == _ERROR:
        error = json.loads(payload[1:])
        raise UnreadableDocument(error["message"], **error["details"])


def written(parsed: ParsedText) -> Iterator[bytes]:
    """Payloads of frames: the text with its tables' headers, its locations, each table's rows, the end."""
    tables = tuple(replace(table, rows=()) for table in parsed.tables)
    yield _TEXT + _text.dump_json(replace(parsed, locations=(), tables=tables))
    for locations in _batches(parsed.locations):
        yield _LOCATIONS + _locations.dump_json(tuple(locations))
    for number, table in enumerate(parsed.tables):
        for rows in _batches(table.rows):
            lines = [(row.start_char, row.end_char, row.number, [*map(_as_json, row.values)]) for row in rows]
            yield _ROWS + json.dumps([number, lines]).encode()
    yield END


def written_view(view: View) -> Iterator[bytes]:
    """Payloads of two frames: the view, its picture."""
    picture = view.picture if isinstance(view, PageView) else b""
    yield _VIEW + _view.dump_json(replace(view, picture=b"") if isinstance(view, PageView) else view)
    yield picture


def read_view(payload: bytes, picture: bytes) -> View:
    """Raises ValueError where it is none of ours."""
    if payload[:1] != _VIEW or not picture.startswith(PNG if picture else b""):
        raise ValueError("a frame of another kind")
    view = _view.validate_json(payload[1:])
    return replace(view, picture=picture) if isinstance(view, PageView) else view


def _batches(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    return (items[start : start + _BATCH] for start in range(0, len(items), _BATCH))


@dataclass(slots=True)
class FrameReader:
    """A parsed text that comes frame by frame. Raises ValueError where one is none of ours."""

    _head: ParsedText | None = None
    _found_locations: list[SourceLocation] = field(default_factory=list)
    _found_rows: list[list[TableRow]] = field(default_factory=list)

    def add(self, payload: bytes) -> ParsedText | None:
        """The whole at the last frame. Raises UnreadableDocument where the parser did."""
        kind, body = payload[:1], payload[1:]
        raise_error(payload)
        if self._head is None:
            self._begin(kind, body)
        elif kind == _LOCATIONS:
            self._found_locations += _inside(self._head.text, _locations.validate_json(body))
        elif kind == _ROWS:
            number, lines = json.loads(body)
            self._found_rows[number] += _inside(self._head.text, [_row(*line) for line in lines])
        elif payload == END:
            return self._whole(self._head)
        else:
            raise ValueError("a frame of an unknown kind")
        return None

    def _begin(self, kind: bytes, body: bytes) -> None:
        if kind != _TEXT:
            raise ValueError("the text has to come first")
        self._head = _text.validate_json(body)
        self._found_rows = [[] for _ in self._head.tables]

    def _whole(self, head: ParsedText) -> ParsedText:
        found = zip(head.tables, self._found_rows, strict=True)
        tables = tuple(replace(table, rows=tuple(rows)) for table, rows in found)
        return replace(head, locations=tuple(self._found_locations), tables=tables)


def _inside(text: str, spans: Sequence[_Located]) -> Sequence[_Located]:
    if not all(0 <= span.start_char <= span.end_char <= len(text) for span in spans):
        raise ValueError("a span lies outside of the text")
    return spans


def _row(start: int, end: int, number: int, values: Sequence[Any]) -> TableRow:
    if not type(start) is type(end) is type(number) is int:
        raise ValueError("an offset is no whole number")
    return TableRow(start, end, number, tuple(map(_from_json, values)))


def _as_json(cell: Cell) -> Any:
    match cell:
        case datetime() | date() | time():
            return [type(cell).__name__, cell.isoformat()]
        case timedelta():
            return ["timedelta", cell // _MICROSECOND]
    return cell


def _from_json(value: Any) -> Cell:
    if value is None or isinstance(value, str | bool | int | float):
        return value
    kind, written_value = value
    match kind:
        case "datetime":
            return datetime.fromisoformat(written_value)
        case "date":
            return date.fromisoformat(written_value)
        case "time":
            return time.fromisoformat(written_value)
        case "timedelta":
            return timedelta(microseconds=written_value)
    raise ValueError("a cell of an unknown kind")
