"""JSON frames between the sandbox's processes and ours: a compromised parser can send nothing but data."""

import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import TypeAdapter

from graphrag.config.settings import IngestionConfig
from graphrag.embeddings.word_vectors import Counting
from graphrag.errors import UnreadableDocument
from graphrag.ingestion.chunking import ChunkSpan
from graphrag.ingestion.prepared import Preparation
from graphrag.ingestion.sources import Source, SourceFile, SourceText
from graphrag.ingestion.tables.typed_tables import TypedTable
from graphrag.models import Span
from graphrag.models.graph import ChunkGraph
from graphrag.models.ingestion import PageView, View, ViewRequest
from graphrag.parsers.detection import PNG

LENGTH = struct.Struct("!Q")
PROCESS = struct.Struct("!I")
ANY_FILE, OFFICE_FILE = b"a", b"o"  # what a child is asked for: the latter needs a parser that is large
END = b""
RECOGNIZING = b"O"  # pictures, which takes longer
_BATCH = 200  # chunks, made into objects within milliseconds, so an event loop goes on between them
_TEXT, _CHUNKS, _TABLE, _ERROR, _VIEW, _QUESTION = b"T", b"C", b"B", b"E", b"V", b"Q"
_preparation: TypeAdapter[Preparation] = TypeAdapter(Preparation)
_chunks: TypeAdapter[list[tuple[ChunkSpan, ChunkGraph]]] = TypeAdapter(list[tuple[ChunkSpan, ChunkGraph]])
_texts: TypeAdapter[list[str]] = TypeAdapter(list[str])
_view: TypeAdapter[View] = TypeAdapter(View)


def framed(payload: bytes) -> bytes:
    return LENGTH.pack(len(payload)) + payload


@dataclass(frozen=True, slots=True)
class PreparationRequest:
    """A source without its content, and what its preparation depends on."""

    is_file: bool
    config: IngestionConfig
    counting: Counting
    title: str | None = None
    language: str | None = None
    kind: Literal["preparation"] = "preparation"

    @classmethod
    def of(cls, source: Source, config: IngestionConfig, counting: Counting) -> "PreparationRequest":
        if source.chunking:
            config = config.model_copy(update={"chunking": source.chunking})
        if isinstance(source, SourceFile):
            return cls(True, config, counting)
        title = source.title and source.title.encode(errors="ignore").decode()
        return cls(False, config, counting, title, source.language)

    def source(self, filename: str, content: bytes) -> Source:
        if self.is_file:
            return SourceFile(filename, filename, content)
        return SourceText(filename, content.decode(errors="surrogatepass"), self.title, self.language)


Request = PreparationRequest | ViewRequest
_request: TypeAdapter[Request] = TypeAdapter(Request)


def written_request(request: Request) -> bytes:
    return _request.dump_json(request)


def read_request(payload: bytes) -> Request:
    return _request.validate_json(payload)


def written_error(error: UnreadableDocument) -> bytes:
    return _ERROR + json.dumps({"message": str(error), "details": error.details}).encode()


def raise_error(payload: bytes) -> None:
    """Raises UnreadableDocument where the payload is an error."""
    if payload[:1] == _ERROR:
        error = json.loads(payload[1:])
        raise UnreadableDocument(error["message"], **error["details"])


def written_question(texts: Sequence[str]) -> bytes:
    """Ask how many tokens the texts have."""
    return _QUESTION + json.dumps([*texts]).encode()


def read_question(payload: bytes) -> list[str] | None:
    """Return the texts whose tokens are to be counted; None where the payload is another frame."""
    return _texts.validate_json(payload[1:]) if payload[:1] == _QUESTION else None


def written_counts(counts: Sequence[int]) -> bytes:
    return json.dumps([*counts]).encode()


def read_counts(payload: bytes) -> list[int]:
    return list(json.loads(payload))


def written(preparation: Preparation) -> Iterator[bytes]:
    """Payloads of frames: the text and what describes it, its chunks, its tables, the end."""
    yield _TEXT + _preparation.dump_json(replace(preparation, spans=(), graph=(), tables=()))
    chunks = list(zip(preparation.spans, preparation.graph, strict=True))
    for start in range(0, len(chunks), _BATCH):
        yield _CHUNKS + _chunks.dump_json(chunks[start : start + _BATCH])
    for table in preparation.tables:
        yield _TABLE + table
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


@dataclass(slots=True)
class FrameReader:
    """A preparation that comes frame by frame. Raises ValueError where one is none of ours."""

    _head: Preparation | None = None
    _spans: list[ChunkSpan] = field(default_factory=list)
    _graph: list[ChunkGraph] = field(default_factory=list)
    _tables: list[bytes] = field(default_factory=list)

    def add(self, payload: bytes) -> Preparation | None:
        """The whole at the last frame. Raises UnreadableDocument where the preparation did."""
        kind, body = payload[:1], payload[1:]
        raise_error(payload)
        if self._head is None:
            if kind != _TEXT:
                raise ValueError("the text has to come first")
            self._head = _preparation.validate_json(body)
        elif kind == _CHUNKS:
            for span, graph in _chunks.validate_json(body):
                self._add_chunk(self._head.text, span, graph)
        elif kind == _TABLE:
            TypedTable.from_untrusted_bytes(body, characters=len(self._head.text), chunks=len(self._spans))
            self._tables.append(body)
        elif payload == END:
            return self._whole(self._head)
        else:
            raise ValueError("a frame of an unknown kind")
        return None

    def _add_chunk(self, text: str, span: ChunkSpan, graph: ChunkGraph) -> None:
        end = self._spans[-1].end if self._spans else 0
        if not 0 <= span.window_start <= span.start == end < span.end:
            raise ValueError("a chunk does not begin where the one before ends")
        spans = [Span(span.start, span.end), *(Span(of.start_char, of.end_char) for of in span.locations)]
        spans += [side for of in graph.relations for side in (of.cause, of.effect, of.quote)]
        spans += [span.parent] if span.parent else []
        if not all(0 <= of.start <= of.end <= len(text) for of in spans):
            raise ValueError("a span lies outside of the text")
        self._spans.append(span)
        self._graph.append(graph)

    def _whole(self, head: Preparation) -> Preparation:
        if not self._spans or self._spans[-1].end != len(head.text):
            raise ValueError("the chunks do not hold the text")
        return replace(head, spans=tuple(self._spans), graph=tuple(self._graph), tables=tuple(self._tables))
