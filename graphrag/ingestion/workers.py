"""Who do the jobs of the queue."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID


class Workers(Protocol):
    """All that is not evaluation. Each can be done again from its start at any time."""

    async def ingest(self, owner_id: str, collection_id: UUID, documents: Sequence[UUID]) -> None: ...

    async def give_up(
        self, owner_id: str, collection_id: UUID, documents: Sequence[UUID], error: BaseException
    ) -> None: ...

    async def tidy_files(self, owner_id: str, collection_id: UUID, documents: Sequence[UUID]) -> None: ...

    async def clear(self, owner_id: str, collection_id: UUID) -> None: ...

    async def optimize(self, owner_id: str, collection_id: UUID) -> None: ...

    async def purge(self, owner_id: str, collection_id: UUID) -> None: ...

    async def forget_conversations(self, owner_id: str) -> None: ...

    async def forget_idempotency_keys(self, owner_id: str) -> None: ...


class Evaluators(Protocol):
    """Who measure how good the answers' parts are. An evaluation that is begun again goes on where it was left."""

    async def evaluate(self, owner_id: str, collection_id: UUID, run_id: UUID) -> None: ...

    async def give_up(self, owner_id: str, collection_id: UUID, run_id: UUID, error: BaseException) -> None: ...


class Schedulers(Protocol):
    """Who order the evaluations that are due, each due time once, however often they are asked to."""

    async def order_due(self, owner_id: str, schedule_id: UUID, due_at: datetime) -> None: ...
