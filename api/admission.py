"""How searches and answers are let in at every door: with their time, and to a place among those that are prepared.

Tasks that are begun inside have that time, too.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from graphrag.deadline import deadline
from graphrag.load import Place
from graphrag.services import Services


def answering(services: Services, owner_id: str) -> AbstractAsyncContextManager[Place]:
    """Raises Overloaded."""
    return _admitted(services, owner_id, services.settings.chat_timeout_seconds)


def searching(services: Services, owner_id: str) -> AbstractAsyncContextManager[Place]:
    """Raises Overloaded."""
    return _admitted(services, owner_id, services.settings.retrieve_timeout_seconds)


@asynccontextmanager
async def _admitted(services: Services, owner_id: str, seconds: float) -> AsyncIterator[Place]:
    with deadline(seconds):
        async with services.load.place(owner_id) as place:
            yield place
