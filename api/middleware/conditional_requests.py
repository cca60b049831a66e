"""Conditional requests (ETag, If-Match) and Idempotency-Key."""

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Header, Request, Response
from pydantic import BaseModel

from api.dependencies import ServicesDep, WriterDep
from graphrag.errors import PreconditionFailed
from graphrag.stores.postgres.idempotency import IdempotencyKeys

_TAG = re.compile(r'(W/)?("[^"]*")')
_MOST_CHARS = 4_000

IfMatch = Annotated[
    str | None,
    Header(
        max_length=_MOST_CHARS,
        description="The ETag of the version that the request is for: 412 where it is no longer this one",
    ),
]
IfNoneMatch = Annotated[
    str | None, Header(max_length=_MOST_CHARS, description="ETags of versions that are known: 304 for one of these")
]
ETAGGED: dict[int | str, dict[str, Any]] = {
    200: {
        "headers": {
            "ETag": {
                "description": "Of this version, for If-None-Match and If-Match",
                "schema": {"type": "string"},
            }
        }
    },
    304: {"description": "It is the version that is known"},
}


def make_etag(*parts: str) -> str:
    """A strong one: the same for the same bytes alone."""
    return f'"{sha256(" ".join(parts).encode()).hexdigest()[:32]}"'


def is_known(etag: str, if_none_match: str | None) -> bool:
    """Return whether If-None-Match has the tag, by weak comparison."""
    if if_none_match is None:
        return False
    return if_none_match.strip() == "*" or etag in {tag for _, tag in _TAG.findall(if_none_match)}


def check_match(etag: str, if_match: str | None) -> None:
    """Raise PreconditionFailed unless If-Match has the tag, by strong comparison."""
    if if_match is None or if_match.strip() == "*":
        return
    if etag not in {tag for weak, tag in _TAG.findall(if_match) if not weak}:
        raise PreconditionFailed("It is no longer the version that the request is for: read it again.", etag=etag)


Answer = TypeVar("Answer", bound=BaseModel)
REPLAYED = {"headers": {"Idempotent-Replay": {"description": "true: it was done before", "schema": {"type": "string"}}}}


@dataclass(frozen=True, slots=True)
class Once:
    """A request as its key, if it has one, lets it be done."""

    keys: IdempotencyKeys
    owner_id: str
    key: str | None
    path: str
    response: Response

    async def do(self, kind: type[Answer], asked: Mapping[str, Any], act: Callable[[], Awaitable[Answer]]) -> Answer:
        """`asked`: all of the request that makes it another one, as JSON. Raises IdempotencyConflict."""
        if self.key is None:
            return await act()

        async def answer() -> dict[str, Any]:
            return (await act()).model_dump(mode="json")

        made, was_done = await self.keys.once(self.owner_id, self.key, self._hash(asked), answer)
        if was_done:
            self.response.headers["Idempotent-Replay"] = "true"
        return kind.model_validate(made)

    def _hash(self, asked: Mapping[str, Any]) -> str:
        return sha256(json.dumps([self.path, asked], sort_keys=True, default=str).encode()).hexdigest()


def get_once(
    request: Request,
    response: Response,
    services: ServicesDep,
    owner: WriterDep,
    idempotency_key: Annotated[
        str | None,
        Header(
            min_length=1,
            max_length=255,
            pattern=r"^[!-~]+$",
            description="Of your choice: the same request with the same key, within 24 hours, is answered as it was "
            "the first time and not done again",
        ),
    ] = None,
) -> Once:
    keys = IdempotencyKeys(services.database, services.documents.queue.defer_forgetting_keys)
    return Once(keys, owner, idempotency_key, request.url.path, response)


OnceDep = Annotated[Once, Depends(get_once)]
