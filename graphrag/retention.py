"""How long conversations are kept in which nothing is said any more."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from graphrag.ingestion.queue import Queue
from graphrag.stores.conversations import Conversations


@dataclass(frozen=True, slots=True)
class Retention:
    conversations: Conversations
    queue: Queue
    days: int | None  # None: for ever

    async def forget(self, owner_id: str) -> None:
        """Deletes those whose time is over; when the next one's is, a job does it."""
        if self.days is None:
            return
        kept = timedelta(days=self.days)
        oldest = await self.conversations.purge(owner_id, before=datetime.now(UTC) - kept)
        if oldest is not None:
            await self.queue.defer_forgetting(owner_id, oldest + kept)
