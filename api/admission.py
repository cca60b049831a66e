"""How searches and answers are let in at every door: with their time, and to a place among those that are prepared.

Tasks that are begun inside have that time, too.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from graphrag.deadline import deadline, opening
from graphrag.load import Place
from graphrag.services import Services


def answering(services: Services, owner_id: str) -> AbstractAsyncContextManager[Place]:
    """Raises Overloaded."""
    settings = services.settings
    return _admitted(services, owner_id, settings.chat_timeout_seconds, preparing=settings.preparation_seconds)


def searching(services: Services, owner_id: str) -> AbstractAsyncContextManager[Place]:
    """Raises Overloaded."""
    seconds = services.settings.retrieve_timeout_seconds
    return _admitted(services, owner_id, seconds, preparing=seconds)


@asynccontextmanager
async def _admitted(services: Services, owner_id: str, seconds: float, *, preparing: float) -> AsyncIterator[Place]:
    with deadline(seconds):
        async with AsyncExitStack() as stack:
            with opening(preparing):  # the place is for this: who waits it away has nothing to be prepared in
                place = await stack.enter_async_context(services.load.place(owner_id))
            yield place
