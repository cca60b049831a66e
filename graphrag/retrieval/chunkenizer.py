"""Passages of another service, by `POST /search` in Chunkenizer's contract: a Chunkenizer's, or another Causeway's."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final, TypeVar
from uuid import NAMESPACE_URL, UUID, uuid5

import httpx
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter

from graphrag.config.answering import SearchConfig
from graphrag.errors import InvalidSettings
from graphrag.linguistics.language import detect, visible
from graphrag.llm.guard import Guard, is_outage
from graphrag.models import ELSEWHERE, UNDATED, Chunk, Document, Hit, SourceLocation
from graphrag.parsers.source_locations import cell_range, corners
from graphrag.parsers.text import clean
from graphrag.resilience.circuit_breaker import CircuitBreaker
from graphrag.resilience.concurrency import ProviderLimit
from graphrag.resilience.retry import Patience

T = TypeVar("T")
MOST_HITS = 50  # of one question: other services refuse to give very many
MOST_NAME, MOST_CELLS = 255, 40  # characters
MOST_BYTES = 10_000_000  # of an answer
AT_ONCE, WAITING = 16, 64  # calls
FAILURES, LEFT_ALONE_SECONDS = 3, 30  # after so many in a row, the next questions are searched without
VIA: Final = "1.1 causeway"  # RFC 9110, 7.6.3: two services that ask each other would never come to an end
NOWHERE: Final = UUID(int=0)


def _writable(metadata: dict[str, Any]) -> dict[str, Any]:
    """Raises ValueError where a number is none that JSON can write, though it was read: 1e999."""
    json.dumps(metadata, allow_nan=False)
    return metadata


class _FoundChunk(BaseModel):
    model_config = ConfigDict(strict=True)

    chunk_text: Annotated[str, Field(max_length=100_000), AfterValidator(clean)]
    document_id: str = Field(min_length=1, max_length=2_000)
    chunk_index: int = Field(ge=0, lt=2**31)
    score: float = Field(allow_inf_nan=False)
    document_name: str = ""
    metadata: Annotated[dict[str, Any], AfterValidator(_writable)] = Field(default_factory=dict)


class _SearchResponse(BaseModel):
    results: list[_FoundChunk]


_ANSWER: TypeAdapter[_SearchResponse | list[_FoundChunk]] = TypeAdapter(_SearchResponse | list[_FoundChunk])


def open_chunkenizer(settings: SearchConfig) -> "Chunkenizer | None":
    """None where the settings name none. Raises InvalidSettings."""
    if settings.chunkenizer_url is None:
        return None
    key = settings.chunkenizer_api_key
    return Chunkenizer(
        settings.chunkenizer_url.get_secret_value(),
        api_key=key.get_secret_value() if key else None,
        timeout_seconds=settings.chunkenizer_timeout_seconds,
    )


class Chunkenizer:
    def __init__(self, url: str, *, api_key: str | None, timeout_seconds: float) -> None:
        """Raises InvalidSettings."""
        self._address = _search_address(url)
        headers = {"Via": VIA} | ({"Authorization": f"Bearer {api_key}"} if api_key else {})
        self._client = httpx.AsyncClient(headers=headers, timeout=timeout_seconds)
        self.breaker = CircuitBreaker(ELSEWHERE, failures=FAILURES, seconds=LEFT_ALONE_SECONDS, is_outage=is_outage)
        self._guard = Guard(
            name=ELSEWHERE,
            limit=ProviderLimit(ELSEWHERE, at_once=AT_ONCE, waiting=WAITING, wait_seconds=timeout_seconds),
            breaker=self.breaker,
            patience=Patience(retries=1, first_wait_seconds=0.1, longest_wait_seconds=1.0),
            first_word_seconds=timeout_seconds,
            word_seconds=timeout_seconds,
            answer_seconds=timeout_seconds,
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def retrieve(self, question: str, *, limit: int) -> list[Hit]:
        """Return the hits in the service's order."""
        limit = min(limit, MOST_HITS)
        found = await self._guard.call(lambda: self._search(question, limit))
        return await asyncio.to_thread(self._read, found, limit)

    async def _search(self, question: str, limit: int) -> list[_FoundChunk]:
        asked, body = {"query": question, "top_k": limit}, bytearray()
        async with self._client.stream("POST", self._address, json=asked) as response:
            response.raise_for_status()
            async for part in response.aiter_bytes():
                body += part
                if len(body) > MOST_BYTES:
                    raise ValueError(f"more than {MOST_BYTES} bytes")
        answer = _ANSWER.validate_json(bytes(body))
        return answer.results if isinstance(answer, _SearchResponse) else answer

    def _read(self, found: Sequence[_FoundChunk], limit: int) -> list[Hit]:
        hits: dict[UUID, Hit] = {}
        for hit in (_to_hit(each, self._address) for each in found if each.chunk_text):
            hits.setdefault(hit.chunk.id, hit)
        return list(hits.values())[:limit]


