"""Idempotency-Key: a request that is sent again, because its answer got lost, is not done again."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Header, Request, Response
from pydantic import BaseModel

from api.dependencies import ServicesDep, WriterDep
from graphrag.stores.idempotency import IdempotencyKeys

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
    keys = IdempotencyKeys(services.database, services.library.queue.defer_forgetting_keys)
    path = request.url.path.replace("/api/v1/", "/api/", 1)
    return Once(keys, owner, idempotency_key, path, response)


OnceDep = Annotated[Once, Depends(get_once)]
