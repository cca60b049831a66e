"""Who looks after the database: never gives up, ends when told to, and takes nothing of a request with it."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from graphrag.db import server_watch
from graphrag.db.server_watch import Watch
from graphrag.errors import DatabaseUnavailable
from graphrag.observability.request_context import changed_context, current_context


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_watch, "AGAIN_SECONDS", 0.001)
    monkeypatch.setattr(server_watch, "REFUSED_SECONDS", 0.001)


async def is_there() -> bool:
    return True


async def opens() -> None:
    """At once."""


def watch(is_there: Callable[[], Awaitable[bool]] = is_there, open: Callable[[], Awaitable[None]] = opens) -> Watch:
    return Watch(is_there, lambda: None, open)


async def until_back(watched: Watch) -> None:
    async with asyncio.timeout(5):
        while watched.is_away:
            await asyncio.sleep(0.001)


@pytest.mark.parametrize("error", [DatabaseUnavailable("It refuses us."), RuntimeError("Nobody thought of it.")])
async def test_whatever_goes_wrong_it_is_looked_again(error: Exception) -> None:
    """R11.1 A look that fails is not the last: the service would be without a database for ever."""
    errors = [error, error]

    async def open_later() -> None:
        if errors:
            raise errors.pop()

    watched = watch(open=open_later)
    watched.miss()
    await until_back(watched)
    assert (errors, watched.state.state, watched.state.failures) == ([], "closed", 0)


async def test_what_ends_at_the_end_is_not_looked_after() -> None:
    """R11.1 Else what is being stopped would be started again; opened again, it is."""
    looks: list[bool] = []

    async def look() -> bool:
        looks.append(current_context().is_interactive)
        return True

    watched = watch(look)
    await watched.close()
    watched.suspect()
    await asyncio.sleep(0.01)
    assert looks == []
    watched.attend()
    with changed_context(is_interactive=True):
        watched.suspect()
    await asyncio.sleep(0.01)
    assert looks == [False]  # nor does it belong to who came first