def _search_address(url: str) -> httpx.URL:
    try:
        address = httpx.URL(url.rstrip("/") + "/search")
    except httpx.InvalidURL:
        address = httpx.URL()
    if address.scheme not in ("http", "https") or not address.host:
        # Without the cause, which may repeat a password.
        raise InvalidSettings("CHUNKENIZER_API_URL is no address: use http://HOST:PORT or https://HOST.") from None
    return address


def _to_hit(found: _FoundChunk, address: httpx.URL) -> Hit:
    document, text, metadata = _to_document(found, address), found.chunk_text, found.metadata
    start = max(0, _first(metadata, int, "start_char") or 0)
    chunk = Chunk(
        id=uuid5(document.id, f"{address} {found.chunk_index}"),
        index=found.chunk_index,
        content=text,
        start_char=start,
        end_char=start + len(text),
        window_start=start,
        context=_first(metadata, str, "context") or document.title,
        document=document,
        locations=_locations(metadata, text, start),
    )
    score = min(1.0, max(0.0, found.score))
    return Hit(chunk, score, {ELSEWHERE: score})


def _to_document(found: _FoundChunk, address: httpx.URL) -> Document:
    metadata = found.metadata
    named = found.document_name or _first(metadata, str, "filename", "document_name", "source", "title")
    name = _line(named or "") or _line(found.document_id)
    return Document(
        id=_to_uuid(found.document_id, address),
        collection_id=NOWHERE,
        source=name,
        filename=name,
        media_type="application/octet-stream",
        content_hash="",
        language=_language(_first(metadata, str, "language")) or detect(found.chunk_text),
        title=_line(_first(metadata, str, "title") or ""),
        created_at=_moment(_first(metadata, str, "created_at")),
        source_type=ELSEWHERE,
        processing_strategy="",
        tags=tuple(tag for tag in _first(metadata, list, "tags") or () if isinstance(tag, str)),
        metadata=_first(metadata, dict, "document_metadata") or {},
    )


def _to_uuid(name: str, address: httpx.URL) -> UUID:
    try:
        return UUID(name)
    except ValueError:
        return uuid5(NAMESPACE_URL, f"{address} {name}")


def _first(metadata: Mapping[str, Any], kind: type[T], *names: str) -> T | None:
    """Return the first of the names that has a value of this kind: metadata are the other service's own."""
    return next((value for name in names if type(value := metadata.get(name)) is kind), None)


def _line(text: str) -> str:
    return " ".join(visible(text).split())[:MOST_NAME]


def _language(told: str | None) -> str:
    """ISO 639-1, of «ES» and «es-MX»; else empty."""
    code = (told or "").lower().partition("-")[0]
    return code if len(code) == 2 and code.isascii() and code.isalpha() else ""


def _moment(told: str | None) -> datetime:
    try:
        moment = datetime.fromisoformat(told or "")
    except ValueError:
        return UNDATED
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _locations(metadata: Mapping[str, Any], text: str, start: int) -> tuple[SourceLocation, ...]:
    """Return a location a row if the text has as many lines as its range of cells; else one of the whole range."""
    page, sheet = _first(metadata, int, "page", "page_number"), _first(metadata, str, "sheet_name", "sheet") or ""
    edges = corners((_first(metadata, str, "cell_ref", "cell") or "")[:MOST_CELLS])
    lines = text.splitlines(keepends=True)
    if edges is None or len(lines) != edges[1][1] - edges[0][1] + 1:
        return (SourceLocation(start, start + len(text), page, sheet),) if page or sheet else ()
    (first_column, first_row), (last_column, _) = edges
    locations = []
    for row, line in enumerate(lines, start=first_row):
        locations.append(
            SourceLocation(start, start + len(line), page, sheet, cell_range((first_column, row), (last_column, row)))
        )
        start += len(line)
    return tuple(locations)
