"""The whole examination, in the order in which things depend on each other."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping

from graphrag.diagnosis.database import examine_database
from graphrag.diagnosis.findings import Finding, error, ok
from graphrag.diagnosis.home import examine_home
from graphrag.diagnosis.index import examine_index
from graphrag.diagnosis.installation import examine_installation
from graphrag.diagnosis.models import examine_models
from graphrag.diagnosis.reach import examine_chunkenizer, examine_doors, examine_tracing
from graphrag.diagnosis.storage import examine_redis, examine_storage
from graphrag.errors import InvalidSettings
from graphrag.settings import Settings


async def examine(environment: Mapping[str, str], *, host: str, port: int, calls: bool) -> AsyncIterator[Finding]:
    """Each finding as soon as it is known. `calls`: chat models are asked something, too."""
    for finding in examine_installation(environment):
        yield finding
    try:
        settings = Settings.from_environment()
    except InvalidSettings as exc:
        yield error("settings_invalid", cause=str(exc))
        return
    yield ok("settings")
    parts = (
        _in_thread(lambda: list(examine_home(settings.home))),
        _in_thread(lambda: list(examine_database(settings))),
        examine_index(settings),
        examine_storage(settings),
        examine_redis(settings),
        examine_models(settings, calls=calls),
        examine_doors(settings, host=host, port=port),
        examine_chunkenizer(settings),
        examine_tracing(),
    )
    for part in parts:
        async for finding in _despite_failures(part):
            yield finding


async def _in_thread(look: Callable[[], list[Finding]]) -> AsyncIterator[Finding]:
    for finding in await asyncio.to_thread(look):
        yield finding


async def _despite_failures(part: AsyncIterator[Finding]) -> AsyncIterator[Finding]:
    """What nobody has thought of ends this part alone: the others may tell what it comes from."""
    try:
        async for finding in part:
            yield finding
    except Exception as exc:
        yield error("unforeseen", cause=repr(exc))
